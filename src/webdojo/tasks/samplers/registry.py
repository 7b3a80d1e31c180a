"""The samplers by name."""

from __future__ import annotations

from webdojo.plugins import Registry, derived_from
from webdojo.tasks.samplers.difficulty_guided import DifficultyGuided
from webdojo.tasks.samplers.difficulty_ratio import DifficultyRatio
from webdojo.tasks.samplers.learning_progress import LearningProgress
from webdojo.tasks.samplers.mixed_outcomes import MixedOutcomes
from webdojo.tasks.samplers.sampler import Sampler
from webdojo.tasks.samplers.site_cap import SiteCap
from webdojo.tasks.samplers.success_window import SuccessWindow
from webdojo.tasks.samplers.uniform import Uniform

SAMPLERS: Registry[type[Sampler]] = Registry(
    "webdojo.samplers",
    "sampler",
    *derived_from(Sampler),
    {
        "uniform": Uniform,
        "difficulty_ratio": DifficultyRatio,
        "site_cap": SiteCap,
        "difficulty_guided": DifficultyGuided,
        "success_window": SuccessWindow,
        "mixed_outcomes": MixedOutcomes,
        "learning_progress": LearningProgress,
    },
)
"""What `tasks.sampler.name` of a recipe may be."""

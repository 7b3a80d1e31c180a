"""A random small model and samples on it."""

from tests.policy.conftest import images, loaded, model_dir
from tests.trainer.conftest import make_samples

__all__ = ["images", "loaded", "make_samples", "model_dir"]

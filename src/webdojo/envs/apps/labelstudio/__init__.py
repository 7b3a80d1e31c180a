"""The application `labelstudio`: Label Studio, where a team labels texts; its pages are all scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from webdojo.envs.apps.application import Application
from webdojo.envs.apps.labelstudio import labels, projects, questions
from webdojo.envs.apps.labelstudio.world import make_world


class LabelStudio(Application):
    """Label Studio 1.23.2 on SQLite."""

    name = "labelstudio"
    about = "Label Studio 1.23.2, where a team labels texts"
    folder = Path(__file__).parent
    noise = (
        # How a list is filtered, sorted and shown; it is asked about by what was seen in it.
        "data_manager_filter",
        "data_manager_filtergroup",
        "data_manager_filtergroup_filters",
        "data_manager_view",
        # Who looks at what, and when.
        "htx_user.activity_at",
        "htx_user.last_activity",
        "projects_labelstreamhistory",
        "tasks_tasklock",
        # What follows from annotations and tasks.
        "projects_projectsummary",
        "task.cancelled_annotations",
        "task.is_labeled",
        "task.total_annotations",
        "task.updated_by_id",
        "task_completion.updated_by_id",
        # Times.
        "project.updated_at",
        "task.updated_at",
        "task_completion.draft_created_at",
        "task_completion.lead_time",
        "task_completion.updated_at",
    )
    templates = {template.name: template for template in (*questions.TEMPLATES, *labels.TEMPLATES, *projects.TEMPLATES)}

    def world(self, seed: int) -> dict[str, Any]:
        return make_world(seed)

    def sign_in(self, seed: int) -> str:
        world = self.world(seed)
        return f"log in as {world['people'][0]['email']}, password {world['password']}"

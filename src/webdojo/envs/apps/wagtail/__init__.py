"""The application `wagtail`: Wagtail, a content management system, with a magazine in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from webdojo.envs.apps.application import Application
from webdojo.envs.apps.wagtail import editor, keeper, reviewer, visitor
from webdojo.envs.apps.wagtail.world import make_world


class Wagtail(Application):
    """Wagtail 8.0.1 on SQLite."""

    name = "wagtail"
    about = "Wagtail 8.0.1, a content management system with a magazine"
    folder = Path(__file__).parent
    sources = (
        *(file for file in sorted((folder / "inside").rglob("*")) if file.suffix in (".py", ".html")),
        folder.parent / "django_site.py",
    )
    noise = (
        "django_session",
        "auth_user.last_login",
        "wagtailadmin_editingsession",
        "wagtailadmin_formstate",
        "wagtailcore_modellogentry",
        "wagtailcore_pagelogentry",
        "wagtailcore_pagesubscription",  # one for everybody who opens a page in the editor
        "wagtailcore_referenceindex",
        "wagtailcore_page.first_published_at",
        "wagtailcore_page.last_published_at",
        "wagtailcore_page.latest_revision_created_at",
        "wagtailcore_page.latest_revision_id",  # a revision itself counts
        "wagtailcore_page.live_revision_id",
        "wagtailcore_taskstate.finished_at",
        "wagtailimages_rendition",
        "wagtailsearch_indexentry",
        "wagtailsearch_indexentry_fts",
        "wagtailsearch_indexentry_fts_config",
        "wagtailsearch_indexentry_fts_content",
        "wagtailsearch_indexentry_fts_data",
        "wagtailsearch_indexentry_fts_docsize",
        "wagtailsearch_indexentry_fts_idx",
    )
    templates = {
        template.name: template
        for template in (*visitor.TEMPLATES, *editor.TEMPLATES, *reviewer.TEMPLATES, *keeper.TEMPLATES)
    }

    def world(self, seed: int) -> dict[str, Any]:
        return make_world(seed)

    def sign_in(self, seed: int) -> str:
        world = self.world(seed)
        return f"log in at /admin/ as {world['editors'][0]['login']}, password {world['password']}"

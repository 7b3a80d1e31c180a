"""The application `machina`: django-machina, a forum with its moderation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from webdojo.envs.apps.application import Application
from webdojo.envs.apps.machina import member, moderator, visitor
from webdojo.envs.apps.machina.world import make_world


class Machina(Application):
    """django-machina 1.3.1 on SQLite, its posts searched by Whoosh."""

    name = "machina"
    about = "django-machina 1.3.1, a forum with its moderation"
    folder = Path(__file__).parent
    sources = (folder.parent / "django_site.py",)
    noise = (
        "django_session",
        "auth_user.last_login",
        "forum_tracking_forumreadtrack",
        "forum_tracking_topicreadtrack",
        "forum_conversation_post.updated",
        "forum_conversation_topic.updated",
        "forum_conversation_topic.views_count",
        "forum_polls_topicpoll.updated",
        "forum_forum.updated",
        # what the forum counts of its topics and posts, none of which change unseen
        "forum_conversation_topic.first_post_id",
        "forum_conversation_topic.last_post_id",
        "forum_conversation_topic.last_post_on",
        "forum_conversation_topic.posts_count",
        "forum_forum.direct_posts_count",
        "forum_forum.direct_topics_count",
        "forum_forum.last_post_id",
        "forum_forum.last_post_on",
        "forum_member_forumprofile.posts_count",
    )
    templates = {template.name: template for template in (*visitor.TEMPLATES, *member.TEMPLATES, *moderator.TEMPLATES)}

    def world(self, seed: int) -> dict[str, Any]:
        return make_world(seed)

    def sign_in(self, seed: int) -> str:
        world = self.world(seed)
        names = f"{world['moderator']['name']} or {world['members'][0]['name']}"
        return f"log in at /login/ as {names}, password {world['password']}"

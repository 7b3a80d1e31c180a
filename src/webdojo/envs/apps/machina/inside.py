"""The forum inside: settings of django-machina, its world written through its own models, its WSGI application."""

from __future__ import annotations

from typing import Any

from django_site import MEMORY, at, log_in, make_base, model, served, set_up, time

READING = ("can_see_forum", "can_read_forum")
TAKING_PART = (
    *READING,
    "can_start_new_topics",
    "can_reply_to_topics",
    "can_edit_own_posts",
    "can_delete_own_posts",
    "can_post_without_approval",
    "can_create_polls",
    "can_vote_in_polls",
)
MODERATING = (
    "can_post_stickies",
    "can_post_announcements",
    "can_lock_topics",
    "can_move_topics",
    "can_edit_posts",
    "can_delete_posts",
    "can_approve_posts",
    "can_reply_to_locked_topics",
)
LOGIN = """{% extends "board_base.html" %}{% block content %}
<form method="post">{% csrf_token %}{{ form.as_p }}<button class="btn btn-primary">Log in</button></form>
{% endblock %}"""
"""The forum leaves the page of the log-in to the site that it stands on."""
urlpatterns: list[Any] = []


def _set_up() -> None:
    import machina

    processors = [
        "django.template.context_processors.request",
        "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages",
        "machina.core.context_processors.metadata",
    ]
    loaders = [
        ("django.template.loaders.locmem.Loader", {"login.html": LOGIN}),
        "django.template.loaders.filesystem.Loader",
        "django.template.loaders.app_directories.Loader",
    ]
    set_up(
        CACHES={"default": MEMORY, "machina_attachments": MEMORY},
        HAYSTACK_CONNECTIONS={"default": {"ENGINE": "haystack.backends.whoosh_backend.WhooshEngine", "PATH": "search"}},
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "django.contrib.messages",
            "django.contrib.staticfiles",
            "mptt",
            "haystack",
            "widget_tweaks",
            "machina",
            "machina.apps.forum",
            "machina.apps.forum_conversation",
            "machina.apps.forum_conversation.forum_attachments",
            "machina.apps.forum_conversation.forum_polls",
            "machina.apps.forum_feeds",
            "machina.apps.forum_moderation",
            "machina.apps.forum_search",
            "machina.apps.forum_tracking",
            "machina.apps.forum_member",
            "machina.apps.forum_permission",
        ],
        LOGIN_REDIRECT_URL="/",
        LOGIN_URL="/login/",
        MACHINA_DEFAULT_AUTHENTICATED_USER_FORUM_PERMISSIONS=list(TAKING_PART),
        MACHINA_FORUM_NAME="Forum",
        MACHINA_MARKUP_WIDGET=None,  # its editor fetches a font from another host
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "machina.apps.forum_permission.middleware.ForumPermissionMiddleware",
        ],
        ROOT_URLCONF=__name__,
        STATICFILES_DIRS=[machina.MACHINA_MAIN_STATIC_DIR],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [machina.MACHINA_MAIN_TEMPLATE_DIR],
                "OPTIONS": {
                    "context_processors": processors,
                    "loaders": [("django.template.loaders.cached.Loader", loaders)],
                },
            }
        ],
    )
    from django.contrib.auth.views import LoginView
    from django.urls import include, path
    from machina import urls

    urlpatterns[:] = [path("login/", LoginView.as_view(template_name="login.html")), path("", include(urls))]


def install() -> None:
    """Make an empty database and gather the static files."""
    _set_up()
    make_base()


def application() -> Any:
    """The WSGI application, all of whose code and templates of common pages are loaded."""
    _set_up()
    return served("/", "/login/")


def seed(world: dict[str, Any]) -> dict[str, Any]:
    """Write a world into the empty database, and return the cookies of its log-ins by role."""
    _set_up()
    from django.core.management import call_command
    from django.db import transaction

    with transaction.atomic():
        _people(world)
        _forums(world)
        _topics(world)
        _polls(world)
        logins = {"member": log_in(world["members"][0]["id"]), "moderator": log_in(world["moderator"]["id"])}
    call_command("update_index", verbosity=0)
    return logins


def _people(world: dict[str, Any]) -> None:
    """Everybody with a profile, and what each may do."""
    from django.contrib.auth.hashers import make_password
    from django.contrib.auth.models import AnonymousUser
    from machina.apps.forum_permission.shortcuts import assign_perm

    User, Profile = model("auth.User"), model("forum_member.ForumProfile")
    password = make_password(world["password"], salt="webdojo")
    joined = time(world["posts"][0]["time"])
    for each in (world["moderator"], *world["members"]):
        user = User.objects.create(
            id=each["id"], username=each["name"], password=password, email=f"{each['name']}@mail.example",
            first_name=each.get("first", ""), last_name=each.get("last", ""), date_joined=joined,
        )  # fmt: skip
        Profile.objects.create(id=each["id"], user=user, signature=each.get("signature", ""))
    for codename in READING:
        assign_perm(codename, AnonymousUser())
    for codename in (*TAKING_PART, *MODERATING):
        assign_perm(codename, User.objects.get(id=world["moderator"]["id"]))


def _forums(world: dict[str, Any]) -> None:
    """The forums of each category; both get the ids that come next, since one that is given counts as an old one."""
    Forum = model("forum.Forum")
    with at(world["posts"][0]["time"]):
        for category in world["categories"]:
            parent = Forum.objects.create(name=category["name"], description=category["about"], type=Forum.FORUM_CAT)
            assert parent.id == category["id"]
            for each in world["forums"]:
                if each["category"] == category["id"]:
                    forum = Forum.objects.create(name=each["name"], type=Forum.FORUM_POST, parent=parent)
                    assert forum.id == each["id"]


def _topics(world: dict[str, Any]) -> None:
    """Every post is saved at its time, as by its author; the counters of a topic are made when it is complete."""
    Topic, Post = model("forum_conversation.Topic"), model("forum_conversation.Post")
    posts: dict[int, list[dict[str, Any]]] = {}
    for post in world["posts"]:
        posts.setdefault(post["topic"], []).append(post)
    for each in world["topics"]:
        with at(posts[each["id"]][0]["time"]):
            topic = Topic.objects.create(
                forum_id=each["forum"], poster_id=each["starter"], subject=each["subject"], status=each["status"],
                type=each["type"],
            )  # fmt: skip
        assert topic.id == each["id"]
        for post in posts[each["id"]]:
            with at(post["time"]):
                made = Post(
                    topic=topic, poster_id=post["author"], subject=post["subject"], content=post["text"],
                    approved=post["approved"],
                )  # fmt: skip
                made.save_base(force_insert=True)
            assert made.id == post["id"]
        with at(posts[each["id"]][-1]["time"]):
            topic.update_trackers()
    Follower = Topic.subscribers.through
    Follower.objects.bulk_create(
        Follower(id=each["id"], topic_id=each["topic"], user_id=each["member"]) for each in world["subscriptions"]
    )


def _polls(world: dict[str, Any]) -> None:
    Poll, Option, Vote = (model(f"forum_polls.TopicPoll{name}") for name in ("", "Option", "Vote"))
    with at(world["posts"][-1]["time"]):
        for each in world["polls"]:
            poll = Poll.objects.create(id=each["id"], topic_id=each["topic"], question=each["question"])
            for option in each["options"]:
                Option.objects.create(id=option["id"], poll=poll, text=option["text"])
                Vote.objects.bulk_create(
                    Vote(poll_option_id=option["id"], voter_id=voter) for voter in option["voters"]
                )

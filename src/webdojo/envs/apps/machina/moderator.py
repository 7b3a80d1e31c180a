"""Tasks of the moderator, who may change what others wrote."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import Goal, Step, Template, World, changed, removed
from webdojo.envs.apps.machina.member import open_topics, posted, to_reply
from webdojo.envs.apps.machina.visitor import YES, done, find, forum_names, names, seen
from webdojo.envs.apps.machina.world import ANNOUNCEMENT, LOCKED, MODERATOR, MOVED, ON_A_PAGE, PLAIN, STICKY

_KINDS = {STICKY: ("a sticky topic", "sticky topic"), ANNOUNCEMENT: ("an announcement", "announce")}
"""How a task calls what a topic becomes, and how the forum does."""
_CLOSING = (
    "All is said, so I close this.",
    "Closed, since the question is answered.",
    "Please go on in a new topic.",
    "This has run its course.",
)


def _menu(item: str) -> list[Step]:
    """Choose from the menu of a topic that moderators have."""
    return [{"do": "click", "css": "[id=id_dropdown_moderation_menu_button]"}, {"do": "click", "text": item}]


def _topic(says: str, topic: dict[str, Any], **values: Any) -> dict[str, Any]:
    return changed(f"“{topic['subject']}” {says}", "forum_conversation_topic", topic["id"], **values)


def _lock(world: World, rng: random.Random) -> Goal:
    topic = rng.choice(open_topics(world))
    plan = [*find(topic), *_menu("Lock topic"), {"do": "click", "text": YES}, done()]
    return Goal(str(topic["id"]), {"subject": topic["subject"]}, [_topic("is locked", topic, status=LOCKED)], plan)


def _pin(world: World, rng: random.Random) -> Goal:
    topic = rng.choice([each for each in world["topics"] if each["type"] == PLAIN])
    type = rng.choice(list(_KINDS))
    kind, item = _KINDS[type]
    plan = [*find(topic), *_menu(f"Change to {item}"), {"do": "click", "text": YES}, done()]
    fields = {"subject": topic["subject"], "kind": kind}
    return Goal(f"{topic['id']}-{type}", fields, [_topic(f"is {kind}", topic, type=type)], plan)


def _relocate(world: World, rng: random.Random) -> Goal:
    topic = rng.choice(open_topics(world))
    forum = rng.choice([each for each in world["forums"] if each["id"] != topic["forum"]])
    fact = _topic(f"is in {forum['name']}", topic, forum_id=forum["id"], status=MOVED)
    plan = [
        *find(topic),
        *_menu("Move topic"),
        {"do": "choose", "field": "forum", "option": f"-- {forum['name']}"},
        {"do": "click", "text": YES},
        done(),
    ]
    fields = {"subject": topic["subject"], "old": forum_names(world)[topic["forum"]], "forum": forum["name"]}
    return Goal(f"{topic['id']}-{forum['id']}", fields, [fact], plan)


def _close(world: World, rng: random.Random) -> Goal:
    topic, message = rng.choice(open_topics(world)), rng.choice(_CLOSING)
    facts = [posted(topic, MODERATOR, message), _topic("is locked", topic, status=LOCKED)]
    plan = [*find(topic), *to_reply(message), *_menu("Lock topic"), {"do": "click", "text": YES}, done()]
    fields = {"subject": topic["subject"], "message": message}
    return Goal(f"{topic['id']}-{_CLOSING.index(message)}", fields, facts, plan)


def _delete_post(world: World, rng: random.Random) -> Goal:
    short = [posts[1:] for topic in world["topics"] if 1 < len(posts := seen(world, topic)) <= ON_A_PAGE]
    post = rng.choice([post for posts in short for post in posts])
    topic = world["topics"][post["topic"] - 1]
    fact = removed("The post is gone", "forum_conversation_post", post["id"])
    plan = [
        *find(topic),
        {"do": "click", "css": f"[id='{post['id']}'] .btn-danger"},
        {"do": "click", "text": YES},
        done(),
    ]
    fields = {"subject": topic["subject"], "author": names(world)[post["author"]], "quote": post["quote"]}
    return Goal(str(post["id"]), fields, [fact], plan)


def _delete_topic(world: World, rng: random.Random) -> Goal:
    """Of a topic that nobody is subscribed to, and that has no poll, so that its posts alone go with it."""
    kept = {each["topic"] for each in (*world["subscriptions"], *world["polls"])}
    topic = rng.choice([each for each in world["topics"] if each["id"] not in kept])
    fact = removed(f"“{topic['subject']}” is gone", "forum_conversation_topic", topic["id"])
    gone = [post["id"] for post in world["posts"] if post["topic"] == topic["id"]]
    allowed = [{"table": "forum_conversation_post", "kind": "removed", "key": {"id": id}} for id in gone]
    plan = [*find(topic), *_menu("Delete topic"), {"do": "click", "text": YES}, done()]
    return Goal(str(topic["id"]), {"subject": topic["subject"]}, [fact], plan, allowed)


def _queued(world: World) -> list[dict[str, Any]]:
    return [post for post in world["posts"] if not post["approved"]]


def _from_queue(post: dict[str, Any], way: str) -> list[Step]:
    return [
        {"do": "click", "text": "Moderation queue"},
        {"do": "click", "text": post["subject"], "href": "/moderation/queue/"},
        {"do": "click", "text": way},
        {"do": "click", "text": YES},
    ]


def _one_queued(world: World, rng: random.Random) -> tuple[dict[str, Any], dict[str, str]]:
    post = rng.choice(_queued(world))
    subject = world["topics"][post["topic"] - 1]["subject"]
    return post, {"subject": subject, "author": names(world)[post["author"]]}


def _approved(post: dict[str, Any]) -> dict[str, Any]:
    return changed(f"“{post['quote']}” is approved", "forum_conversation_post", post["id"], approved=1)


def _publish(world: World, rng: random.Random) -> Goal:
    post, fields = _one_queued(world, rng)
    return Goal(str(post["id"]), fields, [_approved(post)], [*_from_queue(post, "Approve"), done()])


def _reject(world: World, rng: random.Random) -> Goal:
    post, fields = _one_queued(world, rng)
    fact = removed("The post is gone", "forum_conversation_post", post["id"])
    return Goal(str(post["id"]), fields, [fact], [*_from_queue(post, "Disapprove"), done()])


def _publish_by(world: World, rng: random.Random) -> Goal:
    queued = _queued(world)
    authors = [post["author"] for post in queued]
    author = rng.choice([each for each in authors if authors.count(each) > 1])
    posts = [post for post in queued if post["author"] == author]
    plan = [step for post in posts for step in _from_queue(post, "Approve")]
    return Goal(str(author), {"author": names(world)[author]}, [_approved(post) for post in posts], [*plan, done()])


TEMPLATES = (
    Template(
        "lock",
        _lock,
        (
            "Lock the topic “{subject}”.",
            "Nobody should reply to “{subject}” any more. Lock the topic.",
            "Set the topic “{subject}” to locked.",
            "Please lock “{subject}”.",
            "The topic “{subject}” has gone on for too long, so lock it.",
        ),
        "moderator",
    ),
    Template(
        "pin",
        _pin,
        (
            "Make the topic “{subject}” {kind}.",
            "Change the topic “{subject}” to {kind}.",
            "Turn “{subject}” into {kind}.",
            "The topic “{subject}” should be {kind}.",
            "Please change the type of “{subject}”: it becomes {kind}.",
        ),
        "moderator",
    ),
    Template(
        "relocate",
        _relocate,
        (
            "Move the topic “{subject}” to the forum {forum}, and leave it open.",
            "The topic “{subject}” is in {old}, but belongs to {forum}. Move it without locking it.",
            "Put “{subject}” into the forum {forum}. Do not lock it.",
            "Please move “{subject}” from {old} to {forum}; replies stay possible.",
            "{forum} is the right place for the topic “{subject}”. Move it there, not locked.",
        ),
        "moderator",
    ),
    Template(
        "close",
        _close,
        (
            "Reply “{message}” to the topic “{subject}” and lock it.",
            "Close “{subject}”: post “{message}” there, then lock the topic.",
            "Lock the topic “{subject}” after a reply that says “{message}”",
            "Please end the topic “{subject}” with the reply “{message}” and a lock.",
            "The topic “{subject}” gets the last reply “{message}” and is locked then.",
        ),
        "moderator",
    ),
    Template(
        "delete_post",
        _delete_post,
        (
            "Delete the post by {author} in “{subject}” that says “{quote}”",
            "In the topic “{subject}”, remove the post of {author} with the words “{quote}”",
            "{author} wrote “{quote}” in “{subject}”. Delete that post.",
            "Please remove the post “{quote}” by {author} from the topic “{subject}”.",
            "The post of {author} in “{subject}” with “{quote}” has to go. Delete it.",
        ),
        "moderator",
    ),
    Template(
        "delete_topic",
        _delete_topic,
        (
            "Delete the topic “{subject}”.",
            "Remove the whole topic “{subject}”.",
            "The topic “{subject}” should not be here. Delete it.",
            "Please delete “{subject}” with all its posts.",
            "Take the topic “{subject}” off the forum.",
        ),
        "moderator",
    ),
    Template(
        "publish",
        _publish,
        (
            "Approve the post by {author} that waits in the queue for “{subject}”.",
            "{author} has replied to “{subject}”, and the reply waits for a moderator. Approve it.",
            "In the moderation queue, approve the reply of {author} to “{subject}”.",
            "Please approve what {author} wrote for the topic “{subject}”.",
            "The queued post of {author} in “{subject}” is fine, so approve it.",
        ),
        "moderator",
    ),
    Template(
        "reject",
        _reject,
        (
            "Disapprove the post by {author} that waits in the queue for “{subject}”.",
            "{author} has replied to “{subject}”, and the reply waits for a moderator. Disapprove it.",
            "In the moderation queue, reject the reply of {author} to “{subject}”.",
            "Please disapprove what {author} wrote for the topic “{subject}”.",
            "The queued post of {author} in “{subject}” breaks the rules, so disapprove it.",
        ),
        "moderator",
    ),
    Template(
        "publish_by",
        _publish_by,
        (
            "Approve all posts of {author} in the moderation queue.",
            "{author} has several posts that wait for a moderator. Approve each of them.",
            "Approve whatever {author} has in the queue.",
            "Please approve every queued post by {author}, and no others.",
            "Go through the moderation queue and approve what {author} wrote.",
        ),
        "moderator",
    ),
)

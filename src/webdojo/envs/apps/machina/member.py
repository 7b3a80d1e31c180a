"""Tasks of a member who has logged in."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import Goal, Step, Template, World, added, changed, removed, shown
from webdojo.envs.apps.machina.visitor import YES, busiest_topic, done, find, seen, to_topic_of
from webdojo.envs.apps.machina.world import ME, ON_A_PAGE, OPEN, PLAIN

ANY = {"type": "any"}
_MESSAGES = (
    "Thank you, that settles it for me.",
    "I have tried both, and the simple way was better.",
    "Could somebody explain the second step once more?",
    "Count me in for next time.",
    "Mine is ten years old and still fine.",
)
_SUBJECTS = (
    "Meeting in the first week of May",
    "Three things that I learned this year",
    "Looking for a partner on Saturdays",
    "A question about the rules",
    "Where do you buy yours?",
)
_QUESTIONS = ("When shall we meet?", "What day suits you best?", "Which evening is yours?")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SIGNATURES = (
    "Patience is a tool as well.",
    "Always glad to help.",
    "Still learning, every day.",
    "Do it once, do it right.",
    "Ask me about Tuesdays.",
)


def posted(topic: dict[str, Any], author: int, message: str) -> dict[str, Any]:
    says = f"“{topic['subject']}” has the reply"
    return added(says, "forum_conversation_post", topic_id=topic["id"], poster_id=author, content=message, approved=1)


def to_reply(message: str) -> list[Step]:
    return [
        {"do": "click", "text": "Post reply"},
        {"do": "write", "field": "content", "text": message},
        {"do": "click", "text": "Submit"},
    ]


def edited(says: str, post: dict[str, Any], by: int, **values: Any) -> dict[str, Any]:
    return changed(says, "forum_conversation_post", post["id"], updated_by_id=by, updates_count=ANY, **values)


def open_topics(world: World) -> list[dict[str, Any]]:
    return [topic for topic in world["topics"] if topic["status"] == OPEN]


def _answers(world: World) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Replies of the member with their topics, which are open and have one page."""
    topics = [(topic, seen(world, topic)) for topic in open_topics(world)]
    return [
        (each, post) for each, posts in topics if len(posts) <= ON_A_PAGE for post in posts[1:] if post["author"] == ME
    ]


def _reply(world: World, rng: random.Random) -> Goal:
    topic, message = rng.choice(open_topics(world)), rng.choice(_MESSAGES)
    plan = [*find(topic), *to_reply(message), done()]
    fields = {"subject": topic["subject"], "message": message}
    return Goal(f"{topic['id']}-{_MESSAGES.index(message)}", fields, [posted(topic, ME, message)], plan)


def _new(world: World, rng: random.Random) -> tuple[dict[str, str], dict[str, Any], dict[str, Any], list[Step]]:
    """A topic that is to be started: what it says, the facts of the topic and its post, and the way to the form."""
    forum = rng.choice(world["forums"])
    subject, message = rng.choice(_SUBJECTS), rng.choice(_MESSAGES)
    topic = added(
        f"{forum['name']} has the topic", "forum_conversation_topic",
        forum_id=forum["id"], subject=subject, poster_id=ME, type=0, status=0,
    )  # fmt: skip
    post = added("The post is there", "forum_conversation_post", subject=subject, content=message, poster_id=ME)
    steps: list[Step] = [
        {"do": "click", "text": forum["name"], "href": "/forum/"},
        {"do": "click", "text": "New topic"},
        {"do": "write", "field": "subject", "text": subject},
        {"do": "write", "field": "content", "text": message},
    ]
    return {"forum": forum["name"], "subject": subject, "message": message}, topic, post, steps


def _start(world: World, rng: random.Random) -> Goal:
    fields, topic, post, steps = _new(world, rng)
    key = f"{fields['forum']}-{_SUBJECTS.index(fields['subject'])}-{_MESSAGES.index(fields['message'])}"
    plan = [*steps, {"do": "click", "text": "Submit"}, done()]
    return Goal(key.replace(" ", "-").lower(), fields, [topic, post], plan)


def _start_poll(world: World, rng: random.Random) -> Goal:
    fields, topic, post, steps = _new(world, rng)
    question, (first, second) = rng.choice(_QUESTIONS), rng.sample(_DAYS, 2)
    facts = [
        topic,
        added("The poll is there", "forum_polls_topicpoll", question=question),
        *(added(f"It has the option {day}", "forum_polls_topicpolloption", text=day) for day in (first, second)),
    ]
    plan = [
        *steps,
        {"do": "click", "text": "Poll"},
        {"do": "write", "field": "poll_question", "text": question},
        {"do": "write", "field": "poll-0-text", "text": first},
        {"do": "write", "field": "poll-1-text", "text": second},
        {"do": "click", "text": "Submit"},
        done(),
    ]
    fields |= {"question": question, "first": first, "second": second}
    key = f"{fields['forum']}-{_SUBJECTS.index(fields['subject'])}-{first}-{second}"
    return Goal(key.replace(" ", "-").lower(), fields, facts, plan, [post["change"]])


def _edit(world: World, rng: random.Random) -> Goal:
    (topic, post), message = rng.choice(_answers(world)), rng.choice(_MESSAGES)
    fact = edited("The reply says so", post, ME, content=message, _content_rendered=ANY)
    plan = [
        *find(topic),
        {"do": "click", "text": "Edit"},
        {"do": "write", "field": "content", "text": message},
        {"do": "click", "text": "Submit"},
        done(),
    ]
    fields = {"subject": topic["subject"], "message": message}
    return Goal(f"{post['id']}-{_MESSAGES.index(message)}", fields, [fact], plan)


def _retitle(world: World, rng: random.Random) -> Goal:
    """Of a plain topic: what a member edits is neither sticky nor an announcement any more."""
    topic = rng.choice([each for each in open_topics(world) if each["starter"] == ME and each["type"] == PLAIN])
    post, new = seen(world, topic)[0], rng.choice(_SUBJECTS)
    facts = [
        edited("The post has the subject", post, ME, subject=new),
        changed("The topic has the subject", "forum_conversation_topic", topic["id"], subject=new),
    ]
    plan = [
        *find(topic),
        {"do": "click", "text": "Edit"},
        {"do": "write", "field": "subject", "text": new},
        {"do": "click", "text": "Submit"},
        done(),
    ]
    return Goal(f"{topic['id']}-{_SUBJECTS.index(new)}", {"subject": topic["subject"], "new": new}, facts, plan)


def _withdraw(world: World, rng: random.Random) -> Goal:
    topic, post = rng.choice(_answers(world))
    fact = removed(f"The reply to “{topic['subject']}” is gone", "forum_conversation_post", post["id"])
    plan = [*find(topic), {"do": "click", "text": "Delete"}, {"do": "click", "text": YES}, done()]
    return Goal(str(post["id"]), {"subject": topic["subject"]}, [fact], plan)


def _followed(world: World) -> dict[int, int]:
    """The ids of the member's subscriptions, by topic."""
    return {each["topic"]: each["id"] for each in world["subscriptions"] if each["member"] == ME}


def _subscribed(topic: dict[str, Any]) -> dict[str, Any]:
    says = f"“{topic['subject']}” is subscribed to"
    return added(says, "forum_conversation_topic_subscribers", topic_id=topic["id"], user_id=ME)


_TO_SUBSCRIBE: list[Step] = [{"do": "click", "text": "Subscribe"}, {"do": "click", "text": YES}]


def _subscribe(world: World, rng: random.Random) -> Goal:
    topic = rng.choice([each for each in world["topics"] if each["id"] not in _followed(world)])
    plan = [*find(topic), *_TO_SUBSCRIBE, done()]
    return Goal(str(topic["id"]), {"subject": topic["subject"]}, [_subscribed(topic)], plan)


def _follow_busiest(world: World, rng: random.Random) -> Goal:
    forum, topic, _ = busiest_topic(world, rng)
    while topic["id"] in _followed(world):
        forum, topic, _ = busiest_topic(world, rng)
    facts = [shown("The topic was shown", forum, topic["subject"]), _subscribed(topic)]
    into = {"do": "click", "text": topic["subject"], "href": "/forum/"}
    plan = [*to_topic_of(forum, topic), into, *_TO_SUBSCRIBE, done()]
    return Goal(str(topic["id"]), {"forum": forum}, facts, plan)


def _unsubscribe(world: World, rng: random.Random) -> Goal:
    topic, row = rng.choice(list(_followed(world).items()))
    subject = world["topics"][topic - 1]["subject"]
    fact = removed(f"“{subject}” is not subscribed to", "forum_conversation_topic_subscribers", row)
    plan = [
        {"do": "click", "text": "Subscriptions"},
        {"do": "click", "text": subject},
        {"do": "click", "text": "Unsubscribe"},
        {"do": "click", "text": YES},
        done(),
    ]
    return Goal(str(topic), {"subject": subject}, [fact], plan)


def _vote(world: World, rng: random.Random) -> Goal:
    poll = rng.choice(world["polls"])
    topic, option = world["topics"][poll["topic"] - 1], rng.choice(poll["options"])
    fact = added(
        f"There is a vote for {option['text']}", "forum_polls_topicpollvote", poll_option_id=option["id"], voter_id=ME
    )
    plan = [
        *find(topic),
        {"do": "click", "css": ".poll-options label", "text": option["text"]},
        {"do": "click", "css": ".poll-options [type=submit]"},
        done(),
    ]
    return Goal(str(option["id"]), {"subject": topic["subject"], "option": option["text"]}, [fact], plan)


def _signature(world: World, rng: random.Random) -> Goal:
    me, words = world["members"][0], rng.choice(_SIGNATURES)
    fact = changed("The signature says so", "forum_member_forumprofile", ME, signature=words, _signature_rendered=ANY)
    plan = [
        {"do": "click", "text": "View my posts"},
        {"do": "click", "text": me["name"], "href": "/member/profile/"},
        {"do": "click", "text": "Edit profile"},
        {"do": "write", "field": "signature", "text": words},
        {"do": "click", "text": "Submit"},
        done(),
    ]
    return Goal(str(_SIGNATURES.index(words)), {"words": words}, [fact], plan)


TEMPLATES = (
    Template(
        "reply",
        _reply,
        (
            "Reply to the topic “{subject}”: “{message}”",
            "Post the reply “{message}” in the topic “{subject}”.",
            "Answer the topic “{subject}” with “{message}”",
            "Write a reply to “{subject}” that says “{message}”",
            "The topic “{subject}” should get the reply “{message}” from me.",
        ),
        "member",
    ),
    Template(
        "start",
        _start,
        (
            "Start a topic in the forum {forum} with the subject “{subject}” and the text “{message}”",
            "Post a new topic in {forum}: subject “{subject}”, message “{message}”",
            "Open a topic “{subject}” in the forum {forum} that says “{message}”",
            "I want a new topic in {forum}. Its subject is “{subject}” and its message “{message}”",
            "Please begin a topic in {forum}, titled “{subject}”, with the message “{message}”",
        ),
        "member",
    ),
    Template(
        "start_poll",
        _start_poll,
        (
            "Start a topic in {forum}, subject “{subject}”, text “{message}”, with the poll “{question}” and the "
            "options {first} and {second}.",
            "Post a topic “{subject}” in the forum {forum} that says “{message}” and has a poll: “{question}”, "
            "{first} or {second}.",
            "Open a new topic in {forum} with the subject “{subject}” and the message “{message}”. Add a poll that "
            "asks “{question}” with the options {first} and {second}.",
            "I need a poll in {forum}: topic “{subject}”, message “{message}”, question “{question}”, options {first} "
            "and {second}.",
            "Please ask “{question}” in a poll with {first} and {second} to choose from, in a new topic “{subject}” "
            "of the forum {forum} with the text “{message}”",
        ),
        "member",
    ),
    Template(
        "edit",
        _edit,
        (
            "Change the text of my reply in “{subject}” to “{message}”",
            "Edit what I replied to the topic “{subject}”: it should say “{message}”",
            "My reply to “{subject}” is wrong. Replace its whole text by “{message}”",
            "In the topic “{subject}”, make my reply say “{message}” and nothing else.",
            "Please rewrite my reply in “{subject}”. Its new text is “{message}”",
        ),
        "member",
    ),
    Template(
        "retitle",
        _retitle,
        (
            "Change the subject of my topic “{subject}” to “{new}”.",
            "Rename my topic “{subject}”: its subject is “{new}” now.",
            "Edit my topic “{subject}” so that its subject is “{new}”.",
            "I started “{subject}”. Give it the subject “{new}” instead.",
            "The topic “{subject}” of mine needs another subject: “{new}”.",
        ),
        "member",
    ),
    Template(
        "withdraw",
        _withdraw,
        (
            "Delete my reply in the topic “{subject}”.",
            "Remove what I replied to “{subject}”.",
            "I regret my reply to “{subject}”. Delete it.",
            "Take my reply out of the topic “{subject}”.",
            "Please delete the post that I wrote in “{subject}”.",
        ),
        "member",
    ),
    Template(
        "subscribe",
        _subscribe,
        (
            "Subscribe to the topic “{subject}”.",
            "Add “{subject}” to my subscriptions.",
            "I want to follow the topic “{subject}”. Subscribe to it.",
            "Subscribe me to “{subject}”.",
            "My subscriptions should include the topic “{subject}”.",
        ),
        "member",
    ),
    Template(
        "follow_busiest",
        _follow_busiest,
        (
            "Subscribe to the topic in {forum} that has most replies.",
            "Find the topic with the most replies in the forum {forum} and subscribe to it.",
            "Add the topic of {forum} with the highest number of replies to my subscriptions.",
            "Of all topics in {forum}, subscribe to the one that was replied to most.",
            "I want to be subscribed to the most replied-to topic of the forum {forum}.",
        ),
        "member",
    ),
    Template(
        "unsubscribe",
        _unsubscribe,
        (
            "Unsubscribe from the topic “{subject}”.",
            "Remove “{subject}” from my subscriptions.",
            "End my subscription of the topic “{subject}”.",
            "I do not want to follow “{subject}” any more. Unsubscribe from it.",
            "Take the topic “{subject}” off my subscriptions.",
        ),
        "member",
    ),
    Template(
        "vote",
        _vote,
        (
            "Vote for “{option}” in the poll of the topic “{subject}”.",
            "In the topic “{subject}” there is a poll. Choose “{option}”.",
            "Cast my vote for “{option}” in “{subject}”.",
            "Take part in the poll of “{subject}”: my vote is “{option}”.",
            "Please give my vote in the topic “{subject}” to “{option}”.",
        ),
        "member",
    ),
    Template(
        "signature",
        _signature,
        (
            "Change my signature to “{words}”",
            "Set the signature of my profile to “{words}”",
            "Edit my forum profile so that the signature is “{words}”",
            "My posts should be signed “{words}” Put it into my profile.",
            "I would like “{words}” as the signature under my posts.",
        ),
        "member",
    ),
)

"""Tasks of somebody who reads in the forum and has not logged in."""

from __future__ import annotations

import random
from typing import Any

from webdojo.envs.apps.goal import Goal, Step, Template, World, answered, shown
from webdojo.envs.apps.machina.world import replies
from webdojo.sites.answers.values import number, text, winner

YES = "Yes, I'm sure"
"""The button of every question whether one is sure."""


def done(answer: str = "Done") -> Step:
    return {"do": "done", "answer": answer}


def find(topic: dict[str, Any]) -> list[Step]:
    """Search for a topic and open it."""
    return [
        {"do": "write", "field": "q", "text": f'"{topic["subject"]}"', "enter": True},
        {"do": "click", "text": topic["subject"], "href": "/forum/"},
    ]


def names(world: World) -> dict[int, str]:
    """The names of all members, by id."""
    return {each["id"]: each["name"] for each in world["members"]}


def forum_names(world: World) -> dict[int, str]:
    return {each["id"]: each["name"] for each in world["forums"]}


def seen(world: World, topic: dict[str, Any]) -> list[dict[str, Any]]:
    """The posts of a topic that wait for no moderator, first to last."""
    return [post for post in world["posts"] if post["topic"] == topic["id"] and post["approved"]]


def busiest_topic(world: World, rng: random.Random) -> tuple[str, dict[str, Any], list[str]]:
    """A forum, its topic with most replies, and the subjects of its others."""
    count, forums = replies(world), forum_names(world)
    while True:
        forum = rng.choice(list(forums))
        group = [each for each in world["topics"] if each["forum"] == forum]
        best = max(group, key=lambda topic: count[topic["id"]])
        if sum(count[each["id"]] == count[best["id"]] for each in group) == 1:
            return forums[forum], best, [each["subject"] for each in group if each is not best]


def to_topic_of(forum: str, topic: dict[str, Any]) -> list[Step]:
    """Go to a forum and on to the page that lists a topic."""
    return [
        {"do": "click", "text": forum, "href": "/forum/"},
        {"do": "page", "text": topic["subject"], "next": "»"},
    ]


def _topic_shown(topic: dict[str, Any], by: str) -> dict[str, Any]:
    return shown(f"“{topic['subject']}” was shown", topic["subject"], f"By: {by}")


def _named(world: World, topic: dict[str, Any], who: str) -> list[dict[str, Any]]:
    """The facts of a question that a member who wrote in a topic is the answer to."""
    others = sorted(set(names(world).values()) - {who})
    return [_topic_shown(topic, who), answered(f"The answer is {who}", text(who), [topic["subject"]], others)]


def _author(world: World, rng: random.Random) -> Goal:
    topic = rng.choice(world["topics"])
    who = names(world)[topic["starter"]]
    plan = [*find(topic), done(who)]
    return Goal(str(topic["id"]), {"subject": topic["subject"]}, _named(world, topic, who), plan)


def _last(world: World, rng: random.Random) -> Goal:
    topic = rng.choice([each for each in world["topics"] if replies(world)[each["id"]]])
    who = names(world)[seen(world, topic)[-1]["author"]]
    plan = [*to_topic_of(forum_names(world)[topic["forum"]], topic), done(who)]
    return Goal(str(topic["id"]), {"subject": topic["subject"]}, _named(world, topic, who), plan)


def _says(world: World, rng: random.Random) -> Goal:
    post = rng.choice([each for each in world["posts"] if each["approved"]])
    topic, who = world["topics"][post["topic"] - 1], names(world)[post["author"]]
    plan: list[Step] = [{"do": "write", "field": "q", "text": f'"{post["quote"]}"', "enter": True}, done(who)]
    return Goal(str(post["id"]), {"quote": post["quote"]}, _named(world, topic, who), plan)


def _replies(world: World, rng: random.Random) -> Goal:
    topic = rng.choice(world["topics"])
    count = replies(world)[topic["id"]]
    facts = [
        _topic_shown(topic, names(world)[topic["starter"]]),
        answered(f"The answer is {count}", number(count), [topic["subject"]]),
    ]
    plan = [*to_topic_of(forum_names(world)[topic["forum"]], topic), done(str(count))]
    return Goal(str(topic["id"]), {"subject": topic["subject"]}, facts, plan)


def _livelier(world: World, rng: random.Random) -> Goal:
    count, people = replies(world), names(world)
    pair = rng.sample(world["topics"], 2)
    while count[pair[0]["id"]] == count[pair[1]["id"]]:
        pair = rng.sample(world["topics"], 2)
    figures = [count[each["id"]] for each in pair]
    best = figures.index(max(figures))
    a, b = (each["subject"] for each in pair)
    facts = [
        *(_topic_shown(each, people[each["starter"]]) for each in pair),
        answered(f"The answer is {pair[best]['subject']}", winner([[a], [b]], best, figures), [a, b]),
    ]
    home = {"do": "click", "text": "Forum index"}
    lists = [to_topic_of(forum_names(world)[each["forum"]], each) for each in pair]
    plan = [*lists[0], home, *lists[1], done(pair[best]["subject"])]
    return Goal(f"{pair[0]['id']}-{pair[1]['id']}", {"a": a, "b": b}, facts, plan)


def _poll(world: World, rng: random.Random) -> Goal:
    poll = rng.choice(world["polls"])
    topic = world["topics"][poll["topic"] - 1]
    best = max(poll["options"], key=lambda option: len(option["voters"]))
    total = sum(len(option["voters"]) for option in poll["options"])
    others = [option["text"] for option in poll["options"] if option is not best]
    facts = [
        shown("The votes were shown", poll["question"], best["text"], f"Total votes: {total}"),
        answered(f"The answer is {best['text']}", text(best["text"]), [topic["subject"]], others),
    ]
    return Goal(str(poll["id"]), {"subject": topic["subject"]}, facts, [*find(topic), done(best["text"])])


def _started(world: World, rng: random.Random) -> Goal:
    topic = rng.choice(world["topics"])
    who = names(world)[topic["starter"]]
    count = sum(each["starter"] == topic["starter"] for each in world["topics"])
    facts = [
        _topic_shown(topic, who),
        shown(f"The profile of {who} was shown", f"{who} profile", f"{count} Topic{'s' if count > 1 else ''}"),
        answered(f"The answer is {count}", number(count), [topic["subject"], who]),
    ]
    plan = [*find(topic), {"do": "click", "text": who, "href": "/member/profile/"}, done(str(count))]
    return Goal(str(topic["id"]), {"subject": topic["subject"]}, facts, plan)


def _busiest(world: World, rng: random.Random) -> Goal:
    forum, best, others = busiest_topic(world, rng)
    facts = [
        shown("The topic was shown", forum, best["subject"]),
        answered(f"The answer is {best['subject']}", text(best["subject"]), [forum], others),
    ]
    return Goal(str(best["forum"]), {"forum": forum}, facts, [*to_topic_of(forum, best), done(best["subject"])])


TEMPLATES = (
    Template(
        "author",
        _author,
        (
            "Who started the topic “{subject}”?",
            "What is the user name of whoever opened the topic “{subject}”?",
            "Find the topic “{subject}” and tell me who started it.",
            "Which member began “{subject}”?",
            "Look up who the topic “{subject}” was started by.",
        ),
    ),
    Template(
        "last",
        _last,
        (
            "Who wrote the last post of the topic “{subject}”?",
            "Who was the last to post in “{subject}”?",
            "Which member posted last in the topic “{subject}”?",
            "Tell me whose post is the latest one in “{subject}”.",
            "The topic “{subject}” has a newest post. Who is it from?",
        ),
    ),
    Template(
        "says",
        _says,
        (
            "Who wrote “{quote}”?",
            "Find the post that says “{quote}” Which member wrote it?",
            "Somebody wrote “{quote}” What is their user name?",
            "Search for “{quote}” and tell me who said so.",
            "Which member has a post with the sentence “{quote}”?",
        ),
    ),
    Template(
        "replies",
        _replies,
        (
            "How many replies does the topic “{subject}” have?",
            "How often was the topic “{subject}” replied to?",
            "Count the replies to “{subject}”.",
            "Tell me the number of replies in the topic “{subject}”.",
            "What number of replies does the forum show for “{subject}”?",
        ),
    ),
    Template(
        "livelier",
        _livelier,
        (
            "Which topic has more replies, “{a}” or “{b}”?",
            "Did more people reply to “{a}” or to “{b}”? Name the topic with more replies.",
            "Compare “{a}” and “{b}”: which of the two has more replies?",
            "Of the topics “{a}” and “{b}”, which one got more replies?",
            "Tell me which has the higher number of replies: “{a}” or “{b}”.",
        ),
    ),
    Template(
        "poll",
        _poll,
        (
            "What leads the poll in the topic “{subject}”?",
            "Which option has most votes in the poll of “{subject}”?",
            "Look at the poll in “{subject}”. Which option is ahead?",
            "Tell me what most people voted for in the topic “{subject}”.",
            "There is a poll in “{subject}”. What is its most popular option?",
        ),
    ),
    Template(
        "started",
        _started,
        (
            "How many topics has the member who started “{subject}” started in all?",
            "Look at the profile of whoever started “{subject}”. How many topics does it count?",
            "Find out who opened the topic “{subject}”, and how many topics this member has opened.",
            "What number of topics does the profile of the author of the topic “{subject}” show?",
            "Tell me how many topics there are by the member who began “{subject}”.",
        ),
    ),
    Template(
        "busiest",
        _busiest,
        (
            "Which topic in the forum {forum} has most replies?",
            "What is the topic with the most replies in {forum}?",
            "Find the topic of the forum {forum} that was replied to most often.",
            "Tell me the subject of the topic in {forum} with the highest number of replies.",
            "In the forum {forum}, which topic got the most replies?",
        ),
    ),
)

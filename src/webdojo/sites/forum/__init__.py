"""Forums: boards of threads to read, answer, follow and report, and the members who write them."""

from __future__ import annotations

import random

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Block, Field, Post
from webdojo.sites.catalog import Attribute, Collection, Entity
from webdojo.sites.content.drawing import DATE_LIMITS, Limits, day, discussion, entity, measure, recent, titled
from webdojo.sites.content.people import people, towns
from webdojo.sites.content.words import items
from webdojo.sites.forum import topics
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import Overlay, Page

MEMBERS = 40
_SHOWN_REPLIES = 4
_TAGLINES = (
    "All about {theme}, by people who do it",
    "The friendly corner for {theme}",
    "Questions and answers on {theme}",
    "A small community for {theme}",
)
_HEADINGS = ("What are you working on?", "Welcome to the forum", "Good to see you")

_WORDS = (
    "Thank you, that helped a lot",
    "Try it again on a dry day",
    "I would wait another week",
    "Please post a picture of it",
    "The cheap ones are just as good",
    "Ask the shop to swap it",
    "Mine did the same for a month",
    "Start small and see how it goes",
    "Have you read the guide on this",
    "It depends on the weather",
)
_SUBJECTS = items(
    "Notes after the first month, Looking for people nearby, Three things nobody told me, Where do you keep your "
    "tools, A question about the basics, Best book on the subject, Meeting on Saturday morning, What I would do "
    "differently"
)
_NOTES = ("It is posted twice", "This has nothing to do with us", "The tone is not nice", "It only links to a shop")
_LOCKED = ("status", "Locked", "locked")
ACTIONS = (
    Action("vote", "Vote up", "You voted for {name}.", collection="threads")
    .asked("vote up {name}", "give an upvote to {name}", "add your vote to {name}")
    .setting(voted="yes")
    .refusing(("voted", "yes", "already voted for")),
    Action("solve", "Mark solved", "{name} is marked as solved.", collection="threads")
    .asked("mark {name} as solved", "set {name} to solved", "close {name} as solved")
    .setting(status="Solved")
    .refusing(_LOCKED, ("status", "Solved", "already solved")),
    Action("reply", "Reply", "Your reply to {name} is online.", collection="threads")
    .asked(
        "reply “{text}” to {name}", "answer {name} with the words “{text}”", "post a reply that says “{text}” to {name}"
    )
    .with_fields(Field("text", "Your reply", "textarea", _WORDS))
    .making("replies")
    .refusing(_LOCKED),
    Action("follow", "Follow", "You follow {name} now.", collection="threads")
    .asked(
        "follow {name} for {days} days with the notice “{notice}”",
        "subscribe to {name} for {days} days and choose “{notice}” as the notice",
        "watch {name} with “{notice}” as the notice for {days} days",
    )
    .with_fields(
        Field("notice", "Notice", "select", ("Every reply", "Once a day", "Once a week", "Mentions only")),
        Field("days", "For how many days", "number", least=2, most=60),
    ),
    Action("report", "Report", "Thank you, the moderators will look at {name}.", collection="threads")
    .asked(
        "report {name} for the reason “{reason}” with the note “{note}”",
        "tell the moderators about {name}: reason “{reason}”, note “{note}”",
        "flag {name} as “{reason}” and add the note “{note}”",
    )
    .with_fields(
        Field("reason", "Reason", "radio", ("Spam", "Off topic", "Rude", "Duplicate")),
        Field("note", "Note", options=_NOTES),
    )
    .making("reports"),
    Action("thread", "New thread", "Your thread is online.")
    .asked(
        "start a thread titled “{name}” in {board} with the text “{text}”",
        "post a thread in {board}; its title is “{name}” and its text “{text}”",
        "open a topic on the board {board} with “{name}” as title and “{text}” as text",
    )
    .with_fields(
        Field("board", "Board", "select"),
        Field("name", "Title", options=_SUBJECTS),
        Field("text", "Text", "textarea", _WORDS),
    )
    .making("threads", author="You", date="2027-03-01", status="Open"),
    Action("message", "Send", "Your message to {name} is sent.", collection="members")
    .asked(
        "send the private message “{text}” with the subject “{subject}” to {name}",
        "write to {name}: subject “{subject}”, message “{text}”",
        "message {name} about “{subject}” with the words “{text}”",
    )
    .with_fields(Field("subject", "Subject", options=_SUBJECTS), Field("text", "Message", "textarea", _WORDS))
    .making("messages")
    .refusing(("inbox", "Closed", "closed for messages")),
)
THREAD = (
    Attribute("board", "Board", listed=True, filter="is", phrase="in {value}"),
    Attribute("author", "Author", listed=True),
    Attribute("date", "Date", "date", "", True, "min", "Oldest first", "oldest", "posted on or after {value}"),
    measure("replies", "Reply count", "", "min", "Fewest replies first", "least answered"),
    measure("votes", "Score", "", "min", "Lowest score first", "lowest scoring"),
    Attribute("status", "Status", filter="is", phrase="marked as {value}"),
    Attribute("views", "View count", "number"),
    Attribute("last", "Last poster"),
    Attribute("edited", "Last edit", "date", noun="date of the last edit"),
)
_THREAD_LIMITS: Limits = {"date": DATE_LIMITS, "replies": (10, 50, 150), "votes": (20, 100, 300)}
MEMBER = (
    Attribute("role", "Role", listed=True, filter="is", phrase="with the role {value}"),
    Attribute("town", "Town", listed=True, filter="is", phrase="from {value}"),
    Attribute("joined", "Join date", "date", "", True, "", "Longest here first", "longest standing"),
    measure("posts", "Post count", "", "min", "Fewest posts first", "least active"),
    Attribute("interest", "Favourite board"),
    Attribute("inbox", "Inbox", asked=False),
)


class Forum(CatalogSite):
    """One forum about one theme."""

    kind = "forum"
    headings: tuple[str, ...] = _HEADINGS

    def draw(self, rng: random.Random) -> list[Collection]:
        theme = rng.choice(topics.THEMES)
        self.tagline = rng.choice(_TAGLINES).format(theme=theme.name)
        self.headings = (theme.heading, *_HEADINGS)
        boards = {sort: rng.choice(names) for sort, names in topics.BOARDS.items()}
        self.actions = tuple(action.offering(board=tuple(boards.values())) for action in ACTIONS)
        names, homes = people(rng, MEMBERS), towns(rng, 6)
        titles, gone = titled(rng.randint(240, 420), lambda: _title(rng, theme))
        replies, votes = rng.sample(range(1, 500), len(titles)), rng.sample(range(900), len(titles))
        threads = [
            _thread(rng, title, boards[sort], names, since, *counts)
            for (sort, title), since, *counts in zip(titles, recent(rng, len(titles)), replies, votes, strict=True)
        ]
        joined = rng.sample(range(900, 4000), MEMBERS)
        posts = rng.sample(range(20, 3000), MEMBERS)
        interests = [rng.choice(tuple(boards.values())) for _ in names]
        members = [_member(rng, *each, homes) for each in zip(names, joined, posts, interests, strict=True)]
        return [
            Collection("threads", "Threads", "thread", "threads", THREAD, tuple(threads), _THREAD_LIMITS, gone),
            Collection("members", "Members", "member", "members", MEMBER, tuple(members), {"posts": (100, 500, 1500)}),
        ]

    def extra(self, page: Page, overlay: Overlay) -> list[Block]:
        if page.name != "entity" or page.data["collection"].slug != "threads":
            return []
        thread: Entity = page.data["entity"]
        rng = random.Random(f"{self.host}-{thread.slug}")
        members = [entity.name for entity in self.collections["members"].entities]
        count = min(int(thread.values["replies"]), _SHOWN_REPLIES)
        said = map(Post, rng.sample(members, count), rng.sample(topics.REPLIES, count))
        return discussion("Latest replies", said, "replies", thread, overlay)


def _title(rng: random.Random, theme: topics.Theme) -> tuple[str, str]:
    """Draw a title and the sort of board that it belongs to."""
    sort = rng.choice(tuple(topics.BOARDS))
    thing, other = rng.sample(theme.things, 2)
    title = rng.choice(topics.TITLES[sort]).format(
        thing=thing,
        other=other,
        deed=rng.choice(theme.deeds),
        fault=rng.choice(theme.faults),
        place=rng.choice(theme.places),
    )
    return sort, title


def _thread(
    rng: random.Random, title: str, board: str, names: list[str], since: int, replies: int, votes: int
) -> Entity:
    return entity(
        title,
        board=board,
        author=rng.choice(names),
        date=day(since),
        replies=replies,
        votes=votes,
        status=rng.choice(("Open", "Open", "Open", "Solved", "Solved", "Locked")),
        views=replies * rng.randint(11, 60),
        last=rng.choice(names),
        edited=day(since + rng.randint(0, 9)),
        texts=(f"{rng.choice(topics.OPENINGS)} {rng.choice(topics.MIDDLES)}", rng.choice(topics.CLOSINGS)),
    )


def _member(rng: random.Random, name: str, joined: int, posts: int, interest: str, homes: list[str]) -> Entity:
    return entity(
        name,
        role=rng.choice(("Newcomer", "Regular", "Expert", "Moderator")),
        town=rng.choice(homes),
        joined=day(-joined),
        posts=posts,
        interest=interest,
        inbox=rng.choice(("Open", "Open", "Open", "Closed")),
    )

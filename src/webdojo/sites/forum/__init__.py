"""Forums: boards of threads to read, answer, follow and report, and the members who write them."""

from __future__ import annotations

import random
from dataclasses import dataclass

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Block, Field, Post
from webdojo.sites.catalog import Attribute, Collection, Entity
from webdojo.sites.content.drawing import DATE_LIMITS, Limits, day, discussion, entity, measure, recent, titled
from webdojo.sites.content.people import people, towns
from webdojo.sites.content.words import items
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import Overlay, Page


@dataclass(frozen=True)
class Theme:
    """The subject of one forum."""

    name: str
    heading: str
    things: tuple[str, ...]
    """Singular nouns with their article."""
    deeds: tuple[str, ...]
    """Verbs that take a thing."""
    faults: tuple[str, ...]
    """What a thing does when something is wrong."""
    places: tuple[str, ...]


_THEMES = (
    (
        "gardening",
        "Talk about everything that grows",
        "a lemon tree, a rose bush, a tomato plant, an olive tree, a hedge, a lawn, a fern, an orchid, a "
        "compost heap, a greenhouse, a pond, a raised bed, a fig tree, a herb spiral, a climbing vine, a "
        "rain barrel, a peony, a cactus",
        "prune, feed, water, move, shade, protect, grow, save",
        "drops its leaves, turns yellow, stays small, attracts snails, smells odd, dries out",
        "on a balcony, in clay soil, in full sun, under a tree, in a small yard, near the coast",
    ),
    (
        "cycling",
        "For everyone on two wheels",
        "a gravel bike, a dynamo lamp, a rear wheel, a leather saddle, a folding bike, a chain guard, a "
        "disc brake, a cargo bike, a bottom bracket, a tubeless tyre, a pannier, a child seat, a shift "
        "cable, a steel frame, a helmet",
        "clean, adjust, choose, fit, repair, carry, lock, replace",
        "squeaks, slips, rattles, wears out fast, comes loose, leaks",
        "in the rain, on long tours, in city traffic, on steep hills, in winter, on cobbles",
    ),
    (
        "photography",
        "Light, lenses and long evenings",
        "a portrait lens, a tripod, a film camera, a light meter, a flash, a camera strap, a darkroom, a "
        "wide lens, a colour filter, a memory card, a photo book, a view finder, a softbox, a slide "
        "scanner, a pinhole camera",
        "choose, clean, test, calibrate, carry, sell, store, mount",
        "shows strange stripes, loses focus, sticks, flickers, turns pictures green, stops working",
        "at night, in the snow, at weddings, on the beach, in the forest, with children",
    ),
    (
        "home networks",
        "Wires, waves and where they fail",
        "a router, a mesh node, a network switch, a home server, a printer, a smart plug, a doorbell "
        "camera, a firewall, a patch panel, a powerline adapter, a media player, a backup drive, a wall "
        "socket, a guest network, a thin client",
        "set up, reset, secure, update, place, rename, monitor, replace",
        "keeps rebooting, drops the connection, runs hot, blinks red, forgets its settings, is very slow",
        "in an old house, behind thick walls, in the attic, for the office, in a shared flat, in the garage",
    ),
    (
        "baking",
        "Flour, water, salt and patience",
        "a sourdough loaf, a rye starter, a puff pastry, a cheese cake, a bread oven, a dough mixer, a "
        "baguette, a brioche, a proving basket, a pie crust, a pizza stone, a fruit cake, a honey cake, a"
        " bagel, a sponge, a flat bread",
        "freeze, shape, rescue, knead, store, cool, glaze, warm up",
        "collapses, tears, stays raw inside, tastes sour, sticks to the tin, will not rise",
        "at high altitude, in a small kitchen, without eggs, in a gas oven, for a crowd, in summer",
    ),
    (
        "woodworking",
        "Made of wood, made by hand",
        "a hand plane, a dovetail joint, a workbench, a table saw, a chisel, an oak board, a drawer, a "
        "wooden spoon, a lathe, a rocking chair, a clamp, a tool chest, a walnut shelf, a sharpening "
        "stone, a mallet, a picture frame",
        "sharpen, flatten, glue, sand, finish, build, restore, plan",
        "warps, splits, wobbles, leaves marks, burns the wood, will not stay square",
        "in a tiny workshop, without machines, outdoors, with green wood, for beginners, on a budget",
    ),
    (
        "board games",
        "It is always your turn here",
        "a trading game, a card game, a solo variant, a dice tower, a game shelf, a war game, a party "
        "game, a tile game, a rule book, a campaign, a game mat, a word game, a bluffing game, a family "
        "game, a puzzle hunt, a score pad",
        "teach, shorten, store, sleeve, win, host, trade, balance",
        "drags on, ends too early, confuses everyone, favours the first player, misses a piece, starts a quarrel",
        "with two players, with small children, at the office, on a train, in a big group, on rainy days",
    ),
    (
        "hiking",
        "One foot after the other",
        "a ridge walk, a rain jacket, a trail stove, a tent, a walking pole, a mountain hut, a map case, "
        "a sleeping bag, a backpack, a river crossing, a day hike, a pair of boots, a head lamp, a water "
        "filter, a bivouac, a wool hat",
        "choose, pack, plan, dry, repair, lend, waterproof, shorten",
        "leaks, causes blisters, freezes, weighs too much, tears, takes too long",
        "in spring, above the tree line, with a dog, in fog, alone, on the coast path",
    ),
)
THEMES = tuple(Theme(name, heading, *map(items, words)) for name, heading, *words in _THEMES)

BOARDS: dict[str, tuple[str, ...]] = {
    "help": ("Help", "Questions", "Troubleshooting", "Ask Anything"),
    "advice": ("Advice", "Buying Advice", "Recommendations"),
    "show": ("Showcase", "Your Projects", "Show and Tell"),
    "market": ("Marketplace", "Swap Shop", "Buy and Sell"),
    "guides": ("Guides", "How-To", "Tutorials"),
    "lounge": ("Lounge", "Off Topic", "Chat"),
}
"""Names of each board of a forum."""

TITLES: dict[str, tuple[str, ...]] = {
    "help": (
        "Why is it that {thing} {fault}?",
        "What to do when {thing} {fault} {place}",
        "My friend has {thing} that {fault}",
        "How can I {deed} {thing} {place}?",
        "Help, {thing} {fault} again",
        "Is it normal that {thing} {fault} {place}?",
    ),
    "advice": (
        "Is {thing} worth the money?",
        "How often do you {deed} {thing}?",
        "Looking for {thing} to use {place}",
        "Would you {deed} {thing} {place}?",
        "What should I know before I get {thing}?",
        "Who would {deed} {thing} for me?",
    ),
    "show": (
        "Finally got {thing} to work {place}",
        "A weekend with {thing} {place}",
        "How I learned to {deed} {thing}",
        "Before and after: {thing} {place}",
        "Proud owner of {thing}",
        "From scratch: {thing} made {place}",
    ),
    "market": (
        "For sale: {thing}, hardly used",
        "Wanted: {thing} for use {place}",
        "Giving away {thing}",
        "Swap: {thing} for {other}",
        "Free to a good home: {thing}",
        "Looking to borrow {thing}",
    ),
    "guides": (
        "How to {deed} {thing} {place}",
        "A short guide to {thing} {place}",
        "Step by step: {deed} {thing}",
        "Common mistakes with {thing} {place}",
        "The right way to {deed} {thing}",
        "Everything I know about {thing}",
    ),
    "lounge": (
        "If {thing} could talk",
        "Songs that mention {thing}",
        "Would you rather have {thing} or {other}?",
        "Dreamt of {thing} {place}",
        "My neighbour and {thing}",
        "Unpopular opinion: {thing} is overrated {place}",
    ),
}
"""Titles of threads by the board that they stand on."""

OPENINGS = (
    "First of all, hello to everybody here. I have been reading along for quite a while.",
    "I searched the forum before asking, but the answers that I found did not quite fit.",
    "Short version: I am stuck. Long version below.",
    "This came up at dinner last night and nobody at the table could agree.",
    "I took a few notes along the way, so here they are for whoever needs them.",
    "Please be kind, this is only my second attempt.",
    "After a long break I am back at it, and a lot has changed since then.",
    "Maybe somebody has been through the same and can tell me how it ended.",
)
MIDDLES = (
    "So far I have tried the obvious things, and none of them made much of a difference.",
    "The shop was friendly but could not say more than what the manual says.",
    "A friend told me to leave it alone for a while and see what happens.",
    "It took more time than I had planned, but I learned a lot on the way.",
    "What surprised me most is how little the price says about the quality.",
    "I would do a few things in another order if I started again.",
    "My family has learned to live with it, which is another kind of success.",
)
CLOSINGS = (
    "Any hint is welcome.",
    "Thanks for reading this far.",
    "Pictures follow when the light is better.",
    "Let me know what you think.",
    "I am curious how others see this.",
    "Corrections are welcome, as always.",
)
REPLIES = (
    "I had the same last year. It went away by itself.",
    "Take your time and do not force anything.",
    "This deserves more attention than it gets.",
    "I disagree, but politely.",
    "Have a look at the guides, there is a good one about this.",
    "My grandmother used to say: leave it overnight.",
    "Works for me, and has for years.",
    "Could you add a picture? It is hard to tell from the words alone.",
    "Following, because I would like to know as well.",
    "Thank you, that is just what I needed to hear.",
    "Be careful with that, I learned it the hard way.",
    "There is no wrong answer here, only expensive ones.",
)
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
        "follow {name}: for {days} days, with the notice “{notice}”",
        "subscribe to {name} for {days} days and choose “{notice}” as the notice",
        "watch {name} with “{notice}” as the notice, for {days} days",
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
        "start a topic on the board {board} with “{name}” as title and “{text}” as text",
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
    Attribute("author", "Author", listed=True, person=True),
    Attribute("date", "Date", "date", "", True, "min", "Oldest first", "oldest", "posted on or after {value}"),
    measure("replies", "Reply count", "", "min", "Least answered first", "least answered"),
    measure("votes", "Score", "", "min", "Lowest-scoring first", "lowest-scoring"),
    Attribute("status", "Status", filter="is", phrase="marked as {value}"),
    Attribute("views", "View count", "number"),
    Attribute("last", "Last poster", person=True),
    Attribute("edited", "Last edit", "date", noun="date of the last edit"),
)
_THREAD_LIMITS: Limits = {"date": DATE_LIMITS, "replies": (10, 50, 150), "votes": (20, 100, 300)}
MEMBER = (
    Attribute("role", "Role", listed=True, filter="is", phrase="with the role {value}"),
    Attribute("town", "Town", listed=True, filter="is", phrase="from {value}"),
    Attribute("joined", "Join date", "date", "", True, "", "Longest-standing first", "longest-standing"),
    measure("posts", "Post count", "", "min", "Least active first", "least active"),
    Attribute("interest", "Favourite board"),
    Attribute("inbox", "Inbox", asked=False),
)


class Forum(CatalogSite):
    kind = "forum"
    headings: tuple[str, ...] = _HEADINGS

    def draw(self, rng: random.Random) -> list[Collection]:
        theme = rng.choice(THEMES)
        self.tagline = rng.choice(_TAGLINES).format(theme=theme.name)
        self.headings = (theme.heading, *_HEADINGS)
        boards = {sort: rng.choice(names) for sort, names in BOARDS.items()}
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
            Collection(
                *("threads", "Threads", "thread", "threads", THREAD, tuple(threads), _THREAD_LIMITS, gone),
                title="title",
            ),
            Collection(
                "members",
                "Members",
                "member",
                "members",
                MEMBER,
                tuple(members),
                {"posts": (100, 500, 1500)},
                people=True,
            ),
        ]

    def extra(self, page: Page, overlay: Overlay) -> list[Block]:
        if page.name != "entity" or page.data["collection"].slug != "threads":
            return []
        thread: Entity = page.data["entity"]
        rng = random.Random(f"{self.host}-{thread.slug}")
        members = [entity.name for entity in self.collections["members"].entities]
        count = min(int(thread.values["replies"]), _SHOWN_REPLIES)
        said = map(Post, rng.sample(members, count), rng.sample(REPLIES, count))
        return discussion("Latest replies", said, "replies", thread, overlay)


def _title(rng: random.Random, theme: Theme) -> tuple[str, str]:
    """Draw a title and the sort of board that it belongs to."""
    sort = rng.choice(tuple(BOARDS))
    thing, other = rng.sample(theme.things, 2)
    title = rng.choice(TITLES[sort]).format(
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
        texts=(f"{rng.choice(OPENINGS)} {rng.choice(MIDDLES)}", rng.choice(CLOSINGS)),
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

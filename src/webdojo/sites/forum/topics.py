"""What forums talk about: a theme gives the nouns, verbs and places that titles are made of."""

from __future__ import annotations

from dataclasses import dataclass

from webdojo.sites.content.words import items


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

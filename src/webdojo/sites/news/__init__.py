"""Newspapers: articles by section and author to read, comment, rate and save, and letters to the editors."""

from __future__ import annotations

import random
from collections import Counter

from webdojo.sites import host_of
from webdojo.sites.actions import Action
from webdojo.sites.blocks import Block, Card, Cards, Field, Frame, Post
from webdojo.sites.catalog import Attribute, Collection, Entity
from webdojo.sites.content.drawing import DATE_LIMITS, Limits, day, discussion, entity, measure, recent, titled
from webdojo.sites.content.people import ADDRESSES, USERS, people, towns
from webdojo.sites.content.words import items
from webdojo.sites.goal import Goal, done, fact, place, visit
from webdojo.sites.instructions.references import refer
from webdojo.sites.pages import CatalogSite, made
from webdojo.sites.site import Overlay, Page
from webdojo.sites.travel import Travel

_GAPS = {
    "body": "council, school board, mayor, planning office, harbour office, district court, transport board",
    "place": "library, swimming pool, old bridge, town square, railway station, hospital, market hall, bus "
    "depot, cinema, lighthouse, city park, ferry dock, bike path, water tower",
    "deed": "close, repair, sell, repaint, move, reopen, name, widen, protect, light up",
    "firm": "bakery, shipyard, start-up, brewery, printer, paper mill, bank, florist, garage, toy maker, "
    "dairy, bookshop",
    "good": "bread, bicycles, solar roofs, wooden toys, tea, cheese, ferries, phone cases, beer, glass, "
    "umbrellas, boots",
    "team": "Rovers, Eagles, Harbour Club, Wanderers, Falcons, Blues, Mariners, Foxes, Rowing Club, Juniors",
    "match": "cup final, season opener, home game, replay, charity run, regatta, marathon, night race, derby, relay",
    "mood": "surprising, quiet, bitter, late, clear, lucky, brave, narrow, well-earned, strange",
    "art": "novel, play, opera, exhibition, film, album, mural, festival, puppet show, photo series, radio "
    "drama, musical",
    "idea": "winter, the sea, silence, old age, a lost dog, trains, bees, night shifts, sisters, maps, bread, rain",
    "finding": "bees, old trees, sea grass, bats, street lights, batteries, glaciers, tides, moss, owls, sleep, soil",
    "who": "nurses, teachers, pensioners, students, drivers, farmers, shop owners, parents, volunteers, commuters",
    "dish": "lentil soup, apple cake, fish stew, rye bread, pumpkin pie, plum jam, onion tart, dumplings, pea salad",
}
GAPS = {gap: items(text) for gap, text in _GAPS.items()}

HEADLINES = {
    "Local": (
        "{town} {body} wants to {deed} the {place}",
        "Neighbours in {town} fight for the {place}",
        "Why the {place} in {town} is still closed",
        "A new start for the {place} in {town}",
        "{town} asks its {who} what to do with the {place}",
    ),
    "Business": (
        "{town} {firm} bets on {good}",
        "How a small {firm} from {town} came to sell {good}",
        "The {firm} that gave up {good}",
        "{Who} buy a {firm} in {town}",
        "Prices of {good} rise again, says {firm} in {town}",
    ),
    "Sports": (
        "{town} {team} celebrate a {mood} win in the {match}",
        "{Mood} end to the {match} in {town}",
        "{team} before the {match}: a {mood} mood",
        "Rain stops the {match} in {town}",
        "The {who} who cheer for the {town} {team}",
    ),
    "Culture": (
        "A {mood} {art} about {idea}",
        "{town} shows an {adjective} {art} about {idea}",
        "The {art} that grew out of {idea}",
        "What {who} see in {an_art} about {idea}",
        "{Idea} on stage: {an_art} comes to {town}",
    ),
    "Science": (
        "What {finding} can tell us about {idea}",
        "Researchers in {town} listen to {finding}",
        "A {mood} answer to an old question about {finding}",
        "{Finding} do better near {town}",
        "{Who} count {finding} for science",
    ),
    "Travel": (
        "By slow train from {town} to {other}",
        "A {mood} weekend in {town}",
        "Where {who} from {town} go in summer",
        "On foot from the {place} in {town} to {other}",
        "{town} beyond the {place}",
    ),
    "Food": (
        "The secret of {town} {dish}",
        "{Dish} the way {who} like it",
        "Who makes the best {dish} in {town}?",
        "{Dish} with a {mood} twist",
        "A {firm} that serves {dish} all night",
    ),
    "Opinion": (
        "Let us {deed} the {place} at last",
        "In praise of {finding}",
        "Listen to the {who} of {town}",
        "The {body} is wrong about the {place}",
        "We need to talk about {idea} and {finding}",
    ),
}
"""Headlines by section."""
TEXTS = {
    "Local": (
        "The plan was made public on Monday evening, and the hall was full to the last seat.",
        "People who live nearby say that they were never asked.",
        "Work could begin as soon as the money is found, and that may take a while.",
        "A meeting for everybody is planned, with coffee and, one hopes, patience.",
    ),
    "Business": (
        "The owners speak of a difficult year and of reasons to hope.",
        "Orders come from far away, but the work is still done in the old building.",
        "Experts had expected less, and competitors had hoped for it.",
        "Nobody lost a job, and the canteen is as good as ever.",
    ),
    "Sports": (
        "The stands were full, and the drums could be heard across the river.",
        "The coach praised the team and asked for patience.",
        "It was decided late, as so often this season.",
        "Afterwards there was soup for everybody, winners and losers alike.",
    ),
    "Culture": (
        "It begins slowly, and one is glad of it later.",
        "The audience laughed in the right places and was silent in the others.",
        "There is little on the stage: a chair, a lamp and a great deal of courage.",
        "Tickets are hard to get, but it is worth asking at the door.",
    ),
    "Science": (
        "The study was small, and the authors say so themselves.",
        "For years nobody had looked, because nobody thought that there was anything to see.",
        "The next step is to repeat it elsewhere, with better weather.",
        "The instrument was built in a garage and fits into a shoe box.",
    ),
    "Travel": (
        "Bring good shoes and an umbrella, and leave the car at home.",
        "The best view is free and hard to find; ask at the bakery.",
        "In the evening the streets belong to the people who live there.",
        "Rooms are simple, windows are large and breakfast is long.",
    ),
    "Food": (
        "Start early, use the big pot and invite somebody who likes to stir.",
        "Everyone in town has a recipe, and everyone says that the others are wrong.",
        "It tastes better on the next day, if there is any left.",
        "Good butter helps, as it always does.",
    ),
    "Opinion": (
        "I know that many readers will not agree, and I look forward to their letters.",
        "It would cost little and change a lot.",
        "We have talked about this for long enough.",
        "Nobody has to be right in the end, but somebody has to begin.",
    ),
}
"""What articles say, by section."""
ADJECTIVES = items("open, angry, unusual, elegant, early, honest, icy, old-fashioned")
"""Words that take `an` as their article."""
COMMENTS = (
    "Finally somebody says it.",
    "My aunt lives there, and she tells it differently.",
    "Well written, thank you.",
    "I would have liked to read more about the costs.",
    "We were there. It rained.",
    "This is what I pay my subscription for.",
    "And who is going to clean it all up?",
    "A bit long, but I stayed to the end.",
    "Please send a reporter to our street as well.",
)
POLLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Should the town centre be free of cars?", ("Yes, always", "Only on weekends", "No", "No opinion")),
    ("How do you read the news?", ("On paper", "On the phone", "On a computer", "I listen to it")),
    ("What should we write more about?", ("Schools", "Trains", "Gardens", "Sports")),
    ("When should shops close?", ("Early", "As they do now", "Late", "Never")),
    ("Where do you spend the summer?", ("At home", "By the sea", "In the hills", "Abroad")),
)
"""Questions to the readers, with the answers on offer."""


SECTIONS = 6
_SHOWN_COMMENTS, _MOST_READ = 3, 5
_TAGLINES = (
    "The news from {town} and around",
    "Independent, curious, from {town}",
    "What {town} talks about",
    "Every day something new in {town}",
)

_NEW_TEXTS = items(
    "I was there and saw it with my own eyes, Please ask the people who live nearby as well, My grandmother always "
    "said so, This is good news for the whole street, The photo shows another building, I had hoped for more "
    "details, Somebody should thank the volunteers, Let us wait until the summer is over"
)
_QUESTIONS = items(
    "Where did you take the photo, Will there be a second part, How did you find the story, Can I see the letters, "
    "Who paid for the study, What happened to the dog"
)
ACTIONS = (
    Action("save", "Save article", "{name} is on your reading list.", collection="articles")
    .asked("save {name} for later", "put {name} on the reading list", "bookmark {name}")
    .setting(saved="yes")
    .refusing(("saved", "yes", "already saved")),
    Action("rate", "Rate", "Thank you for rating {name}.", collection="articles")
    .asked(
        "give {stars} of 10 points to {name}",
        "rate {name} {stars} out of 10",
        "set the rating of {name} to {stars} of 10 points",
    )
    .with_fields(Field("stars", "Your rating in points", "range", least=0, most=10)),
    Action("comment", "Comment", "Your comment on {name} is online.", collection="articles")
    .asked(
        "comment “{text}” on {name} with the display name {reader}",
        "leave the comment “{text}” under the display name {reader} on {name}",
        "post a comment on {name}: display name {reader}, text “{text}”",
    )
    .with_fields(Field("reader", "Display name", options=USERS), Field("text", "Comment", "textarea", _NEW_TEXTS))
    .making("comments")
    .refusing(("open", "Closed", "closed for comments")),
    Action("ask", "Ask", "{name} has got your question.", collection="authors")
    .asked(
        "ask {name} “{text}” and give {email} as the e-mail address",
        "send {name} the question “{text}” with {email} as the address for the answer",
        "put the question “{text}” to {name}, from {email}",
    )
    .with_fields(
        Field("email", "Your e-mail", "email", ADDRESSES),
        Field("text", "Your question", "textarea", options=_QUESTIONS),
    )
    .making("questions")
    .refusing(("desk", "On leave", "on leave")),
    Action("newsletter", "Newsletter", "The newsletter is on its way.")
    .asked(
        "subscribe {email} to a newsletter that comes {often} and has exactly these sections: {sections}",
        "get the newsletter sent to {email}, {often}, about {sections} and nothing else",
        "sign {email} up for the newsletter; it should come {often} and be about just these sections: {sections}",
    )
    .with_fields(
        Field("email", "E-mail", "email", ADDRESSES),
        Field("sections", "Sections", "checks"),
        Field("often", "How often", "radio", ("every morning", "every Friday", "every month")),
    )
    .making("subscriptions"),
    Action("tip", "Send a tip", "Thank you, our reporters will have a look.")
    .asked(
        "send the tip “{text}” to the {desk} desk, give {seen} as the day, and stay anonymous",
        "tip off the {desk} desk anonymously: “{text}”, seen on {seen}",
        "send an anonymous tip to the {desk} desk that says “{text}”, with {seen} as the day",
    )
    .with_fields(
        Field("desk", "Desk", "select"),
        Field("text", "What happened?", "textarea", _NEW_TEXTS),
        Field("seen", "Day", "date", hint="2027-02"),
        Field("anonymous", "Stay anonymous", "checkbox", required=False),
    )
    .making("tips"),
)
POLL = (
    Action("poll", "Vote", "Your vote is counted.")
    .asked(
        "vote “{vote}” on the question “{question}”",
        "take part in the vote on “{question}” and choose “{vote}”",
        "give your vote to “{vote}” where readers are asked “{question}”",
    )
    .making("votes")
)
ARTICLE = (
    Attribute("section", "Section", listed=True, filter="is", phrase="in {value}"),
    Attribute("author", "Author", listed=True, filter="is", phrase="by {value}", person=True),
    Attribute("date", "Date", "date", "", True, "min", "Oldest first", "oldest", "published on or after {value}"),
    measure("minutes", "Reading time", "min", "max", "Shortest first", "shortest"),
    measure("views", "View count", "", "min", "Least read first", "least read", listed=False),
    Attribute("comments", "Comment count", "number"),
    Attribute("editor", "Editor", person=True),
    Attribute("photo", "Photographer", person=True),
    Attribute("updated", "Last update", "date", noun="date of the last update"),
    Attribute("open", "Comments", asked=False),
)
_ARTICLE_LIMITS: Limits = {"date": DATE_LIMITS, "minutes": (3, 6, 10), "views": (1000, 5000, 20000)}
AUTHOR = (
    Attribute("section", "Section", listed=True, filter="is", phrase="of the section {value}"),
    Attribute("city", "City", listed=True, filter="is", phrase="from {value}"),
    Attribute("joined", "Join date", "date", "", True, "", "Longest-serving first", "longest-serving"),
    Attribute(
        "count", "Article count", "number", "", False, "", "Fewest articles first", counts=("articles", "author")
    ),
    Attribute("desk", "At work", asked=False),
    Attribute("language", "Second language"),
)


def partner_of(site: CatalogSite) -> str:
    """Host of the travel agency whose box stands on the pages of a newspaper's articles; empty: there is none."""
    return host_of("travel", site.seed) if random.Random(f"{site.host}-partner").random() < 0.5 else ""


def from_partner(site: CatalogSite, facts: int, rng: random.Random) -> Goal | None:
    """Open what a travel agency offers in its box."""
    it = refer(site.main, facts - 2, rng) if facts >= 2 and partner_of(site) else None
    if it is None:
        return None
    partner = made(Travel, site.seed)
    offer = rng.choice(partner.embedded())
    path, box = f"/{partner.main.slug}/{offer.slug}", f"the {partner.look.brand} box"
    cores = (
        f"open {offer.name} from {box} that stands on the page of {it.phrase}",
        f"go to the page of {it.phrase}, and open {offer.name} in {box} there",
        f"find {box} with {offer.name} on the page of {it.phrase}, and open that offer",
    )
    checks = (
        *it.facts(),
        fact(f"The page of {it.entity.name} was shown", visited=[place(it.path)]),
        fact(f"The box led to the page of {offer.name}", site=partner.host, url=place(path), followed=("/embed", path)),
    )
    there = {"site": partner.host}
    plan = [*it.plan, {**visit(path), **there}, {**done(f"This is {offer.name}."), **there}]
    return Goal("partner", f"{it.key}-{offer.slug}", {}, checks, plan, cores=cores)


class News(CatalogSite):
    kind = "news"
    goals = (from_partner,)
    new_tabs = True
    headings = ("Today", "Top stories", "The news of the day", "Good to know", "In the news")

    def draw(self, rng: random.Random) -> list[Collection]:
        places = towns(rng, 7)
        self.tagline = rng.choice(_TAGLINES).format(town=places[0])
        sections = rng.sample(tuple(HEADLINES), SECTIONS)
        question, options = rng.choice(POLLS)
        offered = {"sections": sections, "desk": sections}
        clauses = (clause.replace("{question}", question) for clause in POLL.clauses)
        poll = POLL.asked(*clauses).with_fields(Field("vote", question, "radio", options))
        self.actions = (*(action.offering(**offered) for action in ACTIONS), poll)
        names = people(rng, 2 * SECTIONS + 5)
        authors, others = names[: 2 * SECTIONS], names[2 * SECTIONS :]
        desks = {name: sections[i // 2] for i, name in enumerate(authors)}
        headlines, gone = titled(rng.randint(240, 380), lambda: _headline(rng, sections, places))
        articles = [
            _article(rng, *about, since, [name for name in authors if desks[name] == about[0]], others)
            for about, since in zip(headlines, recent(rng, len(headlines)), strict=True)
        ]
        written = Counter(article.values["author"] for article in articles)
        staff = [
            entity(
                name,
                section=desks[name],
                city=rng.choice(places),
                joined=day(-joined),
                count=written[name],
                desk="On leave" if rng.random() < 0.2 else "Yes",
                language=rng.choice(("French", "Spanish", "Polish", "Turkish", "Greek", "Arabic", "Danish", "Welsh")),
            )
            for name, joined in zip(authors, rng.sample(range(100, 6000), len(authors)), strict=True)
        ]
        return [
            Collection(
                *("articles", "Articles", "article", "articles", ARTICLE, tuple(articles), _ARTICLE_LIMITS, gone),
                title="title",
            ),
            Collection("authors", "Authors", "author", "authors", AUTHOR, tuple(staff), people=True),
        ]

    def extra(self, page: Page, overlay: Overlay) -> list[Block]:
        articles = self.collections["articles"].entities
        if page.name == "home":
            most = sorted(articles, key=lambda article: -int(article.values["views"]))[:_MOST_READ]
            cards = tuple(Card(article.name, f"/articles/{article.slug}", slug=article.slug) for article in most)
            return [Cards(cards, self.say("Most read"))]
        if page.name != "entity" or page.data["entity"].slug not in self.collections["articles"].by_slug:
            return []
        article: Entity = page.data["entity"]
        rng = random.Random(f"{self.host}-{article.slug}")
        count = min(int(article.values["comments"]), _SHOWN_COMMENTS)
        said = map(Post, people(rng, count), rng.sample(COMMENTS, count))
        posts = discussion("Latest comments", said, "comments", article, overlay)
        partner = partner_of(self)
        return [*posts, Frame(self.say("Our partner"), "/embed", partner)] if partner else posts


def _headline(rng: random.Random, sections: list[str], places: list[str]) -> tuple[str, str]:
    """Draw a section and a headline in it."""
    section = rng.choice(sections)
    town, other = rng.sample(places, 2)
    gaps = {gap: rng.choice(options) for gap, options in GAPS.items()}
    capital = {gap.capitalize(): text[0].upper() + text[1:] for gap, text in gaps.items()}
    an_art = f"{'an' if gaps['art'][0] in 'aeiou' else 'a'} {gaps['art']}"
    title = rng.choice(HEADLINES[section]).format(
        an_art=an_art, town=town, other=other, adjective=rng.choice(ADJECTIVES), **gaps, **capital
    )
    return section, title[0].upper() + title[1:]


def _article(rng: random.Random, section: str, title: str, since: int, authors: list[str], others: list[str]) -> Entity:
    closed = rng.random() < 0.15
    return entity(
        title,
        section=section,
        author=rng.choice(authors),
        date=day(since),
        minutes=rng.randint(2, 18),
        views=int(10 ** rng.uniform(2.3, 4.9)),
        comments=rng.randint(1, 240),
        editor=rng.choice(others),
        photo=rng.choice(others),
        updated=day(since + rng.randint(0, 6)),
        open="Closed" if closed else "Open",
        texts=_story(rng, section),
    )


def _story(rng: random.Random, section: str) -> tuple[str, str]:
    *first, last = rng.sample(TEXTS[section], 3)
    return " ".join(first), last

"""What readers of a newspaper can do."""

from __future__ import annotations

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Field
from webdojo.sites.content.people import ADDRESSES, USERS

_TEXTS = (
    "I was there and saw it with my own eyes",
    "Please ask the people who live nearby as well",
    "My grandmother always said so",
    "This is good news for the whole street",
    "The photo shows another building",
    "I had hoped for more details",
    "Somebody should thank the volunteers",
    "Let us wait until the summer is over",
)


COMMENT = Action(
    "comment",
    "Comment",
    "Your comment on {name} is online.",
    (
        "comment “{text}” on {name} with the display name {reader}",
        "under the display name {reader}, leave the comment “{text}” on {name}",
        "post a comment on {name}: display name {reader}, text “{text}”",
    ),
    collection="articles",
    fields=(Field("reader", "Display name", examples=USERS), Field("text", "Comment", "textarea", examples=_TEXTS)),
    makes="comments",
    refuses=lambda article: "closed for comments" if article.values["open"] == "Closed" else "",
)
SAVE = Action(
    "save",
    "Save article",
    "{name} is on your reading list.",
    ("save {name} for later", "put {name} on the reading list", "bookmark {name}"),
    collection="articles",
    sets={"saved": "yes"},
    refuses=lambda article: "already saved" if "saved" in article.values else "",
)
RATE = Action(
    "rate",
    "Rate",
    "Thank you for rating {name}.",
    (
        "rate {name} with {stars} points",
        "give {name} a rating of {stars} points",
        "set the rating of {name} to {stars} points",
    ),
    collection="articles",
    fields=(Field("stars", "Your rating in points", "range", least=0, most=10),),
)
SUBSCRIBE = Action(
    "newsletter",
    "Newsletter",
    "The newsletter is on its way.",
    (
        "subscribe {email} to the newsletter {often} with exactly these sections: {sections}",
        "get the newsletter sent to {email}, {often}, about {sections} and nothing else",
        "sign {email} up for the newsletter; it should come {often} and be about just these sections: {sections}",
    ),
    fields=(
        Field("email", "E-mail", "email", examples=ADDRESSES),
        Field("sections", "Sections", "checks"),
        Field("often", "How often", "radio", ("every morning", "every Friday", "every month")),
    ),
    makes="subscriptions",
)
TIP = Action(
    "tip",
    "Send a tip",
    "Thank you, our reporters will have a look.",
    (
        "send the tip “{text}” to the {desk} desk, give {seen} as the day, and stay anonymous",
        "tip off the {desk} desk anonymously: “{text}”, seen on {seen}",
        "send an anonymous tip to the {desk} desk that says “{text}”, with {seen} as the day",
    ),
    fields=(
        Field("desk", "Desk", "select"),
        Field("text", "What happened?", "textarea", examples=_TEXTS),
        Field("seen", "Day", "date", hint="2027-02"),
        Field("anonymous", "Stay anonymous", "checkbox", required=False),
    ),
    makes="tips",
)
POLL = Action(
    "poll",
    "Vote",
    "Your vote is counted.",
    (
        "vote “{vote}” in the poll of the day",
        "answer the poll of the readers with “{vote}”",
        "take part in the poll and choose “{vote}”",
    ),
    fields=(Field("vote", "Your vote", "radio"),),
    makes="votes",
)
ASK = Action(
    "ask",
    "Ask",
    "{name} has got your question.",
    (
        "ask {name} “{text}” and give {email} as the e-mail address",
        "send {name} the question “{text}” with {email} as the address for the answer",
        "put the question “{text}” to {name}, from {email}",
    ),
    collection="authors",
    fields=(
        Field("email", "Your e-mail", "email", examples=ADDRESSES),
        Field(
            "text",
            "Your question",
            "textarea",
            examples=(
                "Where did you take the photo",
                "Will there be a second part",
                "How did you find the story",
                "Can I see the letters",
                "Who paid for the study",
                "What happened to the dog",
            ),
        ),
    ),
    makes="questions",
    refuses=lambda author: "on leave" if author.values["desk"] == "On leave" else "",
)

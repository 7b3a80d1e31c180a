"""What one can do with the articles of a wiki."""

from __future__ import annotations

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Field
from webdojo.sites.catalog import Entity
from webdojo.sites.content.people import USERS

_REMARKS = (
    "The picture shows another place",
    "Please name the sources",
    "I was there last summer and can confirm this",
    "This paragraph says the same thing twice",
    "There is a better map in the town hall",
    "Who wrote the part about the railway",
)
_PARTS = ("Introduction", "History", "Numbers", "Picture")


def _closed(article: Entity) -> str:
    return "protected" if article.values["status"] == "Protected" else ""


WATCH = Action(
    "watch",
    "Follow",
    "You follow {name} now.",
    ("follow {name}", "put {name} on my watch list", "start to follow the article {name}"),
    collection="articles",
    sets={"watched": "yes"},
    refuses=lambda article: "already on your watch list" if "watched" in article.values else "",
)
DISCUSS = Action(
    "discuss",
    "Comment",
    "Your remark on {name} is there.",
    (
        "write the remark “{text}” on {name} as {reader}",
        "leave the remark “{text}” on {name}, signed {reader}",
        "add to the discussion of {name}: “{text}”, signed {reader}",
    ),
    collection="articles",
    fields=(Field("reader", "Name", examples=USERS), Field("text", "Remark", "textarea", examples=_REMARKS)),
    makes="remarks",
    refuses=_closed,
)
REPORT = Action(
    "report",
    "Report",
    "Thank you for your report on {name}.",
    (
        "report a mistake in the part {part} of {name}: “{text}”",
        "tell the editors of {name} “{text}”, about the part {part}",
        "file a report on {name} about the part {part} that says “{text}”",
    ),
    collection="articles",
    fields=(Field("part", "Part", "radio", _PARTS), Field("text", "What is wrong?", "textarea", examples=_REMARKS)),
    makes="reports",
)

"""Actions on articles and users."""

from __future__ import annotations

from webdojo.sites.actions import Action
from webdojo.sites.admin import content
from webdojo.sites.blocks import Field
from webdojo.sites.catalog import Entity
from webdojo.sites.content.people import ADDRESSES, USERS


def _locked(article: Entity) -> str:
    return "locked by the legal team" if article.values["editing"] == "locked" else ""


PUBLISH = Action(
    "publish",
    "Publish",
    "{name} is online.",
    ("publish {name}", "put {name} online with its publish button", "make {name} a published article"),
    collection="articles",
    sets={"status": "Published"},
    refuses=lambda article: _locked(article) or ("already online" if article.values["status"] == "Published" else ""),
)
ARCHIVE = Action(
    "archive",
    "Archive",
    "{name} is in the archive.",
    ("archive {name}", "move {name} to the archive", "put {name} into the archive"),
    collection="articles",
    sets={"status": "Archived"},
    refuses=lambda article: _locked(article) or ("in the archive" if article.values["status"] == "Archived" else ""),
)
SCHEDULE = Action(
    "schedule",
    "Schedule",
    "{name} has a date.",
    (
        "schedule {name} to go online on {scheduled}",
        "set {scheduled} as the day on which {name} goes online",
        "plan {name} for {scheduled}",
    ),
    collection="articles",
    fields=(Field("scheduled", "Goes online", "calendar", hint="2027-03"),),
    refuses=_locked,
)
WEIGH = Action(
    "weigh",
    "Set weight",
    "{name} has another weight.",
    (
        "give {name} the weight {weight}",
        "set the weight of {name} to {weight}",
        "rank {name} with a weight of {weight}",
    ),
    collection="articles",
    fields=(Field("weight", "Weight", "range", least=1, most=10),),
    refuses=_locked,
)
DELETE = Action(
    "delete",
    "Delete",
    "{name} is gone.",
    ("delete {name}", "remove {name} for good", "delete {name} from the magazine"),
    collection="articles",
    fields=(Field("sure", "Yes, delete it for good", "agree"),),
    sets={"gone": "yes"},
    refuses=_locked,
)
CHANGE_ROLE = Action(
    "role",
    "Change role",
    "{name} has another role.",
    ("change the role of {name} to {role}", "make the role of {name} {role}", "give {name} the role {role}"),
    collection="users",
    fields=(Field("role", "Role", "select", content.ROLES),),
)
SUSPEND = Action(
    "suspend",
    "Suspend",
    "{name} can no longer log in.",
    (
        "suspend {name} for the reason “{reason}”",
        "suspend the account of {name}; the reason is “{reason}”",
        "lock {name} out by a suspension, reason “{reason}”",
    ),
    collection="users",
    fields=(Field("reason", "Reason", "radio", content.REASONS),),
    sets={"account": "Suspended"},
    confirm="Suspend {name}?",
    refuses=lambda user: "already suspended" if user.values["account"] == "Suspended" else "",
)
NEW_USER = Action(
    "invite",
    "New user",
    "The account is there.",
    (
        "create an account for {name} with the e-mail address {email}, the role {role} and the rights {rights}",
        "add the user {name} ({email}) as {role} with these rights: {rights}",
        "set up a user: name {name}, e-mail {email}, role {role}, rights {rights}",
    ),
    fields=(
        Field("name", "Name", examples=USERS),
        Field("email", "E-mail", "email", examples=ADDRESSES),
        Field("role", "Role", "select", content.ROLES),
        Field("rights", "Rights", "checks", content.RIGHTS),
        Field("until", "Account ends", "calendar", required=False, hint="2027-03"),
        Field(
            "note",
            "Note for colleagues",
            "textarea",
            required=False,
            examples=("Writes about gardens.", "Back from a long break.", "Works in the afternoon.", "Speaks Danish."),
        ),
        Field("letter", "Send a letter of welcome", "checkbox", required=False),
    ),
    also={
        "until": ", the account ending on {until}",
        "note": ", with the note “{note}” for colleagues",
        "letter": ", and have a letter of welcome sent",
    },
    makes="users",
    sets={"account": "Active", "joined": "2027-03-01"},
)


def actions(sections: tuple[str, ...]) -> tuple[Action, ...]:
    """All actions of a magazine with these sections."""
    edit = Action(
        "edit",
        "Edit",
        "{name} is changed.",
        ("edit {name}", "change {name}", "rework {name}"),
        collection="articles",
        fields=(
            Field("name", "Title", examples=content.NEW_TITLES),
            Field("section", "Section", "select", sections),
            Field("status", "Status", "radio", content.STATUSES),
        ),
        also={
            "name": ", setting the title to “{new_name}”",
            "section": ", moving it to the section {section}",
            "status": ", giving it the status {status}",
        },
        refuses=_locked,
    )
    new_page = Action(
        "write",
        "New page",
        "Your page is there as a draft.",
        (
            "write a {type} for the section {section}, titled “{name}” and saying “{text}”",
            "add the page “{name}” to the section {section}: type {type}, text “{text}”",
            "create the page “{name}” in {section} with the type {type} and the text “{text}”",
        ),
        fields=(
            Field("name", "Title", examples=content.NEW_TITLES),
            Field("section", "Section", "select", sections),
            Field("type", "Type", "radio", content.KINDS),
            Field("text", "Text", "textarea", examples=content.NEW_TEXTS),
            Field("weight", "Weight from 1 to 10", "number", required=False, least=1, most=10),
            Field("scheduled", "Goes online", "date", required=False, hint="2027-03"),
            Field("comments", "Readers may comment", "checkbox", required=False),
        ),
        also={
            "weight": ", with the weight {weight}",
            "scheduled": ", going online on {scheduled}",
            "comments": ", with comments by readers allowed",
        },
        makes="articles",
        sets={"status": "Draft", "author": "You", "updated": "2027-03-01", "editing": "open"},
    )
    copy = Action(
        "copy",
        "Duplicate",
        "There is a copy of {name} now.",
        (
            "duplicate {name} into the section {section} and keep the name that is proposed for the copy",
            "make a copy of {name} in the section {section}, named as the site proposes",
            "copy {name} to the section {section} under the name that the site suggests",
        ),
        collection="articles",
        fields=(
            Field("section", "Section of the copy", "select", sections),
            Field("name", "Name of the copy", "prompt", required=False, default="Copy of {name}"),
        ),
        makes="articles",
        sets={"status": "Draft", "updated": "2027-03-01", "editing": "open"},
        refuses=_locked,
    )
    return (edit, copy, PUBLISH, ARCHIVE, SCHEDULE, WEIGH, DELETE, new_page, CHANGE_ROLE, SUSPEND, NEW_USER)

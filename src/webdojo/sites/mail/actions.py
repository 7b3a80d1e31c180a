"""Actions on mail."""

from __future__ import annotations

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Field
from webdojo.sites.catalog import Entity, Value
from webdojo.sites.content.people import ADDRESSES

FOLDERS = ("Inbox", "Sent", "Drafts", "Archive", "Spam")
_LABELS = ("Work", "Family", "Money", "Travel", "Later")
_TEXTS = (
    "Thank you, I will have a look at it tonight",
    "That works for me, see you there",
    "Could we talk about this on the phone",
    "Please wait until I am back in the office",
    "I have asked the others and they agree",
    "Count me in, I will bring a cake",
    "Sorry, I cannot make it this time",
    "Great news, please tell the whole team",
)
_SUBJECTS = (
    "Lunch on Friday",
    "The keys to the cellar",
    "Notes from the call",
    "A favour to ask",
    "Plan for the long weekend",
    "Questions about the lease",
    "Change of address",
    "Ideas for the farewell present",
)
_SENT: dict[str, Value] = {"folder": "Sent", "sender": "You", "date": "2027-03-01"}


def _mute(message: Entity) -> str:
    if message.values["folder"] == "Drafts":
        return "still a draft"
    return "from a sender who takes no replies" if message.values.get("automatic") else ""


COMPOSE = Action(
    "compose",
    "Compose",
    "Your message is on its way.",
    (
        "write a message to {to} with the subject “{name}” and the text “{text}”",
        "send “{text}” to {to}; the subject is “{name}”",
        "compose a message with the subject “{name}” that says “{text}”, and send it to {to}",
    ),
    fields=(
        Field("to", "To", "email", examples=ADDRESSES),
        Field("name", "Subject", examples=_SUBJECTS),
        Field("text", "Message", "rich", examples=_TEXTS),
        Field("file", "Attach a file", "file", required=False),
    ),
    makes="messages",
    sets=_SENT,
)
REPLY = Action(
    "reply",
    "Reply",
    "Your reply to {name} is sent.",
    ("reply “{text}” to {name}", "answer {name} with the words “{text}”", "write a reply that says “{text}” to {name}"),
    collection="messages",
    fields=(Field("text", "Your reply", "textarea", examples=_TEXTS),),
    makes="messages",
    sets={**_SENT, "name": "Re: {name}"},
    refuses=_mute,
)
FORWARD = Action(
    "forward",
    "Forward",
    "{name} is forwarded.",
    (
        "forward {name} to {to} with the note “{note}”, and ask for a read receipt",
        "pass {name} on to {to}, add the note “{note}” and request a read receipt",
        "send {name} on to {to}: note “{note}”, with a read receipt",
    ),
    collection="messages",
    fields=(
        Field("to", "Forward to", "email", examples=ADDRESSES),
        Field("note", "Note", examples=_TEXTS),
        Field("receipt", "Ask for a read receipt", "checkbox", required=False),
    ),
    makes="messages",
    sets={**_SENT, "name": "Fwd: {name}"},
    refuses=lambda message: "still a draft" if message.values["folder"] == "Drafts" else "",
)
MOVE = Action(
    "move",
    "Move",
    "{name} is in another folder now.",
    ("move {name} to the {folder} folder", "file {name} in the {folder} folder", "put {name} into the {folder} folder"),
    collection="messages",
    fields=(Field("folder", "Folder", "select", FOLDERS),),
)
STAR = Action(
    "star",
    "Star",
    "{name} has a star now.",
    ("star {name}", "put a star on {name}", "give {name} a star"),
    collection="messages",
    sets={"star": "Starred"},
    refuses=lambda message: "already starred" if message.values["star"] == "Starred" else "",
)
UNREAD = Action(
    "unread",
    "Mark unread",
    "{name} counts as unread.",
    ("mark {name} as unread", "set {name} to unread", "make {name} count as unread"),
    collection="messages",
    sets={"status": "Unread"},
    refuses=lambda message: "already unread" if message.values["status"] == "Unread" else "",
)
DELETE = Action(
    "delete",
    "Delete",
    "{name} is deleted.",
    ("delete {name}", "remove {name} from the mail box", "throw {name} away for good"),
    collection="messages",
    sets={"gone": "yes"},
    confirm="Delete this message for good: {name}?",
)
PIN = Action(
    "pin",
    "Pin to the top",
    "{name} is pinned.",
    (
        "pin {name} by the menu of a right click on it in the list",
        "right-click {name} in a list of messages and pin it",
        "use the right-click menu of the list to pin {name}",
    ),
    collection="messages",
    sets={"pinned": "yes"},
)
LABEL = Action(
    "label",
    "Save labels",
    "The labels of {name} are saved.",
    (
        "label {name} with exactly these: {labels}",
        "set the labels of {name} to {labels} and no others",
        "give {name} just these labels: {labels}",
    ),
    collection="messages",
    fields=(Field("labels", "Labels", "checks", _LABELS),),
)
SNOOZE = Action(
    "snooze",
    "Snooze",
    "{name} comes back later.",
    ("snooze {name} until {until}", "hide {name} until {until}", "have {name} come back on {until}"),
    collection="messages",
    fields=(Field("until", "Until", "calendar", hint="2027-03"),),
)
INVITE = Action(
    "invite",
    "Invite",
    "{name} has got your invitation.",
    (
        "invite {name} to “{title}” on {day} for {length}",
        "send {name} an invitation to “{title}”: {length} on {day}",
        "plan “{title}” with {name} on {day}, length {length}",
    ),
    collection="contacts",
    fields=(
        Field("title", "Title", examples=_SUBJECTS),
        Field("day", "Day", "date", hint="2027-04"),
        Field("length", "Length", "radio", ("half an hour", "an hour", "half a day", "all day")),
    ),
    makes="invitations",
)

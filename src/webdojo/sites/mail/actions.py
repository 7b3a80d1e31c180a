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
        "write a message to {to} with the subject \u201c{name}\u201d and the text \u201c{text}\u201d",
        "send \u201c{text}\u201d to {to}; the subject is \u201c{name}\u201d",
        "compose a message with the subject \u201c{name}\u201d that says \u201c{text}\u201d, and send it to {to}",
    ),
    fields=(
        Field("to", "To", "email"),
        Field("name", "Subject"),
        Field("text", "Message", "rich"),
        Field("file", "Attach a file", "file", required=False),
    ),
    makes="messages",
    sets=_SENT,
    examples={"to": ADDRESSES, "name": _SUBJECTS, "text": _TEXTS},
)
REPLY = Action(
    "reply",
    "Reply",
    "Your reply to {name} is sent.",
    (
        "reply \u201c{text}\u201d to {name}",
        "answer {name} with the words \u201c{text}\u201d",
        "write a reply that says \u201c{text}\u201d to {name}",
    ),
    collection="messages",
    fields=(Field("text", "Your reply", "textarea"),),
    makes="messages",
    sets={**_SENT, "name": "Re: {name}"},
    examples={"text": _TEXTS},
    refuses=_mute,
)
FORWARD = Action(
    "forward",
    "Forward",
    "{name} is forwarded.",
    (
        "forward {name} to {to} with the note \u201c{note}\u201d, and ask for a read receipt",
        "pass {name} on to {to}, add the note \u201c{note}\u201d and request a read receipt",
        "send {name} on to {to}: note \u201c{note}\u201d, with a read receipt",
    ),
    collection="messages",
    fields=(
        Field("to", "Forward to", "email"),
        Field("note", "Note"),
        Field("receipt", "Ask for a read receipt", "checkbox", required=False),
    ),
    makes="messages",
    sets={**_SENT, "name": "Fwd: {name}"},
    examples={"to": ADDRESSES, "note": _TEXTS},
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
        "invite {name} to \u201c{title}\u201d on {day} for {length}",
        "send {name} an invitation to \u201c{title}\u201d: {length} on {day}",
        "plan \u201c{title}\u201d with {name} on {day}, length {length}",
    ),
    collection="contacts",
    fields=(
        Field("title", "Title"),
        Field("day", "Day", "date", hint="2027-04"),
        Field("length", "Length", "radio", ("half an hour", "an hour", "half a day", "all day")),
    ),
    makes="invitations",
    examples={"title": _SUBJECTS},
)

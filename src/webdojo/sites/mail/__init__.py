"""A mail box: folders of messages to read, answer, file, label and write, and the people who send them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

from webdojo.sites.actions import Action
from webdojo.sites.blocks import Field
from webdojo.sites.catalog import Attribute, Collection, Entity, Value
from webdojo.sites.catalog_goals import from_menu
from webdojo.sites.content.drawing import DATE_LIMITS, Limits, day, entity, measure, recent, titled
from webdojo.sites.content.people import ADDRESSES, people, towns
from webdojo.sites.content.words import BRANDS, items
from webdojo.sites.pages import CatalogSite
from webdojo.sites.site import href

_GAPS = {
    "kind": "folding, wooden, spare, second-hand, tailored, green, heavy, portable, printed, woollen, antique, custom",
    "item": "desk, bicycle, bookshelf, raincoat, printer, teapot, suitcase, telescope, keyboard, armchair, "
    "toolbox, violin, lamp, mirror, blender, camera, carpet, guitar",
    "topic": "Budget, Website, Hiring, Safety, Warehouse, Brand, Support, Training, Museum, Harbour, "
    "Catalogue, Summer Fair, Recycling, Archive, Newsletter, Travel Desk",
    "form": "review, kickoff, planning, follow-up, workshop, retrospective, briefing, check-in",
    "paper": "contract, slides, draft report, floor plan, price list, press text, survey results, poster, "
    "manual, checklist",
    "event": "garden party, lake weekend, school play, wedding, moving day, choir concert, birthday picnic, "
    "ski trip, housewarming, street market, farewell dinner, boat ride",
    "show": "The Silent Orchard, Northern Lights, A Night of Strings, The Clockmaker, River Songs, Paper "
    "Moons, Winter Circus, The Long Table, Echoes, Brass and Bones, The Glass Stair, Open Skies",
    "aim": "Autumn walk, Spring clean, Members evening, Repair day, Book swap, Open workshop, Yearly meeting, "
    "Bake sale",
    "prize": "a cruise, a golden watch, a new phone, free fuel for life, a secret fund, a dream kitchen, a "
    "diet tea, a castle",
    "bait": "Last chance, Congratulations, Urgent, You were chosen, Open now, Do not ignore, Final notice, Lucky day",
}
GAPS = {gap: items(text) for gap, text in _GAPS.items()}

SORTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "invoice": ("company", ("reference", "amount", "due")),
    "parcel": ("company", ("tracking", "courier", "arrival")),
    "meeting": ("colleague", ("room", "day", "host")),
    "paper": ("colleague", ("deadline", "pages")),
    "friend": ("friend", ("place", "phone")),
    "ticket": ("company", ("seat", "hall", "day")),
    "club": ("friend", ("place", "day")),
    "spam": ("stranger", ()),
}
"""Who writes a sort of letter: a `company`, `colleague`, `friend` or `stranger`; and the attributes that it tells."""
SUBJECTS: dict[str, tuple[str, ...]] = {
    "invoice": ("Invoice for your {kind} {item}", "Payment due for the {kind} {item}", "Your receipt: {kind} {item}"),
    "parcel": (
        "Your {kind} {item} is on its way",
        "Delivery of your {kind} {item}",
        "We packed your {kind} {item} today",
    ),
    "meeting": (
        "{topic} {form}",
        "Invitation: {topic} {form}",
        "Agenda for the {topic} {form}",
        "New room for the {topic} {form}",
    ),
    "paper": (
        "{topic}: {paper} for you to check",
        "Comments on the {topic} {paper}",
        "The {topic} {paper}, second version",
    ),
    "friend": (
        "Photos of the {event}",
        "Who brings what to the {event}?",
        "Directions to the {event}",
        "Thank you for the {event}",
    ),
    "ticket": ("Your tickets for {show}", "Reminder: {show} is coming up", "A change of time for {show}"),
    "club": ("{aim} at the {topic} club", "{aim}: we still need hands", "{aim} with the {topic} group"),
    "spam": ("{bait}: you have won {prize}", "{bait}! Claim {prize}", "{bait}, {prize} waits for you"),
}
TEXTS: dict[str, tuple[str, ...]] = {
    "invoice": (
        "Thank you for your order. You find all the details of this invoice below.",
        "Please pay by bank transfer and name the reference, so that we can find your payment.",
        "If you have paid already, there is nothing left to do. We are glad to have you as a customer.",
        "Our office answers questions about payments on weekday mornings.",
    ),
    "parcel": (
        "Good news: your parcel has left our warehouse.",
        "If nobody is at home, the driver leaves it with a neighbour or at the parcel shop.",
        "You can follow it with the tracking code below.",
        "Please keep the box in case you want to send something back.",
    ),
    "meeting": (
        "Please bring your questions, and read the notes of the last time if you can.",
        "We start on time, so that everybody gets home on time.",
        "There will be coffee. Somebody should take notes; volunteers are welcome.",
        "If you cannot make it, send somebody who can decide.",
    ),
    "paper": (
        "I have marked the places that I am not sure about.",
        "The first part is nearly done; the last pages need a fresh pair of eyes.",
        "Feel free to cut whatever is too long.",
        "No need for polish yet, I only want to know whether the direction is right.",
    ),
    "friend": (
        "It was so good to see you all. We should do this more often.",
        "The children still talk about it, and so does the dog.",
        "Tell me if you need a lift, there is room in the car.",
        "Write back when you find the time, there is no hurry at all.",
    ),
    "ticket": (
        "Please print this message or show it on your phone at the door.",
        "The doors open well before the show, and the bar stays open after it.",
        "Seats cannot be changed once the music has started.",
    ),
    "club": (
        "As every year, we count on your help and on the weather.",
        "Wear old clothes and bring something to eat for the table that we share.",
        "Newcomers are welcome; nobody needs to know anything beforehand.",
    ),
    "spam": (
        "Dear friend, you do not know me, but I know how much you deserve this.",
        "Simply answer with your name, and our agent will take care of the rest.",
        "This is not a joke. Our lawyers have confirmed it.",
    ),
}

ROOMS = items("Birch, Cedar, Harbour View, Attic, Blue Room, Library, Studio, Glass Box, Garden Room, Cellar")
COURIERS = items("Swift Parcel, Red Kite, Postal Union, Night Owl, Turtle Express")
HALLS = items("Town Hall, Old Mill, Opera House, Green Theatre, Station Stage")
FILES = items("No file, No file, No file, PDF, Photo, Spreadsheet")
COMPANY_ENDS = items("Supplies, Store, Events, Logistics, Works, Partners, Online, Tickets")
STRANGERS = items("Lucky Wheel, Golden Offers, Prize Desk, Dr. Fortune, Best Deals")
_TAGLINES = ("Your mail, sorted", "Mail without the noise", "Read, write, done", "Letters for busy people")

FOLDERS = ("Inbox", "Sent", "Drafts", "Archive", "Spam")
_NEW_TEXTS = (
    "Thank you, I will have a look at it tonight",
    "That works for me, see you there",
    "Could we talk about this on the phone",
    "Please wait until I am back in the office",
    "I have asked the others and they agree",
    "Count me in, I will bring a cake",
    "Sorry, I cannot make it this time",
    "Great news, please tell the whole team",
)
_NEW_SUBJECTS = items(
    "Lunch on Friday, The keys to the cellar, Notes from the call, A favour to ask, Plan for the long weekend, "
    "Questions about the lease, Change of address, Ideas for the farewell present"
)
_SENT: dict[str, Value] = {"folder": "Sent", "sender": "You", "date": "2027-03-01"}
_DRAFT = ("folder", "Drafts", "still a draft")
PIN = (
    Action("pin", "Pin to the top", "{name} is pinned.", collection="messages")
    .asked(
        "pin {name} from its right-click menu in the list",
        "go to a list of messages, right-click {name} there and pin it",
        "use the right-click menu of the list to pin {name}",
    )
    .setting(pinned="yes")
)
ACTIONS = (
    Action("star", "Star", "{name} has a star now.", collection="messages")
    .asked("star {name}", "put a star on {name}", "give {name} a star")
    .setting(star="Starred")
    .refusing(("star", "Starred", "already starred")),
    Action("unread", "Mark unread", "{name} counts as unread.", collection="messages")
    .asked("mark {name} as unread", "set {name} to unread", "make {name} count as unread")
    .setting(status="Unread")
    .refusing(("status", "Unread", "already unread")),
    Action(
        "delete", "Delete", "{name} is deleted.", collection="messages", confirm="Delete this message for good: {name}?"
    )
    .asked("delete {name}", "remove {name} from the mail box", "throw {name} away for good")
    .setting(gone="yes"),
    Action("reply", "Reply", "Your reply to {name} is sent.", collection="messages")
    .asked(
        "reply “{text}” to {name}",
        "answer {name} with the words “{text}”",
        "write a reply that says “{text}” to {name}",
    )
    .with_fields(Field("text", "Your reply", "textarea", _NEW_TEXTS))
    .making("messages", **_SENT, name="Re: {name}")
    .refusing(_DRAFT, ("automatic", "yes", "from a sender who takes no replies")),
    Action("forward", "Forward", "{name} is forwarded.", collection="messages")
    .asked(
        "forward {name} to {to} with the note “{note}”, and ask for a read receipt",
        "pass {name} on to {to}, add the note “{note}” and request a read receipt",
        "send {name} on to {to}: note “{note}”, with a read receipt",
    )
    .with_fields(
        Field("to", "Forward to", "email", ADDRESSES),
        Field("note", "Note", options=_NEW_TEXTS),
        Field("receipt", "Ask for a read receipt", "checkbox", required=False),
    )
    .making("messages", **_SENT, name="Fwd: {name}")
    .refusing(_DRAFT),
    Action("move", "Move", "{name} is in another folder now.", collection="messages")
    .asked(
        "move {name} to the {folder} folder",
        "file {name} in the {folder} folder",
        "put {name} into the {folder} folder",
    )
    .with_fields(Field("folder", "Folder", "select", FOLDERS)),
    Action("label", "Save labels", "The labels of {name} are saved.", collection="messages")
    .asked(
        "label {name} with exactly these: {labels}",
        "set the labels of {name} to {labels} and no others",
        "give {name} just these labels: {labels}",
    )
    .with_fields(Field("labels", "Labels", "checks", ("Work", "Family", "Money", "Travel", "Later"))),
    Action("snooze", "Snooze", "{name} comes back later.", collection="messages")
    .asked("snooze {name} until {until}", "hide {name} until {until}", "have {name} come back on {until}")
    .with_fields(Field("until", "Until", "calendar", hint="2027-03")),
    Action("compose", "Compose", "Your message is on its way.")
    .asked(
        "write a message to {to} with the subject “{name}” and the text “{text}”",
        "send “{text}” to {to}; the subject is “{name}”",
        "compose a message with the subject “{name}” that says “{text}”, and send it to {to}",
    )
    .with_fields(
        Field("to", "To", "email", ADDRESSES),
        Field("name", "Subject", options=_NEW_SUBJECTS),
        Field("text", "Message", "rich", _NEW_TEXTS),
        Field("file", "Attach a file", "file", required=False),
    )
    .making("messages", **_SENT),
    Action("invite", "Invite", "{name} has got your invitation.", collection="contacts")
    .asked(
        "invite {name} to “{title}” on {day} for {length}",
        "send {name} an invitation to “{title}”: {length} on {day}",
        "plan “{title}” with {name} on {day}, length {length}",
    )
    .with_fields(
        Field("title", "Title", options=_NEW_SUBJECTS),
        Field("day", "Day", "date", hint="2027-04"),
        Field("length", "Length", "radio", ("half an hour", "an hour", "half a day", "all day")),
    )
    .making("invitations"),
)
MESSAGE = (
    Attribute("folder", "Folder", filter="is", phrase="in the {value} folder"),
    Attribute("sender", "Sender", listed=True, filter="is", phrase="from {value}", person=True),
    Attribute("date", "Date", "date", "", True, "min", "Oldest first", "oldest", "dated {value} or later"),
    measure("size", "Size", "KB", "max", "Smallest first", "smallest", "", "size in KB"),
    Attribute("star", "Star", filter="is", phrase="marked as \u201c{value}\u201d", asked=False),
    Attribute("attachment", "Attachment", filter="is", phrase="with \u201c{value}\u201d as the attachment"),
    Attribute("status", "Status", filter="is", phrase="with the status “{value}”", asked=False),
    Attribute("labels", "Labels", asked=False),
    Attribute("pinned", "Pinned", asked=False),
    Attribute("recipient", "Recipient", person=True),
    Attribute("reference", "Reference"),
    Attribute("amount", "Amount", "number", "$"),
    Attribute("due", "Due date", "date"),
    Attribute("tracking", "Tracking code"),
    Attribute("courier", "Courier"),
    Attribute("arrival", "Expected day", "date"),
    Attribute("room", "Meeting room"),
    Attribute("day", "Day of the event", "date"),
    Attribute("host", "Host", person=True),
    Attribute("deadline", "Deadline", "date"),
    Attribute("pages", "Number of pages", "number"),
    Attribute("place", "Meeting place"),
    Attribute("phone", "Phone extension", "number"),
    Attribute("seat", "Seat"),
    Attribute("hall", "Hall"),
)
_MESSAGE_LIMITS: Limits = {"size": (100, 500, 1000), "date": DATE_LIMITS}
CONTACT = (
    Attribute("group", "Group", listed=True, filter="is", phrase="in the group {value}"),
    Attribute("town", "Town", listed=True, filter="is", phrase="from {value}"),
    Attribute(
        "added", "Date added", "date", "", True, "", "Longest-known first", "longest-known", noun="“Date added” entry"
    ),
    replace(measure("letters", "Message count", "", "min", "Fewest messages first"), counts=("messages", "sender")),
    Attribute("extension", "Extension", "number"),
)


class Mail(CatalogSite):
    kind = "mail"
    headings = ("Welcome back", "Your mail box", "Good morning", "Here is your mail")
    menu = (PIN,)
    goals = (from_menu,)
    actions = ACTIONS

    def draw(self, rng: random.Random) -> list[Collection]:
        self.tagline = rng.choice(_TAGLINES)
        owner, *names = people(rng, 13)
        companies = [" ".join(each) for each in zip(rng.sample(BRANDS, 5), rng.sample(COMPANY_ENDS, 5), strict=True)]
        senders = {
            "owner": [owner],
            "company": companies,
            "colleague": names[:6],
            "friend": names[6:],
            "stranger": rng.sample(STRANGERS, 2),
        }
        places = towns(rng, 8)
        subjects, gone = titled(rng.randint(220, 340), lambda: _subject(rng))
        days = recent(rng, len(subjects))
        sizes = rng.sample(range(4, 2400), len(subjects))
        messages = [_message(rng, *each, senders, places) for each in zip(subjects, days, sizes, strict=True)]
        written = Counter(message.values["sender"] for message in messages)
        known = (*names, *companies)
        group = {name: sort.capitalize() for sort, those in senders.items() for name in those}
        contacts = [
            entity(
                name,
                group=group[name],
                town=rng.choice(places),
                added=day(-added),
                letters=written[name],
                extension=rng.randint(200, 9900),
            )
            for name, added in zip(known, rng.sample(range(800, 4000), len(known)), strict=True)
        ]
        return [
            Collection(
                *("messages", "Messages", "message", "messages", MESSAGE, tuple(messages), _MESSAGE_LIMITS, gone),
                title="subject",
            ),
            Collection(
                "contacts",
                "Contacts",
                "contact",
                "contacts",
                CONTACT,
                tuple(contacts),
                {"letters": (10, 15, 20)},
                people=True,
            ),
        ]

    def sections(self) -> list[tuple[str, str]]:
        folders = [(folder, href("/messages", folder=folder.lower())) for folder in FOLDERS]
        messages, *others = super().sections()
        return [messages, *folders, *others]


def _subject(rng: random.Random) -> tuple[str, str]:
    """Draw a sort of letter and the subject of one."""
    sort = rng.choice(tuple(SORTS))
    subject = rng.choice(SUBJECTS[sort])
    gaps = {gap: rng.choice(options) for gap, options in GAPS.items() if gap in subject}
    return sort, subject.format(**gaps)


def _message(
    rng: random.Random, about: tuple[str, str], since: int, size: int, senders: dict[str, list[str]], places: list[str]
) -> Entity:
    sort, subject = about
    written_by, says = SORTS[sort]
    (owner,), sender = senders["owner"], rng.choice(senders[written_by])
    recipient = owner
    folder = "Spam" if sort == "spam" else rng.choice(("Inbox", "Inbox", "Archive"))
    if written_by in ("colleague", "friend") and rng.random() < 0.3:
        sender, recipient = owner, sender
        folder = rng.choice(("Sent", "Sent", "Drafts"))
    return entity(
        subject,
        folder=folder,
        sender=sender,
        date=day(since),
        size=size,
        attachment=rng.choice(FILES),
        star=rng.choice(("Not starred", "Not starred", "Starred")),
        status="Read" if sender == owner else rng.choice(("Read", "Unread")),
        recipient=recipient,
        **{key: _detail(rng, key, since, senders, places) for key in says},
        **({"automatic": "yes"} if written_by == "company" else {}),
        texts=tuple(rng.sample(TEXTS[sort], 2)),
    )


def _detail(rng: random.Random, key: str, since: int, senders: dict[str, list[str]], places: list[str]) -> Value:
    """What a letter says of one thing."""
    match key:
        case "reference" | "tracking":
            return "".join(rng.choices("ABCDEFGHKLMNPRSTVWXYZ", k=3)) + str(rng.randint(1000, 9999))
        case "amount":
            return rng.randint(12, 1900)
        case "due" | "arrival" | "day" | "deadline":
            return day(since + rng.randint(3, 40))
        case "pages":
            return rng.randint(2, 90)
        case "phone":
            return rng.randint(200, 9900)
        case "seat":
            return f"{rng.choice('ABCDEFGHJK')}{rng.randint(1, 40)}"
        case "host":
            return rng.choice(senders["colleague"])
        case "place":
            return rng.choice(places)
    return rng.choice({"courier": COURIERS, "room": ROOMS, "hall": HALLS}[key])

"""What mail is about: sorts of letters with their subjects and texts, and the lists that fill the gaps."""

from __future__ import annotations

from webdojo.sites.content.words import items

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
"""Who writes a sort of letter (`company`, `colleague`, `friend`, `stranger`), and the attributes that its page tells."""
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

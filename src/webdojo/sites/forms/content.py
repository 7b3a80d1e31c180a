"""The words that public services are made of."""

from __future__ import annotations

import random

from webdojo.sites.content.words import items

PERMITS = items(
    "Resident parking permit, Visitor parking permit, Fishing permit, Street music permit, Bonfire permit, Food stall "
    "permit, Building permit, Tree felling permit, Film shooting permit, Moving van permit, Street party permit, "
    "Pavement seating permit, Firework permit, Allotment permit, Mooring permit"
)
CERTIFICATES = items(
    "Birth certificate, Marriage certificate, Proof of residence, Library card, Swimming pool card, School bus pass, "
    "Senior bus pass, Family card, Certificate of conduct, Land register extract, Bicycle passport, Museum card, "
    "Recycling card, Garden waste card"
)
REGISTRATIONS = items(
    "Dog registration, Beehive registration, Boat registration, Club registration, Trailer registration, Business "
    "registration, Well registration, Drone registration, Childcare registration"
)
TYPES = {"Permit": PERMITS, "Certificate": CERTIFICATES, "Registration": REGISTRATIONS}
DEPARTMENTS = items(
    "Citizen services, Culture and sports, Environment, Family and youth, Housing, Public order, Roads, Schools, "
    "Trade and markets, Waste and water"
)
WAYS = ("online", "by post", "in person")
OFFICES = ("Citizen Office", "Town Hall", "Service Point", "District Office", "Registry", "Advice Centre")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
CLOSING = ("noon", "two o'clock", "four o'clock", "six o'clock", "seven o'clock")
TIMES = ("8:30", "9:15", "10:00", "10:45", "11:30", "13:15", "14:00", "14:45", "15:30")
TOPICS = ("Passport", "Registration of residence", "Driving licence", "Wedding", "Business", "Lost property")
PROBLEMS = ("Noise", "Rubbish", "Street lights", "Potholes", "Opening hours", "Rude staff")
NEWS = ("Road works", "Markets", "Council meetings", "Jobs", "Schools", "Culture")
DELIVERY = ("By post", "By e-mail", "At the counter")
POSTCODES = ("10437", "20095", "31582", "44135", "50667", "60313", "73033", "81245")
PHONES = ("5550142", "5550187", "5550119", "5550165", "5550133")
NOTES = (
    "Please call in the afternoon.",
    "The old papers were lost in a move.",
    "My neighbour may collect the letter.",
    "I need a receipt.",
    "There is no bell, please knock.",
)
COMPLAINTS = (
    "It has been like this for weeks.",
    "Nobody answers the phone.",
    "My children cannot sleep at night.",
    "The corner by the school is the worst.",
    "I wrote to you before and heard nothing.",
)
SUBJECTS = ("Rusty", "Bella", "Sea Breeze", "Old Oak", "Blue Star", "Sunny Side", "Little Bear", "Silver Wing")
_INTROS = (
    "You need this if you live or work in the district.",
    "This service is for everybody who is registered in the district.",
    "Most people ask for this once and never think of it again.",
    "The rules for this are simple, and the form is short.",
    "The council has made this easier than it was.",
)
_PAPERS = (
    "Please have your identity card at hand.",
    "Bring a proof of address if you have moved lately.",
    "No further papers are needed.",
    "A photograph of yourself is helpful, but not needed.",
    "If somebody acts for you, they need a letter with your signature.",
)
_HOUSES = (
    "The entrance is at the back, next to the bicycle stands.",
    "There is a waiting room with toys for children.",
    "The building is old, but the lift is new.",
    "Please draw a number at the door.",
    "Trams and buses stop in front of the house.",
)


def service_texts(rng: random.Random) -> tuple[str, ...]:
    return rng.choice(_INTROS), rng.choice(_PAPERS)


def office_texts(rng: random.Random) -> tuple[str, ...]:
    return (" ".join(rng.sample(_HOUSES, 2)),)

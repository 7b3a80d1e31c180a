"""The texts of perturbations. Titles have at most 20 characters, labels at most 18, so that compact pages hold them."""

from __future__ import annotations

COOKIES = (
    ("Cookies", "We use cookies to keep this site going.", "Accept all", "Reject all"),
    ("Your privacy", "We and 12 partners store data on your device.", "I agree", "No thanks"),
    ("Before you go on", "This site uses cookies. Is that fine?", "Yes", "No"),
    ("We value privacy", "Choose what we may keep about you.", "Allow all", "Only needed ones"),
    ("Cookie notice", "Cookies help us count visits.", "OK", "Decline"),
    ("A small question", "May we remember you with cookies?", "Sure", "Not now"),
    ("Data and you", "We share data to show you better offers.", "Got it", "Refuse"),
    ("Crumbs ahead", "Cookies make this site quick and kind.", "Take them", "Leave them"),
)
"""Title, text, label that accepts, label that rejects."""

NEWSLETTERS = (
    ("Stay in touch", "Get our news once a week.", "Sign up", "No thanks"),
    ("Never miss a thing", "Be the first to hear what is new.", "Join", "Maybe later"),
    ("10% for you", "Join our letter and save next time.", "Get 10%", "I do not want it"),
    ("Letters we like", "A short letter, every Sunday.", "Subscribe", "Skip"),
    ("Hello, friend", "May we write to you now and then?", "Yes, write", "Not today"),
    ("One more thing", "Our best finds, right in your inbox.", "Send them", "Close"),
    ("Do not leave yet", "Readers get the good news first.", "Count me in", "Go away"),
)
"""Title, text, label that signs up, label that closes."""

CHATS = (
    ("Need help?", "Ask us anything. We answer in a minute."),
    ("Hi there!", "I am Robin. What are you looking for?"),
    ("Chat with us", "All our people are here for you."),
    ("Questions?", "Tell us what you cannot find."),
    ("Say hello", "We are online right now."),
    ("Ask Sam", "Sam knows this site by heart."),
)
"""What the bubble says, and what its panel says."""

ADVERTS = (
    ("Fly for less", "Sun, sand and a seat by the window.", "See flights"),
    ("Sleep well", "A bed that knows you, from 99 a month.", "Find yours"),
    ("Fast internet", "Twice the speed, half the wait.", "Check my home"),
    ("Learn to paint", "Ten evenings, one happy wall.", "Start free"),
    ("New car smell", "Drive now and think later.", "Book a drive"),
    ("Hot soup club", "A new soup at your door each week.", "Taste it"),
    ("Save on power", "Switch in five minutes.", "Compare now"),
    ("Pets need this", "The toy that every dog talks about.", "Show me"),
)
"""Headline, text, label of the link. Headlines have at most 16 characters."""

DEALS = (
    "From ${price}, {left} left.",
    "Now ${price}. Only {left} left.",
    "Today ${price}, {left} in stock.",
    "${price} each while {left} last.",
)
"""Price and stock of what an advert offers; the numbers are other ones on each visit."""

DRIFTS = (
    "{n} people here now",
    "{n} visits today",
    "Seen {n} times",
    "{n} saved this page",
    "Busy: {n} here now",
    "{n} new visits",
)
"""`n` is another number on each visit."""

ERRORS = {
    403: (("Access denied", "You may not see this page now."), ("Not allowed", "We could not let you in.")),
    429: (("Too many requests", "You are going too fast. Wait a little."), ("Slow down", "Please try again soon.")),
    500: (("Something broke", "We made a mistake and are sorry."), ("Server error", "This page could not be made.")),
    502: (("Bad gateway", "A machine of ours gave no answer."), ("Error 502", "The page behind this one is away.")),
    503: (("Service is busy", "Too many people are here now."), ("Unavailable", "We will be back in a moment.")),
    504: (("Gateway timeout", "This page took too long."), ("Error 504", "No answer came in time.")),
}
"""Title and text by HTTP status."""
RETRIES = ("Try again", "Reload", "Retry", "Load it again")

EXPIRIES = (
    ("Session ended", "You were away for a while.", "Continue"),
    ("Are you there?", "Your session has ended. Go on where you were.", "I am here"),
    ("Signed out", "For your safety we ended your session.", "Go on"),
    ("Time is up", "Your session was idle for too long.", "Start again"),
    ("Welcome back", "Your session ended. Nothing was lost.", "Back to the page"),
    ("Session expired", "Press the button to go on.", "Resume"),
)
"""Title, text, label of the button."""

CHECKS = (
    ("One moment", "Please show that you are a person.", "I am a person", "Continue"),
    ("Security check", "This site keeps robots out.", "I am not a robot", "Go on"),
    ("Quick check", "Tick the box to see the page.", "I am human", "Continue"),
    ("Checking you", "Many robots come here today.", "Not a robot", "Enter"),
    ("Hold on", "We want people, not programs.", "I am a human", "Let me in"),
    ("Who is there?", "Tick the box, then go on.", "A real person", "Next"),
)
"""Title, text, label of the box, label of the button."""
FAILED_CHECKS = ("That did not work. Try once more.", "We are not sure yet. Tick the box again.")

WAITS = (
    ("Please wait", "Your page is being prepared. It comes by itself."),
    ("One moment", "Many people are here. You are next in line."),
    ("You are in line", "This takes a few seconds. Please stay here."),
    ("Nearly there", "We are getting things ready for you."),
)

OUTAGES = (
    ("Down for now", "We are at work on this site. Come back later."),
    ("Out of service", "Our machines are resting."),
    ("Site unavailable", "We do not know when it will be back."),
    ("Maintenance", "This site is closed for repairs."),
)

OFFER_BACK = "Back to the site"

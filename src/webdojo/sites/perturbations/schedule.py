"""What happens to a session, and on which of its pages: a pure function of seed, level and host.

| level | adds |
|---|---|
| 0 | nothing: sites answer exactly as they are |
| 1 | cookie walls, chat bubbles, adverts |
| 2 | newsletter pop-ups, slow responses, single HTTP errors, pages that ask to wait, A/B layouts |
| 3 | stalled responses, dropped connections, session expiry, bot checks, moved buttons, drift |

Each event has a random stream of its own, so a higher level adds events and moves none. Pages are counted
per host as they are served, so nothing depends on the clock. What has happened to a session, and what it answered, is
kept apart from what evaluators read: answering a cookie wall changes nothing that counts.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import quote, unquote

from webdojo.errors import SiteError

PERTURBATIONS_HEADER = "X-Webdojo-Perturbations"
"""Its value is `str()` of a session's `Perturbations`."""
LEVELS = (0, 1, 2, 3)
"""None, light, moderate, heavy."""


class Event(StrEnum):
    """One thing that can go wrong; the values stand in trajectories."""

    level: int
    """The lowest level that has it, unless it is permanent."""
    chance: float
    """Of a session to meet it at all."""
    begins: tuple[int, int]
    """Range of pages on which it begins; the first page of a host is 1."""
    again: float
    """Chance of each later page to have it as well."""

    COOKIE_WALL = "cookie_wall", 1, 0.7, (1, 2)
    CHAT_BUBBLE = "chat_bubble", 1, 0.5, (1, 4)
    ADVERT = "advert", 1, 0.6, (1, 3), 0.4
    NEWSLETTER = "newsletter", 2, 0.6, (2, 4)
    SLOW = "slow", 2, 0.8, (1, 4), 0.2
    HTTP_ERROR = "http_error", 2, 0.4, (2, 5)
    PLEASE_WAIT = "please_wait", 2, 0.4, (2, 5)
    """A page that asks for patience and goes on by itself."""
    AB_LAYOUT = "ab_layout", 2, 0.5, (1, 1)
    STALLED = "stalled", 3, 0.25, (2, 5)
    DROPPED = "dropped", 3, 0.4, (2, 5)
    """The connection closes without an answer."""
    MOVED_BUTTONS = "moved_buttons", 3, 0.5, (2, 4)
    DRIFT = "drift", 3, 0.7, (1, 3), 0.7
    SESSION_EXPIRED = "session_expired", 3, 0.4, (2, 6)
    BOT_CHECK = "bot_check", 3, 0.4, (1, 4)
    BOT_WALL = "bot_wall", 0, 0.1, (2, 4)
    """A bot check that nobody passes."""
    OUTAGE = "outage", 0, 0.1, (2, 4)
    """The site is down, and stays down."""

    def __new__(cls, value: str, level: int, chance: float, begins: tuple[int, int], again: float = 0.0) -> Event:
        event = str.__new__(cls, value)
        event._value_, event.level, event.chance, event.begins, event.again = value, level, chance, begins, again
        return event


PERMANENT = frozenset({Event.BOT_WALL, Event.OUTAGE})
"""No agent can do its task after one of these. They never begin on the first page: a start URL that is down ends the
episode before it begins."""
_UNTIL_ANSWERED = (Event.SESSION_EXPIRED, Event.BOT_CHECK)
_ONCE = (Event.DROPPED, Event.HTTP_ERROR, Event.PLEASE_WAIT)
_POPUPS = (Event.COOKIE_WALL, Event.NEWSLETTER, Event.CHAT_BUBBLE)
"""At most one lies on a page; the next one comes after it was answered."""
TICK = "tick"
"""The answer to a bot check that is not yet enough."""

_SLOW_S = (0.3, 1.5)
_STALLED_S = (5.0, 8.0)


@dataclass(frozen=True)
class Perturbations:
    """What may happen to one session."""

    level: int = 0
    """One of `LEVELS`."""
    seed: str = ""
    permanent_failures: bool = False
    """A fifth of the sessions at most meet a failure that no agent can get past (`PERMANENT`)."""

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise SiteError(f"perturbation level {self.level} is unknown; levels are {', '.join(map(str, LEVELS))}")

    @property
    def off(self) -> bool:
        """Nothing can happen."""
        return self.level == 0 and not self.permanent_failures

    def __str__(self) -> str:
        """The value of the header, which `parse_perturbations` reads."""
        return f"{self.level};{int(self.permanent_failures)};{quote(self.seed)}"


NO_PERTURBATIONS = Perturbations()


def parse_perturbations(text: str) -> Perturbations:
    """The perturbations that `str()` wrote; an empty text has none."""
    if not text:
        return NO_PERTURBATIONS
    match = re.fullmatch(r"(\d+);([01]);(.*)", text)
    if match is None:
        raise SiteError(
            f"{text!r} cannot be read; perturbations look like 3;0;seed (level, permanent failures or not, seed)"
        )
    return Perturbations(int(match[1]), unquote(match[3]), match[2] == "1")


class PerturbationState:
    """What a session meets on one host, on which of its pages, and what has happened so far."""

    def __init__(self, perturbations: Perturbations, host: str) -> None:
        # `weather` is a part of every stream's seed: another word would draw other perturbations.
        self._name = f"weather-{perturbations.seed}-{host}"
        self.first: dict[Event, int] = {}
        """The page on which each event begins; those that never come are not in it."""
        for event in Event:
            rng = self.rng(event)
            comes, page = rng.random() < event.chance, rng.randint(*event.begins)
            low = event.level <= perturbations.level
            if comes and (perturbations.permanent_failures if event in PERMANENT else low):
                self.first[event] = page
        self.page = 1
        """Number of the page that is served next."""
        self.events: list[dict[str, Any]] = []
        """What happened, in order: `page`, `event`, and where there is one the `answer`; plain JSON."""
        self.ticked = False
        """The box of the bot check at hand is ticked."""
        self.rejected = 0
        """How often a bot check that nobody passes was answered."""
        self._over: set[str] = set()

    def due(self, event: Event, page: int) -> bool:
        return event in self.first and self.first[event] <= page

    def on(self, event: Event, page: int) -> bool:
        """Whether an event that comes and goes is there on a page."""
        if not self.due(event, page):
            return False
        return page == self.first[event] or self.rng(event, page).random() < event.again

    def rng(self, event: Event, page: int = 0, part: str = "") -> random.Random:
        """The random stream of an event, of what it does to a page, or of one part of that."""
        return random.Random(f"{self._name}-{event}-{page}{part and '-' + part}")

    def replacement(self) -> Event | None:
        """What comes in the place of the next page, if anything does."""
        for event in (*sorted(PERMANENT), *_UNTIL_ANSWERED, *_ONCE):
            if self.due(event, self.page) and event not in self._over:
                self._note(event)
                if event in _ONCE:
                    self._over.add(event)
                return event
        return None

    def layout_seed(self) -> int:
        """The seed of the next page's layout; 0 is the site's own layout."""
        changed = [e for e in (Event.AB_LAYOUT, Event.MOVED_BUTTONS) if self.due(e, self.page)]
        for event in changed:
            self._note(event)
        return self.rng(changed[-1]).randint(1, 999_999) if changed else 0

    def drifted(self, number: int, name: str) -> int:
        """A number that no task asks for, as it is at this moment; each name drifts by itself."""
        if not self.on(Event.DRIFT, self.page):
            return number
        return max(1, round(number * self.rng(Event.DRIFT, self.page, name).uniform(0.7, 1.3)))

    def serve(self) -> tuple[Event | None, bool, bool, float]:
        """Count a page that is served now: what lies over it, has it an advert, do numbers drift, its delay."""
        page, delay_s = self.page, 0.0
        popup = next((e for e in _POPUPS if self.due(e, page) and e not in self._over), None)
        advert, drift = (self.on(event, page) for event in (Event.ADVERT, Event.DRIFT))
        if popup is not None:
            self._note(popup)
        if advert:
            self._note(Event.ADVERT, again=True)
        if drift:
            self._note(Event.DRIFT, again=True)
        if self.on(Event.SLOW, page):
            delay_s = self._delay(Event.SLOW, *_SLOW_S)
        if self.first.get(Event.STALLED) == page:
            delay_s = self._delay(Event.STALLED, *_STALLED_S)
        self.page += 1
        return popup, advert, drift, delay_s

    def answer(self, name: str, answer: str) -> None:
        """Take the answer to a notice; an answer to a notice that is not there changes nothing."""
        noted = next((noted for noted in self.events if noted["event"] == name), None)
        if noted is None or name in self._over or name not in (*_POPUPS, *_UNTIL_ANSWERED, Event.BOT_WALL):
            return
        if name in (Event.BOT_CHECK, Event.BOT_WALL):
            self.ticked, passed = answer == TICK, self.ticked and answer != TICK
            self.rejected += passed and name == Event.BOT_WALL
            if not passed or name == Event.BOT_WALL:
                return
        noted["answer"] = answer
        self._over.add(name)

    def _delay(self, event: Event, low: float, high: float) -> float:
        seconds = round(self.rng(event, self.page).uniform(low, high), 2)
        self._note(event, again=True, seconds=seconds)
        return seconds

    def _note(self, event: Event, again: bool = False, **more: Any) -> None:
        """Record an event: each time with `again`, otherwise only the first time."""
        if again or not any(noted["event"] == event for noted in self.events):
            self.events.append({"page": self.page, "event": event.value, **more})


def permanent_failure(state: dict[str, Any]) -> str:
    """The failure that no agent could have got past, from the `SiteServer.state` of a session; empty: it met none."""
    says: dict[str, str] = {Event.BOT_WALL: "a bot check let nobody in", Event.OUTAGE: "the site was down"}
    for host, seen in state.items():
        for noted in seen.get("perturbations", ()):
            if noted["event"] in says:
                return f"{says[noted['event']]} ({host}, page {noted['page']})"
    return ""

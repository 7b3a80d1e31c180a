"""What happens to a session, and on which of its pages: a pure function of seed, level and host.

| level | adds |
|---|---|
| 0 | nothing: sites answer exactly as they are |
| 1 | cookie walls, chat bubbles, adverts |
| 2 | newsletter pop-ups, slow responses, single HTTP errors, pages that ask to wait, A/B layouts |
| 3 | stalled responses, dropped connections, session expiry, bot checks, moved buttons, drift |

Each event has a random stream of its own, so a higher level adds events and moves none. Pages are counted
per host as they are served, so nothing depends on the clock.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote, unquote

from webdojo.errors import SiteError

LEVELS = (0, 1, 2, 3)
"""None, light, moderate, heavy."""


class Event(StrEnum):
    """One kind of weather; the values stand in trajectories."""

    COOKIE_WALL = "cookie_wall"
    NEWSLETTER = "newsletter"
    CHAT_BUBBLE = "chat_bubble"
    ADVERT = "advert"
    SLOW = "slow"
    STALLED = "stalled"
    HTTP_ERROR = "http_error"
    PLEASE_WAIT = "please_wait"
    """A page that asks for patience and goes on by itself."""
    DROPPED = "dropped"
    AB_LAYOUT = "ab_layout"
    MOVED_BUTTONS = "moved_buttons"
    DRIFT = "drift"
    SESSION_EXPIRED = "session_expired"
    BOT_CHECK = "bot_check"
    BOT_WALL = "bot_wall"
    """A bot check that nobody passes."""
    OUTAGE = "outage"
    """The site is down, and stays down."""


IMPASSABLE = frozenset({Event.BOT_WALL, Event.OUTAGE})
"""No agent can do its task after one of these."""


@dataclass(frozen=True)
class _Odds:
    level: int
    """The lowest level that has it."""
    session: float
    """Chance of a session to meet it at all."""
    first: tuple[int, int]
    """Range of pages on which it begins; the first page of a host is 1."""
    again: float = 0.0
    """Chance of each later page to have it as well."""


_ODDS = {
    Event.COOKIE_WALL: _Odds(1, 0.7, (1, 2)),
    Event.CHAT_BUBBLE: _Odds(1, 0.5, (1, 4)),
    Event.ADVERT: _Odds(1, 0.6, (1, 3), again=0.4),
    Event.NEWSLETTER: _Odds(2, 0.6, (2, 4)),
    Event.SLOW: _Odds(2, 0.8, (1, 4), again=0.2),
    Event.HTTP_ERROR: _Odds(2, 0.4, (2, 5)),
    Event.PLEASE_WAIT: _Odds(2, 0.4, (2, 5)),
    Event.AB_LAYOUT: _Odds(2, 0.5, (1, 1)),
    Event.STALLED: _Odds(3, 0.25, (2, 5)),
    Event.DROPPED: _Odds(3, 0.4, (2, 5)),
    Event.MOVED_BUTTONS: _Odds(3, 0.5, (2, 4)),
    Event.DRIFT: _Odds(3, 0.7, (1, 3), again=0.7),
    Event.SESSION_EXPIRED: _Odds(3, 0.4, (2, 6)),
    Event.BOT_CHECK: _Odds(3, 0.4, (1, 4)),
}
_IMPASSABLE_ODDS = {
    Event.BOT_WALL: _Odds(0, 0.1, (2, 4)),
    Event.OUTAGE: _Odds(0, 0.1, (2, 4)),
}
"""The first page never: a start URL that is down ends the episode before it begins."""


@dataclass(frozen=True)
class Weather:
    """The weather of one session."""

    level: int = 0
    """One of `LEVELS`."""
    seed: str = ""
    impassable: bool = False
    """Some sessions, a fifth at most, meet what no agent can pass (`IMPASSABLE`)."""

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise SiteError(f"weather level {self.level} is unknown; levels are {', '.join(map(str, LEVELS))}")

    @property
    def clear(self) -> bool:
        """Nothing can happen."""
        return self.level == 0 and not self.impassable

    def __str__(self) -> str:
        """As a header's value; `parse_weather` reads it."""
        return f"{self.level};{int(self.impassable)};{quote(self.seed)}"


CLEAR = Weather()


def parse_weather(text: str) -> Weather:
    """The weather that `str()` wrote; an empty text is clear.

    Raises:
        SiteError: not such a text.
    """
    if not text:
        return CLEAR
    level, _, rest = text.partition(";")
    impassable, _, seed = rest.partition(";")
    if not level.isdecimal() or impassable not in ("0", "1"):
        raise SiteError(f"{text!r} is no weather; it looks like 3;0;seed (level, impassable or not, seed)")
    return Weather(int(level), unquote(seed), impassable == "1")


class Forecast:
    """What a session meets on one host."""

    def __init__(self, weather: Weather, host: str) -> None:
        self._name = f"weather-{weather.seed}-{host}"
        odds = {event: odds for event, odds in _ODDS.items() if odds.level <= weather.level}
        self._odds = odds | (_IMPASSABLE_ODDS if weather.impassable else {})
        self.first: dict[Event, int] = {}
        """The page on which each event begins; those that never come are not in it."""
        for event, chance in self._odds.items():
            rng = self.rng(event)
            comes, page = rng.random() < chance.session, rng.randint(*chance.first)
            if comes:
                self.first[event] = page

    def due(self, event: Event, page: int) -> bool:
        """Whether an event has begun by a page."""
        return event in self.first and self.first[event] <= page

    def on(self, event: Event, page: int) -> bool:
        """Whether an event that comes and goes is there on a page."""
        if not self.due(event, page):
            return False
        return page == self.first[event] or self.rng(event, page).random() < self._odds[event].again

    def rng(self, event: Event, page: int = 0, part: str = "") -> random.Random:
        """The random stream of an event, of what it does to a page, or of one part of that."""
        return random.Random(f"{self._name}-{event}-{page}{part and '-' + part}")

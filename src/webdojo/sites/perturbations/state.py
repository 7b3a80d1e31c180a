"""What perturbations have done to one session on one host, and what the session answered.

This is kept apart from what evaluators read: answering a cookie wall changes nothing that counts.
"""

from __future__ import annotations

from typing import Any

from webdojo.sites.perturbations.schedule import PERMANENT, Event, Perturbations, Schedule

_UNTIL_ANSWERED = (Event.SESSION_EXPIRED, Event.BOT_CHECK)
_ONCE = (Event.DROPPED, Event.HTTP_ERROR, Event.PLEASE_WAIT)
_OVERLAYS = (Event.COOKIE_WALL, Event.NEWSLETTER, Event.CHAT_BUBBLE)
"""At most one lies on a page; the next one comes after it was answered."""
TICK = "tick"
"""The answer to a bot check that is not yet enough."""

_SLOW_S = (0.3, 1.5)
_STALLED_S = (5.0, 8.0)


class PerturbationState:
    """What has happened so far to one session on one host; `Schedule` says what is still to come."""

    def __init__(self, perturbations: Perturbations, host: str) -> None:
        self.schedule = Schedule(perturbations, host)
        self.page = 1
        """Number of the page that is served next."""
        self.events: list[dict[str, Any]] = []
        """What happened, in order: `page`, `event`, and where there is one the `answer`; plain JSON."""
        self.ticked = False
        """The box of the bot check at hand is ticked."""
        self.rejected = 0
        """How often a bot check that nobody passes was answered."""
        self._over: set[Event] = set()

    def replacement(self) -> Event | None:
        """What comes in the place of the next page, if anything does."""
        for event in (*sorted(PERMANENT), *_UNTIL_ANSWERED, *_ONCE):
            if self.schedule.due(event, self.page) and event not in self._over:
                self._note(event)
                if event in _ONCE:
                    self._over.add(event)
                return event
        return None

    def layout_seed(self) -> int:
        """The seed of the next page's layout; 0 is the site's own layout."""
        changed = [e for e in (Event.AB_LAYOUT, Event.MOVED_BUTTONS) if self.schedule.due(e, self.page)]
        for event in changed:
            self._note(event)
        return self.schedule.rng(changed[-1]).randint(1, 999_999) if changed else 0

    def drifted(self, number: int, name: str) -> int:
        """A number that no task asks for, as it is at this moment; each name drifts by itself."""
        if not self.schedule.on(Event.DRIFT, self.page):
            return number
        return max(1, round(number * self.schedule.rng(Event.DRIFT, self.page, name).uniform(0.7, 1.3)))

    def serve(self) -> tuple[Event | None, bool, bool, float]:
        """Count a page that is served now, and say what comes with it.

        Returns:
            What lies over it, whether it has an advert, whether its numbers drift, and how many seconds it takes.
        """
        page, delay_s = self.page, 0.0
        overlay = next((e for e in _OVERLAYS if self.schedule.due(e, page) and e not in self._over), None)
        advert, drift = (self.schedule.on(event, page) for event in (Event.ADVERT, Event.DRIFT))
        if overlay is not None:
            self._note(overlay)
        if advert:
            self._note(Event.ADVERT, again=True)
        if drift:
            self._note(Event.DRIFT, again=True)
        if self.schedule.on(Event.SLOW, page):
            delay_s = self._delay(Event.SLOW, *_SLOW_S)
        if self.schedule.first.get(Event.STALLED) == page:
            delay_s = self._delay(Event.STALLED, *_STALLED_S)
        self.page += 1
        return overlay, advert, drift, delay_s

    def answer(self, name: str, answer: str) -> None:
        """Take the answer to a notice; an answer to a notice that is not there changes nothing."""
        noted = next((noted for noted in self.events if noted["event"] == name), None)
        if noted is None or name in self._over or name not in (*_OVERLAYS, *_UNTIL_ANSWERED, Event.BOT_WALL):
            return
        event = Event(name)
        if event in (Event.BOT_CHECK, Event.BOT_WALL):
            self.ticked, passed = answer == TICK, self.ticked and answer != TICK
            self.rejected += passed and event is Event.BOT_WALL
            if not passed or event is Event.BOT_WALL:
                return
        noted["answer"] = answer
        self._over.add(event)

    def _delay(self, event: Event, low: float, high: float) -> float:
        seconds = round(self.schedule.rng(event, self.page).uniform(low, high), 2)
        self._note(event, again=True, seconds=seconds)
        return seconds

    def _note(self, event: Event, again: bool = False, **more: Any) -> None:
        """Record an event: each time with `again`, otherwise only the first time."""
        if again or not any(noted["event"] == event for noted in self.events):
            self.events.append({"page": self.page, "event": event.value, **more})


def permanent_failure(state: dict[str, Any]) -> str:
    """The failure that no agent could have got past, from the state that a session ended in; empty if it met none.

    Args:
        state: `SiteServer.state` of the session, as it stands in `Trajectory.state`.
    """
    says = {Event.BOT_WALL: "a bot check let nobody in", Event.OUTAGE: "the site was down"}
    for host, seen in state.items():
        for noted in seen.get("perturbations", ()):
            if noted["event"] in PERMANENT:
                return f"{says[Event(noted['event'])]} ({host}, page {noted['page']})"
    return ""

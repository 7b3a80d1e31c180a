"""Episode slots: how many there are now, what holds the next episode, and where the slots' time went.

Every second of every slot is counted once: an episode ran in it, or it was free or its engine at rest, for one reason
(`Hold`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from webdojo.rollout.adaptive import AdaptiveConcurrency
from webdojo.rollout.config import RolloutConfig
from webdojo.rollout.gates import Gate, Hold, make_gates
from webdojo.rollout.requests import Requests
from webdojo.rollout.rest import Rest
from webdojo.types import EngineHealth


@dataclass
class SlotSeconds:
    """Seconds, summed over the slots, by the event loop's clock."""

    there: float = 0.0
    """Of all slots; those above the limit count while an episode still runs in them."""
    busy: float = 0.0
    """In which an episode ran that its engine let run."""
    held: dict[Hold, float] = field(default_factory=lambda: dict.fromkeys(Hold, 0.0))
    """In which none did, by reason."""

    def since(self, before: SlotSeconds) -> SlotSeconds:
        """Of the time from `before` to now."""
        held = {reason: seconds - before.held[reason] for reason, seconds in self.held.items()}
        return SlotSeconds(self.there - before.there, self.busy - before.busy, held)


class Slots:
    """The slots of a pool.

    Args:
        most: there are ever.
        gates: asked before each start, in this order.
        adaptive: decides how many there are now; None: always `most`.
        rest: of the engine; None: it never rests.
    """

    def __init__(
        self,
        most: int,
        gates: Sequence[Gate] = (),
        adaptive: AdaptiveConcurrency | None = None,
        rest: Rest | None = None,
    ) -> None:
        self.limit = adaptive.slots if adaptive is not None else most
        """Slots that there are now."""
        self._gates = gates
        self._adaptive = adaptive
        self._rest = rest or Rest()
        self._spent = SlotSeconds()
        self._running = 0
        self._hold = Hold.FULL
        self._last = asyncio.get_running_loop().time()
        self._rested = self._rest.seconds(self._last)

    def hold(self, running: int, work: bool) -> Hold | None:
        """Why no further episode starts now; None where one may. Call it whenever the number that runs has changed.

        Args:
            running: episodes now.
            work: there is one that may start as far as staleness goes.
        """
        self._count()
        self._running = running
        reason = self._reason(running, work)
        self._hold = reason or Hold.FULL
        return reason

    def seconds(self) -> SlotSeconds:
        """So far."""
        self._count()
        return SlotSeconds(self._spent.there, self._spent.busy, self._spent.held.copy())

    def _reason(self, running: int, work: bool) -> Hold | None:
        if running >= self.limit:
            return Hold.FULL
        if not work:
            return Hold.STALENESS
        if not running:
            return None
        return next((gate.reason for gate in self._gates if not gate.is_open(running)), None)

    def _count(self) -> None:
        """Count the time since the last call, in which nothing changed."""
        now = asyncio.get_running_loop().time()
        seconds, self._last = now - self._last, now
        rested, self._rested = self._rest.seconds(now) - self._rested, self._rest.seconds(now)
        awake = seconds - rested
        free = 0 if self._hold is Hold.FULL else max(0, self.limit - self._running)
        self._spent.there += seconds * (self._running + free)
        self._spent.busy += awake * self._running
        self._spent.held[Hold.REST] += rested * self._running
        self._spent.held[self._hold] += seconds * free
        if self._adaptive is not None:
            self.limit = self._adaptive.note(self._running, awake, full=self._hold is not Hold.STALENESS)


def make_slots(
    config: RolloutConfig,
    requests: Requests,
    health: Callable[[], EngineHealth],
    places: Callable[[], int],
    rest: Rest,
) -> Slots:
    """The slots of a recipe; `health` and `places` as in `make_gates`.

    Args:
        requests: what their episodes ask of the engine.
        rest: of that engine.
    """
    most, adaptive = config.concurrency, None
    if config.adaptive_concurrency:
        adaptive = AdaptiveConcurrency(most, lambda: requests.answered)
    return Slots(most, make_gates(config, health, places), adaptive, rest)

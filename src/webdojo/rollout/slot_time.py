"""What an episode's slot was taken for, from the records alone.

`start` opens the browser session; `queue` waits in the engine and `engine` samples; `act` carries out calls and
`ready` waits for the pages that they changed; `observe` takes screenshots; `close` ends the session; `reward`
judges and `store` keeps the trajectory. `other` is what lies between: prompts, parsing, and turns of the event
loop that came late. Together they are all the time of the slot, but for attempts that were cut (`Trajectory.cut`): of
an episode that ran anew they are the last attempt's.
"""

from __future__ import annotations

from webdojo.types import Trajectory

PHASES = ("start", "queue", "engine", "act", "ready", "observe", "close", "reward", "store", "other")


def slot_seconds(trajectory: Trajectory) -> dict[str, float]:
    """Seconds by phase (`PHASES`), of which there is no `store` where the trajectory was read from there."""
    whole = trajectory.seconds
    queue = sum(turn.response.seconds.get("queue", 0.0) for turn in trajectory.turns)
    ready = sum(turn.seconds.get("ready", 0.0) for turn in trajectory.turns)
    parts = {phase: whole.get(phase, 0.0) for phase in PHASES[:-1]}
    parts |= {"queue": queue, "engine": whole.get("generate", 0.0) - queue}
    parts |= {"act": parts["act"] - ready, "ready": ready}
    total = whole.get("total", 0.0) + parts["reward"] + parts["store"]
    return parts | {"other": total - sum(parts.values())}

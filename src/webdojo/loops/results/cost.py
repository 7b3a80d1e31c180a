"""What the episodes of an evaluation cost: turns, sampled tokens, time, and money where an endpoint was asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from webdojo.loops.run_folder import ENGINE_ACCOUNT
from webdojo.policy.chat.ledger import totals_in
from webdojo.reward.judges.hearing import ACCOUNT
from webdojo.types import Trajectory


def cost(episodes: Sequence[Trajectory], run: Path) -> dict[str, Any]:
    """The cost as a JSON object.

    `steps`, `response_tokens` and `seconds`, from the start of a session to the verdict, are means over episodes.
    `engine` and `judge` are there where these are behind an endpoint: requests and tokens of the run so far, and `usd`,
    which is 0 where no price is set.
    """
    accounts = {"engine": totals_in(run / ENGINE_ACCOUNT), "judge": totals_in(run / ACCOUNT)}
    return {
        "episodes": len(episodes),
        "steps": fmean(each.steps for each in episodes),
        "response_tokens": fmean(sum(len(turn.response.ids) for turn in each.turns) for each in episodes),
        "seconds": fmean(each.seconds.get("total", 0.0) + each.seconds.get("reward", 0.0) for each in episodes),
        **{name: totals._asdict() for name, totals in accounts.items() if totals is not None},
    }

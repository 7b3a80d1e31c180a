"""What a try that brought no answer means: whether another may do better, and what it may have cost."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from webdojo.policy.chat.address import Address
from webdojo.policy.chat.answer import error_message

LONGEST_RETRY_AFTER_S = 600.0
"""An endpoint that asks to wait for longer is not waited for."""


@dataclass
class Failed(Exception):
    """One try that brought no answer."""

    reason: str
    again: bool = True
    """Another try may do better."""
    charged: bool = False
    """The endpoint may have done the work, and ask money for it."""
    wait_s: float | None = None
    """What the endpoint asked for."""


def refusal(status: int, headers: Mapping[str, str], body: Any, address: Address) -> Failed:
    """What a status other than 200 means.

    Args:
        headers: names in lower case.
        body: decoded JSON; None where it was none.
    """
    message, code = error_message(body)
    reason = f"status {status}" + (f": {address.say(message)}" if message else "")
    if status in (401, 403):
        held = f"the key in {address.key_variable}" if address.key_variable else "engine.api_key_env, which is empty"
        return Failed(f"{reason}; check {held}", again=False)
    if status == 404:
        return Failed(f"{reason}; check engine.base_url and engine.model", again=False)
    if status in (408, 409, 429) or status >= 500:
        wait_s = retry_after(headers.get("retry-after", ""), time.time())
        if wait_s is not None and wait_s > LONGEST_RETRY_AFTER_S:
            return Failed(f"{reason}; it asks to come back in {wait_s:.0f} s", again=False)
        return Failed(reason, again=code != "insufficient_quota", wait_s=wait_s)
    return Failed(reason, again=False)


def retry_after(given: str, now: float) -> float | None:
    """Seconds that a Retry-After header asks to wait; it holds a number or a date. None where it holds neither.

    Args:
        now: Unix seconds.
    """
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(given).timestamp() - now
        except ValueError:
            return None
    return max(0.0, seconds) if seconds == seconds else None

"""Learning rates as functions of the optimizer step, so that a resumed run needs only its step count.

Steps count from 0; warm-up is linear and its first step is already above 0.
"""

from __future__ import annotations

import math


def constant(step: int, *, peak: float, warmup_steps: int) -> float:
    """Linear warm-up over `warmup_steps`, then `peak` for ever (OpenWebRL Table 7)."""
    return peak * min(1.0, (step + 1) / max(warmup_steps, 1))


def cosine(step: int, *, peak: float, warmup_steps: int, total_steps: int) -> float:
    """Linear warm-up, then a half cosine that ends just above 0 at the last step (OpenWebRL A.5)."""
    if step < warmup_steps:
        return peak * ((step + 1) / warmup_steps)
    progress = (step - warmup_steps) / max(total_steps - warmup_steps, 1)
    return peak * 0.5 * (1 + math.cos(math.pi * min(progress, 1.0)))

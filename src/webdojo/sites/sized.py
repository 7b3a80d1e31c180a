"""Sites that hold more in the full-size layout than in the compact one, whose few things small eyes can find.

The small site is a part of the large one: its things are there with the same values, and first in their lists.
"""

from __future__ import annotations

from functools import cached_property
from typing import Self

from webdojo.sites.site import Site


class SizedSite(Site):
    """A site in one of two sizes.

    Args:
        large: with all that the full-size layout has.
    """

    def __init__(self, seed: int, large: bool = True) -> None:
        super().__init__(seed)
        self.large = large

    def in_layout(self, layout: str) -> Site:
        return self._small if self.large and layout == "compact" else self

    @cached_property
    def _small(self) -> Self:
        return type(self)(self.seed, large=False)

    @property
    def per_page(self) -> int:
        return self.look.per_page * (2 if self.large else 1)

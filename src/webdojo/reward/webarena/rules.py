"""Which rules an evaluator follows: those of WebArena or of WebArena-Lite, repaired or exactly as published.

WebArena is `evaluation_harness` of web-arena-x/webarena at f62e0b9. WebArena-Lite is the harness of THUDM's
VisualAgentBench (`VAB-WebArena-Lite/new`), by which WebRL and WebAgent-R1 report. It differs in these ways: a reference
of one word must be a word of the text; answers take ` |OR| `, `must_exclude`, `one_of` and `required_values`; all
references of `fuzzy_match` are graded at once; an address must be equal unless `url_note` says otherwise; locators may
be `lambda:` functions. (BrowserGym's port of WebArena-Lite keeps WebArena's own rules for answers and addresses.)

What is repaired unless `strict_compat` is set. In both:

1.  An address matched where it began with the reference's (`…/viewed` by `…/viewedasdf`), or held it anywhere. Now host
    and port are equal, and the reference's path is the beginning of the path in whole segments.
2.  A slash before the query (`/issues/?sort=…`), or twice after a site's address, made an address another one.
3.  The word before a full stop in mid-text, as `0` in `score: 0. Done`, was no word.
4.  What a locator found was the text `None` where it found nothing.
5.  A reason that matched made up for other checks of the answer that failed.
6.  The words `correct` and `same` counted wherever a grader's reply had them, as in `not correct`.
7.  A member's role was looked up by row number in a second list, which may have other rows.
8.  An order's page was addressed by its number for customers instead of its id.
9.  A review's first rating counted, whichever it was.

In WebArena:

10. ` |OR| ` in a reference answer was a part of it, so that nothing matched (task 386).
11. Query values of all alternatives of a `reference_url` were mixed.

In WebArena-Lite:

12. White space around an answer counted.
13. With `GOLD in PRED`, scheme and query had to be the reference's to the letter and order.
14. `<` and `>` held for equal numbers, and only whole numbers were numbers.
15. HTML entities in a page counted as their code.
16. A `lambda:` locator lost letters of its code, and one that found 0 or nothing failed in any case.

In neither mode: an evaluator that raises an error has not failed the agent, because it makes an episode invalid; a
`must_include` that is one text counts as a list of one; `last` is the page that the agent left, also after a target
that is another page. No published spec depends on the last one.
"""

from __future__ import annotations

from typing import Literal

from webdojo.types import FrozenRecord

Dialect = Literal["webarena", "webarena_lite"]


class Rules(FrozenRecord):
    """The two options that all rules go by."""

    dialect: Dialect = "webarena"
    strict_compat: bool = False

    @property
    def lite(self) -> bool:
        return self.dialect == "webarena_lite"

    @property
    def strict_lite(self) -> bool:
        return self.lite and self.strict_compat

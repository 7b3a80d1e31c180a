"""Words that compare."""

from __future__ import annotations

from webdojo.sites.answers.values import word_set

BEATS = frozenset(
    f"{verb}{ending}"
    for verb in word_set(
        "exceed top surpass outnumber outrank outscore outperform outpace outweigh outstrip outclass outlast outshine "
        "overshadow eclipse trump"
    )
    for ending in ("", "s", "es", "ed", "d", "ing")
) | word_set(
    "beat beats beaten beating outdo outdoes outdid outdone outsell outsells outsold outgrow outgrows overtake "
    "overtakes overtook overtaken"
)
"""Verbs of having more than what stands after them."""
MORE = (
    word_set(
        "more most higher highest greater greatest larger largest bigger biggest longer longest later latest newer "
        "newest better best above over wins win winner winning leads ahead leader led deeper deepest taller tallest "
        "wider widest younger youngest pricier expensive heavier heaviest dearer costlier superior maximum > top "
        "leading edge"
    )
    | BEATS
)
"""Words of having more."""
LESS = word_set(
    "less least fewer fewest lower lowest smaller smallest shorter shortest earlier earliest older oldest cheaper "
    "cheapest below under worse worst behind loses lose lost falls lighter lightest loser trails inferior minimum < "
    "lags trailing lagging"
)
OBJECTS = BEATS | word_set("than led leads over above ahead below under behind trails trailing > <")
"""Words of a comparison that what has less stands after, or with a word of less what has more."""
LOSING = (("loses", "to"), ("lose", "to"), ("lost", "to"), ("short", "of"))
"""Words after which what has more stands."""
EVEN = word_set("equal equally same tie tied draw neither share")
"""Words of having as much."""
LIMITS = word_set("or at")
"""Words before one of more or less that make it a limit: `$120 or less`, `at least`."""
NOUGHT = word_set("no none nobody zero")
"""Words of having nothing."""
_OF_TIME = word_set("later latest newer newest earlier earliest older oldest younger youngest")
_OF_LENGTH = word_set("longer longest shorter shortest")
_OF_PRICE = word_set("pricier expensive dearer costlier cheaper cheapest")
DIMENSIONS = (
    (_OF_TIME, _OF_TIME | word_set("year date day")),
    (_OF_LENGTH, _OF_LENGTH | word_set("time length validity estimate minutes words days hours")),
    (_OF_PRICE, _OF_PRICE | word_set("price fee cost costs dollars")),
)
"""Words that compare one dimension alone, and the words by which a question asks for that."""
NOUNS = word_set("number other either whether winner over after under together rather order paper september former")
"""Words that look like comparatives."""

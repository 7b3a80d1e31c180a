"""What `program_html` needs of the live pages, read before the session closes, so that it can be judged at any time.

For each target it is `{"url", "value"}`, or `{"url", "error"}` where the page is there and lacks what the locator
names. The agent's own page is read first, then every other page once, in a new tab with the session's cookies. A site
that does not answer raises BrowserError: that is no failure of the agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webdojo.browser.interface import Session
from webdojo.reward.webarena.functions import ShopApi, member_role_js, reddit_get_post_url
from webdojo.reward.webarena.rules import Rules
from webdojo.reward.webarena.spec import Address, Call, Expression, Lambda, LastPage, Place, Target, WholePage

Found = dict[str, Any]

WHOLE_PAGE_JS = "() => document.documentElement.outerHTML"
_LAST_URL = "__last_url__"
_NO_PAGE = "there is no such page"


async def collect(
    targets: Sequence[Target], session: Session, last_url: str, shop: ShopApi | None, rules: Rules
) -> list[Found]:
    """Read what every target's locator finds now, in the order of the targets.

    Args:
        last_url: the address of the page that the agent left.
        shop: answers the functions that ask the shop; None where no target does (`asks_shop`).
    """
    places: dict[Place, str] = {}
    found: list[Found] = []
    reads: dict[str, list[tuple[int, str]]] = {"": []}
    """By address, the targets to read there and their scripts; empty is the agent's own page, which comes first."""
    for number, target in enumerate(targets):
        if target.place not in places:
            places[target.place] = await _address(target.place, last_url, shop)
        url = places[target.place]
        found.append({"url": url or last_url})
        script = _script(target, rules)
        if script is None:
            found[-1]["value"] = await _ask_shop(target.locator, shop)
        elif not url and not isinstance(target.place, LastPage):
            found[-1] |= {"url": "", "error": _NO_PAGE}
        else:
            reads.setdefault(url, []).append((number, script))
    for url, wanted in reads.items():
        if wanted:
            for (number, _), read in zip(wanted, await session.read([each for _, each in wanted], url), strict=True):
                found[number] |= {"error": read.error} if read.error else {"value": read.value}
    return found


def asks_shop(targets: Sequence[Target]) -> bool:
    """Whether a target calls a function that asks the shop's interface."""
    called = [each for target in targets for each in (target.place, target.locator) if isinstance(each, Call)]
    return any(call.function.startswith("shopping_") for call in called)


async def _address(place: Place, last_url: str, shop: ShopApi | None) -> str:
    """The address to open; empty for the agent's own page, and where there is none."""
    match place:
        case LastPage():
            return ""
        case Address():
            return place.url
        case Call(function="reddit_get_post_url"):
            return reddit_get_post_url(place.arguments[0].replace(_LAST_URL, last_url))
    return str(await _ask_shop(place, shop))


def _script(target: Target, rules: Rules) -> str | None:
    """The script that reads a target's page; None where the shop is asked instead."""
    match target.locator:
        case WholePage():
            return WHOLE_PAGE_JS
        case Expression(code=code, prepare=prepare):
            actions = f"try {{ {'; '.join(prepare)} }} catch {{}} " if prepare else ""
            return f"() => {{ {actions}return ({code}); }}"
        case Lambda(code=code):
            return code.lstrip("lambda:") if rules.strict_compat else code  # noqa: B005
        case Call(function="gitlab_get_project_memeber_role", arguments=arguments):
            return member_role_js(arguments[1], rules)
    return None


async def _ask_shop(call: Any, shop: ShopApi | None) -> str:
    assert isinstance(call, Call) and shop is not None, "the reward opens the shop's interface for such targets"
    match call.function:
        case "shopping_get_latest_order_url":
            return await shop.shopping_get_latest_order_url()
        case "shopping_get_sku_latest_review_author":
            return await shop.shopping_get_sku_latest_review_author(*call.arguments)
        case "shopping_get_sku_latest_review_rating":
            return await shop.shopping_get_sku_latest_review_rating(*call.arguments)
    raise AssertionError(f"{call.function} is no function of the shop")

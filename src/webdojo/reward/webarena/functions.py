"""The functions that specs may call, by name: they ask a site's own interface, or read a page.

An address that has no page, such as that of the latest order where there is none, is empty.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlsplit

from webdojo.errors import BrowserError, Failure, TaskError
from webdojo.reward.webarena.rules import Rules

_TIMEOUT_S = 30.0
LATEST_ORDER = {
    "searchCriteria[sortOrders][0][field]": "created_at",
    "searchCriteria[sortOrders][0][direction]": "DESC",
    "searchCriteria[pageSize]": "1",
}
_ACCOUNTS = "td[data-label='Account'] span.gl-avatar-labeled-sublabel"
_ROLES = "td.col-max-role span"


def reddit_get_post_url(url: str) -> str:
    """The address of the post that a page is about; any other page's own address."""
    parts = urlsplit(url)
    path = parts.path.split("/")
    if len(path) < 4 or path[1] != "f":
        return url
    return f"{parts.scheme}://{parts.netloc}/f/{path[2]}/{path[3]}/"


def member_role_js(account: str, rules: Rules) -> str:
    """A function for the page that finds the role of a project's member."""
    given = json.dumps([f"@{account}", _ACCOUNTS, _ROLES])
    if rules.strict_compat:
        return f"""() => {{
            const [name, accounts, roles] = {given};
            const at = [...document.querySelectorAll(accounts)].findIndex((each) => each.outerText === name);
            return document.querySelectorAll(roles)[at].outerText;
        }}"""
    return f"""() => {{
        const [name, accounts, roles] = {given};
        const found = [...document.querySelectorAll(accounts)].find((each) => each.outerText.trim() === name);
        const role = found && found.closest("tr").querySelector(roles);
        return role ? role.outerText : "";
    }}"""


class ShopApi:
    """Magento's interface of the shop, as its administrator; an async context manager."""

    def __init__(self, address: str, user: str, password: str, rules: Rules) -> None:
        import httpx

        self._address = address.rstrip("/")
        self._login = {"username": user, "password": password}
        self._rules = rules
        self._http = httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False)
        self._token = ""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def shopping_get_latest_order_url(self) -> str:
        """The address of the page of the order that was made last, by whomever."""
        found = await self._get("/rest/V1/orders", LATEST_ORDER)
        if not found["items"]:
            return ""
        order = found["items"][0]
        id = int(order["increment_id"] if self._rules.strict_compat else order["entity_id"])
        return f"{self._address}/sales/order/view/order_id/{id}/"

    async def shopping_get_sku_latest_review_author(self, sku: str) -> str:
        review = await self._latest_review(sku)
        return str(review["nickname"]) if review else ""

    async def shopping_get_sku_latest_review_rating(self, sku: str) -> str:
        """The rating of a product's latest review, of 100."""
        review = await self._latest_review(sku)
        ratings = review["ratings"] if review else []
        if not self._rules.strict_compat:
            ratings = [rating for rating in ratings if rating["rating_name"] == "Rating"]
        return str(ratings[0]["percent"]) if ratings else ""

    async def _latest_review(self, sku: str) -> dict[str, Any] | None:
        reviews = await self._get(f"/rest/V1/products/{quote(sku, safe='')}/reviews")
        return reviews[-1] if reviews else None

    async def _get(self, path: str, query: dict[str, str] | None = None) -> Any:
        if not self._token:
            self._token = await self._send("POST", "/rest/default/V1/integration/admin/token", json=self._login)
        return await self._send("GET", path, params=query, headers={"Authorization": f"Bearer {self._token}"})

    async def _send(self, method: str, path: str, **options: Any) -> Any:
        import httpx

        try:
            response = await self._http.request(method, self._address + path, **options)
            response.raise_for_status()
            return response.json()
        except (httpx.HTTPError, ValueError) as error:
            message = f"the shop did not answer {method} {path}: {error or type(error).__name__}"
            raise BrowserError(" ".join(message.split()), Failure.PAGE_UNREACHABLE) from None


def shop_address(sites: dict[str, str]) -> str:
    """The address of the shop among the addresses of a task's sites by placeholder."""
    if "__SHOPPING__" not in sites:
        raise TaskError(
            "its evaluator asks the shop, whose address it does not have: give __SHOPPING__ in evaluator.sites, as "
            "the environment 'webarena' does"
        )
    return sites["__SHOPPING__"]

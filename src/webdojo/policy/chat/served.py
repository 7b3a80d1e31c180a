"""Which model an endpoint serves, for whoever names its address alone."""

from __future__ import annotations

import asyncio

import httpx

from webdojo.agent.toolcall import plain
from webdojo.errors import ConfigError
from webdojo.policy.chat.endpoint import CHECK_TIMEOUT_S, Endpoint
from webdojo.policy.engine import ChatConfig


def only_model(config: ChatConfig) -> str:
    """The name of the model that the endpoint of a config serves, asked by `GET /models`.

    Raises:
        ConfigError: it does not say, or serves several.
    """
    names, reason = asyncio.run(_listed(Endpoint(config.model_copy(update={"model": "?"}))))
    if len(names) == 1:
        return names[0]
    if names:
        shown = ", ".join(plain(name, limit=60) for name in names[:10])
        reason = f"serves {len(names)} models ({shown}{', …' if len(names) > 10 else ''})"
    raise ConfigError(
        f"{config.base_url} {reason or 'does not say which model it serves'}: "
        f"name one by --endpoint {config.base_url} --model NAME"
    )


async def _listed(endpoint: Endpoint) -> tuple[list[str], str]:
    """Names of models, or why there are none."""
    async with endpoint.http as http:
        try:
            response = await http.get(f"{endpoint.url}/models", timeout=CHECK_TIMEOUT_S)
        except httpx.HTTPError as error:
            return [], f"does not answer ({plain(str(error) or type(error).__name__, limit=200)})"
    if response.status_code != 200:
        return [], f"does not say which model it serves (status {response.status_code})"
    try:
        return [str(each["id"]) for each in response.json()["data"]], ""
    except (ValueError, KeyError, TypeError):
        return [], ""

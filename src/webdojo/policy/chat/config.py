"""Options of the engine `chat`, which asks an OpenAI-compatible endpoint (`policy/engines.py` opens it)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from webdojo.policy.engine import EngineConfig


class ChatConfig(EngineConfig):
    """A model behind an API. It is asked for responses and cannot be trained."""

    can_train: ClassVar[bool] = False

    name: str = "chat"
    base_url: str = ""
    """Address of an OpenAI-compatible API with its version, such as `https://api.openai.com/v1`; empty: none."""
    model: str = ""
    """Name of the model there."""
    api_key_env: str = Field(default="", pattern=r"^([A-Z_][A-Z0-9_]*)?$")
    """Environment variable that holds the key; empty sends none. The key itself is written nowhere."""
    tool_calls: Literal["text", "native"] = "text"
    """How an agent's calls travel: in the harness's own text, or, for the harness `openwebrl`, by the `tools` parameter
    and `tool_calls` answers."""
    max_concurrency: int = Field(default=16, ge=1)
    """Requests at once."""
    requests_per_minute: int = Field(default=0, ge=0)
    """Requests are spread evenly to keep it; 0 is no limit."""
    tokens_per_minute: int = Field(default=0, ge=0)
    """The limit of input and output tokens together; 0 is no limit."""
    timeout_s: float = Field(default=120, gt=0)
    """One try, from sending the request to the last byte of the answer."""
    max_retries: int = Field(default=5, ge=0)
    """Further tries after a limit (429), a server error, a timeout, or an answer that broke off or cannot be read."""
    price_input: float = Field(default=0, ge=0)
    """US dollars a million input tokens."""
    price_output: float = Field(default=0, ge=0)
    """US dollars a million output tokens."""
    budget_usd: float = Field(default=0, ge=0)
    """Most that a run may spend, requests in flight included; 0 is no limit."""
    image_tokens: int = Field(default=2000, ge=0)
    """Most input tokens that the endpoint counts for one image: what is set aside before the answer tells."""
    cache: str = ""
    """File that keeps answers, so that the same request is not paid for twice, also in later runs; empty keeps none."""
    extra_body: dict[str, Any] = {}
    """Further fields of the request, such as `{reasoning_effort: low}`; null takes a field out. `max_tokens` may be
    renamed: `{max_tokens: null, max_completion_tokens: 2048}`."""

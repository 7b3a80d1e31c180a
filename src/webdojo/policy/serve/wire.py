"""What clients send, and the one shape of errors, both as in OpenAI's API.

A field that would change the answer and is not supported is refused, never passed over: nobody gets
an answer to another question than he asked.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, model_validator

from webdojo.types import Sampling

Stop = Annotated[str, Field(min_length=1)]


class ApiError(Exception):
    """A request that cannot be answered.

    Attributes:
        status: of the response.
        code: a name that programs can tell the error by; may be empty.
        param: the field that is wrong; may be empty.
    """

    def __init__(self, status: int, message: str, code: str = "", param: str = "") -> None:
        super().__init__(message)
        self.status, self.code, self.param = status, code, param

    @property
    def body(self) -> dict[str, Any]:
        """OpenAI's error object."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        error = {"message": str(self), "type": kind, "param": self.param or None, "code": self.code or None}
        return {"error": error}

    def response(self, headers: dict[str, str] | None = None) -> JSONResponse:
        return JSONResponse(self.body, self.status, headers)


class _Wire(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TextPart(_Wire):
    type: Literal["text"]
    text: str


class ImageUrl(_Wire):
    url: str
    detail: Literal["auto", "low", "high"] = "auto"
    """Images are read as they are, whatever is asked for."""


class ImagePart(_Wire):
    type: Literal["image_url"]
    image_url: ImageUrl


Part = Annotated[TextPart | ImagePart, Field(discriminator="type")]


class ChatMessage(_Wire):
    role: Literal["system", "user", "assistant"]
    content: str | list[Part]
    name: str | None = None
    """Ignored, as by most models."""


class StreamOptions(_Wire):
    include_usage: bool = False


class ChatRequest(_Wire):
    model: str
    messages: list[ChatMessage] = Field(min_length=1)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    temperature: float = Field(default=1.0, ge=0, le=2)
    top_p: float = Field(default=1.0, gt=0, le=1)
    top_k: int = Field(default=0, ge=0)
    n: int = Field(default=1, ge=1, le=64)
    stop: Stop | list[Stop] | None = None
    seed: int | None = None
    logit_bias: dict[int, float] | None = None
    logprobs: bool = False
    top_logprobs: int = Field(default=0, ge=0, le=0)
    """Only the sampled tokens have log-probabilities."""
    stream: bool = False
    stream_options: StreamOptions | None = None
    frequency_penalty: float = Field(default=0, ge=0, le=0)
    presence_penalty: float = Field(default=0, ge=0, le=0)
    user: str | None = None
    metadata: dict[str, str] | None = None
    store: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: Any) -> Any:
        return {k: v for k, v in data.items() if v is not None} if isinstance(data, dict) else data

    @property
    def stops(self) -> tuple[str, ...]:
        if self.stop is None:
            return ()
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)

    def sampling(self, choice: int, room: int) -> Sampling:
        """How one of the `n` choices is sampled.

        Args:
            room: tokens that the context has left; the limit where the client gave none.
        """
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            max_tokens=self.max_completion_tokens or self.max_tokens or room,
            seed=None if self.seed is None else self.seed + choice,
            stop=self.stops,
            logit_bias=self.logit_bias or {},
        )

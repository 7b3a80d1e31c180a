"""The plain records that flow through every layer.

A `Task` says what to do; a session yields `Observation`s and takes `ToolCall`s; an engine answers
a `Prompt` with a `Response`; a `Turn` holds one such exchange; a `Trajectory` holds an episode and
its `Reward`. Records hold no behaviour beyond what follows from their own fields, and this module
imports nothing of ours. Coordinates that the model sees or writes are integers in 0..1000 of the
viewport (`point_1000`); everything named `_px` is in CSS pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


class Record(BaseModel, extra="forbid"):
    """Base of all records: unknown fields are errors."""


class FrozenRecord(Record):
    """Base of records that never change, and can be hashed."""

    model_config = ConfigDict(frozen=True)


PageText = Annotated[str, AfterValidator(lambda text: text.encode(errors="replace").decode())]
"""Text that may come from a page: half a character, which cannot be stored, becomes `?`."""


class Task(Record):
    """One thing to do on one web site, and how its success is checked."""

    id: str
    """Unique and stable: the same id always means the same task."""
    instruction: str
    start_url: str
    website: str
    """Host name without port; what splits and blocklists count by."""
    storage_state: str = ""
    """A file with cookies and local storage in Playwright's format, for sites with a log-in; empty: the recipe's."""
    kind: str = ""
    """The kind of site if the environment serves it itself (`shop`, `wiki`, `miniwob`), else empty."""
    difficulty: int = Field(default=1, ge=1)
    """The number of facts that must hold at the end (WebGym §3.2)."""
    evaluator: dict[str, Any] = Field(default_factory=dict)
    """What the reward function needs, such as a goal to check or a reference answer; plain JSON."""
    metadata: dict[str, Any] = Field(default_factory=dict)


class ToolCall(FrozenRecord):
    """One call of one of the 13 browser tools (OpenWebRL Table 6)."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Feedback(Record):
    """What the browser says about one executed call (OpenWebRL Table 5)."""

    ok: bool
    text: PageText


class ImageRef(FrozenRecord):
    """A screenshot by reference: encoded once, stored once, decoded where it is used."""

    sha: str
    """SHA-256 of the encoded bytes, in hex; the name under which the image is stored."""
    width: int
    height: int
    mime: str
    """Format of the encoded bytes, such as `image/jpeg`; with `sha` it says which file holds them."""


class ImageSink(Protocol):
    """Where encoded screenshots go. Storing the same bytes twice stores them once.

    Sessions call `put` in threads, several at a time, because it hashes and may write to a disk.
    """

    def put(self, data: bytes, width: int, height: int, mime: str) -> ImageRef: ...


class ImageSource(Protocol):
    """Where encoded screenshots are read from."""

    def get(self, image: ImageRef) -> bytes: ...


class Tab(Record):
    """One open tab of a session."""

    index: int
    url: PageText
    title: PageText
    active: bool


class Observation(Record):
    """What a session shows at one moment (OpenWebRL §4.1)."""

    screenshot: ImageRef
    url: PageText
    title: PageText
    tabs: list[Tab]
    viewport_px: tuple[int, int]
    scroll_px: tuple[int, int] = (0, 0)
    page_px: tuple[int, int] = (0, 0)
    """Width and height of the whole document."""
    blocked: str = ""
    """Why the site seems to block robots (an HTTP status, a bot check), in a few words."""
    dead: str = ""
    """Why there is no page of a site (no connection, an HTTP status), in a few words."""
    text: PageText = ""
    """The page as text with numbered elements, if a `View` asked for it."""


ViewKind = Literal["accessibility_tree", "simplified_html", "marks"]


class View(FrozenRecord):
    """How an agent that names elements by number sees a page (`browser/page/views.py`).

    The numbers are valid for the calls of the next turn, which may give `element` instead of `x` and `y`.
    """

    kind: ViewKind
    """`marks` draws the numbers into the screenshot; the others set `Observation.text`."""
    max_tokens: int = Field(default=4096, ge=16)
    """The approximate limit of the text, at four characters a token."""
    whole_page: bool = False
    """Whether the text includes what is out of view."""


class TextSegment(FrozenRecord):
    """Prompt text, tokenised once."""

    ids: tuple[int, ...]


class ImageSegment(FrozenRecord):
    """An image in a prompt, which becomes `tokens` image-pad ids in a row."""

    image: ImageRef
    tokens: int


class Prompt(Record):
    """Ordered segments; joining them never retokenises anything."""

    segments: tuple[TextSegment | ImageSegment, ...]
    dropped: dict[str, int] = Field(default_factory=dict)
    """What the context budget left out, by kind: `image`, `page`, `turn`."""

    def __len__(self) -> int:
        """The number of tokens, image tokens included."""
        return sum(s.tokens if isinstance(s, ImageSegment) else len(s.ids) for s in self.segments)

    def ids(self, image_id: int) -> list[int]:
        """All token ids, with each image expanded to `tokens` copies of `image_id`."""
        out: list[int] = []
        for segment in self.segments:
            if isinstance(segment, ImageSegment):
                out += [image_id] * segment.tokens
            else:
                out += segment.ids
        return out

    @property
    def images(self) -> list[ImageRef]:
        return [s.image for s in self.segments if isinstance(s, ImageSegment)]


class Sampling(Record):
    """How a response is sampled, and how long it may take. Temperature 0 is greedy."""

    temperature: float = Field(default=1.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    top_k: int = Field(default=0, ge=0)
    """0 keeps every token."""
    max_tokens: int = Field(default=256, ge=1)
    seed: int | None = None
    """The seed of this request; None uses the engine's own seed."""
    stop: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Texts that end a response as soon as it contains one of them; the tokens up to there are kept."""
    logit_bias: dict[int, float] = Field(default_factory=dict)
    """Values that are added to the logits of these ids first; log-probabilities are those of the biased policy."""
    timeout_s: float = Field(default=0, ge=0)
    """Longest time for one response on a server of the engine `vllm`, not counting its start, its sleep and new
    weights; one that takes longer makes the episode invalid (OpenWebRL Tables 7 and 8). 0 is no limit. The embedded
    engine has none, and `chat` has `engine.timeout_s`."""


class FinishReason(StrEnum):
    """Why an engine stopped sampling."""

    STOP = "stop"
    LENGTH = "length"


class Response(Record):
    """Sampled ids, kept as they were sampled; never re-tokenised.

    `logprobs[k]` is log π(ids[k]) at the sampling temperature, before top-p and top-k.
    `versions[k]` is the weight version that sampled `ids[k]`.
    """

    ids: list[int]
    logprobs: list[float]
    versions: list[int]
    finish_reason: FinishReason
    seconds: dict[str, float] = Field(default_factory=dict)
    """Wall seconds by phase, as far as the engine measures them: `queue`, `prefill`, `decode`, `total`."""


class EngineHealth(Record):
    """The state of an engine at one moment."""

    alive: bool
    version: int = 0
    """The version of the weights that it serves."""
    running: int = 0
    """The number of requests that are being sampled."""
    waiting: int = 0
    error: str = ""
    """Why the engine is not alive, in one line."""


class Engine(Protocol):
    """Anything that answers prompts (`policy/`)."""

    async def generate(self, prompt: Prompt, sampling: Sampling) -> Response:
        """Sample a response.

        Raises:
            EngineError: the response cannot be sampled; the message says whether it is worth trying again.
        """


class MonitoredEngine(Engine, Protocol):
    """An engine that reports its state."""

    def health(self) -> EngineHealth:
        """The engine's state; never blocks."""


class TrainableEngine(MonitoredEngine, Protocol):
    """An engine that takes new weights from a learner; its owner closes it."""

    @property
    def members(self) -> Sequence[Engine]:
        """The engines that it consists of, each of which can be asked by itself; itself where it is one."""

    @property
    def sleeps_during_update(self) -> bool:
        """Whether it should sleep while the learner steps, because it would use the learner's cores or GPU memory."""

    @property
    def updates_asleep(self) -> bool:
        """Whether it should load new weights before it wakes up, because that discards all work with the old ones."""

    async def update_weights(self, weights: Mapping[str, Any], version: int) -> None:
        """Sample with new weights from the next token on, also in requests that are under way.

        Args:
            weights: a state dict by the model's own names, which must not change until this returns.
            version: what responses will name as their version.

        Raises:
            EngineError: the weights do not fit the model, or the engine is closed.
        """

    async def sleep(self) -> None:
        """Stop computing until `wake_up`; all requests wait, also those that are under way.

        Raises:
            EngineError: the engine cannot sleep.
        """

    async def wake_up(self) -> None:
        """Continue with the requests that wait."""

    def close(self) -> None:
        """Release all resources; requests that are under way fail with `EngineError`."""


class Parsed(Record):
    """What a harness parsed from a response: calls, or the reason why there are none.

    Good calls before a bad one are kept, so both `calls` and `error` may be set.
    """

    think: str = ""
    calls: list[ToolCall] = Field(default_factory=list)
    error: str | None = None
    sections: dict[str, str] = Field(default_factory=dict)
    """Other named parts of the response, as the harness defines them."""


class Turn(Record):
    """One exchange: what was seen, what was asked, what was sampled, what the browser did."""

    observation: Observation
    prompt: Prompt
    response: Response
    text: str
    """The response decoded, for people and judges; training uses `response.ids`."""
    parsed: Parsed
    feedback: list[Feedback] = Field(default_factory=list)
    same_screen: bool = False
    """Whether the next screenshot equals this one, so the calls had no visible effect (WebGym §5.2)."""
    began: float = 0.0
    """The Unix time at which the engine got the prompt; 0 if it is not known."""
    seconds: dict[str, float] = Field(default_factory=dict)
    """Wall seconds by phase: `generate`, `act`, `observe`; and `ready`, the part of `act` spent waiting for pages."""


class Termination(StrEnum):
    """Why an episode ended (OpenWebRL A.1, failure attribution)."""

    COMPLETED = "completed"
    MAX_STEPS = "max_steps"
    FORMAT_ERROR = "format_error"
    GENERATION_LENGTH = "generation_length"
    CONTEXT_LENGTH = "context_length"
    ENV_ERROR = "env_error"
    START_ERROR = "start_error"
    TIMEOUT = "timeout"
    ABORTED = "aborted"
    STOPPED = "stopped"
    """Whoever drove the agent from outside went no further, such as a trainer whose model called no tool."""

    @property
    def is_infra(self) -> bool:
        """Whether the web or the system failed and not the agent; such episodes train nothing."""
        return self in (Termination.ENV_ERROR, Termination.START_ERROR, Termination.TIMEOUT, Termination.ABORTED)


class Judgement(Record):
    """One question to a judge's model and its answer, kept for whoever wants to know why."""

    step: str
    """What was asked: `verdict`, `key points`, `screenshot 3`."""
    prompt: PageText
    """The request as text; `[image 1]` stands for the first of `images`."""
    images: list[ImageRef] = Field(default_factory=list)
    answer: PageText
    """All that the model said."""


class Reward(Record):
    """The verdict on a trajectory (OpenWebRL A.4)."""

    value: float
    success: bool
    valid: bool = True
    """If False, it counts neither in the group's mean and std nor in the loss: the outcome is not the agent's doing."""
    cause: str = ""
    """Where it is not valid, what is to blame, in a word that can be counted: `blocked`, `dead_page`, `unreadable`."""
    reason: str = ""
    parts: dict[str, float] = Field(default_factory=dict)
    """What the verdict is made of, by name, as the reward function defines it."""
    judgements: list[Judgement] = Field(default_factory=list)
    """What a judge asked and was answered."""
    facts: list[bool] = Field(default_factory=list)
    """Which facts of the task hold, if they were checked; they earn no reward by themselves."""
    fact_names: list[str] = Field(default_factory=list)
    """A description of each of these facts; may be empty."""


class Trajectory(Record):
    """One finished episode."""

    id: str
    task: Task
    group: str = ""
    """Trajectories of one group share task and group id."""
    seed: str = ""
    """The seed of what the environment drew for it; empty if it is not known."""
    turns: list[Turn]
    final: Observation | None = None
    """The screen after the last action."""
    termination: Termination
    answer: str | None = None
    """The argument of `done`; None if the episode ended in another way."""
    error: str = ""
    """For infra failures: what failed, in one line."""
    failure: str = ""
    """The name of a failure from outside the agent (`errors.Failure`), else empty."""
    diagnostics: dict[str, Any] = Field(default_factory=dict)
    """For failures of the browser: the history of the session (`browser.diagnostics`); of other code: its traceback."""
    state: dict[str, Any] = Field(default_factory=dict)
    """Final state of the environment for this episode (`Environment.state`), as plain JSON."""
    evidence: dict[str, Any] = Field(default_factory=dict)
    """What the reward function has read of the web before the session closed (`RewardFunction.evidence`), as plain
    JSON."""
    reward: Reward | None = None
    began: float = 0.0
    """The Unix time of its start; 0 if it is not known."""
    seconds: dict[str, float] = Field(default_factory=dict)
    """Wall seconds by phase: `start`, the phases of turns, `close`, `total` from start to close, and then `reward`."""
    secrets: list[str] = Field(default_factory=list)
    """What is masked in it where people or other programs read it (`redact.py`)."""
    cut: list[str] = Field(default_factory=list)
    """The failures that ended earlier attempts at this episode, which are not counted (`errors.Failure.is_loss`)."""

    @property
    def steps(self) -> int:
        return len(self.turns)

    def transitions(self) -> Iterator[tuple[Turn, Observation | None]]:
        """Each turn with what was seen after it, at the end `final`."""
        return zip(self.turns, [*(turn.observation for turn in self.turns[1:]), self.final], strict=True)

    @property
    def traceback(self) -> str:
        """That of the error which the code of an environment or of a reward raised, or which nothing has named; empty
        where there is none."""
        found = self.diagnostics.get("reward") or self.diagnostics.get("traceback")
        return found if isinstance(found, str) else ""  # a browser's record has the calls alone, as a list

    @property
    def is_bug(self) -> bool:
        """Whether the code of an environment or of a reward failed it by an error that another try meets again."""
        return bool(self.diagnostics.get("bug"))

    @property
    def versions(self) -> Sequence[int]:
        """The weight versions that sampled this trajectory, lowest first."""
        return sorted({v for turn in self.turns for v in turn.response.versions})

"""The typed recipe: one YAML file says everything a run needs.

`load_recipe("quickstart", ["train.lr=1e-4"])` finds the file (a path, or a name inside
`webdojo/recipes`), applies dotted overrides, and validates. Unknown keys are errors that name the
nearest known key. Every random choice of a run follows from `Recipe.seed`.
"""

from __future__ import annotations

import difflib
import itertools
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, field_validator, model_validator

from webdojo.errors import ConfigError
from webdojo.types import Sampling


class Section(BaseModel):
    """Base of all sections: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", validate_default=True, allow_inf_nan=False)


class VLLMConfig(Section):
    """vLLM's own options have vLLM's names."""

    python: str = ""
    """Python of an environment that has vLLM and webdojo; empty takes the one that runs this. See `docs/vllm.md`."""
    urls: list[str] = []
    """Addresses of servers that run already, to use instead of starting any."""
    replicas: int = Field(default=1, ge=1)
    """Servers to start; each request goes to the least busy one."""
    port: int = Field(default=0, ge=0, le=65535)
    """Port of the first server, the others count up from it; 0 takes free ones. They listen on this machine only."""
    gpus: list[int] = []
    """GPUs of the servers in their order, `tensor_parallel_size` for each; empty shows each server all of them."""
    tensor_parallel_size: int = Field(default=1, ge=1)
    """GPUs that share one copy of the model."""
    gpu_memory_utilization: float = Field(default=0.9, gt=0, le=1)
    """Share of a GPU's memory that a server takes."""
    kv_cache_memory_bytes: int = Field(default=0, ge=0)
    """Size of the cache of keys and values; 0 takes what `gpu_memory_utilization` leaves, and 1 GiB on the CPU."""
    max_model_len: int = Field(default=0, ge=0)
    """Tokens of prompt and response together; 0 takes `rollout.max_context_tokens`."""
    enforce_eager: bool = False
    """Without compiled graphs: a quicker start, slower sampling. On the CPU it is always so."""
    enable_sleep_mode: bool = False
    """Free the servers' GPU memory while the learner steps, for runs where both share a GPU."""
    args: list[str] = []
    """Further arguments of vLLM's server, such as `--max-num-seqs=64`."""
    weights_dir: str = ""
    """Folder through which new weights reach the servers, which must see it under the same path; empty takes the
    machine's temporary folder."""
    start_timeout_s: float = Field(default=900, gt=0)
    """How long a server may take until it answers."""


class LoRAConfig(Section):
    """peft's own options have peft's names."""

    r: int = Field(default=0, ge=0)
    """Rank of the adapters that train in place of the weights (`webdojo[lora]`); 0 trains the weights themselves."""
    lora_alpha: int = Field(default=32, ge=1)
    """The adapters' products are scaled by `lora_alpha / r`."""
    lora_dropout: float = Field(default=0.0, ge=0, lt=1)
    """Of the adapters' inputs, in optimizer steps only."""
    target_modules: Literal["all-linear"] | list[str] = "all-linear"
    """Ends of the names of linear layers that get adapters, such as `[q_proj, v_proj]`; `all-linear` is all but the LM
    head. With `freeze_vision` none in the vision tower."""

    @field_validator("target_modules", mode="before")
    @classmethod
    def _names(cls, given: Any) -> Any:
        if isinstance(given, str) and given != "all-linear":
            raise ValueError("must be all-linear, or a list of names such as [q_proj, v_proj]")
        return given


class ModelConfig(Section):
    path: str = "tiny"
    """`tiny` (shipped with the package), a folder in Hugging Face layout, or a hub id."""
    threads: int = Field(default=0, ge=0)
    """torch threads of the engine; 0 leaves torch's own choice."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where engine and learner run; `auto` takes a CUDA GPU where torch sees one."""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """Precision of the engine; `auto` is bfloat16 on a GPU, else float32. The learner keeps float32 weights."""
    engine: Literal["hf", "vllm"] = "hf"
    """Who samples: the embedded engine, or vLLM servers."""
    vllm: VLLMConfig = VLLMConfig()
    """Of `engine: vllm`."""
    freeze_vision: bool = False
    """Train the text model only; the vision tower then costs no backward pass."""
    freeze_trainable_layers: int = Field(default=0, ge=0)
    """Train only so many layers, the last of the text model; the others keep what they can. 0 trains all."""
    lora: LoRAConfig = LoRAConfig()
    """Adapters; engines get them merged, and a checkpoint holds the merged model and the adapters beside it."""

    @model_validator(mode="after")
    def _fits_together(self) -> ModelConfig:
        if self.lora.r and self.freeze_trainable_layers:
            raise ValueError(
                "lora.r trains adapters in place of weights: set freeze_trainable_layers: 0, and name the layers that "
                "get adapters in lora.target_modules"
            )
        return self


class GuardConfig(Section):
    allowed_domains: list[str] = []
    """Only these domains and those below them may be reached; empty allows all that are not blocked."""
    blocked_domains: list[str] = []
    """Domains that may not be reached, nor those below them."""
    private_hosts: list[str] = []
    """Hosts, addresses and networks (`10.0.0.0/8`) that may be reached although they are not public."""
    connections_per_second: float = Field(default=20, ge=0)
    """Connections of all sessions together to one host, averaged over five seconds; more have to wait. 0 is no limit.
    The embedded sites have none."""


class ServeConfig(Section):
    max_sessions: int = Field(default=16, ge=1)
    """Open at once; a further one is refused until another closes."""
    idle_timeout_s: float = Field(default=300, gt=0)
    """A session that nobody calls for so long is closed: its client is gone."""
    drain_timeout_s: float = Field(default=600, ge=0)
    """How long open sessions may go on after the server was told to stop."""
    open_slots: int = Field(default=4, ge=1)
    """Sessions that are opened at once. Each kind of operation queues for slots of its own (WebGym B.1)."""
    act_slots: int = Field(default=32, ge=1)
    """Turns that are acted at once; most of their time is waiting for pages."""
    observe_slots: int = Field(default=16, ge=1)
    """Observations that are made at once."""
    close_slots: int = Field(default=8, ge=1)
    """Sessions that are closed at once."""


class BrowserConfig(Section):
    executable: str = ""
    """Chromium to run; empty finds one (see `browser/find.py`)."""
    cdp_url: str = ""
    """DevTools address of a browser that runs elsewhere (`wss://…`, `http://…`), to use instead of starting one.
    What it opens does not pass the guard; only the addresses that the agent asks for are checked."""
    servers: list[str] = []
    """Browser servers (`webdojo browser serve`) that `train` and `eval` use instead of this machine's browsers, such as
    `http://10.0.0.7:8400`; their token is read from WEBDOJO_BROWSER_TOKEN. The rest of this section is then theirs, but
    for `viewport_px`, which must be the same there, and `acquire_timeout_s`."""
    sites_host: str = "127.0.0.1"
    """IPv4 address of this machine on which embedded sites are served; `servers` elsewhere need one that they
    reach, or `0.0.0.0` for all."""
    sites_port: int = Field(default=0, ge=0, le=65535)
    """Port of the embedded sites; 0 takes a free one, which `servers` could not know."""
    proxy: str = ""
    """Forward proxy to the web, `http://user:password@host:port`. It resolves names, so the guard sees names only."""
    storage_state: str = ""
    """File with cookies and local storage that every session starts with, as Playwright's `storage_state` writes it."""
    locale: str = "en-US"
    timezone: str = ""
    """IANA name, such as `Europe/Oslo`; empty keeps the machine's."""
    user_agent: str = ""
    """Empty keeps Chromium's own."""
    viewport_px: tuple[int, int] = (1280, 1000)
    """Width and height; DPR is 1 (OpenWebRL Table 7)."""
    screenshot_format: Literal["jpeg", "png"] = "jpeg"
    screenshot_quality: int = Field(default=85, ge=1, le=100)
    capture: Literal["screenshot", "begin_frame"] = "screenshot"
    """`begin_frame` draws pages on demand, which is cheaper; a Chromium that cannot (only the headless shell can) takes
    screenshots all the same."""
    headless: bool = True
    browsers: int = Field(default=0, ge=0)
    """Chromium processes; 0 takes one for two cores."""
    sessions_per_browser: int = Field(default=0, ge=0)
    """Sessions that one Chromium hosts at once; 0 takes what the memory holds, at most 64."""
    warm_sessions: int = Field(default=1, ge=0)
    """Blank sessions that each Chromium keeps ready."""
    recycle_after: int = Field(default=500, ge=0)
    """Sessions after which a Chromium takes no more and ends with its last; 0 keeps it for ever."""
    recycle_memory_mb: int = Field(default=0, ge=0)
    """Private memory of a Chromium and its children, in MB, above which it takes no more sessions; 0 is no limit."""
    acquire_timeout_s: float = Field(default=600, gt=0)
    """Waiting for a free slot (OpenWebRL Table 7)."""
    start_timeout_s: float = Field(default=60, gt=0)
    """Opening the browser, a context and the start URL, all tries together."""
    navigation_timeout_s: float = Field(default=30, gt=0)
    """One try to reach the start URL."""
    action_timeout_s: float = Field(default=45, gt=0)
    """One tool call, its readiness wait included."""
    screenshot_timeout_s: float = Field(default=20, gt=0)
    session_timeout_s: float = Field(default=3600, gt=0)
    """The whole life of a session; one that somebody forgot to close ends then."""
    exit_timeout_s: float = Field(default=15, gt=0)
    """Closing a session, or a browser, which is killed then (OpenWebRL Table 7)."""
    ready_cap_s: float = Field(default=5, gt=0)
    """Longest wait for a page to become quiet after an action."""
    ready_quiet_s: float = Field(default=0.06, ge=0)
    """How long DOM and layout must stay unchanged to count as quiet."""
    navigation_retries: int = Field(default=2, ge=0)
    guard: GuardConfig = GuardConfig()
    """Which addresses may be reached; by default all public ones, and the embedded sites."""
    serve: ServeConfig = ServeConfig()
    """Limits of `webdojo browser serve`."""


class TasksConfig(Section):
    kinds: list[str] = Field(default=["shop", "wiki"], min_length=1)
    """Kinds of embedded sites, of `sites.KINDS`."""
    difficulties: list[Annotated[int, Field(ge=1)]] = Field(default=[1, 2, 3, 4], min_length=1)
    """Numbers of facts that must hold at the end; a kind is passed over by those that it does not reach."""
    difficulty_sampling: dict[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=0)]] = {}
    """Ratio in which training draws the difficulties (WebGym §5.2); 1 where not named. Evaluation draws all alike."""
    settled_chance: float = Field(default=1.0, gt=0, le=1)
    """Chance with which training draws a task when its turn comes whose last group was all solved or all failed; 1
    does not look at outcomes."""
    train_sites: int = Field(default=200, ge=1)
    """Training sites a kind; their seeds count up from 0."""
    heldout_sites: int = Field(default=100, ge=1)
    """Evaluation sites a kind; their seeds count up from `sites.HELDOUT_SEED`."""
    layout: Literal["auto", "compact"] = "auto"
    """`compact` serves the large-type pages for small viewports."""
    perturbations: Literal[0, 1, 2, 3] = 0
    """What embedded sites do to a session: 0 nothing; 1 cookie walls, chat bubbles and adverts; 2 also pop-ups, slow
    answers, HTTP errors, pages that ask to wait and other layouts; 3 also stalled and dropped answers, expired
    sessions, bot checks, moved buttons and changing numbers."""
    permanent_failures: bool = False
    """Up to a fifth of the sessions meet a bot check that lets nobody in, or a site that goes down; an episode that
    fails after that is invalid."""
    blocklist: str = ""
    """File of web sites that keep failing, whose tasks are passed over; shared by all who name it. Empty keeps none."""
    blocklist_failures: int = Field(default=3, ge=1)
    """Episodes in a row that fail by the site and put it on the list."""
    blocklist_hours: float = Field(default=12, gt=0)
    """How long a site stays on the list (WebGym B.2)."""


class HarnessSection(Section):
    """What all harnesses have."""

    max_format_errors: int = Field(default=3, ge=1)
    """Consecutive malformed responses that end the episode with reward -1."""

    @property
    def images(self) -> int:
        """How many screenshots a prompt holds at most."""
        return 1


class OpenWebRLConfig(HarnessSection):
    name: Literal["openwebrl"] = "openwebrl"
    screenshots_kept: int = Field(default=1, ge=1)
    """K of OpenWebRL §4.1: the most recent screenshots that stay in the context."""
    keep_feedback: bool = True
    """What the browser said about each call stays in the context (OpenWebRL, table 4)."""
    keep_reasoning: Literal["full", "hidden", "action_only"] = "full"
    """Past turns as they were sampled; without their thoughts; or as one line each (OpenWebRL, table 4)."""
    tool_schemas: Literal["json", "signature"] = "json"
    """How the system prompt shows the tools: full JSON schemas, or one line each."""

    @property
    def images(self) -> int:
        return self.screenshots_kept


class WebGymConfig(HarnessSection):
    name: Literal["webgym"]
    memory: bool = True
    """The response begins with Memory, Progress and Intention (WebGym §5.2, E.1)."""
    mode: Literal["coordinates", "marks"] = "coordinates"
    """How elements are named: points in 0..1000, or numbers that are drawn into the screenshot (WebGym §5.1)."""
    history_turns: int = Field(default=4, ge=0)
    """Past exchanges in full; those before them are a line each, after which the memory up to there stands."""
    screenshots_kept: int = Field(default=1, ge=1)
    """The most recent screenshots of those exchanges that stay in the context, the current one included."""
    fill: bool = True
    """An action of its own types without Enter, for forms of several fields; the paper's agent always presses it."""

    @property
    def images(self) -> int:
        return min(self.screenshots_kept, self.history_turns + 1)


class WebAgentR1Config(HarnessSection):
    name: Literal["webagent_r1"]
    thinking: bool = True
    """`<think>…</think><answer>…</answer>`; off is the plain format without these tags (WebAgent-R1 §3.5)."""
    pages_kept: int = Field(default=1, ge=1)
    """Pages that stay; a placeholder stands for older ones (dynamic context compression, WebAgent-R1 §2.3)."""
    page_tokens: int = Field(default=4096, ge=16)
    """Of the simplified HTML of a page, about."""
    address_bar: bool = False
    """`goto(url)`, `new_tab()` and `close_tab()` besides the paper's actions, for tasks that lead to sites to which no
    link leads."""

    @property
    def images(self) -> int:
        return 0


class OpenWebVoyagerConfig(HarnessSection):
    name: Literal["openwebvoyager"]
    screenshots_kept: int = Field(default=3, ge=1)
    """The most recent screenshots that stay in the context (OpenWebVoyager §3.2)."""
    trees_kept: int = Field(default=1, ge=1)
    """The most recent accessibility trees that stay in the context."""
    tree_tokens: int = Field(default=4096, ge=16)
    """Of the accessibility tree of a window, about."""
    error_reflection: bool = True
    """After an action that failed the agent is asked to look again (OpenWebVoyager, appendix A)."""
    restart_url: str = ""
    """Where `Restart` leads, in the paper a search engine; empty is the task's start page."""
    fill: bool = True
    """An action of its own types without Enter, for forms of several fields; the paper's agent always presses it."""

    @property
    def images(self) -> int:
        return self.screenshots_kept


HARNESSES: dict[str, type[HarnessSection]] = {
    "openwebrl": OpenWebRLConfig,
    "webgym": WebGymConfig,
    "webagent_r1": WebAgentR1Config,
    "openwebvoyager": OpenWebVoyagerConfig,
}
"""What `harness.name` can be, and the options that go with it."""


def _harness_name(given: Any) -> str:
    return str(given.get("name", "openwebrl") if isinstance(given, dict) else getattr(given, "name", ""))


HarnessConfig = Annotated[
    Annotated[OpenWebRLConfig, Tag("openwebrl")]
    | Annotated[WebGymConfig, Tag("webgym")]
    | Annotated[WebAgentR1Config, Tag("webagent_r1")]
    | Annotated[OpenWebVoyagerConfig, Tag("openwebvoyager")],
    Discriminator(_harness_name),
]


class EndpointConfig(Section):
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
    """Of input and output together; 0 is no limit."""
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


class HorizonSection(Section):
    """What every section has that starts episodes."""

    max_steps: int = Field(default=15, ge=1)
    """Turns before an episode ends unfinished."""
    max_steps_by_difficulty: dict[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]] = {}
    """The same for tasks up to a difficulty, such as `{3: 10, 6: 20}` (WebGym §5.2); `max_steps` for those above."""

    def horizon(self, difficulty: int) -> int:
        """Turns that a task of a difficulty may take."""
        fitting = [bound for bound in self.max_steps_by_difficulty if difficulty <= bound]
        return self.max_steps_by_difficulty[min(fitting)] if fitting else self.max_steps


class RolloutConfig(HorizonSection):
    group_size: int = Field(default=5, ge=2)
    """Trajectories a task (G)."""
    concurrency: int = Field(default=16, ge=1)
    """Episodes at once, at most."""
    adaptive_concurrency: bool = False
    """In training, as many episodes at once as pay, up to `concurrency`: begins with a quarter and goes by the turns
    that finish a second (`rollout/adaptive.py`)."""
    max_waiting_requests: int = Field(default=32, ge=0)
    """No training episode starts while more requests than this wait in the engine's queue; 0 is no limit."""
    min_free_memory_mb: int = Field(default=512, ge=0)
    """No training episode starts while this machine, or the container that runs this, has less memory left; 0 does not
    look."""
    max_context_tokens: int = Field(default=32768, ge=64)
    """Prompt and response of a turn together."""
    sampling: Sampling = Sampling(temperature=0.8, max_tokens=1024)
    task_timeout_s: float = Field(default=600, gt=0)
    """The whole episode, without updates during which its engine rests; one that takes longer ends as `timeout`, is
    invalid and trains nothing."""
    max_staleness: int = Field(default=1, ge=0)
    """η: versions by which a token may lag behind the weights that it trains, unless it is replayed. At 0 rollouts and
    updates take turns, above it they overlap."""

    @field_validator("sampling")
    @classmethod
    def _can_train(cls, sampling: Sampling) -> Sampling:
        if sampling.logit_bias:
            raise ValueError("the learner scores responses without a logit_bias; leave it out here")
        if sampling.seed is not None:
            raise ValueError("one seed for all requests makes the episodes of a group alike; set the recipe's seed")
        if not sampling.temperature:
            raise ValueError("temperature 0 makes the episodes of a group alike; take one above 0, such as 0.8")
        return sampling


class StageConfig(HorizonSection):
    """One stage of online training."""

    iterations: int = Field(ge=1)
    """How many it has; the last stage goes on to the end."""
    max_steps: int = Field(ge=1)
    difficulty_sampling: dict[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=0)]] = {}
    """In place of `tasks.difficulty_sampling`; empty keeps that."""


class SFTConfig(Section):
    demos: int = Field(default=400, ge=0)
    """Oracle demonstrations; 0 skips the warm start."""
    epochs: int = Field(default=3, ge=1)
    lr: float = Field(default=1e-5, gt=0)
    """Peak of the schedule."""
    schedule: Literal["cosine", "constant"] = "cosine"
    """After a linear warm-up: down to almost 0 at the last step, or the peak to the end."""
    warmup_ratio: float = Field(default=0.1, ge=0, le=1)
    batch_size: int = Field(default=128, ge=1)
    """Turns an optimizer step."""
    val_size: float = Field(default=0.0, ge=0, lt=1)
    """Share of the demonstrated tasks that is held out, to measure the loss on after every epoch."""
    load_best_model_at_end: bool = False
    """End with the weights of the epoch of the lowest loss on what `val_size` holds out, not with the last ones."""

    @model_validator(mode="after")
    def _can_tell_the_best(self) -> SFTConfig:
        if self.load_best_model_at_end and not self.val_size:
            raise ValueError("load_best_model_at_end goes by the loss on held-out tasks: set val_size, such as 0.1")
        return self


class TrainConfig(Section):
    iterations: int = Field(default=90, ge=0)
    """Updates of online training; 0 ends with the warm start."""
    stages: list[StageConfig] = []
    """Curriculum, in order: how far episodes may go, in place of the horizon of `rollout`, and which difficulties are
    drawn. Empty is one stage."""
    groups_per_iteration: int = Field(default=48, ge=1)
    """Effective groups (non-zero reward spread) an iteration: dynamic sampling."""
    max_groups_per_iteration: int = Field(default=0, ge=0)
    """Clear error when this many groups that ended since the last update hold too few effective ones; 0 means 8 times
    the above."""
    ppo_epochs: int = Field(default=2, ge=1)
    """Passes over the turns of an update."""
    batch_size: int = Field(default=256, ge=1)
    """Turns an optimizer step, about: batches are even, and the turns of a group, which share most, stay in one."""
    threads: int = Field(default=0, ge=0)
    """torch threads of a step on the CPU, of all ranks together; 0 takes every core. An embedded engine there rests
    meanwhile."""
    micro_batch_tokens: int = Field(default=8192, ge=1)
    """Tokens of a packed row, what its samples share counted once; a row is one forward and backward pass."""
    ranks: int = Field(default=1, ge=1)
    """Processes of this machine that share an update (torchrun's `nproc_per_node`), each on a GPU of its own where
    models are on GPUs. Weights, gradients and optimizer state are spread over them (FSDP2)."""
    compute_dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """Of the learner's passes; `auto` is bfloat16 on a GPU, else float32. Weights that train, their gradients' sums and
    optimizer state are float32 in either case."""
    encoder_cache_gb: float = Field(default=0.25, ge=0)
    """Of visual features that a learner whose vision tower is frozen keeps for rows and passes to come, on its device.
    An update's screenshots go through the tower once where it holds them all: at 1,280 x 1,000 pixels one takes 51 MB
    of a 4 B model."""
    gradient_checkpointing: bool = False
    """Keep only what enters each layer and compute the rest again in the backward pass: about a third more time, and a
    fraction of the memory of a row."""
    compile: bool = False
    """Compile the text layers with torch.compile, once for rows of every length: minutes at the start, then faster
    steps on a GPU."""
    optimizer: Literal["adamw", "adamw_8bit"] = "adamw"
    """AdamW, with its two moments in float32 (8 bytes a parameter) or in 8 bits (2 bytes, `webdojo[torchao]`)."""
    optimizer_offload: bool = False
    """Between steps the moments lie in the machine's memory, and leave the GPU's to rows of a step and to engines."""
    lr: float = Field(default=1e-6, gt=0)
    """Learning rate of online training."""
    warmup_steps: int = Field(default=0, ge=0)
    """Optimizer steps over which the rate rises to `lr`; it is constant after them."""
    weight_decay: float = Field(default=0.1, ge=0)
    adam_betas: tuple[Annotated[float, Field(ge=0, lt=1)], Annotated[float, Field(ge=0, lt=1)]] = (0.9, 0.98)
    grad_clip: float = Field(default=1.0, gt=0)
    """Norm to which the gradient of a step is clipped."""
    clip_low: float = Field(default=0.2, ge=0)
    """ε_low: a token with a negative advantage loses its gradient where its ratio is below 1 - ε_low."""
    clip_high: float = Field(default=0.28, ge=0)
    """ε_high: one with a positive advantage, where its ratio is above 1 + ε_high."""
    policy_loss: Literal["clip", "decoupled", "gspo", "cispo", "raft", "bc"] = "clip"
    """See `train/loss.py`: PPO's clip, decoupled PPO, GSPO, CISPO, RAFT++, filtered behaviour cloning."""
    dual_clip: float = Field(default=0.0, ge=0)
    """c of dual clip, 3 in the literature: bounds the loss of tokens with a negative advantage; 0 is off."""
    behav_imp_weight_cap: float = Field(default=5.0, ge=0)
    """Of `decoupled`: tokens whose π_prox / π_behave is above it add nothing; 0 is off, and a few stale tokens may
    then outweigh a whole batch."""
    advantage: Literal[
        "grpo",
        "dr_grpo",
        "rloo",
        "reinforce",
        "reinforce_baseline",
        "reinforce_plus_plus",
        "reinforce_plus_plus_baseline",
    ] = "grpo"
    """See `train/advantage.py`."""
    normalizer: Literal["openwebrl", "webagent_r1", "asyncwebrl", "dr_grpo", "dapo"] = "openwebrl"
    """`openwebrl`: mean over the tokens of a turn, no 1/T; `webagent_r1`: also 1/T; `asyncwebrl` and `dr_grpo`:
    constant `normalizer_k`; `dapo`: mean over all tokens of the update."""
    normalizer_k: float = Field(default=10.0, gt=0)
    old_logprobs: Literal["engine", "learner", "loglinear"] = "engine"
    """π_prox of the ratio: what the engine reported, the learner's weights at the start of the update, or, of
    `decoupled`, log-linear between what the engine reported and the weights that learn, which saves a forward pass: of
    a token d versions old, log π_prox = log π_behave + d / (d + 1) · (log π - log π_behave)."""
    correction: Literal["none", "tis", "icepop", "mis_token", "mis_sequence", "mis_geometric"] = "none"
    """Factor for tokens where engine and learner disagree (`train/correction.py`); needs `old_logprobs: learner`."""
    correction_low: float = Field(default=0.0, ge=0)
    """Lower bound of π_learner / π_engine."""
    correction_high: float = Field(default=2.0, gt=0)
    """Upper bound of π_learner / π_engine."""
    kl_coef: float = Field(default=0.0, ge=0)
    """β of the KL term against the model that online training starts from; 0 loads no reference model."""
    kl_estimator: Literal["k1", "k2", "k3"] = "k3"
    entropy_coef: float = Field(default=0.0, ge=0)
    """Weight of the entropy bonus."""
    repetition_penalty: bool = False
    """A turn after which the screen is the same gets no positive weight (WebGym §5.2)."""
    replay_buffer_capacity: int = Field(default=1, ge=1)
    """Iterations that an update draws its turns from, its own the last of them; 1 is no replay (WebGym, table 6)."""
    recency_bias_power: float = Field(default=1.0, ge=0, le=16)
    """A turn of the k-th iteration of the replay buffer, the oldest the first, is drawn with weight k to this power."""
    samples_per_iteration: int = Field(default=0, ge=0)
    """Turns that an update draws from the replay buffer; 0 is as many as its own iteration has brought."""
    save_every: int = Field(default=5, ge=1)
    """Iterations between checkpoints that stay; the latest and the best policy's stay besides (`loops/keep.py`)."""
    save_total_limit: int = Field(default=5, ge=0)
    """Checkpoints of online training that stay, the latest (and as many before it as `rollout.max_staleness` says) and
    the best among them; the oldest go. 0 keeps all."""

    @model_validator(mode="after")
    def _fits_together(self) -> TrainConfig:
        if self.correction != "none" and self.old_logprobs != "learner":
            raise ValueError(f"correction {self.correction!r} compares engine and learner: set old_logprobs: learner")
        if self.correction != "none" and self.policy_loss == "decoupled":
            raise ValueError("policy_loss 'decoupled' already weighs by π_prox / π_behave: leave correction at none")
        if self.policy_loss == "decoupled" and self.old_logprobs == "engine":
            raise ValueError("policy_loss 'decoupled' needs a π_prox: set old_logprobs: learner or loglinear")
        if self.policy_loss != "decoupled" and self.old_logprobs == "loglinear":
            raise ValueError(f"old_logprobs 'loglinear' is for policy_loss 'decoupled', not {self.policy_loss!r}")
        if self.dual_clip and self.policy_loss in ("cispo", "raft", "bc"):
            raise ValueError(f"policy_loss {self.policy_loss!r} has no dual clip: set dual_clip to 0")
        if 0 < self.dual_clip <= 1:
            raise ValueError(
                f"dual_clip {self.dual_clip:g} would stop all that tokens of a negative advantage teach: take one "
                "above 1, such as 3, or 0 for none"
            )
        if 0 < self.max_groups_per_iteration < self.groups_per_iteration:
            raise ValueError(
                f"max_groups_per_iteration {self.max_groups_per_iteration} is below groups_per_iteration "
                f"{self.groups_per_iteration}, so no update could begin: raise it, or set 0"
            )
        if self.samples_per_iteration and self.replay_buffer_capacity == 1:
            raise ValueError(
                f"samples_per_iteration {self.samples_per_iteration} draws from a replay buffer: set "
                "replay_buffer_capacity above 1, or samples_per_iteration to 0"
            )
        if self.correction_low > self.correction_high:
            raise ValueError(f"correction_low {self.correction_low} is above correction_high {self.correction_high}")
        return self


class EvaluateConfig(HorizonSection):
    max_steps: int = Field(default=30, ge=1)
    """Turns before an episode ends unfinished."""
    tasks: int = Field(default=200, ge=1)
    """Held-out tasks, the same for every policy of a run."""
    every: int = Field(default=0, ge=0)
    """Iterations between evaluations during online training, whose episodes share the pool (`loops/evaluations.py`); 0
    measures before and after it only."""
    sampling: Sampling = Sampling(temperature=0.6, top_p=0.95, top_k=20, max_tokens=1024)


class Recipe(Section):
    """Everything a run needs. `recipes/quickstart.yaml` is a commented example."""

    name: str
    """Of the recipe; runs are named after it."""
    seed: int = 0
    """Every random choice of a run follows from it."""
    model: ModelConfig = ModelConfig()
    browser: BrowserConfig = BrowserConfig()
    tasks: TasksConfig = TasksConfig()
    harness: HarnessConfig = OpenWebRLConfig()
    endpoint: EndpointConfig = EndpointConfig()
    rollout: RolloutConfig = RolloutConfig()
    sft: SFTConfig = SFTConfig()
    train: TrainConfig = TrainConfig()
    evaluate: EvaluateConfig = EvaluateConfig()

    @model_validator(mode="after")
    def _responses_fit(self) -> Recipe:
        most = self.rollout.max_context_tokens
        for name, sampling in (("rollout", self.rollout.sampling), ("evaluate", self.evaluate.sampling)):
            if sampling.max_tokens >= most:
                raise ValueError(
                    f"{name}.sampling.max_tokens {sampling.max_tokens} leaves no room for a prompt: take less than "
                    f"rollout.max_context_tokens, {most}"
                )
        return self

    def stage(self, iteration: int) -> StageConfig | None:
        """The stage that an iteration, counted from 1, belongs to; None where there are none."""
        ends = itertools.accumulate(stage.iterations for stage in self.train.stages)
        at = next((s for s, end in zip(self.train.stages, ends, strict=True) if iteration <= end), None)
        return at or (self.train.stages[-1] if self.train.stages else None)

    def horizon(self, iteration: int, difficulty: int) -> int:
        """Turns that a training episode on a task of a difficulty may take in an iteration."""
        return (self.stage(iteration) or self.rollout).horizon(difficulty)

    def difficulty_chance(self, iteration: int, difficulty: int) -> float:
        """Chance with which a task of a difficulty is drawn when its turn comes, so that those that are drawn have the
        ratio of the iteration's stage: the most wanted difficulty has 1."""
        stage = self.stage(iteration)
        if stage is None or not stage.difficulty_sampling:
            return 1.0
        wanted = {
            d: stage.difficulty_sampling.get(d, 1) / self._drawn(d) for d in self.tasks.difficulties if self._drawn(d)
        }
        return wanted[difficulty] / max(wanted.values())

    def _drawn(self, difficulty: int) -> int:
        """Weight of a difficulty in the task list."""
        return self.tasks.difficulty_sampling.get(difficulty, 1)


def recipe_names() -> list[str]:
    """Names of the recipes inside the package."""
    return sorted(p.name.removesuffix(".yaml") for p in files("webdojo.recipes").iterdir() if p.name.endswith(".yaml"))


def load_recipe(name_or_path: str, overrides: list[str] | None = None) -> Recipe:
    """Load, override and validate a recipe.

    Args:
        name_or_path: a name from `recipe_names()` or a path to a YAML file.
        overrides: `dotted.key=value` strings; values are read as YAML.

    Raises:
        ConfigError: unknown recipe, key or value; the message names the nearest known one.
    """
    if name_or_path.endswith((".yaml", ".yml")):
        path = Path(name_or_path)
        if not path.is_file():
            raise ConfigError(f"recipe file {name_or_path!r} does not exist")
        text = path.read_text()
    elif name_or_path in recipe_names():
        text = files("webdojo.recipes").joinpath(f"{name_or_path}.yaml").read_text()
    else:
        raise ConfigError(
            f"unknown recipe {name_or_path!r}{_nearest(name_or_path, recipe_names())}; "
            f"recipes in the package: {', '.join(recipe_names())}; or give a path that ends in .yaml"
        )
    try:
        data = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise ConfigError(f"recipe {name_or_path!r} is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise ConfigError(f"recipe {name_or_path!r} must be a mapping of sections, but is a {type(data).__name__}")
    for override in overrides or []:
        _apply(data, override)
    return parse_recipe(data, name_or_path)


def parse_recipe(data: dict[str, Any], source: str) -> Recipe:
    """Validate a recipe that is already a mapping; `source` is named in errors."""
    try:
        return Recipe.model_validate(data)
    except ValidationError as error:
        raise ConfigError("; ".join(_explain(dict(e), source) for e in error.errors())) from None


def dump_recipe(recipe: Recipe) -> str:
    """The resolved recipe as YAML: every key with its value, in the order of the sections."""
    return yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def _apply(data: dict[str, Any], override: str) -> None:
    key, equals, value = override.partition("=")
    if not equals or not key:
        raise ConfigError(f"override {override!r} must look like section.key=value, for example train.lr=1e-4")
    *parents, last = key.split(".")
    node = data
    for parent in parents:
        child = node.setdefault(parent, {})
        if not isinstance(child, dict):
            raise ConfigError(f"override {override!r}: {parent!r} is a value, not a section")
        node = child
    try:
        node[last] = yaml.safe_load(value)
    except yaml.YAMLError:
        raise ConfigError(f"override {override!r}: {value!r} is not a YAML value") from None


def _explain(error: dict[str, Any], source: str) -> str:
    location = [str(part) for part in error["loc"]]
    if error["type"] == "union_tag_invalid":
        name = _harness_name(error["input"])
        return f"harness.name = {name!r} in {source!r}: must be one of {', '.join(HARNESSES)}"
    if not location:  # of sections that do not fit together
        return f"in {source!r}: {error['msg'].removeprefix('Value error, ')}"
    harness = HARNESSES.get(location[1]) if location[0] == "harness" and len(location) > 1 else None
    if harness is not None:
        del location[1]  # pydantic's name of the member of the union
    dotted = ".".join(location)
    if error["type"] == "extra_forbidden":
        return f"unknown key {dotted!r} in {source!r}{_nearest(location[-1], _known_keys(location[:-1], harness))}"
    if error["type"] == "missing":
        return f"missing key {dotted!r} in {source!r}"
    if location[-1] == "api_key_env":  # what stands there may be the key itself
        return f"{dotted} in {source!r} must name an environment variable, such as OPENAI_API_KEY, not hold the key"
    if error["type"] == "value_error" and isinstance(error["input"], dict):  # of keys that do not fit together
        return f"{dotted} in {source!r}: {error['msg'].removeprefix('Value error, ')}"
    return f"{dotted} = {error['input']!r} in {source!r}: {error['msg'].lower()}"


def _known_keys(path: list[str], harness: type[HarnessSection] | None) -> list[str]:
    if harness is not None:
        return list(harness.model_fields)
    section: type[BaseModel] = Recipe
    for name in path:
        if name.isdigit():  # of an entry in a list of sections
            continue
        annotation = section.model_fields[name].annotation
        candidates = [annotation, *get_args(annotation)]
        section = next(c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel))
    return list(section.model_fields)


def _nearest(wrong: str, known: list[str]) -> str:
    matches = difflib.get_close_matches(wrong, known, n=1, cutoff=0.5)
    return f"; did you mean {matches[0]!r}?" if matches else f" (known: {', '.join(known)})"

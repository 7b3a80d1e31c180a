"""The vocabulary of the gauntlet: what a trial is, what its server answers, and what must hold afterwards.

The five modules beside this file hold data only, one family each. Nothing here knows the browser environment's code.
`trials()` gives them all. The README one folder up says how a runner is to read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Step = tuple[str, dict[str, Any]]
Colour = tuple[int, int, int]
Server = Literal["main", "other", "canary"]

FAMILIES = ("storms", "tampering", "odd_documents", "feedback_truth", "guard_isolation")


@dataclass(frozen=True)
class Response:
    """What the test server answers to one path."""

    body: str | bytes = ""
    """The body. Text is sent as UTF-8."""

    status: int = 200
    """The status code."""

    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)
    """The headers, sent as they are. The server adds a Content-Length only if none is given and there are no chunks."""

    delay_s: float = 0
    """How long the server is silent before the status line."""

    chunks: tuple[tuple[float, str | bytes], ...] = ()
    """Pieces of body sent after `body`: how many seconds to wait, then the piece. Sent as chunked encoding."""

    repeat_chunks: bool = False
    """Send the chunks again and again until the client goes away."""

    hang: bool = False
    """Read the request and never answer. The connection stays open."""

    drop: bool = False
    """Read the request and close the connection without an answer."""


File = str | Response
Files = Mapping[str, File | tuple[File, ...]]


@dataclass(frozen=True)
class PictureSize:
    """The picture is this large."""

    width: int = 1000
    """Width in pixels."""

    height: int = 800
    """Height in pixels."""

    after: int | None = None
    """Which step's picture (from 0). None is the last one, -1 the picture of the start, before any step."""

    session: int = 1
    """Which session."""


@dataclass(frozen=True)
class PixelNear:
    """The picture that the step gave back has this colour here. Not a later picture: what the agent was shown."""

    x: int
    """Pixels from the left."""

    y: int
    """Pixels from the top."""

    rgb: Colour
    """Red, green and blue, 0 to 255."""

    tolerance: int = 24
    """The greatest difference allowed in each channel."""

    after: int | None = None
    """Which step's picture (from 0). None is the last one, -1 the picture of the start."""

    session: int = 1
    """Which session."""


@dataclass(frozen=True)
class FeedbackSaysAny:
    """The step's feedback, in lower case, has at least one of these texts in it."""

    texts: tuple[str, ...]
    """The texts, in lower case."""

    after: int | tuple[int, ...] | None = None
    """Which step's feedback. None is the last one. Several: one of them is enough."""

    session: int = 1
    """Which session."""


@dataclass(frozen=True)
class FeedbackSaysNone:
    """The step's feedback, in lower case, has none of these texts in it."""

    texts: tuple[str, ...]
    """The texts, in lower case."""

    after: int | tuple[int, ...] | None = None
    """Which step's feedback. None is the last one. Several: it holds for each."""

    session: int = 1
    """Which session."""


@dataclass(frozen=True)
class FeedbackAtMost:
    """The step's feedback is short."""

    characters: int = 4000
    """The greatest length."""

    after: int | None = None
    """Which step's feedback. None is the last one."""

    session: int = 1
    """Which session."""


@dataclass(frozen=True)
class PageState:
    """What really happened: an expression, evaluated in the main world of the active tab's top frame.

    The runner may ask again for up to two seconds until the value is the expected one.
    """

    expression: str
    """JavaScript whose value is plain JSON. It uses the DOM only, so an isolated world gives the same value."""

    value: Json
    """What it must be."""

    after: int | None = None
    """After which step. None is after the last one."""

    session: int = 1
    """Which session."""


@dataclass(frozen=True)
class UrlEnds:
    """The address of the active tab, as the environment tells it, ends so."""

    text: str
    """The end of the address. Placeholders are replaced."""

    after: int | None = None
    """After which step. None is after the last one."""

    session: int = 1
    """Which session."""


@dataclass(frozen=True)
class Tabs:
    """So many tabs are open, as the environment tells it."""

    least: int
    """At least so many."""

    most: int
    """At most so many."""

    after: int | None = None
    """After which step. None is after the last one."""

    session: int = 1
    """Which session."""


@dataclass(frozen=True)
class ServerSaw:
    """A test server was asked for this path (the query not counted)."""

    path: str
    """The path, from the slash."""

    server: Server = "main"
    """Which of the servers."""

    at_least: int = 1
    """How many times at least, in the whole trial."""


@dataclass(frozen=True)
class ServerNeverSaw:
    """A test server was never asked for this path, by any session of the trial."""

    path: str
    """The path, from the slash."""

    server: Server = "main"
    """Which of the servers."""


@dataclass(frozen=True)
class CanaryUntouched:
    """No byte reached the canary server, whatever the path and whoever sent it."""


Expect = (
    PictureSize
    | PixelNear
    | FeedbackSaysAny
    | FeedbackSaysNone
    | FeedbackAtMost
    | PageState
    | UrlEnds
    | Tabs
    | ServerSaw
    | ServerNeverSaw
    | CanaryUntouched
)


@dataclass(frozen=True)
class Trial:
    """One odd page, what is done there, and what must hold.

    Always implied, whatever `expects` says: the session opens; each step comes back within 15 seconds (for `wait`, so
    long beyond its own time) with a picture of `viewport` size; after the last step one more step works (`wait` for
    half a second); and each feedback can be written as UTF-8 and has no control character but the line feed.
    """

    name: str
    """Snake case, unique among all families."""

    family: str
    """The module that it is in."""

    says: str
    """What the page does, in one plain sentence."""

    files: Files
    """What the main and the other server answer, by path. A tuple: the first to the first request, and so on; the last
    again and again. A path with a query counts before the same path without. All else is 404."""

    steps: tuple[Step, ...]
    """The tool calls of the first session."""

    expects: tuple[Expect, ...]
    """What must hold."""

    start: str = "/"
    """Where the sessions start, on the main server."""

    viewport: tuple[int, int] = (1000, 800)
    """The size of the page and of each picture."""

    needs_secure_context: bool = False
    """Whether the page needs an API that Chromium gives to trustworthy origins only (https, 127.0.0.0/8, localhost)."""

    second_session_steps: tuple[Step, ...] | None = None
    """The tool calls of a second session of the same pool, opened after the first one's last step."""

    second_session_start: str = "/"
    """Where the second session starts."""

    first_session_stays_open: bool = True
    """Whether the first session is still open while the second one runs. If not, it was closed before."""


def click(x: int, y: int) -> Step:
    """Click with the left button."""
    return ("click", {"x": x, "y": y})


def double_click(x: int, y: int) -> Step:
    """Click twice."""
    return ("double_click", {"x": x, "y": y})


def right_click(x: int, y: int) -> Step:
    """Click with the right button."""
    return ("right_click", {"x": x, "y": y})


def write(text: str) -> Step:
    """Type a text where the focus is."""
    return ("write", {"text": text})


def press(*keys: str) -> Step:
    """Press keys or chords such as `ctrl+c`, one after the other."""
    return ("press_keys", {"keys": list(keys)})


def scroll(x: int, y: int, dy: int, dx: int = 0) -> Step:
    """Turn the wheel with the pointer there. Pixels; positive is down and to the right."""
    return ("scroll", {"x": x, "y": y, "dx": dx, "dy": dy})


def drag(x: int, y: int, to_x: int, to_y: int) -> Step:
    """Press, move, let go."""
    return ("drag", {"x": x, "y": y, "to_x": to_x, "to_y": to_y})


def back() -> Step:
    """One page back."""
    return ("go_back", {})


def goto(url: str) -> Step:
    """Open an address."""
    return ("goto", {"url": url})


def wait(seconds: float) -> Step:
    """Do nothing for a while."""
    return ("wait", {"seconds": seconds})


def switch_tab(index: int) -> Step:
    """Make a tab active, counted from 0 in the order of opening. It may be active already."""
    return ("switch_tab", {"index": index})


def close_tab(index: int) -> Step:
    """Close a tab, counted from 0 in the order of opening."""
    return ("close_tab", {"index": index})


RED: Colour = (200, 0, 0)
GREEN: Colour = (0, 160, 0)
BLUE: Colour = (0, 0, 200)
YELLOW: Colour = (240, 220, 0)
WHITE: Colour = (255, 255, 255)

# Ways of saying a thing. The lists are wide, so that a wording is not what is judged.
NOTHING_MOVED = (
    "nothing moved",
    "nothing scrolled",
    "did not move",
    "did not scroll",
    "didn't move",
    "didn't scroll",
    "has not moved",
    "not scrolled",
    "no scrolling happened",
    "everything is in view",
    "nothing to scroll",
    "cannot scroll",
    "can't scroll",
)
DIED = ("browser died", "browser_died", "has died", "crashed", "session is lost", "session lost", "traceback")
SAYS_LOADING = ("load", "unfinished", "not finished", "incomplete", "not ready", "still", "waiting", "not complete")
SAYS_STUCK = (
    "respond",
    "response",
    "busy",
    "hang",
    "hung",
    "frozen",
    "stuck",
    "answer",
    "silent",
    "timeout",
    "timed out",
    "time out",
    "in time",
    "still",
    "load",
)
SAYS_FAILED = (
    "error",
    "err_",
    "fail",
    "could not",
    "couldn't",
    "cannot",
    "can't",
    "did not",
    "didn't",
    "not open",
    "not load",
    "unreachable",
    "redirect",
    "broken",
    "no answer",
    "aborted",
    "invalid",
)
SAYS_REFUSED = (
    *SAYS_FAILED,
    "refus",
    "not allowed",
    "may not",
    "block",
    "forbid",
    "denied",
    "private",
    "not permitted",
    "only http",
    "unsupported",
    "not supported",
    "must be",
    "outside",
)
SAYS_DIALOG = ("dialog", "dialogue", "alert", "confirm", "prompt", "message box", "asked", "popup")
SAYS_DOWNLOAD = ("download", "file", "attachment", "saved")
SAYS_NEW_TAB = ("tab", "window", "popup", "pop-up")
SAYS_END = ("at its end", "at the end", "at its bottom", "at the bottom", "reached the end", "reached the bottom")

TOOLS = """
function note(k,v){document.documentElement.dataset[k]=String(v)}
function light(){note('lamp',1);document.getElementById('lamp').style.background='#00a000'}
function tell(k,v){top.postMessage(['note',k,v],'*')}
addEventListener('message',e=>{const d=e.data;
if(d&&d[0]==='note'){if(d[1]==='lamp')light();else note(d[1],d[2])}})
"""


def page(body: str, script: str = "", *, style: str = "", head: str = "", title: str = "Trial", root: str = "") -> str:
    """A page without margins. Its scripts may `note` facts on the root element, `light` the lamp,
    `tell` the top page."""
    return (
        f"<!doctype html><html {root}><head><meta charset=utf-8><title>{title}</title>"
        f"<style>html,body{{margin:0}}{style}</style><script>{TOOLS}</script>{head}</head>"
        f"<body>{body}<script>{script}</script></body></html>"
    )


def box(
    name: str, x: int, y: int, w: int, h: int, colour: str = "#ddd", *, text: str = "", tag: str = "div", more: str = ""
) -> str:
    """An element at a certain place. More CSS may follow the colour after a semicolon; `more` is more attributes."""
    css = f"position:absolute;left:{x}px;top:{y}px;width:{w}px;height:{h}px;margin:0;padding:0;border:0;"
    closing = "" if tag in ("input", "img", "embed") else f"{text}</{tag}>"
    return f'<{tag} id={name} style="{css}box-sizing:border-box;background:{colour}" {more}>{closing}'


def button(name: str, x: int, y: int, text: str, action: str = "", *, more: str = "") -> str:
    """A button of 200 x 60 pixels. The action is a script without double quotes."""
    return box(name, x, y, 200, 60, "#ddd", text=text, tag="button", more=f'onclick="{action}" {more}')


LAMP = box("lamp", 600, 300, 200, 200, "#c80000;position:fixed")
"""A red box that `light` turns green. It is fixed, so scrolling leaves it there."""


def noted(key: str, value: str, after: int | None = None, session: int = 1) -> PageState:
    """The page noted this on its root element."""
    return PageState(f"document.documentElement.dataset.{key}", value, after, session)


def not_noted(key: str, after: int | None = None, session: int = 1) -> PageState:
    """The page never noted this."""
    return PageState(f"document.documentElement.dataset.{key} === undefined", True, after, session)


def lit(after: int | None = None, session: int = 1) -> tuple[Expect, ...]:
    """The lamp is green, in the page and in the picture."""
    return (noted("lamp", "1", after, session), PixelNear(700, 400, GREEN, after=after, session=session))


def calm(text: str = "Calm") -> str:
    """A harmless page whose picture is green all over."""
    return page(f"<h1>{text}</h1>", style="html{background:#00a000}", title=text)


CALM: tuple[Expect, ...] = (PixelNear(500, 400, GREEN), PixelNear(800, 700, GREEN))
"""The picture of a calm page."""


def placeholders(origin: str, other: str, canary_host: str, canary_port: int) -> dict[str, str]:
    """What every placeholder stands for. The origins are `http://host:port`, the canary's host a dotted IPv4 address.

    They are replaced in all text of files (bodies, chunks, headers), steps and expectations, but not in bytes.
    """
    a, b, c, d = (int(part) for part in canary_host.split("."))
    wide = {ord(str(n)): chr(0xFF10 + n) for n in range(10)} | {ord("."): "\u3002"}
    return {
        "@ORIGIN@": origin,
        "@OTHER@": other,
        "@CANARY@": f"http://{canary_host}:{canary_port}",
        "@CANARY_HOST@": canary_host,
        "@CANARY_PORT@": str(canary_port),
        "@CANARY_DECIMAL@": str(((a * 256 + b) * 256 + c) * 256 + d),
        "@CANARY_HEX@": f"0x{((a * 256 + b) * 256 + c) * 256 + d:x}",
        "@CANARY_OCTAL@": f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        "@CANARY_MIXED@": f"0x{a:X}.0{b:o}.{c * 256 + d}",
        "@CANARY_SHORT@": f"{a}.{(b * 256 + c) * 256 + d}",
        "@CANARY_MAPPED@": f"[::ffff:{canary_host}]",
        "@CANARY_MAPPED_HEX@": f"[0:0:0:0:0:FFFF:{a * 256 + b:X}:{c * 256 + d:X}]",
        "@CANARY_WIDE@": canary_host.translate(wide),
        "@CANARY_PERCENT@": "".join(f"%{ord(character):x}" for character in canary_host),
    }


def trials() -> tuple[Trial, ...]:
    """All trials of all families."""
    return tuple(trial for family in FAMILIES for trial in import_module(f"{__name__}.{family}").TRIALS)

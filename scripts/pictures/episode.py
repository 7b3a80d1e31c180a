"""A recorded episode: screens and clicks, prompts and their tokens, response, call, feedback: `docs/concepts.md`."""

from __future__ import annotations

from scripts.pictures.canvas import SMALL, Canvas
from scripts.pictures.record import recorded, screenshot
from webdojo.types import ImageSegment, Turn

ALT = (
    "A recorded episode of four turns in a shop: each screenshot with the click that followed it, the prompt of each "
    "turn as segments of tokens, and one response with its call and the feedback of the browser"
)
SCREEN, STEP, LEFT = 164, 188, 16
BAR_LEFT, BAR_WIDTH, BAR = 84, 560, 18
ROLES = {"system": "violet", "task": "amber", "image": "blue", "answer": "green", "feedback": "plain"}


def picture() -> str:
    episode = recorded()[0]
    canvas = Canvas(580, ALT)
    canvas.text(LEFT, 28, "An episode", size=15, bold=True)
    canvas.text(LEFT + 112, 28, f"“{episode.task.instruction}”", tone="soft")
    for number, turn in enumerate(episode.turns):
        _screen(canvas, LEFT + number * STEP, number, turn)
    longest = max(len(turn.prompt) + len(turn.response.ids) for turn in episode.turns)
    canvas.text(LEFT, 290, "Prompt, and response, of each turn, in tokens", bold=True)
    for number, turn in enumerate(episode.turns):
        _bar(canvas, 302 + number * 26, number, turn, BAR_WIDTH / longest)
    x = float(BAR_LEFT)
    for role, tone in ROLES.items():
        said = {"image": "screenshot", "answer": "response", "system": "tools and rules"}.get(role, role)
        canvas.rect(x, 414, 12, 12, tone, radius=2)
        canvas.note(x + 18, 425, said)
        x += {"system": 134, "task": 66, "image": 106, "answer": 94, "feedback": 80}[role]
    _exchange(canvas, 462, episode.turns[2])
    return canvas.svg


def _screen(canvas: Canvas, x: float, number: int, turn: Turn) -> None:
    shown = turn.observation.screenshot
    canvas.image(x, 44, SCREEN, SCREEN, screenshot(shown), shown.mime)
    call = turn.parsed.calls[0]
    if call.name == "click":
        at = (x + call.arguments["x"] * SCREEN / 1000, 44 + call.arguments["y"] * SCREEN / 1000)
        canvas.ring(*at, 9, "s-red")
        canvas.dot(*at, 2.5, "d-red")
        canvas.arrow((x + SCREEN, 126), (x + STEP, 126))
    thought = turn.parsed.think.split(". ")[-1]
    said = f"click ({call.arguments['x']}, {call.arguments['y']})" if call.name == "click" else f"{call.name}"
    canvas.text(x, 226, f"{number + 1}  {thought}", size=SMALL, room=STEP - 4)
    canvas.text(x, 243, said, size=SMALL, tone="t-red", mono=True)


def _bar(canvas: Canvas, y: float, number: int, turn: Turn, scale: float) -> None:
    """The segments of a prompt and its response, to scale."""
    canvas.note(LEFT, y + 14, f"turn {number + 1}")
    x = float(BAR_LEFT)
    for at, (tokens, role) in enumerate(segments(turn)):
        canvas.rect(x, y, max(tokens * scale - (0.8 if at else 0), 0.8), BAR, ROLES[role], radius=1)
        x += tokens * scale
    canvas.note(x + 8, y + 14, f"{len(turn.prompt)} + {len(turn.response.ids)}")


def segments(turn: Turn) -> list[tuple[int, str]]:
    """Tokens and role of each part of a prompt and its response.

    After the system's text and the task's come, for each earlier turn, the mark that opens a response, the response,
    and what came back; then the one screenshot between its marks.
    """
    parts = turn.prompt.segments
    image = next(at for at, part in enumerate(parts) if isinstance(part, ImageSegment))
    earlier = ("feedback", "answer", "feedback") * image
    roles = ["system", "task", *earlier[: image - 2], "image", *["feedback"] * (len(parts) - image - 1), "answer"]
    sizes = [part.tokens if isinstance(part, ImageSegment) else len(part.ids) for part in parts]
    return list(zip([*sizes, len(turn.response.ids)], roles, strict=True))


def _exchange(canvas: Canvas, y: float, turn: Turn) -> None:
    think, _, call = turn.text.removesuffix("<|im_end|>").partition("</think>")
    canvas.rect(LEFT, y - 16, 728, 116, "plain")
    rows = [
        ("turn 3 says", [f"{think}</think>", call], "t-green"),
        ("is parsed to", [f"{turn.parsed.calls[0].name} {dict(turn.parsed.calls[0].arguments)}"], "t-red"),
        ("the browser", turn.feedback[0].text.split(": ", 1), "ink"),
    ]
    at = y + 6
    for label, lines, tone in rows:
        canvas.note(LEFT + 12, at, label)
        at = canvas.lines(LEFT + 108, at, lines, gap=17, size=SMALL, tone=tone, mono=True, room=612) + 5

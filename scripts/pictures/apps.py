"""How a visit to a real application begins, runs and is judged, with a task of its own: `docs/apps.md`."""

from __future__ import annotations

from typing import Any

from scripts.pictures.canvas import SMALL, Canvas
from webdojo.envs.apps.registry import APPLICATIONS
from webdojo.envs.apps.serving import VISIT_HEADER
from webdojo.envs.apps.verdict import evaluate
from webdojo.recipe import load_recipe

ALT = (
    "A seed makes a world, which fills a database once; each visit has a copy of it and a process forked from one that "
    "has loaded the application; a header leads requests to it; afterwards the rows that differ decide"
)
LEFT, MIDDLE, RIGHT = 16, 244, 576


def picture() -> str:
    application = APPLICATIONS.get("oscar")()
    world, host = application.world(17), application.host(17)
    canvas = Canvas(534, ALT)
    canvas.text(LEFT, 28, f"A visit to {application.about}", size=15, bold=True)
    sizes = [f"{len(world[name])} {name}" for name in ("products", "customers", "orders", "reviews")]
    canvas.box(LEFT, 62, 168, 100, "Seed 17", sizes, "plain")
    canvas.box(
        MIDDLE,
        62,
        190,
        100,
        "Loaded process",
        ["has imported the whole", "application, and serves", "no request itself"],
        "violet",
    )
    canvas.box(
        RIGHT,
        62,
        168,
        100,
        "Snapshot",
        ["db.sqlite3, written by", "the application's own", "models, once a seed"],
        "amber",
    )
    canvas.arrow((LEFT + 84, 62), (LEFT + 84, 46), (RIGHT + 84, 46), (RIGHT + 84, 62))
    canvas.box(
        LEFT,
        196,
        168,
        174,
        "One address",
        [host, "", "its port hands each", "request to the visit", "that a header names,", VISIT_HEADER],
        "blue",
    )
    canvas.line((206, 221), (206, 345))
    canvas.line((184, 283), (206, 283))
    for number in range(3):
        y = 196 + number * 62
        canvas.box(MIDDLE, y, 190, 50, f"Process of visit {number + 1}", ["forked in milliseconds"], "violet")
        canvas.box(RIGHT, y, 168, 50, f"Copy {number + 1}", ["db.sqlite3, media"], "amber")
        canvas.arrow((206, y + 25), (MIDDLE, y + 25))
        canvas.arrow((MIDDLE + 190, y + 25), (RIGHT, y + 25))
        canvas.note((MIDDLE + 190 + RIGHT) / 2, y + 17, "reads, writes", anchor="middle")
    for x, said in ((MIDDLE + 95, "fork"), (RIGHT + 84, "copy")):
        canvas.arrow((x, 162), (x, 196))
        canvas.note(x + 10, 183, said)
    _verdict(canvas, 392)
    return canvas.svg


def _verdict(canvas: Canvas, top: float) -> None:
    """A task, and what two visits have changed."""
    recipe = load_recipe("openwebrl-dojo", ["env={name: apps, applications: [oscar]}", "reward.name=env"])
    tasks = recipe.env.tasks("eval", 40, 0)
    task = next(
        each for each in tasks if any("change" in fact for fact in each.evaluator["facts"]) and each.difficulty == 2
    )
    wanted = [fact["change"] for fact in task.evaluator["facts"] if "change" in fact]
    shown = [fact["shown"] for fact in task.evaluator["facts"] if "shown" in fact]
    canvas.rect(LEFT, top, 728, 126, "plain")
    canvas.text(LEFT + 12, top + 22, f"“{task.instruction}”", bold=True)
    right = [{**change, "key": {"id": 1}} for change in wanted]
    more = {"table": "order_ordernote", "kind": "added", "key": {"id": 7}, "values": {"message": "hello"}}
    for row, (said, changes) in enumerate([("visit 1", right), ("visit 2", [*right, more])]):
        verdict = evaluate(task, "done", {"changes": changes, "shown": shown})
        y = top + 50 + row * 36
        canvas.note(LEFT + 12, y, f"{said} changed")
        canvas.text(LEFT + 120, y, " and ".join(map(_said, changes)), size=SMALL, mono=True)
        tone = "t-green" if verdict.success else "t-red"
        canvas.text(LEFT + 120, y + 17, f"reward {verdict.success:d}: {verdict.reason}", size=SMALL, tone=tone)


def _said(change: dict[str, Any]) -> str:
    return f"{change['table']} {change['kind']}"

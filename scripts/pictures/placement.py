"""Where the parts of a run are on one GPU, on eight and on a cluster, as its plans say: `docs/eight-gpus.md`."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from scripts.pictures.canvas import SMALL, Canvas
from webdojo.cluster.packing import Node, Share
from webdojo.cluster.parts import DRIVER, ENGINE, IMAGES, RANK, ROLLOUT, plan_of
from webdojo.cluster.plan import Placement, check
from webdojo.dry_run.memory import GB, Machine
from webdojo.dry_run.plan import Together, together
from webdojo.policy.model.loading import skeleton
from webdojo.recipe import Recipe, load_recipe

ALT = (
    "Placement of a 4 B model's training: on one GPU learner and engine take turns; on eight GPUs four ranks of the "
    "learner and four servers work at once; on a cluster ranks, engines and rollout workers have nodes of their own"
)
DOJO = ["env=dojo", "reward=rules", "sft.demos=412"]
ONE = ("openwebrl-80gb", DOJO)
EIGHT = (
    "openwebrl-dojo",
    ["model.device=cuda", "model.gpu_memory_gb=80", "train.ranks=4", "train.gradient_checkpointing=true",
     "engine.name=vllm", "engine.replicas=4", "engine.gpus=[4,5,6,7]"],
)  # fmt: skip
CLUSTER = [
    *("train.ranks=8", "cluster.ranks.num_gpus=1", "cluster.engines.num_gpus=1", "cluster.engines.replicas=8"),
    *("cluster.rollouts.replicas=4", "cluster.rollouts.resources={browsers: 1}"),
]
GPU = 80
TONES = {DRIVER: "green", RANK: "green", ENGINE: "blue", ROLLOUT: "amber", IMAGES: "plain"}
LEFT = 16


def picture() -> str:
    canvas = Canvas(546, ALT)
    canvas.text(LEFT, 28, "Who is where", size=15, bold=True)
    x = 744.0
    for said, tone in (("browsers", "amber"), ("engine", "blue"), ("learner", "green")):
        x -= 96
        canvas.rect(x, 18, 12, 12, tone, radius=2)
        canvas.note(x + 18, 29, said)
    _one(canvas, 56)
    _eight(canvas, 218)
    _cluster(canvas, 400)
    return canvas.svg


def _needed(recipe: Recipe) -> Together:
    return together(skeleton(recipe.model.path), recipe, Machine(cuda=True, memory=GPU * GB))


def _one(canvas: Canvas, top: float) -> None:
    """One GPU, whose memory learner and engine have in turn."""
    recipe = load_recipe(*ONE)
    needed = _needed(recipe)
    canvas.text(LEFT, top, "One GPU of 80 GB: they take turns", bold=True)
    canvas.note(744, top, f"recipe {recipe.name}, {recipe.model.path.partition('/')[2]}", anchor="end")
    for at, (said, used, tone) in enumerate(
        [("the engine samples", needed.rollout, "blue"), ("the learner steps", needed.step, "green")] * 2
    ):
        x = 148 + at * 149
        canvas.rect(x, top + 16, 145, 84, "hole")
        height = used / GB / GPU * 84
        canvas.rect(x, top + 100 - height, 145, height, tone)
        canvas.text(x + 72, top + 54, said, size=SMALL, anchor="middle")
        canvas.text(x + 72, top + 72, f"{used / GB:.0f} of {GPU} GB", size=SMALL, anchor="middle", bold=True)
    canvas.text(LEFT, top + 54, "GPU 0", bold=True)
    canvas.note(LEFT, top + 72, "over time")
    canvas.rect(148, top + 108, 592, 22, "amber")
    canvas.text(
        444,
        top + 124,
        f"{recipe.rollout.concurrency} browser sessions on the CPUs of the machine",
        size=SMALL,
        anchor="middle",
    )


def _eight(canvas: Canvas, top: float) -> None:
    """Eight GPUs of one machine, half of them with ranks."""
    recipe = load_recipe(*EIGHT)
    needed = _needed(recipe)
    canvas.text(LEFT, top, "Eight GPUs of one machine: ranks and servers have their own", bold=True)
    canvas.note(744, top, f"recipe {recipe.name}", anchor="end")
    for gpu in range(8):
        x = LEFT + gpu * 91.5
        learns = gpu < recipe.train.ranks
        canvas.box(
            x, top + 14, 86, 62, f"GPU {gpu}", [f"rank {gpu}" if learns else "vLLM"], "green" if learns else "blue"
        )
    canvas.line((LEFT, top + 86), (LEFT + 361, top + 86), tone="s-green", width=2)
    canvas.note(LEFT, top + 104, f"FSDP2: at most {needed.step / GB:.0f} GB a rank")
    canvas.line((LEFT + 366, top + 86), (740, top + 86), tone="s-blue", width=2)
    canvas.note(LEFT + 366, top + 104, "each a copy of the model")
    canvas.rect(LEFT, top + 116, 724, 24, "amber")
    sessions = f"{recipe.rollout.concurrency} browser sessions on the CPUs; the run folder on the disk"
    canvas.text(378, top + 133, sessions, size=SMALL, anchor="middle")


def _nodes() -> list[Node]:
    gpus = [Node(f"node-{at}", Share(16, 8)) for at in (1, 2)]
    return [*gpus, *(Node(f"rollouts-{at}", Share(4, 0, 0, {"browsers": 1})) for at in range(1, 5))]


def placed() -> Placement:
    return check(plan_of(load_recipe("openwebrl-dojo", CLUSTER)), _nodes())


def _cluster(canvas: Canvas, top: float) -> None:
    """What `cluster` plans for nodes with and without GPUs."""
    canvas.text(LEFT, top, "A cluster: Ray places the parts, and starts again what dies", bold=True)
    canvas.note(744, top, "section cluster", anchor="end")
    found = sorted(
        ((node, name) for bundle, node in placed().placed for name in bundle.parts), key=lambda each: each[0]
    )
    x = float(LEFT)
    for node, parts in groupby(found, key=lambda each: each[0]):
        counts = Counter(name for _, name in parts)
        wide = 176 if node.startswith("node") else 88.5
        canvas.rect(x, top + 14, wide - 6, 116, "hole")
        canvas.text(x + 8, top + 33, node, size=SMALL, bold=True)
        y = top + 44
        for name in (DRIVER, IMAGES, RANK, ENGINE, ROLLOUT):
            if not counts[name]:
                continue
            times = f" × {counts[name]}" if counts[name] > 1 else ""
            lines = [name.replace("rank 0", "rank 0") + times] if wide > 100 else ["rollout", "worker"]
            canvas.rect(x + 6, y, wide - 18, 8 + 16 * len(lines), TONES[name])
            canvas.lines(x + 13, y + 16, lines, gap=16, size=SMALL)
            y += 12 + 16 * len(lines)
        x += wide

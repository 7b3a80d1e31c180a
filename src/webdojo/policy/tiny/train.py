"""`webdojo tiny train`: the tiny model from nothing, on screens of embedded training sites.

First the vision tower learns to *see*: throw-away heads on its tokens predict the characters and
words under each token, and each token's row and column. Then the whole model learns to *answer*:
to point, to read, to say the value beside a name, with the dense targets kept on. Two processes on
two cores average their gradients; on a GPU one process does the work. The finished folder holds
bf16 weights in Hugging Face layout and `figures.json`: the command, the seed and what was measured.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F
from transformers import PreTrainedModel

from webdojo.policy.loading import save_model
from webdojo.policy.forward import text_hidden, vision_features
from webdojo.policy.positions import mrope_positions
from webdojo.policy.processor import Processor
from webdojo.policy.tiny.corpus import corpus
from webdojo.policy.tiny.lessons import CHARACTERS, ROWS, TOKENS, WORDS, Question, Skill, dense_targets, questions
from webdojo.policy.tiny.model import build_model, build_tokenizer, image_settings
from webdojo.policy.tiny.pages import Screens, render_screens
from webdojo.progress import progress
from webdojo.sites import KINDS

TRAIN_SEEDS = list(range(200))
CHECK_SEEDS = list(range(200, 240))
"""Sites that neither the tiny model nor any recipe trains on by default."""


@dataclass(frozen=True)
class Course:
    """How long the model learns, and how."""

    seed: int = 0
    screens: int = 4000
    see_samples: int = 16_000
    """Screens seen by the vision tower with its dense heads alone."""
    answer_samples: int = 60_000
    """Screens seen by the whole model, each with `questions` questions."""
    questions: int = 8
    batch_size: int = 16
    """Screens an optimizer step of one process."""
    lr: float = 2e-3
    workers: int = 2
    check_every: int = 200
    """Steps between measurements."""


class Heads(nn.Module):
    """Throw-away classifiers on visual tokens [N, width]: 2 characters, 2 words, row and column."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.characters = nn.Linear(width, 2 * (len(CHARACTERS) + 1))
        self.words = nn.Linear(width, 2 * (len(WORDS) + 2))
        self.place = nn.Linear(width, 2 * ROWS)

    def losses(self, tokens: torch.Tensor, characters: torch.Tensor, words: torch.Tensor) -> dict[str, torch.Tensor]:
        """Cross-entropies, and accuracies over non-blank cells; targets are int64 [N, 2]."""
        n = len(tokens)
        character_logits = self.characters(tokens).view(2 * n, -1)
        word_logits = self.words(tokens).view(2 * n, -1)
        place_logits = self.place(tokens).view(2 * n, ROWS)
        index = torch.arange(n, device=tokens.device) % TOKENS
        place = torch.stack([index // ROWS, index % ROWS], dim=1).view(-1)
        characters, words = characters.view(-1), words.view(-1)
        return {
            "characters": F.cross_entropy(character_logits, characters),
            "words": F.cross_entropy(word_logits, words),
            "place": F.cross_entropy(place_logits, place),
            "character_accuracy": (character_logits.argmax(-1) == characters)[characters > 0].float().mean(),
            "word_accuracy": (word_logits.argmax(-1) == words)[words > 1].float().mean(),
        }


@dataclass
class Lesson:
    """A batch: pixels, dense targets, and (when answering) token rows with the answers marked."""

    pixels: torch.Tensor
    grid: torch.Tensor
    characters: torch.Tensor
    words: torch.Tensor
    ids: torch.Tensor
    answer: torch.Tensor
    """int64 [B, L]: 0, or 1 + index of the question in `asked` whose answer this token is part of."""
    asked: list[Question]


class Teacher:
    """Makes lessons from screens: `lesson(rng, n)` is a pure function of the generator's state."""

    def __init__(self, screens: Screens, processor: Processor, course: Course) -> None:
        self.screens, self.processor, self.course = screens, processor, course
        self.dense = [dense_targets(screen) for screen in screens.screens]
        encode = processor.encode
        self.before, self.between, self.after = encode("<|im_start|>user\n"), encode("<|im_end|>\n<|im_start|>assistant\n"), encode("<|im_end|>")
        self.newline = encode("\n")
        image = encode("<|vision_start|>") + [processor.image_token_id] * TOKENS + encode("<|vision_end|>\n")
        self.opening = self.before + image
        self.image_start = len(self.before) + 1

    def lesson(self, rng: random.Random, n: int, augment: bool, ask: bool) -> Lesson:
        picked = [rng.randrange(len(self.screens)) for _ in range(n)]
        pixels, grids, rows, marks, asked = [], [], [], [], []
        for index in picked:
            image = np.array(self.screens.images[index])
            values, grid = self.processor.patchify(_recolour(image, rng) if augment else image)
            pixels.append(values)
            grids.append(grid)
            ids, mark = list(self.opening), [0] * len(self.opening)
            for question in questions(self.screens.screens[index], rng, self.course.questions) if ask else []:
                asked.append(question)
                prompt = self.before + self.processor.encode(question.text) + self.between
                answer = self.processor.encode(question.answer) + self.after
                ids += prompt + answer + self.newline
                mark += [0] * len(prompt) + [len(asked)] * len(answer) + [0]
            rows.append(ids)
            marks.append(mark)
        length = max(map(len, rows))
        return Lesson(
            pixels=torch.cat(pixels),
            grid=torch.cat(grids),
            characters=torch.tensor(np.concatenate([self.dense[i][0] for i in picked])),
            words=torch.tensor(np.concatenate([self.dense[i][1] for i in picked])),
            ids=torch.tensor([row + [self.processor.stop_id] * (length - len(row)) for row in rows]),
            answer=torch.tensor([mark + [0] * (length - len(mark)) for mark in marks]),
            asked=asked,
        )


def _recolour(image: np.ndarray, rng: random.Random) -> np.ndarray:
    """The same screen in another palette: channels swapped, now and then inverted."""
    order = rng.sample(range(3), 3)
    image = image[..., order]
    return 255 - image if rng.random() < 0.3 else image


def losses(
    model: PreTrainedModel, heads: Heads, lesson: Lesson, image_token_id: int, image_start: int, ask: bool
) -> tuple[torch.Tensor, dict[str, list[float]]]:
    """The sum of the losses of a lesson, and figures: each head's, and right or wrong by skill."""
    device = next(model.parameters()).device
    features = vision_features(model, lesson.pixels.to(device), lesson.grid.to(device))
    parts = heads.losses(features.embeds.float(), lesson.characters.to(device), lesson.words.to(device))
    total = parts["characters"] + parts["words"] + parts["place"]
    figures: dict[str, list[float]] = defaultdict(list)
    for name, value in parts.items():
        figures[name].append(float(value.detach()))
    if not ask:
        return total, figures
    ids, answer = lesson.ids.to(device), lesson.answer.to(device)
    batch, length = ids.shape
    position, _ = mrope_positions([image_start, (ROWS, ROWS), length - image_start - TOKENS])
    position = position[:, None].expand(3, batch, length).to(device)
    hidden = text_hidden(model, ids, position, ids == image_token_id, features, use_cache=False)
    chosen = answer[:, 1:] > 0
    output: Any = model.get_output_embeddings()
    logits, targets = output(hidden[:, :-1][chosen]).float(), ids[:, 1:][chosen]
    loss = F.cross_entropy(logits, targets)
    figures["answer"].append(float(loss.detach()))
    guesses, owners = logits.argmax(-1).cpu(), answer[:, 1:][chosen].cpu() - 1
    right = guesses == targets.cpu()
    for index, question in enumerate(lesson.asked):
        mine = owners == index
        figures[question.skill].append(float(_hits(guesses[mine], right[mine], question)))
    return total + 2 * loss, figures


def _hits(guess: torch.Tensor, right: torch.Tensor, question: Question) -> bool:
    """Exact match; for pointing, a first digit right on both axes is a hit of the right token cell."""
    if question.skill is not Skill.FIND:
        return bool(right.all())
    return bool(right.all()) or bool(right[_first_digits(question.answer)].all())


def _first_digits(answer: str) -> list[int]:
    """Token indices of the first digit of x and of y in `{"x": 450, "y": 250}` (one token a digit)."""
    x, y = answer.split('"x": ')[1].split(', "y": ')
    return [2, 2 + len(x) + 1] if len(y.rstrip("}")) == 3 and len(x) == 3 else list(range(len(x) + len(y) + 2))


def _learn(rank: int, course: Course, folder: str, port: int) -> None:
    """One process of the course; rank 0 measures, reports and saves."""
    workers = course.workers
    if workers > 1:
        torch.set_num_threads(1)
        dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=workers)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    root = Path(folder)
    tokenizer = build_tokenizer(corpus())
    processor = Processor(tokenizer, image_settings())
    model = build_model(tokenizer, course.seed).to(device)
    heads = Heads(model.config.text_config.hidden_size).to(device)
    teacher = Teacher(Screens(root / "train"), processor, course)
    check = Teacher(Screens(root / "check"), processor, course)
    rng = random.Random(f"course-{course.seed}-{rank}")
    place = (processor.image_token_id, teacher.image_start)
    started = time.monotonic()
    history: list[dict[str, Any]] = []
    for phase, samples, trained in (
        ("see", course.see_samples, [*model.model.visual.parameters(), *heads.parameters()]),
        ("answer", course.answer_samples, [*model.parameters(), *heads.parameters()]),
    ):
        ask = phase == "answer"
        steps = samples // (course.batch_size * workers)
        optimizer = torch.optim.AdamW(trained, lr=course.lr, betas=(0.9, 0.98), weight_decay=0.01)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step, n=steps: _rate(step, n))
        with progress(f"{phase} (process {rank})", steps) as bar:
            for step in range(1, steps + 1):
                loss, _ = losses(model, heads, teacher.lesson(rng, course.batch_size, True, ask), *place, ask)
                optimizer.zero_grad()
                loss.backward()
                if workers > 1:
                    _average_gradients(trained, workers)
                torch.nn.utils.clip_grad_norm_(trained, 1.0)
                optimizer.step()
                schedule.step()
                bar.advance(1, loss=loss.item())
                if rank == 0 and (step % course.check_every == 0 or step == steps):
                    figures = _measure(model, heads, check, place, ask)
                    history.append({"phase": phase, "samples": step * course.batch_size * workers, **figures})
                    print(json.dumps({**history[-1], "seconds": round(time.monotonic() - started)}), flush=True)
                    (root / "history.json").write_text(json.dumps(history, indent=1))
                    torch.save({"model": model.state_dict(), "heads": heads.state_dict()}, root / "latest.pt")
    if rank == 0:
        figures = {"seed": course.seed, "course": asdict(course), "command": "webdojo tiny train"}
        figures |= {"parameters": sum(p.numel() for p in model.parameters()), "seconds": round(time.monotonic() - started)}
        save_model(model.cpu().to(torch.bfloat16), processor, root / "model")
        (root / "model" / "figures.json").write_text(json.dumps({**figures, "skills": history[-1]}, indent=2) + "\n")
    if workers > 1:
        dist.destroy_process_group()


def _rate(step: int, steps: int) -> float:
    """Warm-up over 100 steps, constant, then linear to a fiftieth over the last 40 %."""
    return min(1.0, (step + 1) / 100, max(0.02, (steps - step) / (0.4 * steps)))


def _average_gradients(parameters: list[nn.Parameter], workers: int) -> None:
    gradients = [p.grad for p in parameters if p.grad is not None]
    flat = torch.cat([g.flatten() for g in gradients])
    dist.all_reduce(flat)
    for gradient, part in zip(gradients, _parts(flat, gradients), strict=True):
        gradient.copy_(part / workers)


def _parts(flat: torch.Tensor, like: list[torch.Tensor]) -> Iterator[torch.Tensor]:
    start = 0
    for tensor in like:
        yield flat[start : start + tensor.numel()].view_as(tensor)
        start += tensor.numel()


@torch.no_grad()
def _measure(model: PreTrainedModel, heads: Heads, check: Teacher, place: tuple[int, int], ask: bool) -> dict[str, float]:
    """Means over check screens that no training step saw."""
    rng = random.Random("check")
    sums: dict[str, list[float]] = defaultdict(list)
    for _ in range(4):
        _, figures = losses(model, heads, check.lesson(rng, 32, False, ask), *place, ask)
        for name, values in figures.items():
            sums[str(name)] += values
    return {name: round(float(np.mean(values)), 4) for name, values in sums.items()}


def main(out: Path, course: Course) -> None:
    """Render the screens (kept in `out`, reused when there) and run the course.

    Writes `out/model`; copy it to the package's `policy/tiny_weights` to ship it.
    """
    for part, seeds, n in (("train", TRAIN_SEEDS, course.screens), ("check", CHECK_SEEDS, 400)):
        if not (out / part / "done").exists():
            with progress(f"render {part}", n) as bar:
                render_screens(out / part, list(KINDS), seeds, n, course.seed, lambda bar=bar: bar.advance(1))
            (out / part / "done").touch()
    port = random.Random(course.seed).randrange(20000, 60000)
    if course.workers == 1:
        _learn(0, course, str(out), port)
    else:
        mp.spawn(_learn, args=(course, str(out), port), nprocs=course.workers, join=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Course())

"""TRL's side of `peer_loop.py`.

    python benchmarks/peer_loop_trl.py SCRIPTS RUN UPDATES GROUPS GROUP_SIZE KEY=VALUE …

`GRPOTrainer` with an `environment_factory`, and an environment as its documentation has them: a class whose methods are
tools, here over Playwright's synchronous API: act, wait until the page has loaded, take a screenshot. Sites and
verdicts are webdojo's.
"""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peer_loop_work import TOKENS, Scripts, mark, read_scripts
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from transformers import Qwen3VLForConditionalGeneration, Qwen3VLProcessor
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_vl_chat_template

from webdojo.agent.openwebrl import system_prompt
from webdojo.browser.chromium import find_chromium
from webdojo.browser.pool import host_flags
from webdojo.envs.env import Visit
from webdojo.interop.host import TaskHost
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor
from webdojo.recipe import load_recipe
from webdojo.rollout.background import BackgroundLoop
from webdojo.types import Observation, Termination, Trajectory

Content = list[dict[str, Any]]


class Sites:
    """webdojo's sites and verdicts."""

    def __init__(self, host: TaskHost) -> None:
        self.host, self._loop = host, BackgroundLoop("sites")
        self._loop.run(host.__aenter__())
        self.rewards: list[float] = []

    def begin(self, task: str) -> Visit:
        return self._loop.run(self.host.recipe.env.visit(self.host.tasks[task], "0"))

    def end(self, task: str, visit: Visit, page: Page, answer: str | None) -> float:
        """The verdict, by the state of the site, the page at the end and the answer."""
        env, size = self.host.recipe.env, self.host.recipe.browser.viewport_px
        shown = self.host.store.images.put(page.screenshot(), *size, "image/png")
        final = Observation(screenshot=shown, url=page.url, title=page.title(), tabs=[], viewport_px=size)

        async def score() -> float:
            trajectory = Trajectory(
                id=task,
                task=self.host.tasks[task],
                turns=[],
                termination=Termination.COMPLETED,
                answer=answer,
                final=final,
            )
            trajectory.state = await env.state(visit)
            await env.leave(visit)
            await self.host.scorer.score(trajectory)
            return trajectory.reward.value if trajectory.reward is not None else 0.0

        self.rewards.append(self._loop.run(score()))
        return self.rewards[-1]

    def close(self) -> None:
        self._loop.run(self.host.__aexit__())
        self._loop.close()


class BrowserEnvironment:
    """A web browser."""

    def __init__(self, browser: Browser, sites: Sites) -> None:
        self._browser, self._sites = browser, sites
        self._page: Page | None = None

    def reset(self, task: str = "", **row: Any) -> Content:
        """Open the page that a task begins at."""
        if self._page is not None:
            self._page.context.close()
        width, height = self._sites.host.recipe.browser.viewport_px
        self._task, self._answer = task, None
        self._visit = self._sites.begin(task)
        context = self._browser.new_context(
            viewport={"width": width, "height": height}, extra_http_headers=self._visit.headers
        )
        self._page = context.new_page()
        self._page.goto(self._visit.start_url)
        return self._look(f"Task: {self._sites.host.tasks[task].instruction}\n")

    def get_reward(self) -> float:
        """Whether the task was done."""
        return self._sites.end(self._task, self._visit, self._page, self._answer)

    def click(self, x: int, y: int) -> Content:
        """Click the mouse at a point of the screen.

        Args:
            x: Horizontal position, 0 (left) to 1000 (right).
            y: Vertical position, 0 (top) to 1000 (bottom).
        """
        self._page.mouse.click(*self._point(x, y))
        return self._look()

    def write(self, text: str) -> Content:
        """Clear the focused field and type text into it.

        Args:
            text: Text to type; empty only clears.
        """
        self._page.keyboard.press("Control+a")
        self._page.keyboard.press("Delete")
        self._page.keyboard.type(text)
        return self._look()

    def press_keys(self, keys: list[str]) -> Content:
        """Press keys one after another.

        Args:
            keys: Key names, for example ["Enter"].
        """
        for key in keys:
            self._page.keyboard.press(key)
        return self._look()

    def scroll(self, direction: str, amount: float, x: int = 500, y: int = 500) -> Content:
        """Scroll the page by a fraction of the viewport.

        Args:
            direction: Where to: up or down.
            amount: Fraction of the viewport.
            x: Point to scroll at.
            y: Point to scroll at.
        """
        self._page.mouse.move(*self._point(x, y))
        self._page.mouse.wheel(0, amount * self._page.viewport_size["height"] * (1 if direction == "down" else -1))
        return self._look()

    def goto_url(self, url: str) -> Content:
        """Open an address.

        Args:
            url: An http or https address.
        """
        self._page.goto(url)
        return self._look()

    def go_back(self) -> Content:
        """Go back to the previous page."""
        self._page.go_back()
        return self._look()

    def done(self, answer: str) -> Content:
        """End the task and give the final answer.

        Args:
            answer: The final answer, or a short report of what was done.
        """
        self._answer = answer
        return [{"type": "text", "text": "The task is over."}]

    def _point(self, x: int, y: int) -> tuple[float, float]:
        size = self._page.viewport_size
        return x / 1000 * size["width"], y / 1000 * size["height"]

    def _look(self, said: str = "") -> Content:
        self._page.wait_for_load_state()
        picture = Image.open(io.BytesIO(self._page.screenshot())).convert("RGB")
        text = f"{said}URL: {self._page.url}\nTitle: {self._page.title()}"
        return [{"type": "text", "text": text}, {"type": "image", "image": picture}]


class ImageProcessorOnly(Qwen3VLProcessor):
    """AutoProcessor wants torchvision for videos, of which there are none here."""

    def __init__(self, image_processor, tokenizer, chat_template):
        self.check_argument_for_proper_class = lambda name, argument: type(argument)
        super().__init__(image_processor, tokenizer, None, chat_template=chat_template)


class ScriptedTrainer(GRPOTrainer):
    """GRPOTrainer, of which a script says what its model has sampled."""

    scripts: Scripts
    turns = 0

    def _generate_single_turn(self, prompt_ids, *inputs, **options):
        super()._generate_single_turn(prompt_ids, *inputs, **options)
        self.turns += len(prompt_ids)
        return [self._tokenizer.encode(self._say(self._tokenizer.decode(ids))) for ids in prompt_ids], None

    def _say(self, prompt):
        if "The task is over." in prompt:
            return "It is.<|im_end|>"
        calls = [{"name": call.name, "arguments": call.arguments} for call in self.scripts.say(prompt)]
        return "\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls) + "<|im_end|>"


def main() -> None:
    path, run, updates, groups, group_size, *overrides = sys.argv[1:]
    torch.set_num_threads(os.cpu_count() or 1)  # as our learner, whatever OMP_NUM_THREADS says
    recipe, scripts = load_recipe("quickstart", overrides), read_scripts(Path(path))
    folder = model_folder("tiny")
    parts = Processor.load(folder)
    processor = ImageProcessorOnly(parts.image_processor, parts.tokenizer, qwen3_vl_chat_template)
    sites = Sites(TaskHost(recipe, "trl", tasks=10**4))
    messages = [{"role": "system", "content": system_prompt(native=True)}, {"role": "user", "content": ""}]
    rows = [{"prompt": messages, "task": script.task} for script in scripts.all]
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", *host_flags(recipe.env.hosts)]
        browser = playwright.chromium.launch(executable_path=find_chromium(recipe.browser), args=arguments)
        trainer = ScriptedTrainer(
            Qwen3VLForConditionalGeneration.from_pretrained(folder),
            processing_class=processor,
            train_dataset=Dataset.from_list(rows),
            environment_factory=lambda: BrowserEnvironment(browser, sites),
            args=GRPOConfig(
                output_dir=f"{run}-trl",
                max_steps=int(updates),
                num_generations=int(group_size),
                per_device_train_batch_size=int(group_size),
                gradient_accumulation_steps=int(groups),
                max_completion_length=8192,
                max_tool_calling_iterations=recipe.rollout.max_steps,
                generation_kwargs={"max_new_tokens": TOKENS, "min_new_tokens": TOKENS},
                gradient_checkpointing=False,
                shuffle_dataset=False,
                report_to=[],
                use_cpu=True,
                save_strategy="no",
                disable_tqdm=True,
            ),
        )
        trainer.scripts = scripts
        mark("begin")
        trainer.train()
        successes = sum(reward > 0 for reward in sites.rewards)
        mark("end", trajectories=len(sites.rewards), successes=successes, trained=trainer.turns)
        browser.close()
    sites.close()


if __name__ == "__main__":
    main()

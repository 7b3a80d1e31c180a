"""Train webdojo's tiny model by TRL's GRPO on embedded tasks: `python -m tests.interop.trl.grpo RUN_FOLDER`.

Of the two rollouts of a task one says what the oracle does, and one gives up: the tiny model writes no native calls. It
generates nevertheless, so that all inputs of TRL's model are real, and what it says is left.
"""

import json
import sys

from datasets import Dataset
from transformers import Qwen3VLForConditionalGeneration
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_vl_chat_template

from tests.interop.policies import GIVE_UP, SMALL, solution
from tests.interop.trl.processor import load
from webdojo.interop.trl import Environments
from webdojo.policy.model.folder import model_folder
from webdojo.types import ToolCall


class ScriptedTrainer(GRPOTrainer):
    """GRPOTrainer, whose model says what a script says."""

    solutions: dict[str, list[ToolCall]]
    """The calls that do a task, by its instruction."""

    def _generate_single_turn(self, prompt_ids, *inputs, **options):
        super()._generate_single_turn(prompt_ids, *inputs, **options)
        prompts = [self._tokenizer.decode(ids) for ids in prompt_ids]
        return [self._tokenizer.encode(self._turn(index, prompt)) for index, prompt in enumerate(prompts)], None

    def _turn(self, index, prompt):
        instruction = prompt.split("Task: ")[-1].split("\n")[0]
        done = prompt.count("<|im_start|>assistant") - 1
        gives_up = GIVE_UP.arguments["answer"] in prompt or (done == 0 and index == 1)
        calls = [GIVE_UP] if gives_up else self.solutions[instruction]
        if done == len(calls):
            return "That was all.<|im_end|>"
        call = {"name": calls[done].name, "arguments": calls[done].arguments}
        return f"<tool_call>\n{json.dumps(call)}\n</tool_call><|im_end|>"


folder = model_folder("tiny")
processor = load(folder)
processor.chat_template = qwen3_vl_chat_template


with Environments("quickstart", SMALL, run=sys.argv[1], tasks=4) as environments:
    tasks = environments.host.tasks.values()
    solutions = {task.instruction: environments._loop.run(solution(environments.host, task)) for task in tasks}
    trainer = ScriptedTrainer(
        Qwen3VLForConditionalGeneration.from_pretrained(folder),
        processing_class=processor,
        train_dataset=Dataset.from_list(environments.rows()),
        environment_factory=environments.make,
        args=GRPOConfig(
            output_dir=f"{sys.argv[1]}-trl",
            max_steps=2,
            num_generations=2,
            per_device_train_batch_size=2,
            max_completion_length=4096,
            max_tool_calling_iterations=6,
            generation_kwargs={"max_new_tokens": 8},
            logging_steps=1,
            report_to=[],
            use_cpu=True,
            save_strategy="no",
            disable_tqdm=True,
        ),
    )
    trainer.solutions = {about: [call for turn in turns for call in turn] for about, turns in solutions.items()}
    trainer.train()
    print(json.dumps(trainer.state.log_history))

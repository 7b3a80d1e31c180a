"""Train webdojo's tiny model by TRL's GRPO on ten embedded tasks: `python grpo.py RUN_FOLDER`."""

import sys

from datasets import Dataset
from transformers import Qwen3VLForConditionalGeneration, Qwen3VLProcessor
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_vl_chat_template

from webdojo.interop.trl import Environments
from webdojo.policy.model.folder import model_folder
from webdojo.policy.model.processor import Processor

OVERRIDES = ["env.kinds=[wiki]", "env.layout=compact", "browser.viewport_px=[320,320]", "rollout.max_steps=2"]


class ImageProcessorOnly(Qwen3VLProcessor):
    """AutoProcessor wants torchvision for videos, of which there are none here."""

    def __init__(self, image_processor, tokenizer, chat_template):
        self.check_argument_for_proper_class = lambda name, argument: type(argument)  # type: ignore[method-assign]
        super().__init__(image_processor, tokenizer, None, chat_template=chat_template)


folder = model_folder("tiny")
parts = Processor.load(folder)
processor = ImageProcessorOnly(parts.image_processor, parts.tokenizer, qwen3_vl_chat_template)

with Environments("quickstart", OVERRIDES, run=sys.argv[1], tasks=10) as environments:
    trainer = GRPOTrainer(
        Qwen3VLForConditionalGeneration.from_pretrained(folder),
        processing_class=processor,
        train_dataset=Dataset.from_list(environments.rows()),
        environment_factory=environments.make,
        args=GRPOConfig(
            output_dir=f"{sys.argv[1]}-trl",
            max_steps=2,
            num_generations=2,
            per_device_train_batch_size=2,
            max_completion_length=64,
            max_tool_calling_iterations=2,
            report_to=[],
            use_cpu=True,
            save_strategy="no",
            disable_tqdm=True,
        ),
    )
    trainer.train()
    print("steps", trainer.state.global_step)

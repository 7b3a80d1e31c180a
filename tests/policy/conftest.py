"""Random small models in Hugging Face layout, and screenshots to show them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    Gemma3Processor,
    Glm4vConfig,
    Glm4vForConditionalGeneration,
    Glm4vProcessor,
    InternVLConfig,
    InternVLForConditionalGeneration,
    InternVLProcessor,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen3_5Config,
    Qwen3_5ForConditionalGeneration,
    Qwen3_5MoeConfig,
    Qwen3_5MoeForConditionalGeneration,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    Qwen3VLMoeConfig,
    Qwen3VLMoeForConditionalGeneration,
)
from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
from transformers.models.glm4v.image_processing_pil_glm4v import Glm4vImageProcessorPil
from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from webdojo.policy.model.auto_processor import without_videos
from webdojo.policy.model.loading import load_model, save_model
from webdojo.policy.model.processor import Processor
from webdojo.types import ImageRef, ImageSegment, Prompt, TextSegment

CHAT_TEMPLATES = Path(__file__).parent.parent / "data" / "chat_templates"
SPECIALS = [
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>"),
    *("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"),
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"),
]
TEXTS = [
    "system\nYou are a web agent.",
    "user\nTask: find the red mug and add it to the cart",
    'assistant\n{"name": "click", "arguments": {"x": 512, "y": 40}}',
    "The cart is empty. Where is the search box?",
]


class Images:
    """Encoded images by hash."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}

    def put(self, data: bytes, width: int, height: int, mime: str = "image/png") -> ImageRef:
        sha = hashlib.sha256(data).hexdigest()
        self.data[sha] = data
        return ImageRef(sha=sha, width=width, height=height, mime=mime)

    def get(self, image: ImageRef) -> bytes:
        return self.data[image.sha]

    def random(self, seed: int, width: int = 64, height: int = 64) -> ImageRef:
        """A picture of coloured blocks: different seeds differ everywhere."""
        blocks = np.random.default_rng(seed).integers(0, 256, (height // 8, width // 8, 3), dtype=np.uint8)
        buffer = io.BytesIO()
        Image.fromarray(blocks).resize((width, height), Image.Resampling.NEAREST).save(buffer, "PNG")
        return self.put(buffer.getvalue(), width, height)


def tiny_tokenizer(
    specials: Sequence[str] = SPECIALS,
    bos: str | None = None,
    eos: str = "<|im_end|>",
    pad: str = "<|endoftext|>",
    **more: str,
) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=[*specials], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=bos,
        eos_token=eos,
        pad_token=pad,
        extra_special_tokens=more,
        clean_up_tokenization_spaces=False,
    )


def tiny_processor() -> Processor:
    image_processor = Qwen2VLImageProcessorPil(
        patch_size=16,
        temporal_patch_size=2,
        merge_size=2,
        size={"shortest_edge": 32 * 32, "longest_edge": 512 * 512},
        image_mean=[0.5, 0.5, 0.5],
        image_std=[0.5, 0.5, 0.5],
    )
    return Processor(tiny_tokenizer(), image_processor)


def tiny_config(processor: Processor, hidden: int = 64, layers: int = 2, vision_layers: int = 2) -> Qwen3VLConfig:
    ids: Any = processor.tokenizer.convert_tokens_to_ids
    return Qwen3VLConfig(
        text_config={
            "vocab_size": processor.vocab_size + 7,  # checkpoints pad the vocabulary
            "hidden_size": hidden,
            "intermediate_size": 3 * hidden,
            "num_hidden_layers": layers,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 32,
            "max_position_embeddings": 4096,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [6, 5, 5]},
            "tie_word_embeddings": True,
        },
        vision_config={
            "depth": vision_layers,
            "hidden_size": hidden,
            "intermediate_size": 2 * hidden,
            "num_heads": 4,
            "patch_size": 16,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "out_hidden_size": hidden,
            "num_position_embeddings": 400,
            "deepstack_visual_indexes": [0],
        },
        image_token_id=ids("<|image_pad|>"),
        video_token_id=ids("<|video_pad|>"),
        vision_start_token_id=ids("<|vision_start|>"),
        vision_end_token_id=ids("<|vision_end|>"),
        tie_word_embeddings=True,
    )


def qwen3_vl_moe_config(processor: Processor) -> Qwen3VLMoeConfig:
    """As `tiny_config`, with a choice of two experts of four in the second layer."""
    config = tiny_config(processor).to_dict()
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 96, "mlp_only_layers": [0]}
    config["text_config"] |= {"model_type": "qwen3_vl_moe_text", **experts}
    config["vision_config"] |= {"model_type": "qwen3_vl_moe_vision"}
    return Qwen3VLMoeConfig(**config | {"model_type": "qwen3_vl_moe"})


def qwen3_5_config(processor: Processor) -> Qwen3_5Config:
    """As `tiny_config`, with a recurrent layer before the one that attends."""
    base = tiny_config(processor).to_dict()
    text = base["text_config"] | {"model_type": "qwen3_5_text", "layer_types": ["linear_attention", "full_attention"]}
    text |= {"linear_num_key_heads": 2, "linear_num_value_heads": 4}
    text |= {"linear_key_head_dim": 16, "linear_value_head_dim": 16}
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1], "partial_rotary_factor": 0.25}
    vision = base["vision_config"] | {"model_type": "qwen3_5_vision"}
    vision.pop("deepstack_visual_indexes")
    ids = {name: base[name] for name in ("image_token_id", "video_token_id", "vision_start_token_id")}
    text["rope_parameters"] = rope
    return Qwen3_5Config(text_config=text, vision_config=vision, tie_word_embeddings=True, **ids)


def qwen3_5_moe_config(processor: Processor) -> Qwen3_5MoeConfig:
    """As `qwen3_5_config`, with a choice of two experts of four and one for every token."""
    base = qwen3_5_config(processor).to_dict()
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 48}
    text = base["text_config"] | experts | {"shared_expert_intermediate_size": 48, "model_type": "qwen3_5_moe_text"}
    vision = base["vision_config"] | {"model_type": "qwen3_5_moe_vision"}
    return Qwen3_5MoeConfig(**base | {"model_type": "qwen3_5_moe", "text_config": text, "vision_config": vision})


def gemma3_config(image_token_id: int, vocabulary: int) -> Gemma3Config:
    """Layers that see a window and all, images that see themselves both ways."""
    text = {
        "vocab_size": vocabulary,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "sliding_window": 16,
        "layer_types": ["sliding_attention", "full_attention"],
    }
    vision = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    vision |= {"image_size": 56, "patch_size": 14}
    config = Gemma3Config(text_config=text, vision_config=vision, mm_tokens_per_image=4)
    config.image_token_id = image_token_id
    return config


def qwen2_5_vl_config(processor: Processor) -> Qwen2_5_VLConfig:
    """As `tiny_config`, of the family before."""
    base: Any = tiny_config(processor)
    text = base.text_config.to_dict()
    text |= {"model_type": "qwen2_5_vl_text", "layer_types": ["full_attention"] * 2}
    text["rope_parameters"] = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [4, 2, 2]}
    del text["head_dim"]  # this text model always divides the hidden size by its heads
    vision: dict[str, Any] = {"depth": 2, "hidden_size": 64, "intermediate_size": 128, "num_heads": 4, "patch_size": 16}
    vision |= {"out_hidden_size": 64, "window_size": 64, "fullatt_block_indexes": [1]}
    config = Qwen2_5_VLConfig(text_config=text, vision_config=vision, tie_word_embeddings=True)
    config.image_token_id = processor.image_token_id
    return config


def qwen3_config(processor: Processor) -> Qwen3Config:
    """The text model alone, with positions of one axis and its own output weights."""
    return Qwen3Config(
        vocab_size=processor.vocab_size + 7,
        hidden_size=64,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=4096,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        tie_word_embeddings=False,
    )


def save_random_gemma3(folder: Path) -> None:
    specials = ["<pad>", "<bos>", "<start_of_turn>", "<end_of_turn>"]
    images = {"boi_token": "<start_of_image>", "eoi_token": "<end_of_image>", "image_token": "<image_soft_token>"}
    tokenizer = tiny_tokenizer([*specials, *images.values()], bos="<bos>", eos="<end_of_turn>", pad="<pad>", **images)
    reader = Gemma3ImageProcessorPil(size={"height": 56, "width": 56}, image_seq_length=4)
    Gemma3Processor(reader, tokenizer, template("gemma3"), 4).save_pretrained(str(folder))
    image_token_id: Any = tokenizer.convert_tokens_to_ids("<image_soft_token>")
    scaled(Gemma3ForConditionalGeneration(gemma3_config(image_token_id, len(tokenizer)))).save_pretrained(str(folder))


def save_random_glm4v(folder: Path) -> None:
    specials = ["<|endoftext|>", "[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>"]
    images = ["<|begin_of_image|>", "<|end_of_image|>", "<|image|>", "<|video|>"]
    tokenizer = tiny_tokenizer([*specials, *images], eos="<|user|>")
    reader = Glm4vImageProcessorPil(size={"shortest_edge": 56 * 56, "longest_edge": 512 * 512})
    without_videos(Glm4vProcessor)(reader, tokenizer, chat_template=template("glm4v")).save_pretrained(str(folder))
    base: Any = tiny_config(tiny_processor()).to_dict()
    text = base["text_config"] | {"model_type": "glm4v_text", "vocab_size": len(tokenizer), "pad_token_id": 0}
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1], "partial_rotary_factor": 0.5}
    del text["head_dim"]
    vision: dict[str, Any] = {"depth": 2, "hidden_size": 64, "num_heads": 4, "intermediate_size": 128, "image_size": 56}
    config = Glm4vConfig(text_config=text | {"rope_parameters": rope}, vision_config=vision | {"out_hidden_size": 64})
    image_token_id: Any = tokenizer.convert_tokens_to_ids("<|image|>")
    config.image_token_id = image_token_id
    scaled(Glm4vForConditionalGeneration(config)).save_pretrained(str(folder))


def save_random_internvl(folder: Path) -> None:
    """Its screenshots are cut into tiles, by their shape."""
    images = {"start_image_token": "<img>", "end_image_token": "</img>", "context_image_token": "<IMG_CONTEXT>"}
    tokenizer = tiny_tokenizer([*SPECIALS, *images.values(), "<video>"], video_token="<video>", **images)
    reader = GotOcr2ImageProcessorPil(size={"height": 56, "width": 56}, crop_to_patches=True, max_patches=4)
    made = without_videos(InternVLProcessor)(reader, tokenizer, image_seq_length=4, chat_template=template("internvl"))
    made.save_pretrained(str(folder))
    vision: dict[str, Any] = {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    }
    vision |= {"image_size": [56, 56], "patch_size": [14, 14]}
    text = qwen3_config(tiny_processor()).to_dict() | {"vocab_size": len(tokenizer)}
    config = InternVLConfig(vision_config=vision, text_config=text, image_seq_length=4)
    image_token_id: Any = tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>")
    config.image_token_id = image_token_id
    scaled(InternVLForConditionalGeneration(config)).save_pretrained(str(folder))


def template(family: str) -> str:
    return (CHAT_TEMPLATES / f"{family}.jinja").read_text()


FOREIGN: dict[str, Any] = {
    "gemma3": save_random_gemma3,
    "glm4v": save_random_glm4v,
    "internvl": save_random_internvl,
}
"""Types without a layout, as their own classes save them."""

FAMILIES: dict[str, Any] = {
    "qwen3_vl": lambda processor: Qwen3VLForConditionalGeneration(tiny_config(processor)),
    "qwen3_vl_moe": lambda processor: Qwen3VLMoeForConditionalGeneration(qwen3_vl_moe_config(processor)),
    "qwen3_5": lambda processor: Qwen3_5ForConditionalGeneration(qwen3_5_config(processor)),
    "qwen3_5_moe": lambda processor: Qwen3_5MoeForConditionalGeneration(qwen3_5_moe_config(processor)),
    "qwen2_5_vl": lambda processor: Qwen2_5_VLForConditionalGeneration(qwen2_5_vl_config(processor)),
    "qwen3": lambda processor: Qwen3ForCausalLM(qwen3_config(processor)),
}


@pytest.fixture(scope="session")
def family_dirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A saved random model of each family."""
    folders = {family: tmp_path_factory.mktemp(family) for family in FAMILIES}
    for family, folder in folders.items():
        save_random_model(family, folder)
    for family, save in FOREIGN.items():
        folders[family] = tmp_path_factory.mktemp(family)
        save(folders[family])
    return folders


@pytest.fixture(scope="session")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved random Qwen3-VL."""
    folder = tmp_path_factory.mktemp("tiny_model")
    save_random_model("qwen3_vl", folder)
    return folder


def save_random_model(family: str, folder: Path) -> None:
    processor = tiny_processor()
    torch.manual_seed(0)
    model = scaled(FAMILIES[family](processor))
    if family == "qwen3":
        processor = Processor(processor.tokenizer, None)
    save_model(model, processor, folder)


def scaled(model: Any) -> Any:
    """Weights are scaled up so that pictures and text matter to the logits."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim > 1:
                parameter.mul_(3.0)
            elif name.endswith("bias"):
                parameter.normal_(std=0.1)
    return model


@pytest.fixture
def loaded(model_dir: Path) -> tuple[PreTrainedModel, Processor]:
    """A fresh copy of the model, which a test may change."""
    torch.set_num_threads(1)
    return load_model(model_dir)


@pytest.fixture
def images() -> Images:
    return Images()


def make_prompt(processor: Processor, *parts: str | ImageRef) -> Prompt:
    """A user turn of texts and images, ready for the assistant's answer."""
    segments: list[TextSegment | ImageSegment] = []
    for part in parts:
        if isinstance(part, ImageRef):
            segments.append(ImageSegment(image=part, tokens=processor.image_tokens(part.width, part.height)))
        else:
            segments.append(TextSegment(ids=tuple(processor.encode(part))))
    return Prompt(segments=tuple(segments))


def chat(processor: Processor, text: str, *shown: ImageRef) -> Prompt:
    form = processor.chat
    parts: list[str | ImageRef] = [f"{form.first_user}{text}"]
    for image in shown:
        parts += [form.image[0], image, form.image[1]]
    return make_prompt(processor, *parts, f"{form.user_end}{form.assistant}")

"""A random small Qwen3-VL, its screenshots, and samples on them."""

from tests.trainer.conftest import images, loaded, make_samples, model_dir

__all__ = ["images", "loaded", "make_samples", "model_dir"]

"""The model and the samples that learning is tested with."""

from tests.train.conftest import images, loaded, make_samples, model_dir

__all__ = ["images", "loaded", "make_samples", "model_dir"]

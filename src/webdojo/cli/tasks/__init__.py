"""`webdojo tasks …`: task sets as data, made with a model, and filtered."""

# Each of these modules adds commands.
from webdojo.cli.tasks import build, filter, sets

__all__ = ["build", "filter", "sets"]

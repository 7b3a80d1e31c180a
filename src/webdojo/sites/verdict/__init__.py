"""Whether an embedded task was done: checks by code of the final state (`verdict.py`) and of the answer."""

from webdojo.sites.verdict.verdict import Place, Verdict, evaluate

__all__ = ["Place", "Verdict", "evaluate"]

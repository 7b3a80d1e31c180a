"""Data sets of trajectories: a teacher's episodes, judged and curated, for fine-tuning here or elsewhere.

Invariant: an episode is stored with its verdict before anyone counts it, so a collection that was stopped at any moment
goes on with what is left, and its data set is that of one which was not.
"""

from enum import StrEnum


class Format(StrEnum):
    """A form in which other trainers read data sets (`exchange`)."""

    trl = "trl"
    llamafactory = "llamafactory"
    parquet = "parquet"
    datasets = "datasets"
    atif = "atif"

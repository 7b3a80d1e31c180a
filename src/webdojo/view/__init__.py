"""Showing a run to people: the report, as one HTML file that needs nothing else."""

from webdojo.view.report import write_report

__all__ = ["write_report"]

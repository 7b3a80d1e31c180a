"""How a run is shown to people: reports, pages, traces and the tables of commands."""

from webdojo.view.report import write_report

__all__ = ["write_report"]

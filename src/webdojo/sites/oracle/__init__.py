"""The oracle: a scripted expert that solves every embedded task, and so proves that tasks can be solved."""

from webdojo.sites.oracle.oracle import Oracle, OracleStep

__all__ = ["Oracle", "OracleStep"]

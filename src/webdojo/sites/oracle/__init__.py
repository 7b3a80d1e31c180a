"""The oracle: a scripted expert that solves every embedded task, and so proves that tasks can be solved.

| file | |
|---|---|
| `oracle.py` | follows the plan of a task, one step a turn |
| `page.py` | what the oracle sees of a page |
| `forms.py` | how it clicks, scrolls, drags, and fills in forms |
| `map.py` | how it finds a place on a map |
| `recover.py` | how it gets through perturbations |
"""

from webdojo.sites.oracle.oracle import Oracle, OracleStep

__all__ = ["Oracle", "OracleStep"]

"""Whether an embedded task was done: checks by code of the final state and of the answer.

| file | |
|---|---|
| `verdict.py` | the final state: pages, facts seen, changes, and the answer |
| `answers.py` | the types of answers that code can check |
| `dates.py` | answers that are dates |
| `refusal.py` | answers that a task cannot be done |
| `tokens.py` | an answer as words and numbers |
"""

from webdojo.sites.verdict.verdict import Place, Verdict, evaluate

__all__ = ["Place", "Verdict", "evaluate"]

"""Perturbations: what goes wrong on the real web, laid over embedded sites from a seed.

| file | |
|---|---|
| `schedule.py` | what happens to a session, and on which of its pages: a pure function of seed and level |
| `state.py` | what has happened to a session so far, and what it answered |
| `texts.py` | the texts of notices, pop-ups and adverts |
| `notices.py` | pages that come in the place of a site's own: errors, checks, offers |
| `overlay.py` | lays pop-ups, adverts and drift over finished pages; draws other layouts |
| `respond.py` | what the server asks for each request, and how it drops a connection |

`sites/oracle/recover.py` is how the oracle gets through them.

What changes between visits is what no task can ask about: the prices and stock of adverts, how many people are
here, and a travel agency's last-minute fares (`PerturbationState.drifted`). What goals read stays, and so does what
sessions did, so evaluators are right under all perturbations.
"""

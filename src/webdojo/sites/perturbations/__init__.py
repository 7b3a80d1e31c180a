"""Perturbations: what goes wrong on the real web, laid over embedded sites from a seed.

What happens to a session, and on which of its pages, is a pure function of seed and level (`schedule.py`). Of the
pages of sites, `notices.py` takes the place, and `popups.py` lays pop-ups, adverts and drift over them and draws
other layouts. `sites/oracle/moves.py` is how the oracle gets through.

What changes between visits is what no task can ask about: the prices and stock of adverts, how many people are
here, and a travel agency's last-minute fares (`PerturbationState.drifted`). What goals read stays, and so does what
sessions did, so evaluators are right under all perturbations.
"""

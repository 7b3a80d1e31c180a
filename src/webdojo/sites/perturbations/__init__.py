"""Perturbations: what goes wrong on the real web, laid over embedded sites from a seed.

What changes between visits is what no task can ask about: the prices and stock of adverts, how many people are
here, and a travel agency's last-minute fares (`PerturbationState.drifted`). What goals read stays, and so does what
sessions did, so evaluators are right under all perturbations.
"""

"""Learning: trajectories become weighted samples, samples become optimizer steps.

Everything an algorithm decides about a token is folded into one weight before the learner sees it.
"""

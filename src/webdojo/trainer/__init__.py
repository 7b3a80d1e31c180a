"""Learning: trajectories become weighted samples, samples become optimizer steps.

Everything an algorithm decides about a token (mask, normaliser, validity, averaging over groups) is
folded into one weight before the learner sees it, so the learner only computes a sum of weight times
loss and knows no algorithm by name.
"""

"""Classes of honest routes, right wordings, wrong answers and wrong sessions for `fairness.py`, in two halves."""

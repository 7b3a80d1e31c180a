"""Classes of honest routes, right wordings and wrong endings for `fairness.py`; half of each sort is held back."""

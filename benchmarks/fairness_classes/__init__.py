"""Classes of honest routes, right wordings, and wrong answers and sessions for `fairness.py`; about half are held back."""

"""Answers that code can check: what a question may ask for (`values.py`), and whether an answer says it (`says.py`)."""

"""`webdojo view`: runs in a browser, live or finished, read from their folders.

Invariants: nothing here writes to a run but the reader's own notes (`notes.py`), nor locks one; what is read comes
from pages and models, so all of it is untrusted text (`access.py`, `webdojo.view.page`).
"""

"""What a person does in the window of a session, as calls of the 13 tools.

Invariant: a page gets each input once, from the session that carries out its call, and nothing from the person: the
script `person.js` keeps the person's input from every document and tells it to `capture.py`; `composer.py` makes calls
of it. A document begins closed, and opens for the very presses and keys of a call while that is carried out.
"""

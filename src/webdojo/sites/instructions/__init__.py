"""How goals become instructions.

| file | |
|---|---|
| `templates.py` | sentence templates around what a goal is about |
| `phrasing.py` | the instruction of a goal; the phrasings of shops and wikis |
| `references.py` | how instructions point at things: by name or by a description |
"""

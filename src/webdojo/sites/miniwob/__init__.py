"""MiniWoB++ as an embedded site: its pages, and what they said about the visit."""

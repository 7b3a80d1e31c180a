"""Task sets made with a model: from seed questions (WebGym §3.2) and from web sites (OpenWebVoyager §3.3).

Invariant: whatever was asked, and answered so that it could be read, is kept beside the set, by a digest of the
request; so a command that was killed at any moment goes on where it was, and ends with the same set.
"""

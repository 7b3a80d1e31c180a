"""Texts as vectors, for near-duplicates and overlaps: `registry.EMBEDDINGS` has the ways by name, one a file."""

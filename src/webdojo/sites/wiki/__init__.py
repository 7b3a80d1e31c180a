"""Wikis: topics of articles with facts, text and links between articles."""

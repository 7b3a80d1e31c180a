"""Samplers: which tasks training draws more often than others, one file a sampler."""

"""Packing: samples that share prefixes become micro-batches that compute each prefix once."""

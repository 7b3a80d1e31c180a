"""The words, names and texts that all kinds of sites draw their content from."""

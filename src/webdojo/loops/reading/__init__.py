"""A model that reads the tasks of a set, and what it is asked."""

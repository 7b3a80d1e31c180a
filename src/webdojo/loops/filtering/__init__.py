"""From a raw task set to one to train on: filters in a row, each of which says what it drops and why."""

"""What trackers are given of a run, and when."""

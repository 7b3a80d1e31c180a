"""Published task sets of the open web, one loader each."""

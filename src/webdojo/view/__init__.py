"""How a run is shown to people: reports, pages, traces and the tables of commands."""

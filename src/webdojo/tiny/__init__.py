"""The training of the tiny model that ships with webdojo: `webdojo tiny train` teaches it to read pages and point."""

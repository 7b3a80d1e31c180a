"""How the tiny model that ships with webdojo was taught to read pages and to point: `webdojo tiny train`."""

"""Weather: what goes wrong on the real web, laid over embedded sites from a seed.

| file | |
|---|---|
| `forecast.py` | what happens to a session, and on which of its pages: a pure function of seed and level |
| `sky.py` | what has happened to a session so far, and what it answered |
| `wording.py` | the texts of notices, pop-ups and adverts |
| `notice.py` | pages that come in the place of a site's own: errors, checks, offers |
| `dress.py` | lays overlays, adverts and drift over finished pages; draws A/B layouts |
| `front.py` | what the server asks for each request |
| `connection.py` | lets the browser see a dropped connection |
| `recover.py` | how the oracle gets through it |

What changes between visits is what no task can ask about: the prices and stock of adverts, how many people are
here, and a travel agency's last-minute fares (`Sky.drifted`). What goals read stays, and so does what sessions
did; evaluators are right whatever the weather.
"""

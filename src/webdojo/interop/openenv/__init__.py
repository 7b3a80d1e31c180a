"""webdojo as an OpenEnv environment: `webdojo openenv serve`, and a typed client of it (extra `webdojo[openenv]`).

`server` serves, `client` connects, and `models` has what goes between them. A client needs OpenEnv and pydantic alone.
"""

from webdojo.interop import check_installed

check_installed("openenv", "pip install 'webdojo[openenv]'")

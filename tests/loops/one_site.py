"""An embedded site at an address of its own, as a site of the open web has one."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from webdojo.sites.serving.server import SiteServer


class OneSite(SiteServer):
    """Serves one site, whatever name a browser calls it by."""

    def __init__(self, site: str) -> None:
        self.site = site
        super().__init__(layout="compact")

    async def _serve(self, http: Request) -> Response:
        headers = [(name, value) for name, value in http.scope["headers"] if name != b"host"]
        scope = dict(http.scope) | {"headers": [*headers, (b"host", self.site.encode())]}
        return await super()._serve(Request(scope, http.receive))

"""The application `oscar`: django-oscar, a shop with its back office."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from webdojo.envs.apps.application import Application
from webdojo.envs.apps.oscar import customer, staff
from webdojo.envs.apps.oscar.world import make_world


class Oscar(Application):
    """django-oscar 4.2.1 on SQLite, its catalogue searched by Whoosh."""

    name = "oscar"
    about = "django-oscar 4.2.1, a shop with its back office"
    folder = Path(__file__).parent
    sources = (folder.parent / "django_site.py",)
    noise = (
        "django_session",
        "analytics_productrecord",
        "analytics_userproductview",
        "analytics_userrecord",
        "analytics_usersearch",
        "auth_user.last_login",
        "basket_basket",  # one for everybody who looks around; what is in it are lines
        "catalogue_product.date_updated",
        "order_ordernote.date_updated",
        "partner_stockrecord.date_updated",
    )
    templates = {template.name: template for template in (*customer.TEMPLATES, *staff.TEMPLATES)}

    def world(self, seed: int) -> dict[str, Any]:
        return make_world(seed)

    def sign_in(self, seed: int) -> str:
        world = self.world(seed)
        return f"log in as {world['staff']['email']} or {world['customers'][0]['email']}, password {world['password']}"

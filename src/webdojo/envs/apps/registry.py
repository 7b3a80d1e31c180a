"""The applications by name."""

from __future__ import annotations

from webdojo.envs.apps.application import Application
from webdojo.plugins import ImportedLater, Registry, derived_from

APPLICATIONS: Registry[type[Application]] = Registry(
    "webdojo.apps",
    "application",
    *derived_from(Application),
    ImportedLater(
        {
            "labelstudio": "webdojo.envs.apps.labelstudio:LabelStudio",
            "machina": "webdojo.envs.apps.machina:Machina",
            "mediawiki": "webdojo.envs.apps.mediawiki:MediaWiki",
            "oscar": "webdojo.envs.apps.oscar:Oscar",
            "trac": "webdojo.envs.apps.trac:Trac",
            "wagtail": "webdojo.envs.apps.wagtail:Wagtail",
        }
    ),
)
"""What `env.applications` of a recipe and `webdojo apps` may name."""

"""The application `mediawiki`: MediaWiki, the software of Wikipedia, from Debian's packages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from webdojo.envs.apps.application import Application
from webdojo.envs.apps.mediawiki import editor, maintainer, reader
from webdojo.envs.apps.mediawiki.world import make_world

_HERE = Path(__file__).parent


class MediaWiki(Application):
    """MediaWiki of Debian on SQLite, in PHP.

    What is judged are the views `article`, `edit` and `event` (`inside.py`), and the tables that editors change in
    other ways: watch lists, restrictions, blocks, people and their groups and settings.
    """

    name = "mediawiki"
    about = "MediaWiki, the wiki of Wikipedia"
    folder = _HERE
    debian = {
        "php-cgi": "/usr/bin/php-cgi",
        "php-cli": "/usr/bin/php",
        "php-sqlite3": "/etc/php/*/cgi/conf.d/*-pdo_sqlite.ini",
        "mini-httpd": "/",  # the next one wants a web server; this one is small and is not started
        "mediawiki": "/usr/share/mediawiki/includes/Defines.php",
    }
    sources = (_HERE / "LocalSettings.php", _HERE / "seed.php", _HERE.parent / "php.py")
    noise = (
        *("page", "revision", "revision_comment_temp", "slots", "content", "text", "comment", "actor"),  # in the views
        *("logging", "log_search", "archive", "recentchanges", "ip_changes", "change_tag", "change_tag_def"),
        *("pagelinks", "templatelinks", "imagelinks", "externallinks", "langlinks", "iwlinks", "linktarget"),
        *("categorylinks", "category", "redirect", "page_props", "site_stats", "user_newtalk"),
        *("searchindex", "searchindex_content", "searchindex_segments", "searchindex_segdir"),
        *("objectcache", "job", "l10n_cache", "module_deps", "querycache", "querycachetwo", "querycache_info"),
        *("updatelog", "slot_roles", "content_models", "uploadstash"),
        *("user.user_touched", "user.user_editcount", "watchlist.wl_notificationtimestamp"),
    )
    templates = {template.name: template for template in (*reader.TEMPLATES, *editor.TEMPLATES, *maintainer.TEMPLATES)}

    def world(self, seed: int) -> dict[str, Any]:
        return make_world(seed)

    def sign_in(self, seed: int) -> str:
        world = self.world(seed)
        admin, editor = (person["name"] for person in world["people"][:2])
        return f"log in as {editor}, or {admin} who is an administrator, password {world['password']}"

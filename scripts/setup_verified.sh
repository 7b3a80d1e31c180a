#!/usr/bin/env bash
# Sets up .venv-verified: the library webarena-verified and the versions that it fixes, in front of what .venv has, for
# `make test-verified`. Safe to run again at any time. Start it after scripts/setup.sh, whose Python it takes.
set -euo pipefail
cd "$(dirname "$0")/.."

version=1.2.3
venv=.venv-verified
say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }

stamp=$venv/webdojo-setup
wanted=$({ cat "$0" pyproject.toml; pwd; .venv/bin/python --version; } | sha256sum)
[ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || exit 0

say "installing webarena-verified $version into $venv (about 60 MB)"
[ -x "$venv/bin/python" ] || .venv/bin/python -m venv "$venv"
"$venv/bin/python" -m pip --disable-pip-version-check install -qq "webarena-verified==$version" \
  || die "pip failed (its message is above); check network and disk space"
# Everything else is that of .venv, which comes later on the path, so that the versions above win.
purelib() { "$1" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])'; }
printf '%s\n%s\n' "$PWD/src" "$(purelib .venv/bin/python)" >"$(purelib "$venv/bin/python")/webdojo_verified.pth"

"$venv/bin/python" -c 'import pydantic, webarena_verified, webdojo; print("setup: ready: pydantic", pydantic.VERSION)' \
  || die "webarena-verified does not import (the message is above)"
printf '%s' "$wanted" >"$stamp"

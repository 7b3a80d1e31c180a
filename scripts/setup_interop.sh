#!/usr/bin/env bash
# Sets up .venv-NAME: the package of another project for which webdojo has an adapter, in front of what .venv has, for
# `make test-interop`. Safe to run again at any time. Start it after scripts/setup.sh, whose Python it takes.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }

name=${1:-}
case $name in
  openenv) packages="openenv==0.10.0" imports="openenv.core" size="200 MB" ;;
  verifiers) packages="verifiers==0.4.0" imports="verifiers.v1" size="200 MB" ;;
  *) die "name one of: openenv, verifiers" ;;
esac
venv=.venv-$name
stamp=$venv/webdojo-setup
wanted=$({ cat "$0" pyproject.toml; pwd; .venv/bin/python --version; } | sha256sum)
[ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || exit 0

say "installing $packages into $venv (about $size)"
[ -x "$venv/bin/python" ] || .venv/bin/python -m venv "$venv"
# What .venv has comes later on the path: pip leaves it where it fits, and puts another version in front where it does
# not.
purelib() { "$1" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])'; }
printf '%s\n%s\n' "$PWD/src" "$(purelib .venv/bin/python)" >"$(purelib "$venv/bin/python")/webdojo_interop.pth"
"$venv/bin/python" -m pip --disable-pip-version-check install -qq $packages \
  || die "pip failed (its message is above); check network and disk space"

"$venv/bin/python" -c "import $imports, webdojo; print('setup: ready: $packages')" \
  || die "$imports does not import (the message is above)"
printf '%s' "$wanted" >"$stamp"

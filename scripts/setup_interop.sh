#!/usr/bin/env bash
# Sets up .venv-NAME: the package of another project for which webdojo has an adapter, for `make test-interop`, the
# trackers, for `make test-trackers`, the oldest transformers that it runs with, for `make test-oldest`, or what builds
# the site of the documentation. It stands in front of what .venv has, where it takes the same Python. Safe to run again
# at any time. Start it after
# scripts/setup.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }

name=${1:-}
case $name in
  openenv) packages="openenv==0.10.0" imports="openenv.core" size="200 MB" ;;
  verifiers) packages="verifiers==0.4.0" imports="verifiers.v1" size="200 MB" ;;
  nemo_gym) packages="nemo-gym==0.4.0 tenacity pytest pytest-asyncio" imports="nemo_gym" size="1.6 GB" ;;
  browsergym) packages="browsergym-core==0.14.3 browsergym-miniwob==0.14.3 websockets"
              imports="browsergym.core, browsergym.miniwob, websockets" size="200 MB" ;;
  # What MLflow's local store needs, without its server and the libraries of models.
  trackers) packages="mlflow-skinny==3.17.2 sqlalchemy alembic wandb==0.31.0 trackio==0.43.0"
            imports="mlflow, sqlalchemy, wandb, trackio" size="270 MB" ;;
  oldest) packages="transformers==5.16.0" imports="transformers" size="70 MB" ;;
  docs) packages="mkdocs-material==9.8.2 mkdocstrings-python==2.0.11" imports="mkdocs" size="60 MB" ;;
  *) die "name one of: openenv, verifiers, nemo_gym, browsergym, trackers, oldest, docs" ;;
esac
venv=.venv-$name
stamp=$venv/webdojo-setup
wanted=$({ cat "$0" pyproject.toml; pwd; .venv/bin/python --version; } | sha256sum)
[ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || exit 0

python=.venv/bin/python
if [ "$name" = nemo_gym ] && ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then
  python=${NEWER_PYTHON:-python3.12}
  "$python" --version >/dev/null 2>&1 \
    || { say "$name needs Python 3.12 or newer: NEWER_PYTHON=/path/to/python3.12 makes its environment; passed over"
         exit 0; }
fi

say "installing ${packages%% *} into $venv (about $size)"
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
purelib() { "$1" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])'; }
ours=$PWD/src
if [ "$python" = .venv/bin/python ]; then
  # What .venv has comes later on the path: pip leaves it where it fits, and puts another version in front where it does
  # not.
  ours+=$'\n'$(purelib .venv/bin/python)
else
  # What webdojo needs, without what samples and trains: an adapter has the policy of somebody else.
  packages+=" $("$venv/bin/python" - <<'PYTHON'
import tomllib

needs = tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]
print(*[each for each in needs if not each.startswith(("torch", "transformers", "tensorboard"))])
PYTHON
)"
fi
printf '%s\n' "$ours" >"$(purelib "$venv/bin/python")/webdojo_interop.pth"
"$venv/bin/python" -m pip --disable-pip-version-check install -qq $packages \
  || die "pip failed (its message is above); check network and disk space"

"$venv/bin/python" -c "import $imports, webdojo; print('setup: ready: ${packages%% *}')" \
  || die "$imports does not import (the message is above)"
printf '%s' "$wanted" >"$stamp"

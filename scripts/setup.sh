#!/usr/bin/env bash
# Sets up everything webdojo needs: .venv, the package with its tools, and a Chromium.
# Safe to run again at any time: each step is skipped when it is already done.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }
is_root() { [ "$(id -u)" = 0 ]; }
os_id() { (. /etc/os-release 2>/dev/null && echo "${ID:-}") || true; }
supported() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; }
# Runs a talkative command; its last lines show only when it fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || { status=$?; tail -n 25 "$log" >&2; }
  rm -f "$log"
  return "$status"
}
apt_install() {
  quietly apt-get update && quietly env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# --- Python -----------------------------------------------------------------------------------
if ! { [ -x .venv/bin/python ] && supported .venv/bin/python && .venv/bin/python -m pip --version >/dev/null 2>&1; }; then
  python=
  for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
    if supported "$candidate"; then python=$candidate; break; fi
  done
  if [ -z "$python" ]; then
    found=$("${PYTHON:-python3}" --version 2>/dev/null) || found="not there"
    die "webdojo needs Python 3.11, 3.12 or 3.13 (${PYTHON:-python3} is $found)." \
      "Install one, or name it: make setup PYTHON=/path/to/python3.12"
  fi
  if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    is_root && command -v apt-get >/dev/null || die "$python has no venv module; run: sudo apt-get install $package"
    say "installing $package"
    apt_install "$package" || die "could not install $package; install it by hand and run this again"
  fi
  say "creating .venv with $("$python" --version)"
  rm -rf .venv
  "$python" -m venv .venv || die "could not create .venv (is the disk full or the folder read-only?)"
fi

# --- Packages ---------------------------------------------------------------------------------
if nvidia-smi >/dev/null 2>&1; then constraints=(); else constraints=(-c constraints.txt); fi
stamp=.venv/webdojo-setup
wanted=$({ cat pyproject.toml constraints.txt; pwd; echo "${constraints[*]-}"; .venv/bin/python --version; } | sha256sum)
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
  say "installing packages (1 to 3 minutes, about 1.2 GB on a machine without a GPU)"
  .venv/bin/python -m pip install -qq --disable-pip-version-check ${constraints[@]+"${constraints[@]}"} -e '.[dev]' \
    || die "pip failed (its message is above); check network and disk space, then run this again"
  printf '%s' "$wanted" >"$stamp"
fi

# --- Chromium ---------------------------------------------------------------------------------
# The package itself says which Chromium it would run, so that set-up and runs always agree.
find_chromium() {
  .venv/bin/python - <<'PYTHON'
import sys
from webdojo.browser.chromium import find_chromium
from webdojo.browser.config import BrowserConfig
from webdojo.errors import BrowserError
try:
    print(find_chromium(BrowserConfig()))
except BrowserError:
    sys.exit(3)
PYTHON
}
starts() { "$1" --version >/dev/null 2>&1; }
chromium=$(find_chromium) || [ $? = 3 ] || die "the package cannot be imported (the message is above)"
if [ -z "$chromium" ] || ! starts "$chromium"; then
  if is_root && [ "$(os_id)" = debian ]; then
    say "installing Debian's chromium-headless-shell"
    apt_install chromium-headless-shell fonts-dejavu-core || apt_install chromium fonts-dejavu-core \
      || die "apt-get could not install a Chromium (its message is above); check network and package sources"
  elif is_root && command -v apt-get >/dev/null; then
    say "installing Playwright's Chromium and the libraries that it needs"
    quietly .venv/bin/playwright install --with-deps chromium \
      || die "Playwright could not install Chromium; install chromium or google-chrome by hand so that it is on PATH"
  else
    say "installing Playwright's Chromium"
    quietly .venv/bin/playwright install chromium \
      || die "Playwright could not download Chromium; install chromium or google-chrome by hand so that it is on PATH"
  fi
  chromium=$(find_chromium) || die "no Chromium was found after installing one; 'webdojo doctor' says where it looks"
  starts "$chromium" || die "$chromium does not start; take it off PATH, or install the libraries that it misses:" \
    "sudo $PWD/.venv/bin/playwright install-deps chromium"
fi
say "ready: $(.venv/bin/python --version), $("$chromium" --version 2>/dev/null | head -n 1)"
say "'source .venv/bin/activate' brings the command webdojo"

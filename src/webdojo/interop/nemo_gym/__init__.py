"""webdojo's environments as a resources server of NeMo-Gym."""

from webdojo.interop import check_installed

check_installed("nemo_gym", "pip install 'webdojo[nemo-gym]'")

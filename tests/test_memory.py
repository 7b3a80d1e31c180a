"""Memory of a machine, and of a container on it."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from webdojo.memory import free_memory, total_memory

MIB = 1 << 20


def test_the_memory_of_a_container_is_its_limit_and_free_what_the_kernel_can_drop(tmp_path: Path) -> None:
    machine = free_memory(tmp_path)
    assert 0 < machine < total_memory(tmp_path) == psutil.virtual_memory().total
    (tmp_path / "memory.current").write_text(f"{90 * MIB}\n")
    (tmp_path / "memory.stat").write_text(f"anon {60 * MIB}\nfile {30 * MIB}\ninactive_file {20 * MIB}\n")
    (tmp_path / "memory.max").write_text(f"{100 * MIB}\n")
    assert free_memory(tmp_path) == 30 * MIB
    assert total_memory(tmp_path) == 100 * MIB
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory(tmp_path) == pytest.approx(machine, rel=0.5)
    assert total_memory(tmp_path) == psutil.virtual_memory().total

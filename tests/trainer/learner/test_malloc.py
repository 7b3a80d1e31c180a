"""Large tensors come from memory that the process keeps: seen in malloc's own statistics, in a process of its own."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

MAPPED = """
import ctypes
import sys

from webdojo.trainer.learner.malloc import keep_freed_memory

if sys.argv[1] == "kept":
    keep_freed_memory()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.mallinfo2.restype = Statistics = type(
    "mallinfo2",
    (ctypes.Structure,),
    {"_fields_": [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd".split()]
     + [(f"other{i}", ctypes.c_size_t) for i in range(5)]},
)
before = libc.mallinfo2().hblks
assert libc.malloc(ctypes.c_size_t(2**26))
print(libc.mallinfo2().hblks - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
@pytest.mark.parametrize(("how", "mapped"), [("kept", 0), ("plain", 1)])
def test_a_large_tensor_is_not_mapped_apart(how: str, mapped: int) -> None:
    done = subprocess.run([sys.executable, "-c", MAPPED, how], capture_output=True, text=True, check=True)
    assert int(done.stdout) == mapped

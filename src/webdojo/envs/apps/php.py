"""What `inside.py` of a PHP application is made with: `php-cgi` answers each request, and nothing reaches a network.

A request is a process of `php-cgi` that works in the folder of the visit and then ends, so nothing is kept in memory
from one to the next. Compiled code is kept in the folder `shared` of the base, which all visits read.

`seal` takes networks from this process and all that it starts, also from programs that PHP may call: the kernel refuses
every socket but those of this machine's file system (seccomp). An ordinary user may do so, also in a container.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import socket
import struct
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

_PASSED_ON = ("CONTENT_LENGTH", "CONTENT_TYPE", "QUERY_STRING", "REMOTE_ADDR", "REQUEST_METHOD", "SERVER_PROTOCOL")
_NOT_PASSED_ON = ("HTTP_ACCEPT_ENCODING", "HTTP_PROXY")
"""Pages are recorded as they are sent, so they are not compressed."""
_OF_THE_SERVER = ("status", "connection")
"""Headers of a script that are not the application's to give."""


class Php:
    """Runs scripts of PHP in the working directory.

    Args:
        shared: folder for compiled code.
        environment: further variables that scripts see.
    """

    def __init__(self, shared: Path, environment: Mapping[str, str]) -> None:
        compiled = shared / "opcache"
        compiled.mkdir(exist_ok=True, parents=True)
        settings = {
            "allow_url_fopen": 0,
            "display_errors": "stderr",
            "log_errors": 0,
            "opcache.enable_cli": 1,
            "opcache.file_cache": compiled.absolute(),
            "opcache.file_cache_consistency_checks": 0,
            "opcache.file_cache_only": 1,
            "opcache.validate_timestamps": 0,
        }
        self._settings = [part for name, value in settings.items() for part in ("-d", f"{name}={value}")]
        self._environment = {"PATH": os.defpath, **environment}

    def run(self, script: str | Path, *arguments: str | Path, given: str = "") -> str:
        """Run a script as a command, and return what it printed; the error of one that fails has what it printed."""
        command = ["php", *self._settings, script, *arguments]
        done = subprocess.run(command, input=given, env=self._environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{script} failed: {done.stderr.strip()[-600:]} {done.stdout.strip()[-600:]}")
        return done.stdout

    def answer(
        self, script: Path, name: str, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer a request of WSGI by a script, whose path in addresses is `name`."""
        path = quote(environ["PATH_INFO"].encode("latin-1"), safe="/:;@!$&'()*,=+~")
        query = environ.get("QUERY_STRING", "")
        passed = {key: value for key, value in environ.items() if key in _PASSED_ON or key.startswith("HTTP_")}
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        variables = {
            **self._environment,
            **{key: value for key, value in passed.items() if key not in _NOT_PASSED_ON},
            "GATEWAY_INTERFACE": "CGI/1.1",
            "REDIRECT_STATUS": "200",
            "REQUEST_URI": f"{path}?{query}" if query else path,
            "SCRIPT_FILENAME": str(script),
            "SCRIPT_NAME": name,
            "SERVER_NAME": environ.get("HTTP_HOST", "localhost"),
            "SERVER_PORT": "80",
        }
        done = subprocess.run(["php-cgi", *self._settings], input=body, env=variables, stdout=subprocess.PIPE)
        head, _, page = done.stdout.partition(b"\r\n\r\n")
        lines = [line.partition(":") for line in head.decode("latin-1").splitlines()]
        headers = [(key, value.strip()) for key, _, value in lines if key.lower() not in _OF_THE_SERVER]
        status = next((value.strip() for key, _, value in lines if key.lower() == "status"), "200 OK")
        start_response(status if " " in status else f"{status} -", headers)
        return [page]


def seal() -> None:
    """Let the kernel refuse sockets that lead out of this machine, from now on, to this process and all its children.

    Raises:
        OSError: the kernel does not do so.
    """
    # The numbers are those of linux/audit.h, asm/unistd.h, linux/filter.h, linux/seccomp.h and linux/prctl.h.
    machines = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
    if platform.machine() not in machines:
        raise OSError(f"applications in PHP run on {' and '.join(machines)}, not on {platform.machine()}")
    architecture, new_socket = machines[platform.machine()]
    ring, other_abi = 425, 0x4000_0000
    load, equal, at_least, give_back = 0x20, 0x15, 0x35, 0x06
    allow, refuse = 0x7FFF_0000, 0x0005_0000 | errno.EACCES
    rules: Sequence[tuple[int, int, int, int]] = (  # what it does, lines to skip if so, lines to skip if not, a number
        (load, 0, 0, 4),
        (equal, 0, 7, architecture),
        (load, 0, 0, 0),
        (at_least, 5, 0, other_abi),
        (equal, 4, 0, ring),
        (equal, 0, 2, new_socket),
        (load, 0, 0, 16),
        (equal, 0, 1, int(socket.AF_UNIX)),
        (give_back, 0, 0, allow),
        (give_back, 0, 0, refuse),
    )
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    program = ctypes.create_string_buffer(struct.pack("HP", len(rules), ctypes.addressof(filters)))
    kernel = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, set_seccomp, by_filter = 38, 22, 2
    for call in ((no_new_privileges, 1, 0, 0, 0), (set_seccomp, by_filter, program, 0, 0)):
        if kernel.prctl(*call):
            raise OSError(ctypes.get_errno(), "the kernel does not keep the application from the network (seccomp)")

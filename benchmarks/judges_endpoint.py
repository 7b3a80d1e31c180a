"""An OpenAI-compatible endpoint in a process of its own that answers a fixed time after it has read a request, by its
system prompt.

    python benchmarks/judges_endpoint.py SECONDS < REPLIES    # {system prompt: reply} as JSON; prints its port
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def endpoint(seconds: float, replies: Mapping[str, str]) -> Iterator[str]:
    """The address of an endpoint that ends with the block."""
    command = [sys.executable, __file__, str(seconds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(replies))
        process.stdin.close()
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


class Server(ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True

    def __init__(self, seconds: float, replies: Mapping[str, str]) -> None:
        self.seconds, self.replies = seconds, replies
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer leaves in one packet, which no delayed acknowledgement holds up
    disable_nagle_algorithm = True
    server: Server

    def do_POST(self) -> None:
        system, _ = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
        time.sleep(self.server.seconds)
        message = {"role": "assistant", "content": self.server.replies[system["content"]]}
        usage = {"prompt_tokens": 1000, "completion_tokens": 100}
        data = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *values: object) -> None:
        pass


if __name__ == "__main__":
    server = Server(float(sys.argv[1]), json.load(sys.stdin))
    print(server.server_address[1], flush=True)
    server.serve_forever()

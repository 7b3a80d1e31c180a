"""Speaks as the worker of BrowserGym does, and has tasks that fail in all ways; it needs no package."""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def answer(command: dict[str, Any]) -> dict[str, Any]:
    do, task = command["do"], command.get("task", "")
    if do == "find":
        return {"unknown": [name for name in command["tasks"] if name.endswith("nowhere")]}
    if task.endswith("ends"):
        print("Segmentation fault", file=sys.stderr)
        sys.exit(3)
    if task.endswith("hangs"):
        time.sleep(3600)
    if task.endswith("raises"):
        return {"error": "KeyError: 'row'"}
    if do == "setup":
        goal = "" if task.endswith("silent") else "Wait."
        return {"goal": goal, "images": int(task.endswith("pictures")), "info": {"seed": command["seed"]}}
    if do == "validate":
        return {"reward": 0.5, "done": command["answer"] == "1", "message": "", "info": {"role": command["role"]}}
    return {}


if __name__ == "__main__":
    if "nowhere" in sys.argv:
        print(json.dumps({"error": "ModuleNotFoundError: No module named 'nowhere'"}))
        sys.exit()
    print("{}", flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)

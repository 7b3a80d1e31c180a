"""The command line, `webdojo …` and `python -m webdojo …`: alone, or as one of the processes that torchrun starts."""

from __future__ import annotations

from webdojo.cli import main as run_command
from webdojo.world import world


def main() -> None:
    """The console script."""
    mine = world()
    if mine is None:
        run_command()
        return
    from webdojo.trainer.learner.torchrun import run

    run(mine, run_command)


if __name__ == "__main__":
    main()

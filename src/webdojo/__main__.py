"""The command line, `webdojo …` and `python -m webdojo …`: alone, or as one of the processes that torchrun starts."""

from __future__ import annotations

from webdojo.cli import main as run_command
from webdojo.world import world


def main() -> None:
    """The console script. Of the processes of a `world`, rank 0 runs the command, with the others as its learner's
    followers."""
    mine = world()
    if mine is None:
        run_command()
        return
    from webdojo.trainer.learner.torchrun import follow, meeting

    if mine.rank:
        follow(mine)
    else:
        with meeting(mine):
            run_command()


if __name__ == "__main__":
    main()

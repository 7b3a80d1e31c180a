"""A run whose parts are on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from webdojo.errors import ConfigError, one_line
from webdojo.loops.start import here
from webdojo.recipe import Recipe

if TYPE_CHECKING:
    from webdojo.loops.parts import Parts


@contextmanager
def connected(recipe: Recipe) -> Iterator[Parts]:
    """The cluster that the recipe names, connected until the block ends; this machine where it names none.

    Raises:
        ConfigError: Ray is not installed, or no cluster answers at `cluster.address`.
    """
    address = recipe.cluster.address
    if not address:
        with here(recipe) as parts:
            yield parts
        return
    try:
        import ray
    except ImportError:
        raise ConfigError(
            f"cluster.address is {address!r}, and Ray is not installed: pip install 'webdojo[cluster]'"
        ) from None
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except Exception as error:  # Ray raises several unrelated kinds
        raise ConfigError(
            f"no Ray cluster answers at cluster.address {address!r} ({one_line(error)}): start one with "
            "`ray start --head`, or leave the address out to run on this machine"
        ) from None
    try:
        from webdojo.cluster.engines import open_engine
        from webdojo.cluster.ranks import make_learner
        from webdojo.cluster.rollouts import open_rollouts
        from webdojo.loops.parts import Parts

        yield Parts(open_rollouts=open_rollouts, open_engine=open_engine, make_learner=make_learner)
    finally:
        ray.shutdown()

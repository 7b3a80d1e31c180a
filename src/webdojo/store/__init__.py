"""What a run remembers: trajectories and metrics in SQLite, screenshots by hash, checkpoints.

Invariant: whatever a call has returned from is on disk, and a process that is killed at any moment
leaves a run folder that opens, with every committed record and no half-written file in sight.
"""

from webdojo.store.checkpoints import Checkpoint
from webdojo.store.images import ImageStore, MemoryImages
from webdojo.store.run import RunStore, TrajectoryRow

__all__ = ["Checkpoint", "ImageStore", "MemoryImages", "RunStore", "TrajectoryRow"]

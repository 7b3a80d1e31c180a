"""The parts of a run on a Ray cluster: the very classes of a local run, in processes that Ray places and restarts.

The process that trains keeps the loop, the pool of episodes and the run folder. Everything else is asked, and may die
at any time: engines answer prompts (`engines`), rollout workers run episodes (`rollouts`), and one process beside the
run folder keeps the screenshots (`images`), of which only references travel further.
"""

"""WebArena's evaluators (Zhou et al. 2023) as a reward: `spec` reads a task's `eval` into typed evaluators, `text`,
`urls` and `grading` are their rules, `functions` the functions that specs may call, `evidence` what is read of the live
pages, and `reward` the product of it all.
"""

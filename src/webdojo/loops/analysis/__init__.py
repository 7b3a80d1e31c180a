"""The papers' questions about a run, each answered by one module with two pure functions.

`measure` reads what the question needs from one trajectory, and `summarize` makes the rows of a table of that.
`questions.py` lists them, and `analyze.py` asks all of them in one pass over the stored trajectories. Invariant: a
trajectory is in memory alone; what is kept of it is its row and a few numbers for each question.
"""

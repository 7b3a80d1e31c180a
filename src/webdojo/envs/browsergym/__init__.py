"""The environment `browsergym`: tasks of BrowserGym in our browser.

BrowserGym fixes a Playwright that is older than ours, so its tasks run in processes of an environment of its own
(`worker.py`), one for each episode that runs. A worker attaches to the context of the episode's session, of which it
sees nothing else (`one_context.py`): there the task's own code opens its pages (`setup`) and judges what the agent has
done after each turn (`validate`). `process.py` starts workers, asks them and ends them; `env.py` is the environment.
"""

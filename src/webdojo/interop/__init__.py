"""Adapters: webdojo's environments in trainers of other projects, and for their agents (docs/interop.md).

`host` runs episodes for whoever has the policy; each adapter translates between it and one project's interface, and
imports that project's package alone, which is an extra of the same name. BrowserGym's is none, because it fixes a
Playwright that is older than ours.
"""

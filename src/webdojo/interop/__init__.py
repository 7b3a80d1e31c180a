"""Adapters: webdojo's environments in trainers of other projects, and theirs in webdojo (docs/interop.md).

`host` runs episodes for whoever has the policy; each adapter translates between it and one project's interface, and
imports that project's package alone, which is an extra of the same name.
"""

"""Kubernetes' own schemas, for manifests of any origin."""

from __future__ import annotations

from typing import Any

import kubernetes_validate

VERSION = "1.31"
"""The oldest version of Kubernetes that the manifests are for."""


def validate(manifest: dict[str, Any]) -> None:
    """Raise where a manifest has a field that Kubernetes does not know, or lacks one that it needs."""
    kubernetes_validate.validate(manifest, VERSION, strict=True)

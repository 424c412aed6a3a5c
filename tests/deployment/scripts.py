"""The scripts of CI, which are no modules of a package."""

from __future__ import annotations

import importlib.util
from typing import Any

from deployment.manifests import ROOT


def script(name: str) -> Any:  # noqa: ANN401  a module that no type checker finds
    """Load .ci/<name>.py."""
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

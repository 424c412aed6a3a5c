"""What the manifests in deploy/ come to, built by the real kubectl as people do."""

from __future__ import annotations

import copy
import functools
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml
from simulator_kubectl import find

Object = dict[str, Any]

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
COMPONENTS: Final = ("aks", "fairness", "guard", "host-network", "monitoring", "port")
VARIANTS: Final = ("base", "overlays/cert-manager", "overlays/dev", *COMPONENTS)
"""Directories that are built as they are, and components, each on top of the base."""

CUSTOM: Final = ("Certificate", "Issuer", "ServiceMonitor", "PrometheusRule")
"""Kinds of others: nobody here has their schemas."""


def build(variant: str) -> str:
    """Build a variant anew."""
    if variant not in COMPONENTS:
        return kustomize(DEPLOY / variant)
    with TemporaryDirectory() as directory:
        here = Path(directory).resolve()
        content = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": [os.path.relpath(DEPLOY / "base", here)],
            "components": [os.path.relpath(DEPLOY / "components" / variant, here)],
        }
        (here / "kustomization.yaml").write_text(yaml.safe_dump(content))
        return kustomize(here)


@functools.cache
def built(variant: str) -> str:
    """Build a variant, once per run."""
    return build(variant)


@functools.cache
def _parsed(variant: str) -> list[Object]:
    return list(yaml.safe_load_all(built(variant)))


def objects(variant: str = "base") -> list[Object]:
    """Return the objects of a variant; whoever changes them changes them for himself alone."""
    return copy.deepcopy(_parsed(variant))


def one(kind: str, name: str, variant: str = "base") -> Object:
    """Return the one object of this kind and name."""
    [found] = [
        obj for obj in objects(variant) if (obj["kind"], obj["metadata"]["name"]) == (kind, name)
    ]
    return found


def deployment(which: str, variant: str = "base") -> Object:
    """Return spec of the Deployment of `webhook` or `controller`."""
    spec: Object = one("Deployment", f"evencore-{which}", variant)["spec"]
    return spec


def pod_spec(which: str, variant: str = "base") -> Object:
    """Return spec of its pods."""
    spec: Object = deployment(which, variant)["template"]["spec"]
    return spec


def container(which: str, variant: str = "base") -> Object:
    """Return its only container."""
    [only] = pod_spec(which, variant)["containers"]
    found: Object = only
    return found


def hook(variant: str = "base") -> Object:
    """Return our only webhook."""
    [configuration] = [o for o in objects(variant) if o["kind"] == "MutatingWebhookConfiguration"]
    [only] = configuration["webhooks"]
    found: Object = only
    return found


def selects(selector: Object, labels: Object) -> bool:
    """Tell whether matchLabels, or the selector of a Service, pick these labels."""
    return selector.items() <= labels.items()


def kustomize(directory: Path) -> str:
    """Build a directory; nothing may be complained of."""
    done = subprocess.run(
        [find(), "kustomize", str(directory)], capture_output=True, text=True, check=False
    )
    # Warnings of deprecated fields go to stderr, too.
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout

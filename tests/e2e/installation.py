"""What an installation is made of besides processes, for a run of the tests: pure values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from evencore.domain import names
from evencore.domain.policy import Policy
from simulator.demo import companions

if TYPE_CHECKING:
    from e2e.api import Object

CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
RUN: Final = "e2e"
"""The label that tells namespaces of this run from those of others."""


def divided_policy(factor: int) -> Object:
    """Return the default policy with its times divided, at least a second each."""

    def divided(value: Any) -> Any:  # noqa: ANN401  as in YAML
        if isinstance(value, dict):
            return {key: divided(one) for key, one in value.items()}
        if isinstance(value, str) and value.endswith("s") and value[:-1].isdigit():
            return f"{max(1, int(value[:-1]) // factor)}s"
        return value

    policy: Object = divided(Policy().as_written())
    return policy


def namespace(name: str, run: str, **labels: str) -> Object:
    """Make a namespace of this run."""
    meta = {"name": name, "labels": {**labels, RUN: run}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}


def configuration(name: str, run: str, url: str, authority: str) -> Object:
    """Have the API server call a webhook at `url` for the namespaces of this run that take part."""
    labels = {names.ADMISSION: names.ENABLED, RUN: run}
    return companions.configuration(name, url, authority, labels)

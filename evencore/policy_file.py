"""The policy file, as webhook and controller are given it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import structs

from evencore.domain.policy import Policy
from evencore.flags import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evencore.settings import ControllerSettings, WebhookSettings


def read_policy(settings: WebhookSettings | ControllerSettings) -> Policy:
    """Read the policy file, and keep our own namespace out. Raises InputError, PolicyError."""
    policy = Policy()
    if settings.policy is not None:
        from evencore.files import read_document  # noqa: PLC0415  it brings a reader of YAML along

        file = str(settings.policy)
        with given_as("policy"):
            document = read_document(file, "a policy")
        policy = Policy.from_mapping(document.value, file)
    ignored = policy.ignored_namespaces | {settings.namespace}
    return structs.replace(policy, ignored_namespaces=ignored)


@contextmanager
def given_as(setting: str) -> Iterator[None]:
    """Name the setting by which files were given that cannot be read."""
    from evencore.files import InputError  # noqa: PLC0415  as above

    try:
        yield
    except InputError as error:
        raise InputError(f"{said(setting)}: {problem}" for problem in error.problems) from error

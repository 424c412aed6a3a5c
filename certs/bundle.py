"""The trust bundle: which authorities API servers are to accept, in an order that never changes.

A bundle is compared as a set, so that nobody's order, line ends or comments make us write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from certs.facts import Certificate, Hook


def ordered(*groups: Iterable[Certificate]) -> tuple[Certificate, ...]:
    """Put authorities together, each once, by fingerprint."""
    found = {one.fingerprint: one for group in groups for one in group}
    return tuple(found[key] for key in sorted(found))


def to_pem(bundle: Iterable[Certificate]) -> str:
    """Write a bundle as API servers read it."""
    return "".join(one.pem for one in bundle)


def lacking(hook: Hook, bundle: Iterable[Certificate]) -> tuple[Certificate, ...]:
    """Name those of a bundle that a hook does not trust."""
    trusted = {one.fingerprint for one in hook.trusted}
    return tuple(one for one in bundle if one.fingerprint not in trusted)


def beyond(hook: Hook, bundle: Iterable[Certificate]) -> tuple[Certificate, ...]:
    """Name those that a hook trusts and that are not in a bundle."""
    wanted = {one.fingerprint for one in bundle}
    return tuple(one for one in hook.trusted if one.fingerprint not in wanted)

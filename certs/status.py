"""How the certificates are and what comes next, for people and machines. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from certs import rotation
from certs.aims import Aims
from certs.pem import CERTIFICATE
from certs.reading import trusted_by

if TYPE_CHECKING:
    from datetime import datetime

    from certs.facts import Certificate
    from certs.keeper import Seen

_LONG: Final = timedelta(days=1)


class Status(NamedTuple):
    """`problems`: why API servers do not call the webhook; empty: they do."""

    state: str  # good, rotating, external or broken
    problems: tuple[str, ...]
    next: str
    seen: Seen


def status_of(seen: Seen, aims: Aims, now: datetime) -> Status:
    """Judge what was read, by the function that the controller decides with."""
    step = rotation.plan(seen.held, seen.published, aims, now, _LONG)
    problems = tuple(_problems(seen, aims, now))
    if problems:
        state = "broken"
    elif isinstance(step, rotation.HandsOff):
        state = "external"
    else:
        state = "good" if isinstance(step, rotation.Rest) else "rotating"
    return Status(state, problems, step.why, seen)


def aims_of(seen: Seen, service: str) -> Aims:
    """Guess from what is there how its keeper was told to make it: no setting of ours is known."""
    leaf, signing = seen.held.leaf, seen.held.signing
    fallback = Aims(names=frozenset({service}))
    if leaf is None or signing is None:
        return fallback
    authority = signing.expires - signing.made
    life = min(leaf.certificate.expires - leaf.certificate.made, authority / 3)
    return Aims(
        names=leaf.names | {service},
        authority_life=authority,
        leaf_life=life,
        spread=min(fallback.spread, life / 6),
        overlap=min(fallback.overlap, life / 2),
    )


def to_dict(status: Status, now: datetime) -> dict[str, Any]:
    """Say it for machines."""
    held, hooks = status.seen.held, status.seen.hooks
    return {
        "apiVersion": "evencore.io/v1",
        "kind": "Certificates",
        "asOf": now.isoformat(),
        "state": status.state,
        "problems": list(status.problems),
        "next": status.next,
        "serving": held.leaf and {**_dict(held.leaf.certificate), "names": sorted(held.leaf.names)},
        "authorities": [{**_dict(one), "signs": one is held.signing} for one in held.authorities],
        "webhooks": [
            {
                "name": hook.name,
                "trusts": [_dict(one) for one in hook.trusted],
                "problem": hook.problem,
                "namespaceSelector": entry.selector,
            }
            for hook, entry in zip(status.seen.published.hooks, hooks.entries, strict=True)
        ],
    }


def _problems(seen: Seen, aims: Aims, now: datetime) -> list[str]:
    held, published = seen.held, seen.published
    if not held.exists:
        return ["there is no such Secret"]
    if held.leaf is None:
        return list(held.problems) or ["the Secret holds no serving certificate"]
    problems = []
    late = held.leaf.certificate.out_of_time(now)
    if late:
        problems.append(f"the serving certificate {late}")
    if not published.hooks:
        problems.append("there is no such webhook configuration, so nobody calls the webhook")
    chain = seen.secret.data[CERTIFICATE]
    problems += [
        f"webhook {hook.name} does not trust the serving certificate"
        for hook in published.hooks
        if not trusted_by(chain, hook.trusted)
    ]
    missing = aims.names - held.leaf.names
    problems += [f"the serving certificate is not for {name}" for name in sorted(missing)]
    return problems


def _dict(one: Certificate) -> dict[str, Any]:
    return {
        "name": one.name,
        "serial": one.serial,
        "fingerprint": one.fingerprint,
        "made": one.made.isoformat(),
        "renewal": one.renewal.isoformat(),
        "expires": one.expires.isoformat(),
    }

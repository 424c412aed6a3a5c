"""What to do next about the certificates, and why. Pure: values and a moment in, a step out.

Trust first, use later. A new authority goes into the Secret, then into what API servers trust, and
only then signs; an old one leaves the Secret, and then what is trusted, when nobody can serve under
it any more. Secret and webhook configuration are all the state: whoever comes next goes on there.

Two clocks. How old certificates are is told by the wall clock, which may jump. That something was
left alone for long enough is told by `steady`, which is measured by a clock that does not.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from certs.bundle import beyond, lacking, ordered
from certs.facts import stamp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from certs.aims import Aims
    from certs.facts import Certificate, Held, Hook, Leaf, Published


class MakeAuthority(NamedTuple):
    """Make an authority, and keep these beside it; `leaf`: with its first certificate at once."""

    why: str
    keep: tuple[Certificate, ...]
    leaf: bool


class IssueLeaf(NamedTuple):
    """Have the authority sign a new serving certificate."""

    why: str


class Forget(NamedTuple):
    """Take old authorities out of the Secret; what is trusted follows."""

    why: str
    keep: tuple[Certificate, ...]


class Publish(NamedTuple):
    """Write what these hooks trust."""

    why: str
    bundle: tuple[Certificate, ...]
    hooks: frozenset[str]


class Wait(NamedTuple):
    """A step is to come, but not yet; `seconds`: when to look at the latest."""

    why: str
    seconds: float


class Rest(NamedTuple):
    """All is well until the certificates are older."""

    why: str


class HandsOff(NamedTuple):
    """Somebody else looks after this: nothing is written."""

    why: str


Step = MakeAuthority | IssueLeaf | Forget | Publish | Wait | Rest | HandsOff


def plan(held: Held, published: Published, aims: Aims, now: datetime, steady: timedelta) -> Step:
    """Say what to do next. `steady`: how long both have been seen unchanged, by a steady clock."""
    others = _managed_by_others(held, published)
    if others:
        return HandsOff(others)
    unable = _cannot_sign(held, now)
    if unable or held.signing is None:
        return _first_authority(unable, held, published)
    hooks = [hook for hook in published.hooks if hook.problem or lacking(hook, held.authorities)]
    if hooks:
        return _trust(hooks, held)
    broken = _unusable(held, aims, now)
    if broken:
        return IssueLeaf(broken)
    step = next(_in_good_time(held, published, aims, now, steady), None)
    return step or Rest(_resting(held, published, aims))


def _managed_by_others(held: Held, published: Published) -> str:
    if published.injector:
        return (
            f"the webhook configuration has the annotation {published.injector}: somebody else "
            "fills in caBundle, and two would never agree; remove it, or run us with "
            "--certs external"
        )
    if held.manager:
        return (
            f"the Secret belongs to {held.manager}: name another one, or run us with "
            "--certs external"
        )
    return ""


def _cannot_sign(held: Held, now: datetime) -> str:
    """Say why there is no authority to sign with; empty if there is one."""
    if not held.exists:
        return "there is no Secret"
    if held.signing is None:
        return "; ".join(held.problems) or "the Secret is empty"
    late = held.signing.out_of_time(now)
    return f"the authority {held.signing.name} {late}" if late else ""


def _first_authority(why: str, held: Held, published: Published) -> MakeAuthority:
    """Replace an authority that is of no use.

    What it signed may still be served, and be trusted: then its successor is trusted first, too.
    Even if all that looks expired: the clock that says so may be ours alone.
    """
    leaf = held.leaf
    serving = [one for one in held.authorities if leaf and one.fingerprint == leaf.signer]
    trusted = any(hook.trusted for hook in published.hooks)
    return MakeAuthority(why, tuple(serving), leaf=not trusted)


def _trust(hooks: list[Hook], held: Held) -> Publish:
    """Have hooks trust all that is in the Secret, and for now what they trusted before."""
    first, missing = hooks[0], lacking(hooks[0], held.authorities)
    reasons = [first.problem] if first.problem else []
    if not first.trusted and not first.problem:
        reasons.append("its caBundle is empty")
    elif missing:
        reasons.append(f"it does not trust {_names(missing)}")
    more = f" (and {len(hooks) - 1} more)" if len(hooks) > 1 else ""
    # Who serves under what was trusted until now hears of a new certificate only later.
    before = [one for hook in hooks for one in beyond(hook, held.authorities)]
    return Publish(
        f"webhook {first.name}{more}: {', '.join(reasons)}",
        ordered(held.authorities, before),
        frozenset(hook.name for hook in hooks),
    )


def _unusable(held: Held, aims: Aims, now: datetime) -> str:
    """Say why no API server would accept the serving certificate; empty if it would."""
    leaf = held.leaf
    if leaf is None:
        return held.problems[0] if held.problems else "there is no serving certificate yet"
    late = leaf.certificate.out_of_time(now)
    if late:
        return f"the serving certificate {late}"
    if not leaf.signer:
        return "the serving certificate was signed by no authority that is trusted"
    signer = next(one for one in held.authorities if one.fingerprint == leaf.signer)
    late = signer.out_of_time(now)
    if late:
        return f"the serving certificate's authority {signer.name} {late}"
    missing = aims.names - leaf.names
    if missing == aims.names:
        return f"the serving certificate is not for {', '.join(sorted(missing))}"
    return ""


def _in_good_time(
    held: Held, published: Published, aims: Aims, now: datetime, steady: timedelta
) -> Iterator[Step]:
    """Yield what is to be done though all is well; the first counts."""
    signing, leaf = held.signing, held.leaf
    if signing is None or leaf is None:
        raise AssertionError("all is not well")
    why = _due(leaf, signing, aims, now)
    if len(held.authorities) == 1 and now >= signing.renewal:
        yield MakeAuthority(
            f"two thirds of the life of the authority {signing.name} are over: it ends "
            f"{stamp(signing.expires)}",
            held.authorities,
            leaf=False,
        )
    left = aims.spread - steady
    if why:
        yield _wait(why, left) or IssueLeaf(why)
    extra = [hook for hook in published.hooks if beyond(hook, held.authorities)]
    if extra:
        names = _names(ordered(*(beyond(hook, held.authorities) for hook in extra)))
        why = f"webhook {extra[0].name} trusts {names} without need"
        hooks = frozenset(hook.name for hook in extra)
        yield _wait(why, left) or Publish(why, held.authorities, hooks)
    if held.old:
        yield from _forget(held, leaf, aims, now, left)


def _forget(held: Held, leaf: Leaf, aims: Aims, now: datetime, left: timedelta) -> Iterator[Step]:
    """Drop the old authorities when nobody can serve under them any more."""
    until = leaf.certificate.made + aims.overlap
    valid = [one for one in held.old if not one.out_of_time(now)]
    names = _names(held.old)
    if not valid:
        why = f"the old authority {names} is not valid any more"
    elif now >= until:
        why = f"nobody serves under the old authority {names} any more since {stamp(until)}"
    else:
        yield Wait(
            f"the old authority {names} is trusted until {stamp(until)}", _seconds(until - now)
        )
        return
    keep = tuple(one for one in held.authorities if one is held.signing)
    yield _wait(why, left) or Forget(why, keep)


def _due(leaf: Leaf, signing: Certificate, aims: Aims, now: datetime) -> str:
    """Say why a good serving certificate should be replaced by a better one; empty if not."""
    if leaf.signer != signing.fingerprint:
        return f"the authority {signing.name} is trusted now, so it can sign"
    if now >= leaf.certificate.renewal:
        return (
            f"two thirds of the serving certificate's life are over: it ends "
            f"{stamp(leaf.certificate.expires)}"
        )
    missing = aims.names - leaf.names
    return f"the serving certificate is not for {', '.join(sorted(missing))}" if missing else ""


def _resting(held: Held, published: Published, aims: Aims) -> str:
    if held.signing is None or held.leaf is None:
        raise AssertionError("all is not well")
    return (
        f"the serving certificate for {', '.join(sorted(aims.names))} is renewed at "
        f"{stamp(held.leaf.certificate.renewal)}, its authority at {stamp(held.signing.renewal)}"
        + ("" if published.hooks else "; no webhook configuration names it yet")
    )


def _wait(why: str, left: timedelta) -> Wait | None:
    if left <= timedelta():
        return None
    return Wait(f"{why}; first, everybody is to have heard of what is now", _seconds(left))


def _seconds(span: timedelta) -> float:
    return max(0.0, span.total_seconds())


def _names(certificates: tuple[Certificate, ...]) -> str:
    return " and ".join(one.name for one in certificates)

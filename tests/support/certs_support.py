"""A Secret and a webhook configuration in memory, for keepers and replicas to meet at.

Versions and preconditions are the API server's; what is served is checked as a client would.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature

from certs.aims import Aims
from certs.authority import make_authority
from certs.bundle import to_pem
from certs.facts import Hook, Published
from certs.keeper import Clocks, Keeper
from certs.reading import read_bundle, read_certificate, read_secret
from certs.serving import make_leaf

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from certs.facts import Certificate, Held
    from certs.pem import Pair

NAME = "evencore-webhook.evencore-system.svc"
AIMS = Aims(names=frozenset({NAME}))
NOW = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)


class Secret(NamedTuple):
    """As the port gives it."""

    problem: str = ""
    uid: str = ""
    version: str = ""
    data: Mapping[str, bytes] = {}
    manager: str = ""


class Answer(NamedTuple):
    """As the port gives it."""

    problem: str = ""
    raced: bool = False


class Entry(NamedTuple):
    """As the port gives it."""

    name: str
    ca_bundle: bytes
    selector: str = ""


class Hooks(NamedTuple):
    """As the port gives it."""

    problem: str = ""
    uid: str = ""
    version: str = ""
    injector: str = ""
    entries: tuple[Entry, ...] = ()


RACED = Answer("409", raced=True)


@dataclass
class Store:
    """The API server, as far as the two objects go."""

    secret: Secret = field(default_factory=Secret)
    hooks: Hooks = field(
        default_factory=lambda: Hooks(uid="h", version="0", entries=(Entry("pods", b""),))
    )
    writes: list[str] = field(default_factory=list)
    authorities: set[str] = field(default_factory=set)
    """Every authority that was ever in the Secret."""
    broken: str = ""
    _count: int = 0

    def version(self) -> str:
        self._count += 1
        return str(self._count)

    def put(self, data: Mapping[str, bytes], manager: str = "") -> None:
        """Write the Secret past everybody, as a person would."""
        self.secret = Secret("", f"s{self.version()}", self.version(), dict(data), manager)

    def reset(self, bundle: bytes = b"") -> None:
        """Write caBundle past everybody, as GitOps would."""
        entries = tuple(one._replace(ca_bundle=bundle) for one in self.hooks.entries)
        self.hooks = self.hooks._replace(entries=entries, version=self.version())

    @property
    def bundle(self) -> tuple[Certificate, ...]:
        return read_bundle(self.hooks.entries[0].ca_bundle)[0]


class SecretPort:
    """The Secret of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def read(self) -> Secret:
        return Secret(problem=self.store.broken) if self.store.broken else self.store.secret

    def create(self, data: Mapping[str, bytes]) -> Answer:
        if self.store.secret.uid:
            return RACED
        self.store.put(data)
        return self._noted("create")

    def update(self, uid: str, version: str, data: Mapping[str, bytes]) -> Answer:
        now = self.store.secret
        if (uid, version) != (now.uid, now.version):
            return RACED
        merged = {**now.data, **data}
        self.store.secret = now._replace(data=merged, version=self.store.version())
        return self._noted("update")

    def _noted(self, what: str) -> Answer:
        self.store.writes.append(what)
        found, _ = read_bundle(self.store.secret.data.get("ca.crt", b""))
        self.store.authorities.update(one.fingerprint for one in found)
        return Answer()


class BundlePort:
    """The webhook configuration of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def read(self) -> Hooks:
        return self.store.hooks

    def write(self, found: Any, hooks: frozenset[str], bundle: bytes) -> Answer:  # noqa: ANN401  as the port
        now = self.store.hooks
        if (found.uid, found.version) != (now.uid, now.version):
            return RACED
        entries = tuple(
            one._replace(ca_bundle=bundle) if one.name in hooks else one for one in now.entries
        )
        self.store.hooks = now._replace(entries=entries, version=self.store.version())
        self.store.writes.append("publish")
        return Answer()


@dataclass
class Time:
    """The true time, and by how much the wall clock is off."""

    true: datetime = NOW
    off: timedelta = timedelta()

    def steady(self) -> float:
        return self.true.timestamp()


class World:
    """A store, a time, and keepers; `told` is what people were told."""

    def __init__(self, aims: Aims = AIMS) -> None:
        self.store, self.time, self.aims = Store(), Time(), aims
        self.told: list[tuple[str, str]] = []
        self.keeper = self.another()

    def another(self) -> Keeper:
        """Start a keeper."""
        clocks = Clocks(lambda: self.time.true + self.time.off, self.time.steady)

        def tell(_: str, reason: str, message: str, *, warning: bool = False) -> None:
            del warning
            self.told.append((reason, message))

        return Keeper(SecretPort(self.store), BundlePort(self.store), self.aims, tell, clocks)

    def settle(self, keeper: Keeper | None = None, steps: int = 20) -> float:
        """Step until there is nothing to do at this moment; returns when to look again."""
        for _ in range(steps):
            wait_s = (keeper or self.keeper).step()
            if wait_s > 1.0:
                return wait_s
        raise AssertionError(f"it never rests: {self.told[-3:]}")

    def live(self, span: timedelta, step: timedelta = timedelta(hours=1)) -> None:
        """Let time pass, with a keeper that looks."""
        end = self.time.true + span
        while self.time.true < end:
            self.settle()
            self.time.true = min(end, self.time.true + step)
        self.settle()

    @property
    def held(self) -> Held:
        return read_once(self.store.secret.data)

    @property
    def reasons(self) -> list[str]:
        return [reason for reason, _ in self.told]


def read_once(data: Mapping[str, bytes], manager: str = "") -> Held:
    """Read a Secret as `read_secret` does, but the same content only once."""
    return _read(frozenset(data.items()), manager)


@lru_cache(maxsize=1024)
def _read(items: frozenset[tuple[str, bytes]], manager: str) -> Held:
    return read_secret(dict(items), manager)


def verifies(
    certificate: bytes, bundle: Iterable[Certificate], now: datetime | None = None
) -> bool:
    """Tell whether a client with this bundle takes a certificate."""
    for one in bundle:
        times = _signed(certificate, one.pem)
        if times is None:
            continue
        starts, expires = times
        if now is None or max(starts, one.starts) <= now < min(expires, one.expires):
            return True
    return False


@lru_cache(maxsize=4096)  # asked thousands of times of the same few
def _signed(certificate: bytes, authority: str) -> tuple[datetime, datetime] | None:
    """Tell from when to when a certificate holds; None: it is not signed by this authority."""
    leaf = x509.load_pem_x509_certificate(certificate)
    try:
        leaf.verify_directly_issued_by(x509.load_pem_x509_certificate(authority.encode()))
    except (ValueError, InvalidSignature):
        return None
    return leaf.not_valid_before_utc, leaf.not_valid_after_utc


def an_authority(made: datetime = NOW, life: timedelta = AIMS.authority_life) -> Pair:
    return make_authority(made, life)


def data_of(
    *authorities: Pair,
    leaf_of: Pair | None = None,
    made: datetime = NOW,
    life: timedelta = AIMS.leaf_life,
    names: Iterable[str] = (NAME,),
) -> dict[str, bytes]:
    """Make what a Secret holds: the last authority signs, `leaf_of` has signed."""
    data = {
        "ca.crt": to_pem([read_certificate(one.certificate) for one in authorities]).encode(),
        "ca.key": authorities[-1].key,
    }
    if leaf_of is not None:
        leaf = make_leaf(leaf_of, names, made, life)
        data |= {"tls.crt": leaf.certificate, "tls.key": leaf.key}
    return data


def published(*authorities: Pair, injector: str = "", problem: str = "") -> Published:
    """Make what one hook trusts."""
    trusted = tuple(read_certificate(one.certificate) for one in authorities)
    return Published(exists=True, hooks=(Hook("pods", trusted, problem),), injector=injector)

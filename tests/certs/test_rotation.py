"""The plan for certificates: what is there, and what is done next."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

import pytest
from certs_support import AIMS, NAME, NOW, an_authority, data_of, published

from certs.aims import Aims
from certs.facts import Held, Published
from certs.reading import read_secret
from certs.rotation import (
    Forget,
    HandsOff,
    IssueLeaf,
    MakeAuthority,
    Publish,
    Rest,
    Step,
    Wait,
    plan,
)

DAY, HOUR, SECOND = timedelta(days=1), timedelta(hours=1), timedelta(seconds=1)
LONG = timedelta(hours=5)  # seen unchanged for long enough

OLD = an_authority()
NEW = an_authority()
ELSE = an_authority()
DUE = NOW + AIMS.authority_life * 2 / 3
NONE = Published(exists=True, hooks=published().hooks)


def held(**changed: bytes) -> Held:
    """Read a Secret with one authority and a good certificate, some keys of it changed."""
    data = data_of(OLD, leaf_of=OLD)
    names = {"ca_crt": "ca.crt", "ca_key": "ca.key", "tls_crt": "tls.crt", "tls_key": "tls.key"}
    return read_secret({**data, **{names[key]: value for key, value in changed.items()}})


GOOD = held()
ROTATING = read_secret(data_of(OLD, NEW, leaf_of=OLD))
ROTATED = read_secret(data_of(OLD, NEW, leaf_of=NEW))
BOTH = published(OLD, NEW)


class Case(NamedTuple):
    """What is there, how long after NOW, and what is to come of it."""

    held: Held
    published: Published
    want: type[Step]
    why: str
    after: timedelta = timedelta()
    steady: timedelta = LONG


CASES = {
    "nothing there: an authority and its first certificate at once": Case(
        Held(), NONE, MakeAuthority, "there is no Secret"
    ),
    "an empty Secret that manifests made is filled": Case(
        read_secret({}), NONE, MakeAuthority, "there is no ca.key; there is no tls.crt"
    ),
    "a killed process left caBundle empty: it is written": Case(
        GOOD, NONE, Publish, "webhook pods: its caBundle is empty", steady=timedelta()
    ),
    "all is well": Case(GOOD, published(OLD), Rest, "is renewed at 2026-03-21 10:00:00Z"),
    "all is well, and no webhook configuration yet": Case(
        GOOD, Published(), Rest, "no webhook configuration names it yet"
    ),
    "caBundle was reset to something else: what was there is kept for a while": Case(
        GOOD, published(ELSE), Publish, "webhook pods: it does not trust evencore webhook"
    ),
    "rubbish in caBundle": Case(
        GOOD,
        published(problem="caBundle holds something that is no certificate in PEM"),
        Publish,
        "caBundle holds something that is no certificate",
    ),
    "an authority too many in caBundle is dropped": Case(
        GOOD, published(OLD, ELSE), Publish, "without need"
    ),
    "but not before every replica has heard of the Secret": Case(
        GOOD, published(OLD, ELSE), Wait, "first, everybody is to have heard", steady=SECOND
    ),
    "a second before two thirds of a certificate's life": Case(
        GOOD, published(OLD), Rest, "", after=20 * DAY - SECOND
    ),
    "two thirds of a certificate's life": Case(
        GOOD, published(OLD), IssueLeaf, "two thirds of the serving certificate's", after=20 * DAY
    ),
    "an expired certificate is replaced without waiting": Case(
        GOOD,
        published(OLD),
        IssueLeaf,
        "the serving certificate has expired, 2026-03-31 10:00:00Z",
        after=31 * DAY,
        steady=timedelta(),
    ),
    "a certificate that begins only later: the clock was wrong": Case(
        read_secret(data_of(OLD, leaf_of=OLD, made=NOW + 3 * HOUR)),
        published(OLD),
        IssueLeaf,
        "begins only at 2026-03-01 11:00:00Z; a clock was or is wrong",
    ),
    "the clock is an hour behind": Case(GOOD, published(OLD), Rest, "", after=-HOUR),
    "a certificate for another name": Case(
        read_secret(data_of(OLD, leaf_of=OLD, names=["other.svc"])),
        published(OLD),
        IssueLeaf,
        f"is not for {NAME}",
        steady=timedelta(),
    ),
    "a certificate by an authority that is not there": Case(
        read_secret(data_of(OLD, leaf_of=ELSE)),
        published(OLD),
        IssueLeaf,
        "signed by no authority that is trusted",
    ),
    "a rubbish certificate": Case(
        held(tls_crt=b"rubbish"), published(OLD), IssueLeaf, "tls.crt holds something that is no"
    ),
    "a rubbish key": Case(
        held(tls_key=b"rubbish"), published(OLD), IssueLeaf, "tls.key is no private key in PEM"
    ),
    "the key of another certificate": Case(
        held(tls_key=ELSE.key), published(OLD), IssueLeaf, "tls.key does not belong to tls.crt"
    ),
    "a lost key of the authority: a new one beside it": Case(
        held(ca_key=b""), published(OLD), MakeAuthority, "there is no ca.key"
    ),
    "the key of another authority": Case(
        held(ca_key=ELSE.key), published(OLD), MakeAuthority, "ca.key belongs to no authority"
    ),
    "a rubbish authority": Case(
        held(ca_crt=b"rubbish"), published(OLD), MakeAuthority, "ca.crt holds something that is no"
    ),
    "two thirds of an authority's life: a second one": Case(
        read_secret(data_of(OLD, leaf_of=OLD, made=DUE)),
        published(OLD),
        MakeAuthority,
        "two thirds of the life of the authority",
        after=DUE - NOW,
    ),
    "the second one is trusted first": Case(
        ROTATING, published(OLD), Publish, "it does not trust evencore webhook authority"
    ),
    "and used later": Case(
        ROTATING, BOTH, Wait, "is trusted now, so it can sign; first, ", steady=59 * SECOND
    ),
    "namely now": Case(ROTATING, BOTH, IssueLeaf, "is trusted now", steady=60 * SECOND),
    "never a third one": Case(
        read_secret(data_of(OLD, NEW, leaf_of=OLD, made=DUE)),
        BOTH,
        IssueLeaf,
        "is trusted now",
        after=DUE - NOW,
    ),
    "the old one stays for a day": Case(
        ROTATED, BOTH, Wait, "is trusted until 2026-03-02 10:00:00Z", after=DAY - SECOND
    ),
    "and is dropped then": Case(ROTATED, BOTH, Forget, "since 2026-03-02", after=DAY),
    "though not if a clock jumped there": Case(
        ROTATED, BOTH, Wait, "heard of what is now", after=DAY, steady=SECOND
    ),
    "everything expired: a new authority at once": Case(
        GOOD,
        published(OLD),
        MakeAuthority,
        "has expired, 2027-03-01 10:00:00Z",
        after=366 * DAY,
        steady=timedelta(),
    ),
    "somebody injects caBundle": Case(
        GOOD,
        published(OLD, injector="cert-manager.io/inject-ca-from"),
        HandsOff,
        "the annotation cert-manager.io/inject-ca-from: somebody else fills in caBundle",
    ),
    "the Secret is cert-manager's": Case(
        read_secret({}, "cert-manager"), NONE, HandsOff, "belongs to cert-manager"
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_done_next_and_why(case: Case) -> None:
    step = plan(case.held, case.published, AIMS, NOW + case.after, case.steady)
    assert type(step) is case.want, step
    assert case.why in step.why


def test_the_first_certificate_comes_with_its_authority_only_where_nobody_is_trusted() -> None:
    first = plan(Held(), NONE, AIMS, NOW, LONG)
    later = plan(Held(), published(OLD), AIMS, NOW, LONG)
    assert isinstance(first, MakeAuthority)
    assert isinstance(later, MakeAuthority)
    assert (first.leaf, later.leaf) == (True, False)


def test_an_authority_whose_certificate_is_served_is_kept_beside_its_successor() -> None:
    step = plan(held(ca_key=b""), published(OLD), AIMS, NOW, LONG)
    assert isinstance(step, MakeAuthority)
    assert step.keep == GOOD.authorities


def test_bundles_are_sorted_so_that_they_do_not_flap() -> None:
    one = plan(ROTATING, published(OLD), AIMS, NOW, LONG)
    other = plan(read_secret(data_of(NEW, OLD, leaf_of=OLD)), published(OLD), AIMS, NOW, LONG)
    assert isinstance(one, Publish)
    assert isinstance(other, Publish)
    assert one.bundle == other.bundle
    for order in ((OLD, NEW), (NEW, OLD), (NEW, OLD, NEW)):
        assert isinstance(plan(ROTATING, published(*order), AIMS, NOW, timedelta()), Wait)


CONTRADICTIONS = {
    "no name": ({"names": frozenset()}, "nobody could call"),
    "a certificate that would outlive its authority": ({"leaf_life": 200 * DAY}, "cut short"),
    "an overlap that never ends": ({"overlap": 16 * DAY}, "would never be dropped"),
    "a spread longer than certificates": ({"spread": 6 * DAY}, "before its successor"),
}


@pytest.mark.parametrize(("changed", "words"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_aims_that_contradict_each_other_are_refused(
    changed: dict[str, object], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Aims(**{"names": frozenset({NAME}), **changed})

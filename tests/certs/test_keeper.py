"""The keeper against a store in memory: races, rubbish, wrong clocks, people who undo its work."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from certs_support import AIMS, NOW, Time, World, an_authority, data_of, verifies

from certs.bundle import to_pem
from certs.keeper import TICK_S
from certs.reading import read_certificate
from certs.rotation import MakeAuthority, Publish, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from certs.keeper import Keeper, Seen

DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def planned(world: World, keeper: Keeper) -> Callable[[], float]:
    """Let a keeper look and decide, and act only when told to."""
    seen = keeper.look()
    assert not isinstance(seen, str)
    step = plan(seen.held, seen.published, world.aims, world.time.true, HOUR)
    return lambda: keeper.carry_out(step, seen)


def served_is_trusted(world: World) -> bool:
    data = world.store.secret.data
    return verifies(data["tls.crt"], world.store.bundle, world.time.true)


def test_first_start_makes_one_authority_and_everybody_trusts_it() -> None:
    world = World()
    assert world.settle() == TICK_S
    assert world.store.writes == ["create", "publish"]
    assert world.reasons == ["CertificateAuthorityMade", "TrustPublished"]
    assert served_is_trusted(world)
    assert world.store.bundle == world.held.authorities


@pytest.mark.parametrize("there", ["absent", "empty"])
def test_two_that_start_at_once_end_with_the_authority_of_one(there: str) -> None:
    world = World()
    if there == "empty":
        world.store.put({})
    a, b = world.another(), world.another()
    first, second = planned(world, a), planned(world, b)  # both read before anybody writes
    first()
    authority = world.held.authorities
    second()
    world.settle(b)
    world.settle(a)
    assert world.held.authorities == authority == world.store.bundle
    assert len(world.store.writes) == 2
    assert served_is_trusted(world)


def test_killed_after_the_secret_and_before_the_bundle_the_next_one_completes_it() -> None:
    world = World()
    planned(world, world.keeper)()
    assert world.store.bundle == ()
    world.settle(world.another())
    assert world.store.bundle == world.held.authorities
    assert len(world.store.authorities) == 1


RUBBISH = {
    "everything": dict.fromkeys(("tls.crt", "tls.key", "ca.crt", "ca.key"), b"rubbish"),
    "certificate and key": {"tls.crt": b"rubbish", "tls.key": b"\xff\x00"},
    "a torn certificate": {"tls.crt": b"-----BEGIN CERTIFICATE-----\nMIIB"},
    "a block that is no certificate": {
        "tls.crt": b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    },
    "no keys at all": {"tls.key": b"", "ca.key": b""},
    "authority only": {"ca.crt": b"rubbish"},
}


@pytest.mark.parametrize("rubbish", RUBBISH.values(), ids=RUBBISH)
def test_rubbish_is_replaced_once_by_two_and_what_is_served_stays_trusted(
    rubbish: dict[str, bytes],
) -> None:
    world = World()
    world.settle()
    served = world.store.secret.data["tls.crt"]
    other = world.another()
    world.settle(other)
    world.store.put({**world.store.secret.data, **rubbish})
    world.store.writes.clear()
    for _ in range(40):
        for keeper in (world.keeper, other):
            keeper.step()
            assert verifies(served, world.store.bundle)  # replicas hear of a new one later
            if world.store.secret.data["tls.crt"] != rubbish.get("tls.crt", served):
                assert served_is_trusted(world)
        world.time.true += timedelta(seconds=1)
    assert served_is_trusted(world)
    assert world.store.writes.count("update") <= 2  # an authority, a certificate
    assert len(world.store.authorities) <= 2


def test_a_secret_that_was_deleted_is_made_anew_and_what_is_served_stays_trusted() -> None:
    world = World()
    world.settle()
    served = world.store.secret.data["tls.crt"]
    world.store.secret = world.store.secret._replace(uid="", data={})
    world.settle()
    assert verifies(served, world.store.bundle)
    assert served_is_trusted(world)
    world.live(timedelta(minutes=2), timedelta(seconds=10))
    assert world.store.bundle == world.held.authorities
    assert not verifies(served, world.store.bundle)


def test_who_takes_every_authority_away_is_not_fought() -> None:
    world = World()
    for _ in range(360):  # an hour
        world.store.put({})
        world.keeper.step()
        world.keeper.step()
        world.time.true += timedelta(seconds=TICK_S)
    assert world.reasons.count("CertificateAuthorityMade") <= 10


def test_a_bundle_that_was_reset_is_repaired_at_the_next_look_by_one_write() -> None:
    world = World()
    world.settle()
    world.store.writes.clear()
    world.store.reset()
    world.settle()
    assert world.store.writes == ["publish"]
    assert world.told[-1] == ("TrustPublished", "webhook pods: its caBundle is empty")
    assert served_is_trusted(world)


def test_somebody_elses_order_and_comments_in_the_bundle_are_no_reason_to_write() -> None:
    world = World()
    world.settle()
    text = to_pem(reversed(world.store.bundle)).encode()
    world.store.reset(b"# Subject: evencore\r\n" + text.replace(b"\n", b"\r\n"))
    world.store.writes.clear()
    world.live(2 * HOUR)
    assert world.store.writes == []


def test_with_an_injector_nothing_is_written_and_it_is_said_once() -> None:
    world = World()
    world.store.hooks = world.store.hooks._replace(injector="cert-manager.io/inject-ca-from")
    world.live(3 * HOUR)
    assert world.store.writes == []
    assert world.reasons == ["CertificatesLeftAlone"]
    assert "run us with --certs external" in world.told[0][1]


def test_a_secret_of_cert_manager_is_never_written() -> None:
    world = World()
    world.store.put({"tls.crt": b"rubbish"}, manager="cert-manager")
    world.live(3 * HOUR)
    assert world.store.writes == []
    assert "belongs to cert-manager" in world.told[0][1]


def test_a_leaf_rotation_changes_neither_authority_nor_bundle() -> None:
    world = World()
    world.settle()
    bundle, authorities = world.store.hooks.entries[0].ca_bundle, world.held.authorities
    world.live(45 * DAY)
    assert world.reasons[2:] == ["CertificateIssued", "CertificateIssued"]
    assert world.store.hooks.entries[0].ca_bundle == bundle
    assert world.held.authorities == authorities


def test_a_year_passes_and_the_authority_is_replaced_in_the_right_order() -> None:
    world = World()
    # As in case 47: the authority ends in 29 days, its certificate in 9.
    old = an_authority(NOW - 336 * DAY)
    world.store.put(data_of(old, leaf_of=old, made=NOW - 21 * DAY))
    world.store.reset(old.certificate)
    world.store.authorities = {read_certificate(old.certificate).fingerprint}
    world.live(2 * DAY, timedelta(minutes=10))
    assert world.reasons == [
        "CertificateAuthorityMade",
        "TrustPublished",
        "CertificateIssued",
        "CertificateAuthorityDropped",
        "TrustPublished",
    ]
    assert len(world.store.authorities) == 2
    assert old.certificate.decode() not in world.store.hooks.entries[0].ca_bundle.decode()
    assert "nobody serves under the old authority" in world.told[3][1]
    assert served_is_trusted(world)


@pytest.mark.parametrize("killed_after", [1, 2, 3, 4, 5])
def test_a_rotation_goes_on_where_it_was_after_a_kill_at_any_step(killed_after: int) -> None:
    world = World()
    old = an_authority(NOW - 336 * DAY)
    world.store.put(data_of(old, leaf_of=old, made=NOW))
    world.store.reset(old.certificate)
    for _ in range(3 * 24 * 6):
        if len(world.told) >= killed_after:
            break
        world.keeper.step()
        world.time.true += timedelta(minutes=10)
    world.keeper = world.another()
    world.live(2 * DAY, timedelta(minutes=10))
    assert len(world.store.authorities) == 2  # the one of before it, and one more
    assert len(world.told) == 5
    assert world.store.bundle == world.held.authorities
    assert len(world.store.bundle) == 1
    assert served_is_trusted(world)


def test_after_a_long_sleep_with_everything_expired_all_is_well_within_one_look() -> None:
    world = World()
    world.settle()
    world.time.true += 366 * DAY
    world.settle(world.another())  # no time passes
    assert served_is_trusted(world)
    assert "has expired" in world.told[2][1]


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_jumps_an_hour_costs_nothing(hours: int) -> None:
    world = World()
    world.settle()
    served = world.store.secret.data["tls.crt"]
    world.time.off = hours * HOUR
    world.live(2 * DAY)
    world.time.off = timedelta()
    world.live(HOUR)
    assert world.reasons == ["CertificateAuthorityMade", "TrustPublished"]
    assert world.store.secret.data["tls.crt"] == served
    # What is made while the clock is wrong is valid by the right one.
    other = World()
    other.time = Time(off=hours * HOUR)
    other.settle()
    assert served_is_trusted(other)


def test_what_cannot_be_read_is_waited_for_without_a_write() -> None:
    world = World()
    world.settle()
    world.store.writes.clear()
    world.store.broken = "GET /api/v1/… was answered 503"
    assert world.keeper.step() == TICK_S
    world.store.broken = ""
    world.settle()
    assert world.store.writes == []


def test_a_plan_made_before_somebody_else_wrote_is_not_carried_out() -> None:
    world = World()
    world.settle()
    world.store.reset()
    late: Seen | str = world.keeper.look()
    assert not isinstance(late, str)
    stale = plan(late.held, late.published, AIMS, NOW, HOUR)
    assert isinstance(stale, Publish)
    world.settle(world.another())
    bundle = world.store.hooks
    world.keeper.carry_out(stale, late)
    assert world.store.hooks == bundle
    world.keeper.carry_out(MakeAuthority("for the test", (), leaf=True), late)
    assert len(world.store.authorities) == 2  # the Secret had not changed since: it may


@pytest.mark.parametrize("days", [-90, 90, 3000])
def test_however_far_a_clock_jumps_right_after_a_new_certificate_the_old_one_stays_trusted(
    days: int,
) -> None:
    world = World()
    old = an_authority(NOW - 336 * DAY)
    world.store.put(data_of(old, leaf_of=old, made=NOW))
    world.store.reset(old.certificate)
    served = world.store.secret.data["tls.crt"]
    world.settle()
    world.time.true += AIMS.spread
    world.settle()
    assert world.reasons[-1] == "CertificateIssued"
    world.time.off = days * DAY
    for _ in range(int(AIMS.spread.total_seconds() / TICK_S)):
        world.settle()
        assert verifies(served, world.store.bundle)
        world.time.true += timedelta(seconds=TICK_S)

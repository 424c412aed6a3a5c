"""From the Secret to the webhook's files: what is taken, what is not, what is served meanwhile."""

from __future__ import annotations

import errno
import logging
import os
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from certificates import Authority
from certs_cluster import until
from certs_support import Secret, an_authority, data_of

from certs import usable
from certs.files import Volume
from certs.follower import FIRST_LOOK_S, LOOK_S, Follower, Sources
from certs.pem import Pair
from certs.serving import make_placeholder
from webhook.tls import CertificateFiles, load_context

if TYPE_CHECKING:
    from pathlib import Path

    from certs.usable import Usable

OTHER = Authority()
PLACEHOLDER = make_placeholder(datetime.now(UTC), timedelta(days=1))


class Served:
    """A follower of a Secret that a test writes, and its files, in a process that just started."""

    def __init__(self, directory: Path) -> None:
        self.secret = Secret()
        self.volume = Volume(directory)
        self.volume.prepare()
        self.judged: list[Pair] = []
        self.made: list[Pair | str] = []
        self.follower = Follower(
            Sources(lambda: self.secret, self.judge, self.placeholder), self.volume, "Secret n/s"
        )

    def judge(self, pair: Pair) -> Usable | str:
        self.judged.append(pair)
        return usable.judge(pair, self.volume.directory)

    def placeholder(self) -> Pair | str:
        self.made.append(PLACEHOLDER)
        return PLACEHOLDER

    def begin(self) -> None:
        """Look at the files of before, at the Secret, and see that something is served."""
        self.follower.begin()
        self.follower.look()
        self.follower.provide()

    def put(self, **data: bytes) -> float:
        names = {"crt": "tls.crt", "key": "tls.key"}
        self.secret = Secret(uid="u", data={names[key]: value for key, value in data.items()})
        return self.follower.look()

    def usable(self) -> bool:
        """Tell whether the webhook's own loader takes the files, as it finds them."""
        files = CertificateFiles(self.volume.certificate, self.volume.key).resolve()
        return load_context(files) is not None


@pytest.fixture
def served(tmp_path: Path) -> Served:
    made = Served(tmp_path / "tls")
    made.begin()
    return made


def pair() -> Pair:
    issued = OTHER.issue()
    return Pair(issued.certificate, issued.key)


def test_a_placeholder_is_served_until_there_is_a_certificate(served: Served) -> None:
    assert served.usable()
    assert served.volume.read() == PLACEHOLDER
    assert served.follower.look() == FIRST_LOOK_S
    assert served.follower.missing() == (
        "waiting for the certificate in Secret n/s: there is no such Secret"
    )
    good = pair()
    assert served.put(crt=good.certificate, key=good.key) == LOOK_S
    assert served.follower.missing() is None
    assert served.volume.read() == good


UNUSABLE = {
    "empty": ({"crt": b"", "key": b""}, "there is no tls.crt"),
    "rubbish": ({"crt": b"rubbish", "key": b"rubbish"}, "tls.crt holds something that is no"),
    "no key": ({"crt": OTHER.issue().certificate, "key": b""}, "there is no tls.key"),
    "a torn key": (
        {"crt": OTHER.issue().certificate, "key": OTHER.issue().key[:40]},
        "tls.key is no private key",
    ),
    "halves of two pairs": (
        {"crt": OTHER.issue().certificate, "key": OTHER.issue().key},
        "tls.key does not belong to tls.crt",
    ),
    "a torn chain": (
        {"crt": OTHER.issue().certificate + OTHER.pem.encode()[:99], "key": OTHER.issue().key},
        "tls.crt holds something that is no",
    ),
}


@pytest.mark.parametrize(("data", "why"), UNUSABLE.values(), ids=UNUSABLE)
def test_what_cannot_be_served_never_replaces_what_can_and_is_told_once(
    served: Served, data: dict[str, bytes], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    served.put(**data)
    assert why in (served.follower.missing() or "")  # nothing to keep: not ready
    good = pair()
    served.put(crt=good.certificate, key=good.key)
    caplog.clear()
    for _ in range(5):
        served.put(**data)
    assert served.follower.missing() is None
    assert served.volume.read() == good
    errors = [one.getMessage() for one in caplog.records if one.levelno == logging.ERROR]
    assert len(errors) == 1
    assert why in errors[0]


def test_a_secret_that_goes_or_cannot_be_read_changes_nothing(served: Served) -> None:
    good = pair()
    served.put(crt=good.certificate, key=good.key)
    for gone in (Secret(), Secret(problem="GET … was answered 503")):
        served.secret = gone
        served.follower.look()
        assert served.follower.missing() is None
        assert served.volume.read() == good


def test_a_disk_that_becomes_read_only_keeps_the_old_files_and_is_told(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    good, late = pair(), pair()
    served.put(crt=good.certificate, key=good.key)
    opened = os.open

    def refuse(path: object, flags: int, *rest: int, **more: int) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return opened(path, flags, *rest, **more)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        for _ in range(3):
            served.put(crt=late.certificate, key=late.key)
    assert (served.volume.read(), served.usable()) == (good, True)
    assert caplog.text.count("cannot be written: Read-only file system") == 1
    served.put(crt=late.certificate, key=late.key)
    assert served.volume.read() == late


def test_files_of_before_are_served_until_the_secret_was_read(tmp_path: Path) -> None:
    good = pair()
    Volume(tmp_path).write(good)
    again = Served(tmp_path)
    again.begin()
    assert again.follower.missing() is None
    assert (again.volume.read(), again.made) == (good, [])


def test_a_placeholder_of_before_is_no_certificate_but_will_do_again(tmp_path: Path) -> None:
    Served(tmp_path).begin()
    again = Served(tmp_path)
    again.begin()
    assert again.follower.missing() is not None
    assert (again.volume.read(), again.made) == (PLACEHOLDER, [])


def test_files_of_before_that_are_damaged_are_replaced(tmp_path: Path) -> None:
    Volume(tmp_path).write(pair()._replace(key=b"rubbish"))
    again = Served(tmp_path)
    again.begin()
    assert again.follower.missing() is not None
    assert again.volume.read() == PLACEHOLDER


def test_no_placeholder_is_made_where_the_secret_is_there(tmp_path: Path) -> None:
    started, good = Served(tmp_path / "tls"), pair()
    started.secret = Secret(uid="u", data={"tls.crt": good.certificate, "tls.key": good.key})
    started.follower.start()
    started.follower.provide()
    started.follower.stop()
    assert (started.volume.read(), started.made) == (good, [])
    assert started.follower.missing() is None


def test_a_secret_is_judged_once_until_it_changes(served: Served) -> None:
    good, late, torn = pair(), pair(), pair()._replace(key=b"rubbish")
    served.judged.clear()
    for one in (good, late, torn, good):
        for _ in range(3):
            served.put(crt=one.certificate, key=one.key)
    assert served.judged == [good, late, torn, good]


def test_when_the_certificate_ends_is_known(served: Served) -> None:
    assert served.follower.ends is None
    good = pair()
    served.put(crt=good.certificate, key=good.key)
    ends = served.follower.ends
    assert ends is not None
    assert timedelta(minutes=55) < ends - datetime.now(UTC) < timedelta(hours=1)


def test_a_secret_that_cannot_be_had_in_time_holds_up_no_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("certs.follower.PATIENCE_S", 0.0)
    started, good, asked = Served(tmp_path / "tls"), pair(), threading.Event()

    def slow() -> Secret:
        asked.wait()
        return Secret(uid="u", data={"tls.crt": good.certificate, "tls.key": good.key})

    follower = Follower(
        Sources(slow, started.judge, started.placeholder), started.volume, "Secret n/s"
    )
    follower.start()
    follower.provide()
    assert started.volume.read() == PLACEHOLDER
    asked.set()
    until(lambda: follower.missing() is None, follower.missing)
    follower.stop()
    assert started.volume.read() == good


def test_a_certificate_that_comes_while_a_placeholder_is_made_stays(tmp_path: Path) -> None:
    started, good = Served(tmp_path / "tls"), pair()

    def placeholder() -> Pair:
        started.put(crt=good.certificate, key=good.key)
        return PLACEHOLDER

    sources = Sources(lambda: started.secret, started.judge, placeholder)
    started.follower = Follower(sources, started.volume, "Secret n/s")
    started.begin()
    assert started.volume.read() == good


def test_a_placeholder_that_cannot_be_made_is_tried_again_and_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("certs.follower.FIRST_LOOK_S", 0.0)
    started, tries = Served(tmp_path / "tls"), list[Pair | str](["no", "no", PLACEHOLDER])
    sources = Sources(lambda: started.secret, started.judge, lambda: tries.pop(0))
    started.follower = Follower(sources, started.volume, "Secret n/s")
    started.begin()
    assert started.volume.read() == PLACEHOLDER
    assert caplog.text.count("nothing can be served before Secret n/s is: no") == 1


def test_our_own_certificates_are_taken_too(served: Served) -> None:
    authority = an_authority()
    data = data_of(authority, leaf_of=authority)
    served.put(crt=data["tls.crt"], key=data["tls.key"])
    assert served.follower.missing() is None


def test_a_reader_never_finds_one_half_of_each(tmp_path: Path) -> None:
    volume = Volume(tmp_path / "tls")
    pairs = [pair() for _ in range(8)]
    volume.write(pairs[0])
    done = threading.Event()

    def write() -> None:
        for _ in range(40):
            for one in pairs:
                volume.write(one)
        done.set()

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    torn = looks = 0
    while not done.is_set():
        data = (tmp_path / "tls" / "..data").resolve()
        try:
            found = Pair((data / "tls.crt").read_bytes(), (data / "tls.key").read_bytes())
        except OSError:
            continue  # that one is gone: whoever reads looks again
        looks += 1
        torn += found not in pairs
    for writer in writers:
        writer.join()
    assert looks > 10
    assert torn == 0
    assert volume.read() in pairs
    assert volume.key.stat().st_mode & 0o777 == 0o600

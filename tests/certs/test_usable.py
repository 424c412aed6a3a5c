"""Which pairs can be served, and when they end, beside what a library of cryptography says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from certificates import Authority
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID
from hypothesis import example, given
from hypothesis import strategies as st

from certs.der import ends
from certs.pem import Pair
from certs.reading import read_leaf
from certs.serving import make_placeholder
from certs.usable import Usable, judge

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Format = serialization.PrivateFormat
NOW = datetime.now(UTC).replace(microsecond=0)
KEY = ec.generate_private_key(ec.SECP256R1())
RSA = rsa.generate_private_key(65537, 2048)
WEAK = rsa.generate_private_key(65537, 1024)  # noqa: S505  that is the point
EDWARDS = ed25519.Ed25519PrivateKey.generate()


def certificate(key: Any = KEY, ends: datetime = NOW, units: int = 0) -> x509.Certificate:  # noqa: ANN401  any kind
    """Make one; its name is as long as it has units."""
    unit = x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, "x" * 60)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "x"), *[unit] * units])
    edwards = isinstance(key, ed25519.Ed25519PrivateKey)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(1950, 1, 1, tzinfo=UTC))
        .not_valid_after(ends)
        .sign(key, None if edwards else hashes.SHA256())
    )


def crt(key: Any = KEY, ends: datetime = NOW) -> bytes:  # noqa: ANN401  as above
    return certificate(key, ends).public_bytes(serialization.Encoding.PEM)


def pem(key: Any = KEY, form: Format = Format.PKCS8, password: bytes = b"") -> bytes:  # noqa: ANN401  as above
    locked = serialization.BestAvailableEncryption(password) if password else None
    return key.private_bytes(
        serialization.Encoding.PEM, form, locked or serialization.NoEncryption()
    )


GOOD = {
    "EC": (crt(), pem()),
    "EC, in the older form": (crt(), pem(form=Format.TraditionalOpenSSL)),
    "RSA": (crt(RSA), pem(RSA)),
    "Edwards": (crt(EDWARDS), pem(EDWARDS)),
    "with a chain": (crt() + crt(RSA), pem()),
    "with comments": (b"subject: x\n" + crt() + b"the end\n", b"mine\n" + pem()),
    "with the line ends of others": (crt().replace(b"\n", b"\r\n"), pem()),
    "expired": (crt(ends=NOW - timedelta(days=9)), pem()),
    "for longer than two digits tell": (crt(ends=NOW + timedelta(days=36500)), pem()),
}


@pytest.mark.parametrize(("chain", "key"), GOOD.values(), ids=GOOD)
def test_what_can_be_served_is_taken_with_its_end(chain: bytes, key: bytes, tmp_path: Path) -> None:
    wanted = read_leaf({"tls.crt": chain, "tls.key": key})
    assert not isinstance(wanted, str)
    assert judge(Pair(chain, key), tmp_path) == Usable(wanted.certificate.expires, False)
    assert list(tmp_path.iterdir()) == []


NO_CERTIFICATE = "tls.crt holds something that is no certificate in PEM"
NO_KEY = "tls.key is no private key in PEM without a password"
STRANGERS = "tls.key does not belong to tls.crt"

BAD = {
    "nothing": (b"", b"", "there is no tls.crt"),
    "no key": (crt(), b"", "there is no tls.key"),
    "no certificate": (b"", pem(), "there is no tls.crt"),
    "rubbish": (b"rubbish", b"rubbish", NO_CERTIFICATE),
    "a torn certificate": (crt()[:200], pem(), NO_CERTIFICATE),
    "rubbish in PEM": (
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        pem(),
        NO_CERTIFICATE,
    ),
    "a good one, then rubbish in PEM": (
        crt() + b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        pem(),
        NO_CERTIFICATE,
    ),
    "text beyond ASCII": (crt().replace(b"\n", b"\n\xff", 2), pem(), NO_CERTIFICATE),
    "a key that is none": (crt(), b"rubbish", NO_KEY),
    "a torn key": (crt(), pem()[:-40], NO_KEY),
    "a certificate as key": (crt(), crt(), NO_KEY),
    "a key with a password": (crt(), pem(password=b"x"), NO_KEY),
    "a key with a password, in the older form": (
        crt(),
        pem(form=Format.TraditionalOpenSSL, password=b"x"),
        NO_KEY,
    ),
    "another key": (crt(), pem(ec.generate_private_key(ec.SECP256R1())), STRANGERS),
    "a key of another kind": (crt(), pem(RSA), STRANGERS),
    "a key of another curve": (crt(), pem(ec.generate_private_key(ec.SECP384R1())), STRANGERS),
}


@pytest.mark.parametrize(("chain", "key", "why"), BAD.values(), ids=BAD)
def test_what_cannot_be_served_is_told_as_the_controller_tells_it(
    chain: bytes, key: bytes, why: str, tmp_path: Path
) -> None:
    assert judge(Pair(chain, key), tmp_path) == why
    assert read_leaf({"tls.crt": chain, "tls.key": key}) == why
    assert list(tmp_path.iterdir()) == []


REFUSED = {
    "too weak": (crt(WEAK), pem(WEAK), "tls.crt is refused by OpenSSL: ee key too small"),
    "a chain that breaks off": (crt() + crt()[:99], pem(), NO_CERTIFICATE),
    "indented": (crt().replace(b"\n", b"\n  "), pem(), NO_CERTIFICATE),
}


@pytest.mark.parametrize(("chain", "key", "why"), REFUSED.values(), ids=REFUSED)
def test_what_a_library_reads_but_a_server_cannot_use_is_refused(
    chain: bytes, key: bytes, why: str, tmp_path: Path
) -> None:
    assert why in str(judge(Pair(chain, key), tmp_path))
    assert not isinstance(read_leaf({"tls.crt": chain, "tls.key": key}), str)


def test_a_placeholder_is_known_by_its_name(tmp_path: Path) -> None:
    made = make_placeholder(NOW, timedelta(days=1))
    assert judge(made, tmp_path) == Usable(NOW + timedelta(days=1), True)


def test_a_place_that_takes_no_file_is_an_error_of_that_place(tmp_path: Path) -> None:
    pair = Authority().issue()
    with pytest.raises(FileNotFoundError):
        judge(Pair(pair.certificate, pair.key), tmp_path / "nowhere")


PARTS = st.sampled_from([crt(), crt(RSA), pem(), pem(RSA), pem(password=b"x"), b"\n", b"x"])
DER = certificate().public_bytes(serialization.Encoding.DER)


def torn(parts: list[bytes], at: int) -> bytes:
    whole = b"".join(parts)
    return whole[: at % (len(whole) + 1)] if at else whole


TEXTS = st.builds(torn, st.lists(PARTS, max_size=3), st.just(0) | st.integers(0))


@given(chain=TEXTS | st.binary(), key=TEXTS | st.binary())
def test_of_any_text_it_is_told_what_is_wrong_and_nothing_but_what_serves_is_taken(
    tmp_path_factory: pytest.TempPathFactory, chain: bytes, key: bytes
) -> None:
    found = judge(Pair(chain, key), tmp_path_factory.getbasetemp())
    wanted = read_leaf({"tls.crt": chain, "tls.key": key})
    if isinstance(wanted, str):
        assert isinstance(found, str)
    elif not isinstance(found, str):
        assert found.ends == wanted.certificate.expires


@given(
    st.datetimes(datetime(1950, 1, 2), datetime(9999, 12, 31)),  # noqa: DTZ001  made aware below
    st.sampled_from([0, 1, 2, 3, 4, 900]),
)
@example(datetime(1950, 1, 2), 0)  # noqa: DTZ001  as above
@example(datetime(2049, 12, 31), 0)  # noqa: DTZ001  the last that is written with two digits
@example(datetime(2050, 1, 1), 0)  # noqa: DTZ001  the first that is not
def test_the_end_is_what_the_library_reads(end: datetime, units: int) -> None:
    made = certificate(ends=end.replace(tzinfo=UTC, microsecond=0), units=units)
    der = made.public_bytes(serialization.Encoding.DER)
    assert ends(der) == made.not_valid_after_utc


def changed(at: int, byte: int) -> bytes:
    return DER[: at % len(DER)] + bytes([byte]) + DER[at % len(DER) + 1 :]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda at, _: DER[: at % len(DER)], id="torn"),
        pytest.param(changed, id="one byte is another"),
        pytest.param(lambda at, byte: bytes([byte]) + at.to_bytes(8) + DER, id="something before"),
    ],
)
@given(at=st.integers(0, 2**60), byte=st.integers(0, 255))
def test_what_is_damaged_has_an_end_or_is_no_certificate(
    make: Callable[[int, int], bytes], at: int, byte: int
) -> None:
    try:
        found = ends(make(at, byte))
    except ValueError:
        return
    assert found.tzinfo is not None

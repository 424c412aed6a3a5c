"""The TLS context and its renewal, with handshakes in memory."""

import logging
import os
import ssl
from pathlib import Path

import pytest
from certificates import HOST, Authority, Pair, SecretVolume
from cryptography.hazmat.primitives import serialization

from webhook.gunicorn_conf import Server, Serving
from webhook.tls import CertificateError, CertificateFiles, CurrentContext, load_context


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def volume(tmp_path: Path, authority: Authority) -> SecretVolume:
    """Mount a Secret with a certificate in it."""
    volume = SecretVolume(tmp_path / "tls")
    volume.write(authority.issue())
    return volume


def files_of(volume: SecretVolume) -> CertificateFiles:
    return CertificateFiles(volume.certificate, volume.key)


class Handshake:
    """A handshake between a server context and a client, in memory."""

    def __init__(
        self, server: ssl.SSLContext, authority: Authority, name: str | None = HOST
    ) -> None:
        self.context = ssl.create_default_context(cadata=authority.pem)
        self.context.check_hostname = name is not None
        self._name = name
        self._server = server

    def run(self) -> ssl.SSLObject:
        """Finish it; the client's side. Raises ssl.SSLError when it fails."""
        to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = self.context.wrap_bio(to_client, to_server, server_hostname=self._name)
        server = self._server.wrap_bio(to_server, to_client, server_side=True)
        unfinished = [client, server]
        for _ in range(10):
            for side in list(unfinished):
                try:
                    side.do_handshake()
                    unfinished.remove(side)
                except ssl.SSLWantReadError:
                    pass
        assert not unfinished
        return client


def serial(server: ssl.SSLContext, authority: Authority, name: str | None = HOST) -> str:
    """Tell which certificate a new connection sees."""
    certificate = Handshake(server, authority, name).run().getpeercert()
    assert certificate is not None
    return str(certificate["serialNumber"])


def test_a_context_speaks_http_1_1_only(volume: SecretVolume, authority: Authority) -> None:
    handshake = Handshake(load_context(files_of(volume)), authority)
    handshake.context.set_alpn_protocols(["h2", "http/1.1"])
    assert handshake.run().selected_alpn_protocol() == "http/1.1"


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_tls_1_2_and_1_3_are_spoken(
    volume: SecretVolume, authority: Authority, version: ssl.TLSVersion
) -> None:
    handshake = Handshake(load_context(files_of(volume)), authority)
    handshake.context.minimum_version = handshake.context.maximum_version = version
    client = handshake.run()
    assert client.version() == version.name.replace("_", ".")


def test_older_tls_is_not_offered(volume: SecretVolume) -> None:
    assert load_context(files_of(volume)).minimum_version == ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize("name", [HOST, None], ids=["with SNI", "without SNI"])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_the_base_context_gives_new_connections_the_new_certificate(
    volume: SecretVolume, authority: Authority, name: str | None, version: ssl.TLSVersion
) -> None:
    current = CurrentContext(files_of(volume))
    for _ in range(3):
        pair = authority.issue()
        volume.write(pair)
        assert current.refresh()
        handshake = Handshake(current.base, authority, name)
        handshake.context.maximum_version = handshake.context.minimum_version = version
        certificate = handshake.run().getpeercert()
        assert certificate is not None
        assert certificate["serialNumber"] == pair.serial


def test_files_are_loaded_once_and_not_again_until_they_change(volume: SecretVolume) -> None:
    loaded = []

    def load(files: CertificateFiles) -> ssl.SSLContext:
        loaded.append(files)
        return load_context(files)

    current = CurrentContext(files_of(volume), load)
    assert len(loaded) == 1
    loaded.clear()
    before = current.current
    assert not current.refresh()
    assert not current.refresh()
    assert (loaded, current.current) == ([], before)


def test_a_worker_serves_what_the_files_hold_when_it_starts(
    volume: SecretVolume, authority: Authority
) -> None:
    files = files_of(volume)
    serving = Serving(bind=("127.0.0.1:0",), certificate=files.certificate, key=files.key)
    # Read before the fork; a worker may start again weeks later.
    server = Server(serving, lambda: pytest.fail("no worker starts"), CurrentContext(files))
    fresh = authority.issue()
    volume.write(fresh)
    assert serial(server.cfg.ssl_context(server.cfg, None), authority) == fresh.serial


def test_plain_files_written_in_place_are_noticed(tmp_path: Path, authority: Authority) -> None:
    files = CertificateFiles(tmp_path / "tls.crt", tmp_path / "tls.key")
    first, second = authority.issue(), authority.issue()
    write(files, first, first)
    current = CurrentContext(files)
    write(files, second, second)
    assert current.refresh()
    assert serial(current.base, authority) == second.serial


def test_files_are_loaded_from_their_real_directory(
    volume: SecretVolume, authority: Authority
) -> None:
    seen: list[CertificateFiles] = []

    def load(files: CertificateFiles) -> ssl.SSLContext:
        seen.append(files)
        return load_context(files)

    CurrentContext(files_of(volume), load)
    for files in seen:
        assert files.certificate.parent == files.key.parent
        assert files.certificate.parent.name == "..1"
    volume.write(authority.issue())
    assert files_of(volume).resolve().key.parent.name == "..2"


def test_a_swap_between_two_looks_gives_no_mixed_pair(
    volume: SecretVolume, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve = Path.resolve

    def resolve_then_swap(path: Path, *, strict: bool = False) -> Path:
        real = resolve(path, strict=strict)
        monkeypatch.undo()
        volume.write(authority.issue())
        return real

    monkeypatch.setattr(Path, "resolve", resolve_then_swap)
    pair = files_of(volume).resolve()
    assert pair.certificate.parent == pair.key.parent


def test_links_without_a_data_directory_are_followed_one_by_one(
    tmp_path: Path, authority: Authority
) -> None:
    pair = authority.issue()
    archive = CertificateFiles(tmp_path / "fullchain7.pem", tmp_path / "privkey7.pem")
    write(archive, pair, pair)
    links = CertificateFiles(tmp_path / "tls.crt", tmp_path / "tls.key")
    links.certificate.symlink_to(archive.certificate)
    links.key.symlink_to(archive.key)
    assert links.resolve() == archive
    assert serial(CurrentContext(links).base, authority) == pair.serial


def write(files: CertificateFiles, certificate: Pair, key: Pair) -> None:
    files.certificate.write_bytes(certificate.certificate)
    files.key.write_bytes(key.key)


def encrypted(pair: Pair) -> bytes:
    key = serialization.load_pem_private_key(pair.key, None)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )


def damage(volume: SecretVolume, authority: Authority, how: str) -> None:
    old, new = authority.issue(), authority.issue()
    match how:
        case "key of another pair":
            volume.write(Pair(new.certificate, old.key, ""))
        case "half a certificate":
            volume.write(Pair(new.certificate[: len(new.certificate) // 2], new.key, ""))
        case "empty key":
            volume.write(Pair(new.certificate, b"", ""))
        case "encrypted key":
            volume.write(Pair(new.certificate, encrypted(new), ""))
        case "no directory":
            volume.key.parent.rename(volume.key.parent.with_name("elsewhere"))
        case "links in a circle":
            data = volume.key.parent / "..data"
            data.unlink()
            data.symlink_to(data.name)
        case "a pipe":
            key = volume.key.resolve()
            key.unlink()
            os.mkfifo(key)


DAMAGE = {
    "key of another pair": r"tls\.key does not belong to the certificate .*tls\.crt; write both",
    "half a certificate": r"tls\.crt and .*tls\.key are not a certificate and its key in PEM",
    "empty key": r"tls\.crt and .*tls\.key are not a certificate and its key in PEM",
    "encrypted key": r"tls\.key is encrypted; store it without a password",
    "no directory": r"cannot find .*tls\.crt and .*tls\.key \(No such file .*\); mount",
    "links in a circle": r"cannot find .*tls\.crt and .*tls\.key \(.*\.\.data.*\); mount",
    "a pipe": r"tls\.key is a pipe; a file is needed",
}


@pytest.mark.parametrize("how", DAMAGE)
def test_unusable_files_are_refused_at_the_start(
    volume: SecretVolume, authority: Authority, how: str
) -> None:
    damage(volume, authority, how)
    with pytest.raises(CertificateError, match=DAMAGE[how]):
        CurrentContext(files_of(volume))


@pytest.mark.parametrize("how", DAMAGE)
def test_unusable_files_keep_the_old_certificate_and_are_told_once(
    volume: SecretVolume, authority: Authority, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    current = CurrentContext(files_of(volume))
    before = serial(current.base, authority)
    damage(volume, authority, how)
    for _ in range(5):
        assert not current.refresh()
    assert serial(current.base, authority) == before
    (record,) = caplog.records
    assert record.getMessage().startswith("the old certificate stays in use: ")
    assert record.levelname == "ERROR"

    if how not in {"no directory", "links in a circle"}:
        good = authority.issue()
        volume.write(good)
        assert current.refresh()
        assert serial(current.base, authority) == good.serial


def test_files_that_come_back_unchanged_end_the_failure(
    tmp_path: Path, authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    files = CertificateFiles(tmp_path / "tls.crt", tmp_path / "tls.key")
    pair = authority.issue()
    write(files, pair, pair)
    current = CurrentContext(files)
    aside = tmp_path / "aside"
    for _ in range(2):
        files.key.rename(aside)
        assert not current.refresh()
        aside.rename(files.key)
        current.refresh()
    assert len(caplog.records) == 2


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, authority: Authority) -> None:
    files = CertificateFiles(tmp_path / "tls.crt", tmp_path / "tls.key")
    pair = authority.issue()
    write(files, pair, pair)
    files.key.unlink()
    files.key.mkdir()
    with pytest.raises(CertificateError, match=r"cannot read .*tls\.key: Is a directory; mount"):
        load_context(files)


def test_files_that_are_swapped_at_the_very_start_are_looked_at_again(
    volume: SecretVolume, authority: Authority
) -> None:
    fresh = authority.issue()
    loads = []

    def load(files: CertificateFiles) -> ssl.SSLContext:
        if not loads:
            volume.write(fresh)  # removes the files that were to be loaded
        loads.append(files)
        return load_context(files)

    current = CurrentContext(files_of(volume), load)
    assert serial(current.base, authority) == fresh.serial

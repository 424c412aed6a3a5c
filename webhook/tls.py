"""The server's TLS context, renewed while it serves.

A context that is in use is never changed: loading a new certificate into it is not atomic, and a
handshake in between meets the new certificate with the old key. Files that changed become a new
context, published in one assignment; connections that live keep the old one.

Not for: making certificates or writing files.
"""

import logging
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

logger = logging.getLogger(__name__)

# What tells one version of the files from another: path, inode, times and size of each.
Version = tuple[tuple[str, int, int, int, int], ...]


class CertificateError(Exception):
    """The certificate files cannot be used; the message says which, why, and what to do."""


class CertificateFiles(NamedTuple):
    """Where the certificate chain and its private key are, both PEM."""

    certificate: Path
    key: Path

    def resolve(self) -> "CertificateFiles":
        """Follow the links, both files in the same step where that is possible.

        The kubelet swaps a whole Secret by renaming the link `..data`, to which the files are
        links. Resolving each file alone could take the certificate before and the key after.
        Raises OSError when a file does not exist.
        """
        together = self.key.parent == self.certificate.parent
        if together and _in_data(self.certificate) and _in_data(self.key):
            data = (self.certificate.parent / "..data").resolve(strict=True)
            return CertificateFiles(data / self.certificate.name, data / self.key.name)
        return CertificateFiles(
            self.certificate.resolve(strict=True), self.key.resolve(strict=True)
        )

    def version(self) -> Version:
        """Fingerprint of the files as they are now, without reading them. Raises OSError."""
        return _stat(self.certificate), _stat(self.key)


def load_context(files: CertificateFiles) -> ssl.SSLContext:
    """Build a server context from the files: TLS 1.2 or newer, HTTP/1.1 only.

    Raises CertificateError when they cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # The API server speaks HTTP/1.1 to webhooks, whatever a server offers.
    context.set_alpn_protocols(["http/1.1"])
    # No resumption: the API server never resumes, and a resumed session would keep an old
    # certificate in use. It also saves the two tickets after every handshake.
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
    context.num_tickets = 0
    try:
        for file in (files.certificate, files.key):
            if file.is_fifo():  # reading it would wait for ever, and every admission with it
                raise CertificateError(f"{file} is a pipe; a file is needed")
            file.read_bytes()  # load_cert_chain does not say which of the two it could not read
        context.load_cert_chain(files.certificate, files.key, password=_no_password(files.key))
    except ssl.SSLError as error:
        raise CertificateError(_explain(files, error)) from error
    except OSError as error:
        raise CertificateError(
            f"cannot read {error.filename}: {error.strerror}; mount the certificate there, "
            "readable for this process"
        ) from error
    return context


class CurrentContext:
    """The newest good context, and a `base` for servers that take one context for ever.

    `base` chooses the current one for each handshake, with and without SNI. Call `refresh` about
    once a second: it costs a few `stat` calls. Raises CertificateError when there is no usable
    certificate to begin with.
    """

    def __init__(
        self,
        files: CertificateFiles,
        load: Callable[[CertificateFiles], ssl.SSLContext] = load_context,
    ) -> None:
        self._files = files
        self._load = load
        self._failure: str | None = None
        try:
            self.base, self._version = self._begin()
        except CertificateError:
            # As in `refresh`: they may be swapped under our hands at the very start.
            self.base, self._version = self._begin()
        self._current = self.base  # for reading a key takes milliseconds, and nobody is served yet
        self.base.sni_callback = self._choose

    @property
    def current(self) -> ssl.SSLContext:
        """The context of the next handshake."""
        return self._current

    def refresh(self) -> bool:
        """Look at the files; publish a new context if they changed. True if it did.

        On any failure the old context stays in use and the next call tries again.
        """
        try:
            return self._renew()
        except CertificateError:
            # Files that are swapped under our hands look damaged: judge by a second look.
            try:
                return self._renew()
            except CertificateError as error:
                self._report(str(error))
                return False

    def _begin(self) -> tuple[ssl.SSLContext, Version]:
        real, version = self._look()
        return self._load(real), version

    def _renew(self) -> bool:
        real, version = self._look()
        if version == self._version:
            self._failure = None
            return False
        self._current = self._load(real)
        self._version, self._failure = version, None
        logger.info("new connections get the new certificate from %s", self._files.certificate)
        return True

    def _look(self) -> tuple[CertificateFiles, Version]:
        try:
            real = self._files.resolve()
            # Before they are read: files that change meanwhile count as changed again.
            return real, real.version()
        except (OSError, RuntimeError) as error:  # the latter for a circle of links, until 3.13
            reason = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) else error
            raise CertificateError(
                f"cannot find {self._files.certificate} and {self._files.key} "
                f"({reason}); mount the certificate there"
            ) from error

    def _choose(self, connection: ssl.SSLObject, _name: str | None, _base: ssl.SSLContext) -> None:
        connection.context = self._current

    def _report(self, failure: str) -> None:
        if failure != self._failure:  # once per failure, not once per second
            self._failure = failure
            logger.error("the old certificate stays in use: %s", failure)


def _in_data(file: Path) -> bool:
    return file.is_symlink() and file.readlink() == Path("..data") / file.name


def _stat(path: Path) -> tuple[str, int, int, int, int]:
    status = path.stat()
    return str(path), status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size


def _no_password(key: Path) -> Callable[[], str]:
    """Stop OpenSSL from asking a terminal for the password of an encrypted key."""

    def refuse() -> str:
        raise CertificateError(f"the key {key} is encrypted; store it without a password")

    return refuse


def _explain(files: CertificateFiles, error: ssl.SSLError) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return (
            f"the key {files.key} does not belong to the certificate {files.certificate}; "
            "write both from the same pair"
        )
    return (
        f"{files.certificate} and {files.key} are not a certificate and its key in PEM: "
        f"{error.reason or error}; write both anew"
    )

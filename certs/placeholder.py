"""What is served before there is a certificate: made by a process of its own.

Probes are answered with it, and do not verify; API servers do not trust it. It takes cryptography,
which whoever serves would keep for good: so a process makes it, writes it to its output and ends.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from certs.pem import Pair

if TYPE_CHECKING:
    from collections.abc import Sequence

PATIENCE_S: Final = 10.0
"""A tenth of a second is usual; gunicorn gives a worker thirty to begin."""

_LIFE: Final = timedelta(days=365)
_KEY: Final = b"-----BEGIN PRIVATE KEY-----"


def make(command: Sequence[str] = (), patience_s: float = PATIENCE_S) -> Pair | str:
    """Have one made; a sentence if that fails.

    Nothing of it is on a command line, in the environment or in a file, and the process has none
    of our open files but pipes. `command`: what is run instead, for tests.
    """
    # -P and our own path: the same code is imported, wherever we were started from and are now.
    command = command or (sys.executable, "-P", "-m", "certs.placeholder")
    path = os.pathsep.join(filter(None, sys.path))
    try:
        done = subprocess.run(  # noqa: S603  our own command
            command,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=patience_s,
            check=False,
        )
    except OSError as error:
        return _failed(f"cannot be started: {error.strerror}")
    except subprocess.TimeoutExpired:
        return _failed(f"gave no answer within {patience_s:g} s")
    if done.returncode < 0:
        return _failed(f"was ended by {signal.Signals(-done.returncode).name}")
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return _failed(f"ended with {done.returncode}: {said[:200]}")
    certificate, begins, key = done.stdout.partition(_KEY)
    if not certificate or not begins:
        return _failed("answered with something that is no certificate and its key")
    return Pair(certificate, begins + key)


def _failed(how: str) -> str:
    return (
        f"the process that makes a placeholder {how}; look at this container's limits of memory "
        "and processes, and whether evencore is installed as a whole"
    )


def _main() -> None:
    from certs.serving import make_placeholder  # noqa: PLC0415  it is what others keep clear of

    made = make_placeholder(datetime.now(UTC), _LIFE)
    sys.stdout.buffer.write(made.certificate + made.key)


if __name__ == "__main__":
    _main()

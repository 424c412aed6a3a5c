"""What gunicorn has to say, through the standard `logging` like everything else.

gunicorn's own logger is for its files, formats, syslog and access log, none of which we have; it
brings along what reads configurations of logs, sockets and `pickle`. Its documentation allows any
class that has the same methods.
"""

import logging
from typing import Any


class StandardLogger(logging.LoggerAdapter[logging.Logger]):
    """gunicorn's logger: records go to the root logger's handlers. Nothing is opened or closed."""

    access_log_enabled = False  # one line per admission is logged elsewhere

    def __init__(self, cfg: Any) -> None:  # noqa: ANN401 - gunicorn's signature, it has no types
        super().__init__(logging.getLogger("gunicorn.error"))
        self.cfg = cfg
        self.setLevel(logging.INFO)  # below are lines for gunicorn's authors

    def setup(self, cfg: Any) -> None:  # noqa: ANN401 - as above
        """Take the settings after a SIGHUP."""
        self.cfg = cfg

    def access(self, *_: object) -> None:
        """Do nothing: see `access_log_enabled`."""

    def reopen_files(self) -> None:
        """Do nothing: there are none."""

    def close_on_exec(self) -> None:
        """Do nothing: as above."""

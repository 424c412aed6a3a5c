"""Where the command begins: `evencore`, and `python -m evencore`.

The rest takes some tenths of a second to import. Who presses Ctrl-C meanwhile gets the exit status
of an interrupted command, as later on (`terminal.Group`), and no traceback.
"""

from __future__ import annotations

import sys


def run() -> None:
    """Run the command line."""
    try:
        from evencore.cli import main  # noqa: PLC0415  the import is what may be interrupted
    except KeyboardInterrupt:
        sys.exit(130)
    main()


if __name__ == "__main__":
    run()

"""The command line: which commands there are.

Each is imported when it is asked for, so `evencore --help` is quick and a process pays only for
what it uses. The modules named here are, with `*_wiring`, the composition root: only there are
parts put together.
"""

from __future__ import annotations

from typing import Final

import click

from evencore.lasting import lasting
from evencore.terminal import Group

_FOR_ADMINS: Final = ("certs", "doctor", "nodes", "rejections", "simulate", "uninstall")
_ALL: Final = (*_FOR_ADMINS, "cluster", "controller", "explain", "webhook")


class _Commands(Group):
    """Imports a command for who asks for it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all commands."""
        return sorted([*super().list_commands(ctx), *_ALL])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Give a command by its name."""
        with lasting():
            return _imported(cmd_name) or super().get_command(ctx, cmd_name)


def _imported(name: str) -> click.Command | None:
    if name == "webhook":
        from evencore.webhook_command import webhook

        return webhook
    if name == "controller":
        from evencore.controller_command import controller

        return controller
    if name == "explain":
        from evencore.explain_wiring import COMMAND

        return COMMAND
    if name == "cluster":
        from simulator.command import cluster

        return cluster
    if name in _FOR_ADMINS:
        from evencore.admin import COMMANDS

        return COMMANDS[name]
    return None


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="evencore")
def main() -> None:
    """Kubernetes pods that pin CPUs get pinned, and rejected pods no longer loop."""

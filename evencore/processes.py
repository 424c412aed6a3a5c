"""What `evencore webhook` and `evencore controller` have in common: options, and how they begin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from evencore.terminal import fail

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

C = TypeVar("C", bound="Callable[..., Any]")

FILE: Final = click.Path(dir_okay=False)

_OPTIONS: Final = (
    click.option("--policy", type=FILE, help="Policy file (YAML); the same for both processes."),
    click.option(
        "--kubeconfig",
        type=FILE,
        help="How to reach the cluster.  [default: in-cluster, else as kubectl]",
    ),
    click.option("--context", metavar="NAME", help="Context of the kubeconfig."),
    click.option(
        "--namespace",
        metavar="NAME",
        help="Our own namespace, which never takes part; Lease and Secret are there.  "
        "[default: evencore-system]",
    ),
    click.option(
        "--log-level", metavar="LEVEL", help="debug, info, warning or error.  [default: info]"
    ),
    click.option("--log-format", metavar="FORMAT", help="auto, console or json.  [default: auto]"),
)


def common_options(command: C) -> C:
    """Add the options that both processes have, after their own."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def all_of(
    *steps: Callable[[], Any],
    raising: tuple[type[Exception], ...],
    wrong: Iterable[str] = (),
) -> list[Any]:
    """Return what all steps return; ends the process with the problems of all that fail.

    `raising`: what steps raise for them, with a line each. `wrong`: those that are known before.
    """
    results, problems = [], list(wrong)
    for step in steps:
        try:
            results.append(step())
        except raising as error:
            problems += str(error).splitlines()
    if problems:
        fail(problems)
    return results

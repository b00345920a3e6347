"""`understudy completion`: the script that teaches a shell to complete our commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command(name="completion", short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a SHELL, as in: eval "$(understudy completion bash)"."""
    from understudy.cli.app import understudy

    found = get_completion_class(shell)
    assert found is not None  # the choices above are those that click knows
    click.echo(found(understudy, {}, "understudy", "_UNDERSTUDY_COMPLETE").source())

"""The command itself: which verbs there are, and how every failure becomes one sentence and an exit code.

0 done; 1 the input cannot be used; 2 the command was misspelt; 130 interrupted. A verb lives in the module of its name
and is loaded when it is called; numpy and everything heavier is loaded inside the verbs, so `--help` answers at once.

`understudy completion`: the script that teaches a shell to complete our commands.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click
from click.shell_completion import get_completion_class

from understudy import __version__
from understudy.errors import UnderstudyError, spelling_hint

HOMES = {"bake": "convert", "completion": "app", "skin": "deform"}  # verbs that live in the module of another name
VERBS = (
    *("demo", "studio", "info", "convert", "bake", "render", "learn", "perform", "express", "transfer"),
    *("edit", "reduce", "skin", "bench", "completion"),
)


class VerbGroup(click.Group):
    """The verbs, each imported when it is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        module = importlib.import_module(f"understudy.cli.{HOMES.get(name, name)}")
        command: click.Command = getattr(module, f"{name}_command", None) or module.command
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that was asked for; one that does not exist is answered with the one that is nearest."""
        if arguments and arguments[0] not in VERBS and not arguments[0].startswith("-"):
            context.fail(f"No such command {arguments[0]!r}{spelling_hint(arguments[0], VERBS)}.")
        return super().resolve_command(context, arguments)


@click.command(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="understudy")
def understudy() -> None:
    """Make new character animation out of animation that already exists.

    INPUT is a file (glTF, USD, BVH, ASF/AMC, C3D, OBJ, Live Link CSV, npz), a folder of such files, or the name of a
    built-in character: dragon, lamp, penguin, squirrel, actor or face.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run with the given arguments (or the process's own); returns the exit code and never raises."""
    out = sys.stdout
    try:
        # a verb that exits early makes click return the exit code here
        return understudy.main(arguments, prog_name="understudy", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except UnderstudyError as error:
        return _fail(str(error))
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return 130
    except (BrokenPipeError, SystemExit):
        # click exits, with another standard output, where the reader (head, less) went away
        if sys.stdout is out and sys.exc_info()[0] is SystemExit:
            raise
        # nothing more to say, and nothing to flush at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        return 141
    except MemoryError:
        return _fail("there is not enough memory for this")
    except OSError as error:
        return _fail(f"{error.filename or 'a file'}: {error.strerror or error}")


def _fail(sentence: str) -> int:
    click.echo(f"error: {' '.join(sentence.split())}", err=True)
    return 1


@click.command(name="completion", short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the completion script of a SHELL, as in: eval "$(understudy completion bash)"."""
    pass

    found = get_completion_class(shell)
    assert found is not None  # the choices above are those that click knows
    click.echo(found(understudy, {}, "understudy", "_UNDERSTUDY_COMPLETE").source())

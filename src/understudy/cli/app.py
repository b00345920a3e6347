"""The command `understudy`: its verbs, and one sentence and an exit code for every failure.

Exit codes: 0 done; 1 the input cannot be used; 2 the command line is wrong; 130 interrupted; 143 terminated. A verb
lives in the module of its name and is imported when it is called; NumPy and everything heavier is imported inside the
verbs, so that `--help` answers at once. `understudy completion` prints the completion script of a shell.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import click
from click.shell_completion import get_completion_class

from understudy import __version__
from understudy.errors import UnderstudyError, shorten_quotes, spelling_hint

VERB_MODULES = {"bake": "convert", "completion": "app", "skin": "deform"}  # verbs in a module of another name
VERBS = (
    *("demo", "studio", "info", "convert", "bake", "render", "learn", "perform", "express", "transfer"),
    *("edit", "reduce", "skin", "bench", "completion"),
)
TRACEBACK_VARIABLE = "UNDERSTUDY_TRACEBACK"


class VerbGroup(click.Group):
    """The verbs, each imported when it is called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        module = importlib.import_module(f"understudy.cli.{VERB_MODULES.get(name, name)}")
        command: click.Command = getattr(module, f"{name}_command", None) or module.command
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb of the command line; an unknown one is refused with the nearest spelling."""
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
    """Run with these arguments, or with those of the process; returns the exit code."""
    out = sys.stdout
    try:
        # click returns the exit code of a verb that exits early
        return understudy.main(arguments, prog_name="understudy", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except UnderstudyError as error:
        return _fail(str(error))
    except (KeyboardInterrupt, click.Abort) as error:  # click wraps the first in the second
        terminated = isinstance(error.__cause__ or error, Terminated)
        click.echo("terminated" if terminated else "interrupted", err=True)
        return 143 if terminated else 130
    except (BrokenPipeError, SystemExit):
        # click replaces standard output and exits if the reader (head, less) has closed the pipe
        if sys.stdout is out and sys.exc_info()[0] is SystemExit:
            raise
        # nothing is left to print or to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        return 141
    except MemoryError:
        return _fail("there is not enough memory for this")
    except OSError as error:
        return _fail(f"{error.filename or 'a file'}: {error.strerror or error}")
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        what = f"{type(error).__name__} in {where}: {shorten_quotes(str(error))}"
        report = f"Please report it, with the file if you can; {TRACEBACK_VARIABLE}=1 prints the traceback"
        return _fail(f"this failed in a way that was not foreseen: {what}. {report}")


class Terminated(KeyboardInterrupt):
    """SIGTERM, as a container or a cluster sends it: whatever Ctrl+C cleans up is cleaned up."""


def terminate(number: int, frame: FrameType | None) -> None:
    """The handler of SIGTERM."""
    raise Terminated


def _fail(sentence: str) -> int:
    click.echo(f"error: {' '.join(sentence.split())}", err=True)
    return 1


@click.command(name="completion", short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the completion script of a SHELL, as in: eval "$(understudy completion bash)"."""
    completion = get_completion_class(shell)
    assert completion is not None  # click knows all choices above
    click.echo(completion(understudy, {}, "understudy", "_UNDERSTUDY_COMPLETE").source())

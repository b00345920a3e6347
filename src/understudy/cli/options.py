"""Options that several verbs share, and the parts of a verb that are the same everywhere."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.errors import Unsupported
from understudy.opening import is_model

if TYPE_CHECKING:
    from understudy.character import Asset

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Finite(click.FloatRange):
    """A number in a range; unlike click's own, it lets no nan through, and no infinity where there is no bound."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        number = super().convert(value, param, context)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, context)
        return number

    def _describe_range(self) -> str:
        """What help says; click would write x<=None where there is no bound."""
        return "" if self.min is None and self.max is None else super()._describe_range()


quiet = click.option("-q", "--quiet", is_flag=True, help="Print results and errors only.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
clip = click.option("--clip", metavar="NAME", help="Which clip; the first by default.")
character = click.option("--character", metavar="NAME", help="Which character of the file; all by default.")
rate = click.option(
    "--rate", type=Finite(0.01, 10_000), metavar="R", help="Frames a second; the clip's own by default."
)
scale = click.option(
    "--scale",
    type=Finite(1e-9, 1e9),
    metavar="M",
    help="Metres per unit of a BVH or ASF file; guessed by default.",
)
skeleton = click.option(
    "--skeleton",
    type=click.Path(dir_okay=False),
    metavar="ASF",
    help="The skeleton of an AMC file; found beside it by default.",
)
source_format = click.option(
    "--from",
    "source_format",
    metavar="FORMAT",
    help="The format of standard input, as in: cat x.bvh | understudy info - --from bvh",
)


def output(required: bool = True, help: str = "The file to write; - for standard output.") -> Decorator:
    """-o OUT."""
    return click.option("-o", "--output", required=required, type=click.Path(), metavar="OUT", help=help)


def echo_json(value: Any) -> None:
    """JSON on standard output."""
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    click.echo(json.dumps(value, indent=2, ensure_ascii=plain))


def echo_notes(notes: Iterable[str], quiet: bool) -> None:
    """Notes on standard error, so that results can be piped."""
    if not quiet:
        for note in notes:
            click.echo(f"note: {note}", err=True)


def open_input(name: str, source_format: str | None = None, many: bool = False, **options: Any) -> Asset:
    """The asset of a file, of standard input (`-` with --from), or of a built-in character.

    One of `many` files takes only those options that its format knows; a single file refuses the others.
    """
    if name == "-":
        return _from_standard_input(source_format, options)
    path = Path(name)
    if not path.exists() and not path.suffix and path.parent == Path():
        from understudy import cast
        from understudy.errors import BadFile

        if name not in cast.names():
            built_in = ", ".join(cast.names())
            raise BadFile(name, f"there is no such file, and no built-in character of that name ({built_in})")
        return cast.load(name)
    from understudy import formats

    if is_model(path):
        raise Unsupported(path, "is what was learned: `perform` or `express act` plays it, `info` says what it holds")
    if many:
        options = {option: value for option, value in options.items() if option in formats.by_ending(path).options}
    return formats.read(path, **options)


def _from_standard_input(source_format: str | None, options: dict[str, Any]) -> Asset:
    import tempfile

    from understudy import files, formats
    from understudy.errors import FileError

    if not source_format:
        raise click.UsageError("reading standard input needs --from FORMAT, for example --from bvh")
    name = f"stdin.{source_format.lstrip('.')}"
    if not formats.readable(name) or Path(name).name != name:
        raise click.UsageError(f"--from {source_format} is not a format that understudy reads; try --from bvh")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(sys.stdin.buffer.read(files.LARGEST_FILE + 1))
        try:
            return formats.read(path, **options)
        except FileError as error:  # nobody knows the temporary name
            raise type(error)("standard input", error.reason, error.place) from error


@contextmanager
def output_file(name: str, ending: str) -> Iterator[Path]:
    """The path to write to; for `-` a temporary file that is then copied to standard output."""
    if name != "-":
        yield Path(name)
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "stdout").with_suffix(ending)
        yield path
        sys.stdout.buffer.write(path.read_bytes())


def inputs(name: str) -> list[str]:
    """The input itself, or the readable files below it where it is a folder."""
    if name == "-" or not Path(name).is_dir():
        return [name]
    from understudy import formats
    from understudy.errors import BadFile

    found = [str(path) for path in sorted(Path(name).rglob("*")) if path.is_file() and formats.readable(path)]
    if not found:
        raise BadFile(name, "this folder holds no file that understudy reads")
    return found


@contextmanager
def progress(what: str, quiet: bool, counted: bool = True) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error with what is done, how far it is and how long it takes; call it with (done, total).

    Where the numbers mean nothing to people (`counted` False), it shows a percentage instead of them.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn() if counted else TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)

"""Options and helpers that several verbs share: inputs, outputs, JSON, notes, progress, and batches of inputs."""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.errors import InvalidInput, UnderstudyError, Unsupported
from understudy.perform.pose_model import is_model

if TYPE_CHECKING:
    from understudy.character import Asset

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Finite(click.FloatRange):
    """A finite number in a range; click's own type accepts nan, and infinity without bounds."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        number = super().convert(value, param, context)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, context)
        return number

    def _describe_range(self) -> str:
        """The range in help; click would write x<=None without bounds."""
        return "" if self.min is None and self.max is None else super()._describe_range()


MIN_PROGRESS_BYTES = 4_000_000  # of a file: smaller ones are read within a second or two
LENGTH_UNITS_MM = {"mm": 1.0, "cm": 10.0, "m": 1000.0}


class Millimetres(Finite):
    """A length in millimetres; a unit may follow the number, as in 20mm, 2cm or 0.02m."""

    name = "length"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        if isinstance(value, str):
            text = value.strip().lower()
            number = text.rstrip("cm").rstrip()
            unit = text[len(number) :].strip() or "mm"
            if unit not in LENGTH_UNITS_MM:
                self.fail(f"{value!r} is not a length; write it as 20mm, 2cm or 0.02m", param, context)
            try:
                value = float(number) * LENGTH_UNITS_MM[unit]
            except ValueError:
                self.fail(f"{value!r} is not a length; write it as 20mm, 2cm or 0.02m", param, context)
        return super().convert(value, param, context)


class WorldAxis(click.ParamType):
    """An axis of the world: x, y or z, with or without a sign."""

    name = "axis"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        axis = str(value).strip().lower().removeprefix("+")
        if axis not in ("x", "y", "z", "-x", "-y", "-z"):
            self.fail(f"{value!r} is not one of x, y, z, -x, -y and -z", param, context)
        return axis


quiet = click.option("-q", "--quiet", is_flag=True, help="Print results and errors only.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
clip = click.option("--clip", metavar="NAME", help="Which clip; the first by default.")
character = click.option("--character", metavar="NAME", help="Which character of the file; all by default.")
rate = click.option(
    "--rate", type=Finite(0.01, 10_000), metavar="R", help="Frames a second; the clip's own by default."
)
skeleton = click.option(
    "--skeleton",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="The skeleton of an AMC file, found beside it by default; the avatar that plays a VRM animation.",
)
source_format = click.option(
    "--from",
    "source_format",
    metavar="FORMAT",
    help="The format of standard input, as in: cat x.bvh | understudy info - --from bvh",
)


def placing(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options --up, --facing and --scale, as one argument `placing`: options of `open_input`."""

    @click.option(
        "--up", type=WorldAxis(), metavar="AXIS", help="The axis along which the character of the file stands; found."
    )
    @click.option(
        "--facing", type=WorldAxis(), metavar="AXIS", help="The axis along which it looks, as z or -x; found."
    )
    @click.option(
        "--scale",
        type=Finite(1e-9, 1e9),
        metavar="M",
        help="Metres per unit of a BVH or ASF file, guessed by default; a factor for files that name their unit.",
    )
    @functools.wraps(function)
    def command(*arguments: Any, up: str | None, facing: str | None, scale: float | None, **others: Any) -> Any:
        return function(*arguments, placing={"up": up, "facing": facing, "scale": scale}, **others)

    return command


class Size(click.ParamType):
    """WIDTHxHEIGHT in pixels."""

    name = "WxH"

    def convert(self, value: object, param: click.Parameter | None, context: click.Context | None) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        width, _, height = str(value).lower().partition("x")
        if not (width.isdecimal() and height.isdecimal() and 16 <= int(width) <= 7680 and 16 <= int(height) <= 4320):
            self.fail(f"{value!r} is not a size such as 640x480, at most 7680x4320", param, context)
        return int(width), int(height)


def size_option(usual: str, of_a_sheet: str) -> Decorator:
    """The option --size WxH, with smaller pictures in a sheet by default."""
    return click.option(
        "--size",
        type=Size(),
        show_default=f"{usual}; {of_a_sheet} in a sheet",
        help="Pixels of a picture or a video, or of each picture of a sheet.",
    )


def output(required: bool = True, help: str = "The file to write; - for standard output.") -> Decorator:
    """The option -o OUT."""
    return click.option("-o", "--output", required=required, type=click.Path(), metavar="OUT", help=help)


def echo_json(value: Any) -> None:
    """Print JSON on standard output."""
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    click.echo(json.dumps(value, indent=2, ensure_ascii=plain))


def echo_notes(notes: Iterable[str], quiet: bool) -> None:
    """Print notes on standard error, so that results can be piped."""
    if not quiet:
        for note in notes:
            click.echo(f"note: {note}", err=True)


def open_input(name: str, source_format: str | None = None, many: bool = False, **options: Any) -> Asset:
    """The asset of a file, of standard input (`-` with --from), or of a built-in character.

    For one of `many` files, options that its format does not know are ignored; for a single file they raise.
    """
    if name == "-":
        return _from_standard_input(source_format, options)
    from understudy import formats
    from understudy.cast import open_asset

    if is_model(name):
        raise Unsupported(
            name, "is a trained model, not an animation file; use `understudy perform` or `understudy express act`"
        )
    if many:
        known = (*formats.format_of(name).options, *formats.PLACING)
        options = {option: value for option, value in options.items() if option in known}
    context = click.get_current_context(silent=True)
    quiet = context is not None and bool(context.params.get("quiet") or context.params.get("as_json"))
    large = Path(name).is_file() and Path(name).stat().st_size > MIN_PROGRESS_BYTES
    with progress(f"reading {Path(name).name}", quiet or not large, counted=False):
        return open_asset(name, **options)


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
        path.write_bytes(sys.stdin.buffer.read(files.MAX_FILE_BYTES + 1))
        try:
            return formats.read(path, **options)
        except FileError as error:  # errors do not name the temporary file
            raise type(error)("standard input", error.reason, error.place) from error


@contextmanager
def output_file(name: str, ending: str) -> Iterator[Path]:
    """The path to write to; for `-` a temporary file, which is then copied to standard output."""
    if name != "-":
        yield Path(name)
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "stdout").with_suffix(ending)
        yield path
        sys.stdout.buffer.write(path.read_bytes())


def flatten_layers(asset: Asset, kind: str, quiet: bool) -> Asset:
    """The asset with layered characters as joints and shapes, unless the format needs no character (npz, curves)."""
    if kind in (".npz", ".curves.json") or all(character.layers is None for character in asset.characters):
        return asset
    from understudy.character.rig import flatten_asset

    with progress("baking layers", quiet) as report:
        return flatten_asset(asset, shapes=kind != ".bvh", progress=report)


def write_asset(asset: Asset, target: str, ending: str | None) -> tuple[str, ...]:
    """Write an asset, or for npz its baked frames; returns notes of what the format could not hold."""
    kind = target_ending(target, ending)
    if target != "-" and ending:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
    with output_file(target, kind) as path:
        if kind != ".npz":
            if any(character.deformer for character in asset.characters):
                from understudy.deform import playable

                return playable.write(asset, path)
            from understudy import formats

            return formats.write(asset, path)
        from understudy.character.rig import bake
        from understudy.formats import npz

        npz.write_bake(bake(asset), path)
        return ("npz holds the baked frames of one clip only",) if len(asset.animations) > 1 else ()


def inputs(name: str) -> list[str]:
    """The input itself, or the readable files below it if it is a folder."""
    if name == "-" or not Path(name).is_dir():
        return [name]
    from understudy import formats
    from understudy.errors import BadFile

    paths = [str(path) for path in sorted(Path(name).rglob("*")) if path.is_file() and formats.readable(path)]
    if not paths:
        raise BadFile(name, "this folder holds no file that understudy reads")
    return paths


@contextmanager
def progress(what: str, quiet: bool, counted: bool = True) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error; call the yielded function with (done, total).

    With `counted` False it shows a percentage instead of the numbers.
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


@dataclass(frozen=True)
class InputJobs:
    """Inputs with their targets. With `many`, when the input is a folder, a failure does not stop the others."""

    pairs: tuple[tuple[str, str], ...]
    many: bool

    @classmethod
    def plan(cls, input: str, output: str, ending: str | None, asked: bool = True) -> InputJobs:
        """The jobs for INPUT and OUT. OUT is a file, `-`, or a folder; results in folders get `ending` (as `.glb`).

        `asked` says that the user gave the ending with --to; an OUT without an ending is then a new folder.
        """
        from understudy.cli import farm

        if (job := farm.current_job()) is not None:
            return cls((job.pair,), many=True)
        paths = inputs(input)
        many = paths != [input]
        if (many or output == "-" or Path(output).is_dir()) and not ending:
            raise click.UsageError(
                "writing into a folder or to standard output needs --to FORMAT, for example --to glb"
            )
        new_folder = asked and ending is not None and not Path(output).suffix
        if output != "-" and (many or Path(output).is_dir() or new_folder):
            assert ending is not None  # see above
            targets = _targets_below(paths, input if many else None, output, ending)
        else:
            if many:
                raise click.UsageError("the results of a folder go into a folder, not to standard output")
            if ending and output != "-" and target_ending(output, None) != ending:
                raise click.UsageError(f"{output!r} should end in {ending}")
            targets = [output]
        return cls(tuple(zip(paths, targets)), many)

    def run(self, work: Callable[[str, str], dict[str, Any]], as_json: bool = False, quiet: bool = False) -> None:
        """Run `work` for each pair; it returns a row for --json. Exits with 1 at the end if some failed.

        A folder is a farm: see `cli/farm.py`.
        """
        from understudy.cli import farm

        if (job := farm.current_job()) is not None:
            job.row = work(*job.pair)
            return
        if self.many:
            rows = farm.run_folder(self.pairs, work, quiet or as_json)
        else:
            path, target = self.pairs[0]
            try:
                rows = [{"input": path, **work(path, target)}]
            except UnderstudyError as error:
                raise name_input(error, path, target) from error
        if as_json:
            echo_json(rows if self.many else rows[0])
        if any("error" in row for row in rows):
            raise click.exceptions.Exit(1)


def name_input(error: UnderstudyError, path: str, target: str) -> UnderstudyError:
    """The error with the name of its input, if its message names no file."""
    if not isinstance(error, InvalidInput) or path in str(error) or target in str(error):
        return error
    return InvalidInput(f"{'standard input' if path == '-' else path}: {error}")


def target_ending(target: str, ending: str | None) -> str:
    """The ending of the output, as `.glb`: that of --to, or the target's own."""
    from understudy.formats import ending_of

    return f".{ending.lstrip('.')}".lower() if ending else ending_of(target)


def _targets_below(paths: list[str], folder: str | None, output: str, ending: str) -> list[str]:
    """The same relative paths below OUT with the new ending; walk.bvh becomes walk.bvh.glb if walk.glb is taken."""
    inputs = {Path(path).resolve() for path in paths}
    taken: set[Path] = set()
    targets = []
    for path in paths:
        below = Path(path).relative_to(folder) if folder else Path(Path(path).name)
        stem = below.name[: len(below.name) - len(target_ending(path, None))]
        target = Path(output, below).with_name(stem + ending)
        place = target.resolve()
        if place in taken or (place in inputs and place != Path(path).resolve()):
            target = Path(output, f"{below}{ending}")
        taken.add(target.resolve())
        targets.append(str(target))
    return targets

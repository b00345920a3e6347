"""Jobs: one input or a folder of them, where each result goes, and what is said when some of them fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from understudy.cli import options
from understudy.errors import InvalidInput, UnderstudyError


@dataclass(frozen=True)
class Jobs:
    """Inputs with their targets. `many` where the input was a folder: then one failure does not end the others."""

    pairs: tuple[tuple[str, str], ...]
    many: bool

    @classmethod
    def plan(cls, input: str, output: str, ending: str | None, asked: bool = True) -> Jobs:
        """From INPUT and OUT to jobs. OUT is a file, `-`, or a folder; results in folders get `ending` (as `.glb`).

        `asked` says that the user gave the ending, with --to; an OUT without any ending is then a folder to make.
        """
        found = options.inputs(input)
        many = found != [input]
        if (many or output == "-" or Path(output).is_dir()) and not ending:
            raise click.UsageError(
                "writing into a folder or to standard output needs --to FORMAT, for example --to glb"
            )
        new_folder = asked and ending is not None and not Path(output).suffix
        if output != "-" and (many or Path(output).is_dir() or new_folder):
            assert ending is not None  # see above
            targets = _below(found, input if many else None, output, ending)
        else:
            if many:
                raise click.UsageError("the results of a folder go into a folder, not to standard output")
            if ending and output != "-" and suffix(output, None) != ending:
                raise click.UsageError(f"{output!r} should end in {ending}")
            targets = [output]
        return cls(tuple(zip(found, targets)), many)

    def run(self, work: Callable[[str, str], dict[str, Any]], as_json: bool = False) -> None:
        """Do the work of each pair; it returns its row for --json. Exit with 1 at the end where some failed."""
        rows: list[dict[str, Any]] = []
        failures = 0
        for path, target in self.pairs:
            try:
                if self.many:
                    Path(target).parent.mkdir(parents=True, exist_ok=True)
                rows.append({"input": path, **work(path, target)})
            except UnderstudyError as error:
                told = _named(error, path, target)
                if not self.many:
                    raise told from error
                failures += 1
                click.echo(f"error: {told}", err=True)
                rows.append({"input": path, "error": str(told)})
        if as_json:
            options.echo_json(rows if self.many else rows[0])
        if failures:
            raise click.exceptions.Exit(1)


def _named(error: UnderstudyError, path: str, target: str) -> UnderstudyError:
    """The error with the input that it is about, where its sentence names no file."""
    if not isinstance(error, InvalidInput) or path in str(error) or target in str(error):
        return error
    return InvalidInput(f"{'standard input' if path == '-' else path}: {error}")


def suffix(target: str, ending: str | None) -> str:
    """The ending of what is written, as `.glb`: the one asked for with --to, or the target's own."""
    from understudy.formats import ending_of

    return f".{ending.lstrip('.')}".lower() if ending else ending_of(target)


def _below(found: list[str], folder: str | None, output: str, ending: str) -> list[str]:
    """The same places below OUT with the new ending; walk.bvh becomes walk.bvh.glb where walk.glb is taken."""
    inputs = {Path(path).resolve() for path in found}
    taken: set[Path] = set()
    targets = []
    for path in found:
        below = Path(path).relative_to(folder) if folder else Path(Path(path).name)
        stem = below.name[: len(below.name) - len(suffix(path, None))]
        target = Path(output, below).with_name(stem + ending)
        place = target.resolve()
        if place in taken or (place in inputs and place != Path(path).resolve()):
            target = Path(output, f"{below}{ending}")
        taken.add(target.resolve())
        targets.append(str(target))
    return targets

"""A folder as INPUT: one job for each file, on this machine or on a cluster, with a manifest of what is done.

A verb takes part as `@click.command(cls=FolderCommand)` and plans its work as `InputJobs`. It then has the options
--workers, --cluster and --retry. A job is the verb itself with its own options, run for one file in a worker, so that
results do not depend on where it runs. Workers write the results themselves: on other machines they need the same
folders.

`manifest.jsonl` in the output folder has a line for each job that ended: a digest of the input, a digest of the
settings with the content of files that they name, the version of understudy, the output, the seconds, and the row of
--json or the error. The same command does only what it lacks, and tries what failed again with --retry. Lines are added
as jobs end, so that an interrupted run keeps all that was done.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from understudy import __version__
from understudy.errors import UnderstudyError

MANIFEST_NAME = "manifest.jsonl"
MIN_PARALLEL_FILES = 4  # for fewer, starting workers takes longer than it saves
UNHASHED_PARAMETERS = ("input", "motion", "output", "quiet", "as_json", "workers", "cluster", "retry")
COMPANION_ENDINGS = {".gltf": (".bin", ".png", ".jpg", ".jpeg", ".webp", ".ktx2"), ".amc": (".asf",), ".obj": (".mtl",)}
Work = Callable[[str, str], dict[str, Any]]
Pair = tuple[str, str]  # input and target

FARM_OPTIONS = {
    "workers": click.Option(
        ["--workers"], type=click.IntRange(1, 1024), metavar="N", help="Files of a folder at a time; a core each."
    ),
    "cluster": click.Option(
        ["--cluster"],
        metavar="WHERE",
        help="Run a folder on a cluster: dask, ray, or the address of one that runs, as dask://host:8786.",
    ),
    "retry": click.Option(["--retry"], is_flag=True, help="Of a folder, try files again that failed before."),
}


@dataclass
class FolderJob:
    """One file of a folder, in a worker: `InputJobs` plans it alone, and leaves its row here."""

    pair: Pair
    row: dict[str, Any] = field(default_factory=dict)


class FolderCommand(click.Command):
    """A verb whose INPUT may be a folder. It gets the options of a farm that it does not have itself."""

    def __init__(self, name: str | None, params: list[click.Parameter] | None = None, **attributes: Any) -> None:
        own = list(params or ())
        self._added = [option for option in FARM_OPTIONS if option not in {each.name for each in own}]
        super().__init__(name, params=[*own, *(FARM_OPTIONS[option] for option in self._added)], **attributes)

    def invoke(self, context: click.Context) -> Any:
        context.meta["farm"] = {name: context.params.get(name) for name in FARM_OPTIONS}
        for name in self._added:
            context.params.pop(name, None)
        return super().invoke(context)


def current_job() -> FolderJob | None:
    """The job of this worker; None where the command was given by the user."""
    context = click.get_current_context(silent=True)
    return context.obj if context is not None and isinstance(context.obj, FolderJob) else None


def run_folder(pairs: tuple[Pair, ...], work: Work, quiet: bool) -> list[dict[str, Any]]:
    """The rows of all files of a folder, in their order: those in the manifest, and those of the jobs that it lacks."""
    context = click.get_current_context()
    if context.params.get("dry_run"):
        return [row for _, row, _ in _here(list(pairs), work)]
    settings = context.meta.get("farm") or dict.fromkeys(FARM_OPTIONS)
    folder = Path(context.params["output"])
    folder.mkdir(parents=True, exist_ok=True)
    manifest = BatchManifest(folder / MANIFEST_NAME, _settings_digest(context))
    rows = {pair: row for pair in pairs if (row := manifest.row(pair, bool(settings["retry"]))) is not None}
    todo = [pair for pair in pairs if pair not in rows]
    if rows and not quiet:
        click.echo(f"{len(rows)} of {len(pairs)} files are done already, by {manifest.place}", err=True)
    arrivals = _here(todo, work) if _is_serial(todo, settings) else _in_workers(context, todo, settings, quiet)
    try:
        for pair, row, seconds in arrivals:
            rows[pair] = row
            manifest.add(pair, row, seconds)
            if "error" in row:
                click.echo(f"error: {row['error']}", err=True)
    except KeyboardInterrupt:
        click.echo(f"{len(rows)} of {len(pairs)} files are done; the same command does the others", err=True)
        raise
    return [rows[pair] for pair in pairs]


def _is_serial(todo: list[Pair], settings: dict[str, Any]) -> bool:
    if settings["cluster"] is not None:
        return False
    return settings["workers"] == 1 or (settings["workers"] is None and len(todo) < MIN_PARALLEL_FILES)


def _here(todo: list[Pair], work: Work) -> Iterator[tuple[Pair, dict[str, Any], float]]:
    for pair in todo:
        began = time.perf_counter()
        yield pair, _attempt(work, pair), time.perf_counter() - began


def _attempt(work: Work, pair: Pair) -> dict[str, Any]:
    from understudy.cli.options import name_input

    path, target = pair
    try:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        return {"input": path, **work(path, target)}
    except UnderstudyError as error:
        return {"input": path, "error": str(name_input(error, path, target))}


def _in_workers(
    context: click.Context, todo: list[Pair], settings: dict[str, Any], quiet: bool
) -> Iterator[tuple[Pair, dict[str, Any], float]]:
    from understudy import batch
    from understudy.cli import options

    verb = context.command_path.split()[1:]
    given = {**context.params, "quiet": True}
    given |= {name: value for name, value in (("workers", 1), ("cluster", None)) if name in given}
    items = [(path, target, verb, given) for path, target in todo]
    finished: dict[int, Any] = {}
    with options.progress(" ".join(verb), quiet) as progress, batch.attach_finished(items, finished):
        for index, result in batch.arrivals(run_job, items, settings["workers"], settings["cluster"]):
            finished[index] = result
            progress(len(finished), len(todo))
            row, seconds = result
            if not quiet and "error" not in row:
                options.echo_notes(row.get("notes", ()), quiet)
                click.echo(f"{todo[index][0]} -> {todo[index][1]}", err=True)
            yield todo[index], row, seconds


def run_job(item: tuple[str, str, list[str], dict[str, Any]]) -> tuple[dict[str, Any], float]:
    """Run a verb for one file of a folder, in a worker: the row of --json, or the error, and the seconds it took."""
    from understudy.cli.app import understudy

    path, target, verb, given = item
    began = time.perf_counter()
    command: click.Command = understudy
    for name in verb:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None  # the user's command line has named it
        command = found
    job = FolderJob((path, target))

    def work(path: str, target: str) -> dict[str, Any]:
        with click.Context(command, obj=job):
            assert command.callback is not None
            command.callback(**given)
        return job.row

    row = _attempt(work, (path, target))
    return row, time.perf_counter() - began


class BatchManifest:
    """What is done in an output folder, one line a job; later lines replace earlier ones."""

    def __init__(self, place: Path, settings: str) -> None:
        self.place, self._settings = place, settings
        self._known: dict[str, dict[str, Any]] = {}
        self._digests: dict[str, str] = {}  # of the inputs, as they were before their jobs
        for line in place.read_text(encoding="utf-8").splitlines() if place.is_file() else ():
            try:
                entry = json.loads(line)
                self._known[entry["output"]] = entry
            except (ValueError, TypeError, KeyError):
                continue  # a line that was cut short: its job is done again

    def row(self, pair: Pair, retry: bool) -> dict[str, Any] | None:
        """The row of a job that is done with this input and these settings; None where it is to be done."""
        digest = self._digests[pair[0]] = _input_digest(pair[0])
        entry = self._known.get(pair[1], {})
        same = [entry.get(name) for name in ("sha256", "settings", "version")] == [digest, self._settings, __version__]
        row: dict[str, Any] = entry.get("row", {})
        is_done = not retry if "error" in row else Path(pair[1]).exists()
        return row if same and is_done else None

    def add(self, pair: Pair, row: dict[str, Any], seconds: float) -> None:
        """Add the line of a job that has ended."""
        entry = {
            "input": pair[0],
            "output": pair[1],
            "sha256": self._digests[pair[0]],
            "settings": self._settings,
            "version": __version__,
            "seconds": round(seconds, 3),
            "row": row,
        }
        with self.place.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps(entry) + "\n")


def _digest(path: str) -> str:
    """The digest of a file's content; empty where it cannot be read."""
    try:
        with Path(path).open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError:
        return ""


def _input_digest(path: str) -> str:
    """The digest of an input, with size and time of the files beside it that its format may refer to."""
    place = Path(path)
    beside = {
        other.name: (other.stat().st_size, other.stat().st_mtime_ns)
        for other in place.parent.iterdir()
        if other.suffix.lower() in COMPANION_ENDINGS.get(place.suffix.lower(), ())
    }
    return hashlib.sha256(json.dumps([_digest(path), beside], sort_keys=True).encode()).hexdigest()


def _settings_digest(context: click.Context) -> str:
    """The digest of the verb and its options, with the content of files that they name."""
    named = {name: value for name, value in context.params.items() if name not in UNHASHED_PARAMETERS}
    files = {name: _digest(value) for name, value in named.items() if isinstance(value, str) and Path(value).is_file()}
    text = json.dumps([context.command_path, named, files], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]

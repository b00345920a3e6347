"""`understudy learn`: train a model on a character's clips, so that it can perform."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.cli.farm import FolderCommand
from understudy.cli.info import model_facts, model_table
from understudy.cli.options import InputJobs
from understudy.errors import InvalidInput
from understudy.perform.pose_model import MODEL_SUFFIX, prepare_library

if TYPE_CHECKING:
    from understudy.perform.library import ClipLibrary
    from understudy.perform.model import PerformanceModel


@click.command(name="learn", cls=FolderCommand, short_help="Learn a character from its clips, so that it can perform.")
@click.argument("input")
@options.output(help="MODEL.understudy; for a folder as INPUT a folder; - for standard output.")
@click.option(
    "--label", "labels", multiple=True, metavar="NAME", help="Learn only this label; may be given several times."
)
@options.rate
@click.option(
    "--share",
    type=options.Finite(0.01, 1),
    metavar="PART",
    help="Of the variance, what the linear reduction keeps; 0.98 by default (the paper: 0.85).",
)
@click.option(
    "--dimensions", type=click.IntRange(1, 8), default=3, show_default=True, help="Of the latent space of each label."
)
@click.option(
    "--sparse/--exact",
    default=None,
    help="Inducing points, or all frames; by default inducing points for labels of more than 1,000 frames.",
)
@click.option("--workers", type=click.IntRange(1, 1024), metavar="N", help="Labels at a time; a core each by default.")
@click.option(
    "--cluster",
    metavar="WHERE",
    help="Learn labels on a cluster: dask, ray, or the address of one that runs, as dask://host:8786.",
)
@options.placing
@options.skeleton
@options.source_format
@options.as_json
@options.quiet
def command(
    input: str,
    output: str,
    labels: tuple[str, ...],
    rate: float | None,
    share: float | None,
    dimensions: int,
    sparse: bool | None,
    workers: int | None,
    cluster: str | None,
    placing: dict[str, Any],
    skeleton: str | None,
    source_format: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Learn the character of INPUT from its clips, so that it can perform.

    INPUT is a file with a character and its clips, a LIBRARY.toml that groups clips of several files under labels, the
    name of a built-in character, or a folder of characters. A clip's label is the one it carries, else its name.

    Learning that was interrupted goes on where it stopped when the same command is given again.
    """

    def work(path: str, target: str) -> dict[str, Any]:
        library = open_library(path, rate, labels, source_format, jobs.many, skeleton=skeleton, **placing)
        from understudy.perform.training import FitSettings

        began = time.perf_counter()
        settings = FitSettings(dimensions=dimensions, sparse=sparse)
        settings = settings if share is None else replace(settings, share=share)
        model = fit_with_progress(library, settings, target, workers, cluster, quiet or as_json)
        with options.output_file(target, MODEL_SUFFIX) as place:
            model.save(place)
        row = model_facts(model) | {"output": target, "learned_in": round(time.perf_counter() - began, 3)}
        if not as_json:
            options.echo_notes(model.notes, quiet)
            if not quiet:
                print_labels(row, path)
        return row

    jobs = InputJobs.plan(input, output, MODEL_SUFFIX, asked=False)
    jobs.run(work, as_json and output != "-", quiet)


def open_library(
    path: str,
    rate: float | None = None,
    labels: tuple[str, ...] = (),
    source_format: str | None = None,
    many: bool = False,
    **how: Any,
) -> ClipLibrary:
    """The clips of a LIBRARY.toml, of a file, or of a built-in character; of some labels only, if any are given."""
    from understudy.perform import library_file
    from understudy.perform.library import ClipLibrary

    if Path(path).suffix.lower() == ".toml":
        library = library_file.read(path, options.open_input, rate)
    else:
        asset = options.open_input(path, source_format, many, **how)
        library = replace(ClipLibrary.from_asset(asset, rate, source=path), origin=path)
    return prepare_library(library, labels)


def fit_with_progress(
    library: ClipLibrary, settings: Any, target: str, workers: int | None, cluster: str | None, quiet: bool
) -> PerformanceModel:
    """Fit the model of a library with a progress bar; finished labels are kept beside the target."""
    from understudy.perform import pose_model

    mapper: Any = None
    if cluster is not None:
        from understudy import batch

        mapper = batch.mapper(workers, cluster)
    what = f"learning {library.character.name}, {len(library.labels)} labels"
    elsewhere = cluster is not None and "://" in cluster  # other machines cannot see the folder beside the target
    with (
        _checkpoint_folder("-" if elsewhere else target) as kept,
        options.progress(what, quiet, counted=False) as report,
    ):
        return pose_model.fit_model(library, settings, report, workers, mapper, kept)


@contextmanager
def _checkpoint_folder(target: str) -> Iterator[Path | None]:
    """A folder beside the target for finished labels. It is deleted at the end, and stays if learning was stopped."""
    if target == "-":
        yield None
        return
    folder = Path(f"{target}.part")
    if not folder.parent.is_dir():
        raise InvalidInput(f"cannot write {target}: there is no folder {folder.parent}")
    folder.mkdir(exist_ok=True)
    try:
        yield folder
        shutil.rmtree(folder, ignore_errors=True)
    except KeyboardInterrupt:
        if any(folder.iterdir()):
            click.echo(f"finished labels are kept in {folder}; the same command goes on from there", err=True)
        raise
    finally:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def print_labels(row: dict[str, Any], name: str) -> None:
    """A model's labels as a table on standard error."""
    for line in model_table(row):
        click.echo(line, err=True)
    count = f"{len(row['labels'])} label{'s' * (len(row['labels']) != 1)}"
    click.echo(f"{name} -> {row['output']}: {count} in {row['learned_in']:.1f} s", err=True)

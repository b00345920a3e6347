"""`understudy edit`: apply a list of edits to an animation; its keys stay where they are in time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.cli.farm import FolderCommand
from understudy.cli.options import InputJobs, flatten_layers, target_ending, write_asset
from understudy.errors import BadFile, InvalidInput

if TYPE_CHECKING:
    from understudy.character import Asset, Clip, Curves
    from understudy.edit.edit_list import StepReport
    from understudy.edit.edit_list_steps import EditList

SINGLE_CLIP_ENDINGS = (".bvh", ".npz")  # formats with one animation


@click.command(name="edit", cls=FolderCommand, short_help="Drag points of an animation between its keys.")
@click.argument("input")
@click.argument("edits")
@options.output(help="The file to write, or a folder with --to; - for standard output with --to.")
@click.option(
    "--to", "ending", metavar="FORMAT", help="The format to write into a folder or to standard output, as in: --to glb"
)
@click.option("--clip", metavar="NAME", help="Which clip; the one that EDITS names, or the first, by default.")
@click.option(
    "--with", "other", metavar="FILE", help="Where the character is, if INPUT holds curves only (.curves.json)."
)
@click.option("--report", type=click.Path(dir_okay=False), metavar="JSON", help="Write what became of each edit.")
@click.option("--offers", is_flag=True, help="Say what would help, where an edit does not reach its goal.")
@click.option("--strict", is_flag=True, help="Write nothing and exit with 1 where an edit does not reach its goal.")
@click.option("--dry-run", is_flag=True, help="Do the edits and say what became of them, but write no animation.")
@options.placing
@options.skeleton
@options.source_format
@options.as_json
@options.quiet
def command(
    input: str,
    edits: str,
    output: str,
    ending: str | None,
    clip: str | None,
    other: str | None,
    report: str | None,
    offers: bool,
    strict: bool,
    dry_run: bool,
    placing: dict[str, Any],
    skeleton: str | None,
    source_format: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Apply the EDITS (TOML; - for standard input) to an animation of INPUT: no key is added or moved in time.

    Everything else in INPUT is kept as it is. A folder as INPUT is edited into the folder OUT, file by file.
    """
    if input == "-" and edits == "-":
        raise click.UsageError("INPUT and EDITS cannot both be standard input")
    jobs = InputJobs.plan(input, output, target_ending(output, ending) if ending else None)
    if not dry_run:
        check_target(output, target_ending(output, ending), jobs.many)
    wanted = read_edits(edits)
    cast = () if other is None else options.open_input(other).characters

    def work(path: str, target: str) -> dict[str, Any]:
        asset = options.open_input(path, source_format, jobs.many, skeleton=skeleton, **placing)
        if cast:
            asset = type(asset)([*asset.characters, *cast], asset.clips, asset.curves, asset.notes, asset.format)
        edited, facts, reports = edit_asset(asset, wanted, clip, offers, quiet or as_json)
        if not as_json:
            options.echo_notes(facts["notes"], quiet)
            if not quiet:
                _print_reports(reports)
        blocked = [step for step in reports if not step.reached]
        notes: tuple[str, ...] = ()
        if not dry_run and not (strict and blocked):
            kind = target_ending(target, ending)
            shown = flatten_layers(keep_one_animation(edited, facts["result"], kind), kind, quiet or as_json)
            notes = (*shown.notes, *write_asset(shown, target, ending))
        row = {"output": None if dry_run or (strict and blocked) else target, **facts}
        row["notes"] = [*facts["notes"], *notes]
        if report is not None:
            write_report({"input": path, **row}, report, jobs.many, path)
        if strict and blocked:
            raise InvalidInput(f"{wanted.path}, {blocked[0].place}: {blocked[0].sentence}; nothing was written")
        if not as_json:
            options.echo_notes(notes, quiet)
            if not quiet:
                count = f"{len(reports)} edit{'s' * (len(reports) != 1)}"
                click.echo(f"{path} -> {target}{' (not written)' if dry_run else ''}: {count}", err=True)
        return row

    jobs.run(work, as_json and output != "-", quiet)


def check_target(target: str, kind: str, many: bool) -> None:
    """Raise before the work if the target cannot be written."""
    from understudy import formats
    from understudy.errors import Unsupported

    endings = [".npz", *(ending for entry in formats.FORMATS if entry.writes for ending in entry.endings)]
    if kind not in endings:
        raise Unsupported(target, f"an animation is not written as {kind or 'this'}; written are: {', '.join(endings)}")
    if target != "-" and not many and not Path(target).parent.is_dir():
        raise InvalidInput(f"cannot write {target}: there is no folder {Path(target).parent}")


def read_edits(path: str) -> EditList:
    """The edits of a file, or of standard input."""
    import sys

    from understudy.edit import edit_list
    from understudy.edit.edit_list_parser import MAX_EDIT_LIST_CHARS

    if path == "-":
        return edit_list.parse_edit_list(
            sys.stdin.buffer.read(4 * MAX_EDIT_LIST_CHARS + 1).decode("utf-8", "replace"), "standard input"
        )
    return edit_list.read_edit_list(path)


def edit_asset(
    asset: Asset, wanted: EditList, clip: str | None, ask: bool, quiet: bool
) -> tuple[Asset, dict[str, Any], list[StepReport]]:
    """The asset with one edited animation, the facts for a report, and the result of each edit.

    With `ask`, blocked edits get suggestions.
    """
    from understudy.character.rig import rig_of
    from understudy.edit import edit_list

    with _name_file_in_errors(wanted.path if clip is None and wanted.clip is not None else None, "clip"):
        animation = asset.animation(clip if clip is not None else wanted.clip)
    if not asset.characters:
        raise InvalidInput("the input has no character; give its file, as in --with walk.bvh")
    name = wanted.character
    moved = [c for c in asset.characters if rig_of(c).is_moved_by(animation)] if name is None else []
    with _name_file_in_errors(wanted.path if name is not None else None, "character"):
        rig = rig_of(moved[0] if moved else asset.character(name))
    place = "keys" if wanted.preparation.keys else "reduce" if wanted.preparation.reduce is not None else ""
    with (
        _name_file_in_errors(wanted.path, place),
        options.progress(f"preparing {animation.name}", quiet, False) as progress,
    ):
        curves, notes = edit_list.key_dense_clip(rig, animation, wanted.preparation, progress)
    checked = edit_list.check_edit_list(wanted, rig, curves)
    with options.progress(f"editing {animation.name}", quiet) as progress:
        curves, reports = edit_list.apply_edit_list(rig, curves, checked.steps, progress, path=wanted.path, ask=ask)
    facts = {
        "edits": wanted.path,
        "clip": animation.name,
        "result": wanted.name or animation.name,
        "character": rig.character.name,
        "keys": curves.key_count,
        "reached": sum(step.reached for step in reports),
        "steps": [step.facts() for step in reports],
        "notes": [*asset.notes, *notes],
    }
    return replace_animation(asset, animation, curves, wanted.name), facts, reports


@contextmanager
def _name_file_in_errors(path: str | None, place: str) -> Iterator[None]:
    """Errors inside the block name the file of edits; None changes nothing."""
    try:
        yield
    except InvalidInput as error:
        if path is None:
            raise
        raise BadFile(path, str(error), place) from error


def replace_animation(asset: Asset, animation: Clip | Curves, curves: Curves, name: str | None = None) -> Asset:
    """The asset with `curves` in place of an animation, or beside it under a new name."""
    from understudy.character import Asset, Curves

    if name is not None:
        curves = Curves(name, curves.curves, curves.labels, curves.rate, curves.about, curves.moments)
        return Asset(asset.characters, asset.clips, [*asset.curves, curves], (), asset.format)
    keyed = [curves if each is animation else each for each in asset.curves]
    dense = [each for each in asset.clips if each is not animation]
    if len(dense) < len(asset.clips):
        keyed.append(curves)
    return Asset(asset.characters, dense, keyed, (), asset.format)


def keep_one_animation(asset: Asset, name: str, kind: str) -> Asset:
    """The asset with the named animation only, if the format holds one."""
    if kind not in SINGLE_CLIP_ENDINGS:
        return asset
    from understudy.character import Asset

    dense = [clip for clip in asset.clips if clip.name == name]
    keyed = [curves for curves in asset.curves if curves.name == name]
    return Asset(asset.characters, dense, keyed, asset.notes, asset.format)


def write_report(facts: dict[str, Any], path: str, many: bool, source: str) -> None:
    """Write a report as JSON, atomically; with many inputs each has its own file, named after it."""
    from understudy import files

    place = Path(path)
    if many:
        place = place.with_name(f"{place.stem}.{Path(source).name}{place.suffix}")
    with files.write_atomically(place) as temporary:
        temporary.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def _print_reports(reports: list[StepReport]) -> None:
    for step in reports:
        name = f" ({step.name})" if step.name else ""
        click.echo(f"  {step.place}{name}: {step.sentence}", err=True)
        if step.details:
            click.echo(f"    {' '.join(step.details)}", err=True)
        for offer in step.offers:
            click.echo(f"    {offer.kind}: {offer.sentence}", err=True)

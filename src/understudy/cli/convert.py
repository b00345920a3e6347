"""`understudy convert`: from any format to any other; `understudy bake`: joints and vertices of a clip as arrays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.cli.farm import FolderCommand
from understudy.cli.options import InputJobs, target_ending
from understudy.errors import FileError

if TYPE_CHECKING:
    from understudy.character import Asset


@click.command(name="convert", cls=FolderCommand, short_help="Convert from one format to another.")
@click.argument("input")
@options.output(help="The file to write, or a folder with --to; - for standard output with --to.")
@click.option(
    "--to", "ending", metavar="FORMAT", help="The format to write into a folder or to standard output, as in: --to glb"
)
@click.option("--clip", "clips", multiple=True, metavar="NAME", help="Keep only this clip; may be given several times.")
@options.rate
@options.placing
@options.skeleton
@options.source_format
@click.option("--dry-run", is_flag=True, help="Read and say what would be written, but write nothing.")
@options.as_json
@options.quiet
def command(
    input: str,
    output: str,
    ending: str | None,
    clips: tuple[str, ...],
    rate: float | None,
    placing: dict[str, Any],
    skeleton: str | None,
    source_format: str | None,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Convert INPUT to the format of OUT's ending. --rate bakes curves to frames at that rate."""

    def work(path: str, target: str) -> dict[str, Any]:
        asset = options.open_input(path, source_format, jobs.many, skeleton=skeleton, **placing)
        asset = options.flatten_layers(
            _choose_clips(asset, clips, rate), target_ending(target, ending), quiet or as_json
        )
        notes = [
            *asset.notes,
            *(_dry_run(asset, target, ending) if dry_run else options.write_asset(asset, target, ending)),
        ]
        if not as_json:
            options.echo_notes(notes, quiet)
            if not quiet:
                click.echo(f"{path} -> {target}{' (not written)' if dry_run else ''}", err=True)
        return {"output": target, "notes": notes}

    jobs = InputJobs.plan(input, output, target_ending(output, ending) if ending else None)
    jobs.run(work, as_json and output != "-", quiet)


def _choose_clips(asset: Asset, clips: tuple[str, ...], rate: float | None) -> Asset:
    """The asset with the named clips only (all by default), baked if a rate is given."""
    from understudy.character import Asset, Clip, Curves

    animations = [asset.animation(name) for name in clips] if clips else list(asset.animations)
    if rate is not None:
        animations = [asset.clip(animation.name, rate) for animation in animations]
    dense = [animation for animation in animations if isinstance(animation, Clip)]
    keyed = [animation for animation in animations if isinstance(animation, Curves)]
    return Asset(asset.characters, dense, keyed, asset.notes, asset.format)


def _dry_run(asset: Asset, target: str, ending: str | None) -> tuple[str, ...]:
    """The notes or the error of writing, by writing into a temporary folder."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        try:
            return options.write_asset(
                asset, str(Path(folder, "dry_run").with_suffix(target_ending(target, ending))), None
            )
        except FileError as error:
            raise type(error)(target, error.reason, error.place) from error


@click.command(name="bake", cls=FolderCommand, short_help="Bake a clip to arrays, frame by frame.")
@click.argument("input")
@options.output()
@options.clip
@options.rate
@options.character
@options.placing
@options.skeleton
@options.source_format
@options.as_json
@options.quiet
def bake_command(
    input: str,
    output: str,
    clip: str | None,
    rate: float | None,
    character: str | None,
    placing: dict[str, Any],
    skeleton: str | None,
    source_format: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Bake a clip of INPUT to OUT.npz: times, joint_names, joints (F,J,4,4), vertices (F,V,3), triangles.

    A folder as INPUT is baked into the folder OUT, file by file.
    """

    def work(path: str, target: str) -> dict[str, Any]:
        from understudy.character.rig import bake
        from understudy.formats import npz

        asset = options.open_input(path, source_format, jobs.many, skeleton=skeleton, **placing)
        result = bake(asset, clip, rate, character)
        with options.output_file(target, ".npz") as place:
            npz.write_bake(result, place)
        frames, joints, vertices = len(result.times), len(result.joint_names), result.vertices.shape[1]
        if not as_json and not quiet:
            options.echo_notes(asset.notes, quiet)
            click.echo(f"{target}: {frames} frames, {joints} joints, {vertices:,} vertices", err=True)
        triangles = len(result.triangles)
        return {"output": target, "frames": frames, "joints": joints, "vertices": vertices, "triangles": triangles}

    jobs = InputJobs.plan(input, output, ".npz", asked=False)
    jobs.run(work, as_json and output != "-", quiet)

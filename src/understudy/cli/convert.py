"""`understudy convert`: between all formats, saying what the new one could not hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.cli.jobs import Jobs, suffix
from understudy.errors import FileError

if TYPE_CHECKING:
    from understudy.character import Asset


@click.command(name="convert", short_help="Convert from one format to another.")
@click.argument("input")
@options.output(help="The file to write, or a folder with --to; - for standard output with --to.")
@click.option(
    "--to", "ending", metavar="FORMAT", help="The format to write into a folder or to standard output, as in: --to glb"
)
@click.option("--clip", "clips", multiple=True, metavar="NAME", help="Keep only this clip; may be given several times.")
@options.rate
@options.scale
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
    scale: float | None,
    skeleton: str | None,
    source_format: str | None,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Convert INPUT to the format of OUT's ending. --rate bakes curves to frames at that rate."""

    def work(path: str, target: str) -> dict[str, Any]:
        asset = options.open_input(path, source_format, jobs.many, scale=scale, skeleton=skeleton)
        asset = plain(_chosen(asset, clips, rate), suffix(target, ending), quiet or as_json)
        notes = [*asset.notes, *(_rehearse(asset, target, ending) if dry_run else written(asset, target, ending))]
        if not as_json:
            options.echo_notes(notes, quiet)
            if not quiet:
                click.echo(f"{path} -> {target}{' (not written)' if dry_run else ''}", err=True)
        return {"output": target, "notes": notes}

    jobs = Jobs.plan(input, output, suffix(output, ending) if ending else None)
    jobs.run(work, as_json and output != "-")


def _chosen(asset: Asset, clips: tuple[str, ...], rate: float | None) -> Asset:
    """Only the wanted clips, baked at a rate where one is given."""
    from understudy.character import Asset, Clip, Curves

    animations = [asset.animation(name) for name in clips] if clips else list(asset.animations)
    if rate is not None:
        animations = [asset.clip(animation.name, rate) for animation in animations]
    dense = [animation for animation in animations if isinstance(animation, Clip)]
    keyed = [animation for animation in animations if isinstance(animation, Curves)]
    return Asset(asset.characters, dense, keyed, asset.notes, asset.format)


def plain(asset: Asset, kind: str, quiet: bool) -> Asset:
    """The asset with layered characters as joints and shapes; npz and curves need no character that files hold."""
    if kind in (".npz", ".curves.json") or all(character.layers is None for character in asset.characters):
        return asset
    from understudy.rig import flatten

    with options.progress("baking layers", quiet) as progress:
        return flatten(asset, shapes=kind != ".bvh", progress=progress)


def _rehearse(asset: Asset, target: str, ending: str | None) -> tuple[str, ...]:
    """What writing would lose, or why it cannot be done: written where nobody looks, and thrown away."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        try:
            return written(asset, str(Path(folder, "rehearsal").with_suffix(suffix(target, ending))), None)
        except FileError as error:
            raise type(error)(target, error.reason, error.place) from error


def written(asset: Asset, target: str, ending: str | None) -> tuple[str, ...]:
    """Write an asset, or for npz its baked frames; returns what the format could not hold."""
    from understudy import formats

    kind = suffix(target, ending)
    if target != "-" and ending:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
    with options.output_file(target, kind) as path:
        if kind != ".npz":
            return formats.write(asset, path)
        from understudy.formats import npz
        from understudy.rig import bake

        npz.write_bake(bake(asset), path)
        return ("npz holds the baked frames of one clip only",) if len(asset.animations) > 1 else ()

"""`understudy convert`: between all formats, saying what the new one could not hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.errors import UnderstudyError

if TYPE_CHECKING:
    from understudy.character import Asset


@click.command(name="convert")
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
    found = options.inputs(input)
    many = found != [input]
    if (many or output == "-" or Path(output).is_dir()) and not ending:
        raise click.UsageError("writing into a folder or to standard output needs --to FORMAT, for example --to glb")
    rows: list[dict[str, Any]] = []
    failures = 0
    for path in found:
        target = _target(path, input, output, ending, many)
        try:
            asset = options.open_input(path, source_format, scale=scale, skeleton=skeleton)
            asset = _chosen(asset, clips, rate)
            lost = () if dry_run else _write(asset, target, ending)
        except UnderstudyError as error:
            if not many:
                raise
            failures += 1
            click.echo(f"error: {error}", err=True)
            rows.append({"input": path, "error": str(error)})
            continue
        rows.append({"input": path, "output": target, "notes": [*asset.notes, *lost]})
        if not as_json:
            options.echo_notes(rows[-1]["notes"], quiet)
            if not quiet:
                click.echo(f"{path} -> {target}{' (not written)' if dry_run else ''}", err=True)
    if as_json and output != "-":
        options.echo_json(rows if many else rows[0])
    if failures:
        raise click.exceptions.Exit(1)


def _target(path: str, folder: str, output: str, ending: str | None, many: bool) -> str:
    """Where one input is written: OUT itself, or the same place below OUT with the new ending."""
    if output == "-" or not (many or Path(output).is_dir()):
        return output
    assert ending is not None  # checked by the caller
    below = Path(path).relative_to(folder) if many else Path(Path(path).name)
    return str(Path(output, below).with_suffix(f".{ending.lstrip('.')}"))


def _chosen(asset: Asset, clips: tuple[str, ...], rate: float | None) -> Asset:
    """Only the wanted clips, baked at a rate where one is given."""
    from understudy.character import Asset, Clip, Curves

    animations = [asset.animation(name) for name in clips] if clips else list(asset.animations)
    if rate is not None:
        animations = [asset.clip(animation.name, rate) for animation in animations]
    dense = [animation for animation in animations if isinstance(animation, Clip)]
    keyed = [animation for animation in animations if isinstance(animation, Curves)]
    return Asset(asset.characters, dense, keyed, asset.notes, asset.format)


def _write(asset: Asset, target: str, ending: str | None) -> tuple[str, ...]:
    from understudy import formats

    suffix = f".{ending.lstrip('.')}" if ending else Path(target).suffix
    if target != "-" and ending:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
    with options.output_file(target, suffix) as path:
        if suffix.lower() != ".npz":
            return formats.write(asset, path)
        from understudy.formats import npz
        from understudy.rig import bake

        npz.write_bake(bake(asset), path)
        return ("npz holds the baked frames of one clip only",) if len(asset.animations) > 1 else ()

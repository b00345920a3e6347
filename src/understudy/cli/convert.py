"""`understudy convert`: between all formats, saying what the new one could not hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.errors import FileError, UnderstudyError

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
    into_folder = many or Path(output).is_dir() or (ending is not None and output != "-" and not Path(output).suffix)
    if ending and output != "-" and not into_folder and Path(output).suffix.lower() != _suffix(output, ending):
        raise click.UsageError(f"--to {ending} and the ending of {output} name different formats")
    targets = _below(found, input if many else None, output, _suffix(output, ending)) if into_folder else [output]
    rows: list[dict[str, Any]] = []
    failures = 0
    for path, target in zip(found, targets):
        try:
            asset = options.open_input(path, source_format, scale=scale, skeleton=skeleton)
            asset = _chosen(asset, clips, rate)
            lost = _rehearse(asset, target, ending) if dry_run else _write(asset, target, ending)
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


def _suffix(target: str, ending: str | None) -> str:
    return f".{ending.lstrip('.')}".lower() if ending else Path(target).suffix.lower()


def _below(found: list[str], folder: str | None, output: str, ending: str) -> list[str]:
    """The same places below OUT with the new ending; walk.bvh becomes walk.bvh.glb where walk.glb is taken."""
    inputs = {Path(path).resolve() for path in found}
    taken: set[Path] = set()
    targets = []
    for path in found:
        below = Path(path).relative_to(folder) if folder else Path(Path(path).name)
        target = Path(output, below).with_suffix(ending)
        place = target.resolve()
        if place in taken or (place in inputs and place != Path(path).resolve()):
            target = Path(output, f"{below}{ending}")
        taken.add(target.resolve())
        targets.append(str(target))
    return targets


def _chosen(asset: Asset, clips: tuple[str, ...], rate: float | None) -> Asset:
    """Only the wanted clips, baked at a rate where one is given."""
    from understudy.character import Asset, Clip, Curves

    animations = [asset.animation(name) for name in clips] if clips else list(asset.animations)
    if rate is not None:
        animations = [asset.clip(animation.name, rate) for animation in animations]
    dense = [animation for animation in animations if isinstance(animation, Clip)]
    keyed = [animation for animation in animations if isinstance(animation, Curves)]
    return Asset(asset.characters, dense, keyed, asset.notes, asset.format)


def _rehearse(asset: Asset, target: str, ending: str | None) -> tuple[str, ...]:
    """What writing would lose, or why it cannot be done: written where nobody looks, and thrown away."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        try:
            return _write(asset, str(Path(folder, "rehearsal").with_suffix(_suffix(target, ending))), None)
        except FileError as error:
            raise type(error)(target, error.reason, error.place) from error


def _write(asset: Asset, target: str, ending: str | None) -> tuple[str, ...]:
    from understudy import formats

    suffix = _suffix(target, ending)
    if target != "-" and ending:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
    with options.output_file(target, suffix) as path:
        if suffix != ".npz":
            return formats.write(asset, path)
        from understudy.formats import npz
        from understudy.rig import bake

        npz.write_bake(bake(asset), path)
        return ("npz holds the baked frames of one clip only",) if len(asset.animations) > 1 else ()

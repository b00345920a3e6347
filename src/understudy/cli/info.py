"""`understudy info`: what is in a file, and what reading it had to drop or change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.errors import UnderstudyError

if TYPE_CHECKING:
    from understudy.character import Asset, Character, Clip, Curves


@click.command(name="info")
@click.argument("input")
@options.as_json
@options.quiet
@options.scale
@options.skeleton
@options.source_format
def command(
    input: str, as_json: bool, quiet: bool, scale: float | None, skeleton: str | None, source_format: str | None
) -> None:
    """What is in INPUT: characters, clips, and what was dropped."""
    found = options.inputs(input)
    if found == [input]:
        asset = options.open_input(input, source_format, scale=scale, skeleton=skeleton)
        if as_json:
            options.echo_json(summary(asset))
        else:
            _show(input, summary(asset), quiet)
        return
    rows, failures = [], 0
    for path in found:
        try:
            row = {"file": path, **summary(options.open_input(path, many=True, scale=scale, skeleton=skeleton))}
        except UnderstudyError as error:
            failures += 1
            row = {"file": path, "error": str(error)}
            click.echo(f"error: {error}", err=True)
        rows.append(row)
        if not as_json and "error" not in row:
            _show(path, row, quiet)
    if as_json:
        options.echo_json(rows)
    if failures:
        raise click.exceptions.Exit(1)


def summary(asset: Asset) -> dict[str, Any]:
    """The facts of an asset, ready for JSON."""
    return {
        "format": asset.format,
        "characters": [_character(character) for character in asset.characters],
        "clips": [_clip(animation) for animation in asset.animations],
        "notes": list(asset.notes),
    }


def _character(character: Character) -> dict[str, Any]:
    shapes = dict.fromkeys(name for names in character.shapes.values() for name in names)
    return {
        "name": character.name,
        "joints": len(character.joints),
        "vertices": character.vertex_count,
        "triangles": len(character.triangles),
        "shapes": list(shapes),
    }


def _clip(animation: Clip | Curves) -> dict[str, Any]:
    return {
        "name": animation.name,
        "duration": round(animation.duration, 6),
        "rate": animation.rate,
        "frames": animation.frame_count,
        "channels": len(animation.channels),
        "labels": list(animation.labels),
    }


def _show(name: str, facts: dict[str, Any], quiet: bool) -> None:
    click.echo(f"{name} ({facts['format']})")
    for character in facts["characters"]:
        line = f"{character['joints']} joints, {character['vertices']:,} vertices, {character['triangles']:,} triangles"
        click.echo(f"  character {character['name']}: {line}")
        if character["shapes"]:
            click.echo(f"    shapes ({len(character['shapes'])}): {_shortened(character['shapes'])}")
    width = max((len(clip["name"]) for clip in facts["clips"]), default=0)
    for clip in facts["clips"]:
        labels = f"  [{', '.join(clip['labels'])}]" if clip["labels"] else ""
        timing = f"{clip['duration']:8.3f} s  {clip['frames']:5d} frames at {clip['rate']:g} fps"
        click.echo(f"  clip {clip['name']:<{width}}  {timing}  {clip['channels']} channels{labels}")
    if not quiet:
        for note in facts["notes"]:
            click.echo(f"  note: {note}")


def _shortened(names: list[str], most: int = 12) -> str:
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more

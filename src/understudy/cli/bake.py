"""`understudy bake`: joints and vertices of a clip, frame by frame, as plain arrays."""

from __future__ import annotations

import click

from understudy.cli import options


@click.command(name="bake")
@click.argument("input")
@options.output()
@options.clip
@options.rate
@options.character
@options.scale
@options.skeleton
@options.source_format
@options.as_json
@options.quiet
def command(
    input: str,
    output: str,
    clip: str | None,
    rate: float | None,
    character: str | None,
    scale: float | None,
    skeleton: str | None,
    source_format: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Bake a clip of INPUT to OUT.npz: times, joint_names, joints (F,J,4,4), vertices (F,V,3), triangles."""
    if output != "-" and not output.lower().endswith(".npz"):
        raise click.BadParameter(f"{output!r} should end in .npz", param_hint="'--output'")
    asset = options.open_input(input, source_format, scale=scale, skeleton=skeleton)

    from understudy.formats import npz
    from understudy.rig import bake

    result = bake(asset, clip, rate, character)
    with options.output_file(output, ".npz") as path:
        npz.write_bake(result, path)
    facts = {
        "output": output,
        "frames": len(result.times),
        "joints": len(result.joint_names),
        "vertices": result.vertices.shape[1],
        "triangles": len(result.triangles),
    }
    if as_json and output != "-":
        options.echo_json(facts)
    elif not quiet:
        options.echo_notes(asset.notes, quiet)
        click.echo(
            f"{output}: {facts['frames']} frames, {facts['joints']} joints, {facts['vertices']:,} vertices", err=True
        )

"""`understudy bake`: joints and vertices of a clip, frame by frame, as plain arrays."""

from __future__ import annotations

from typing import Any

import click

from understudy.cli import options
from understudy.cli.jobs import Jobs


@click.command(name="bake", short_help="Bake a clip to arrays, frame by frame.")
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
    """Bake a clip of INPUT to OUT.npz: times, joint_names, joints (F,J,4,4), vertices (F,V,3), triangles.

    A folder as INPUT is baked into the folder OUT, file by file.
    """

    def work(path: str, target: str) -> dict[str, Any]:
        from understudy.formats import npz
        from understudy.rig import bake

        asset = options.open_input(path, source_format, jobs.many, scale=scale, skeleton=skeleton)
        result = bake(asset, clip, rate, character)
        with options.output_file(target, ".npz") as place:
            npz.write_bake(result, place)
        frames, joints, vertices = len(result.times), len(result.joint_names), result.vertices.shape[1]
        if not as_json and not quiet:
            options.echo_notes(asset.notes, quiet)
            click.echo(f"{target}: {frames} frames, {joints} joints, {vertices:,} vertices", err=True)
        triangles = len(result.triangles)
        return {"output": target, "frames": frames, "joints": joints, "vertices": vertices, "triangles": triangles}

    jobs = Jobs.plan(input, output, ".npz", asked=False)
    jobs.run(work, as_json and output != "-")

"""`understudy reduce`: few keys that keep a dense clip within a tolerance."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.cli.edit import check_target, keep_one_animation, replace_animation, write_report
from understudy.cli.farm import FolderCommand
from understudy.cli.options import InputJobs, flatten_layers, target_ending, write_asset
from understudy.errors import InvalidInput

if TYPE_CHECKING:
    from understudy.character import Asset

GLTF_ENDINGS = (".glb", ".gltf")
GLTF_SETTINGS = {"keys": "fewest", "rotations": "quaternion", "handles": "thirds"}  # exact in glTF's cubic splines
CURVE_SETTINGS = {"keys": "poses", "rotations": "euler"}  # for editing; angles need fewer keys


@click.command(name="reduce", cls=FolderCommand, short_help="Reduce dense clips to few keys with free tangents.")
@click.argument("input")
@options.output(help="The file to write, or a folder with --to; - for standard output with --to.")
@click.option(
    "--to", "ending", metavar="FORMAT", help="The format to write into a folder or to standard output, as in: --to glb"
)
@click.option(
    "--tolerance",
    type=options.Millimetres(1e-6, 1e6),
    required=True,
    metavar="MM",
    help="How far a joint may be from where it was, at any time: millimetres, or with a unit as 2cm or 0.02m.",
)
@click.option(
    "--angle",
    type=options.Finite(1e-6, 180),
    metavar="DEGREES",
    help="How far its turn may be from what it was; by default what moves the end of its bone by the tolerance.",
)
@click.option(
    "--keys",
    type=click.Choice(["poses", "fewest", "shared", "free"]),
    help="poses: at poses, extremes and contacts, for editing; fewest (or free): for storage; shared: the same times "
    "for all channels. By default poses, and fewest in glTF.",
)
@click.option("--clip", "clips", multiple=True, metavar="NAME", help="Only this clip; all of them by default.")
@options.rate
@click.option("--report", type=click.Path(dir_okay=False), metavar="JSON", help="Write keys, errors and times.")
@options.placing
@options.skeleton
@options.source_format
@options.as_json
@options.quiet
def command(
    input: str,
    output: str,
    ending: str | None,
    tolerance: float,
    angle: float | None,
    keys: str | None,
    clips: tuple[str, ...],
    rate: float | None,
    report: str | None,
    placing: dict[str, Any],
    skeleton: str | None,
    source_format: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Reduce clips of INPUT to few keys with free tangents: the opposite of baking.

    A folder as INPUT is reduced into the folder OUT, file by file.
    """

    def work(path: str, target: str) -> dict[str, Any]:
        asset = options.open_input(path, source_format, jobs.many, skeleton=skeleton, **placing)
        kind = target_ending(target, ending)
        settings = {
            "tolerance": 1e-3 * tolerance,
            **(GLTF_SETTINGS if kind in GLTF_ENDINGS else CURVE_SETTINGS),
        }
        if keys is not None:
            settings["keys"] = keys
        if angle is not None:
            settings["angle"] = math.radians(angle)
        reduced, rows = reduce_asset(asset, clips, rate, settings, quiet or as_json)
        if not as_json:
            options.echo_notes([*asset.notes, *(note for row in rows for note in row["notes"])], quiet)
            if not quiet:
                for row in rows:
                    click.echo(f"  {clip_summary(row)}", err=True)
        shown = flatten_layers(keep_one_animation(reduced, rows[0]["clip"], kind), kind, quiet or as_json)
        notes = [*shown.notes, *write_asset(shown, target, ending)]
        facts = {"output": target, "tolerance_mm": tolerance, "clips": rows, "notes": [*asset.notes, *notes]}
        if report is not None:
            write_report({"input": path, **facts}, report, jobs.many, path)
        if not as_json:
            options.echo_notes(notes, quiet)
            if not quiet:
                click.echo(f"{path} -> {target}", err=True)
        return facts

    jobs = InputJobs.plan(input, output, target_ending(output, ending) if ending else None)
    check_target(output, target_ending(output, ending), jobs.many)
    jobs.run(work, as_json and output != "-", quiet)


def reduce_asset(
    asset: Asset, clips: tuple[str, ...], rate: float | None, settings: dict[str, Any], quiet: bool
) -> tuple[Asset, list[dict[str, Any]]]:
    """The asset with the named animations reduced (all by default), and the figures of each."""
    from understudy.character.rig import rig_of
    from understudy.edit.reduce import reduce_keys

    chosen = [asset.animation(name) for name in clips] if clips else list(asset.animations)
    if not chosen:
        raise InvalidInput("the input has no animation to reduce")
    result, rows = asset, []
    rigs = [rig_of(character) for character in asset.characters]
    for animation in dict.fromkeys(chosen):
        rig = next((rig for rig in rigs if rig.is_moved_by(animation)), None)
        began = time.perf_counter()
        with options.progress(f"reducing {animation.name}", quiet, counted=False) as progress:
            reduction = reduce_keys(animation, rig, rate=rate, progress=progress, **settings)
        seconds = time.perf_counter() - began
        result = replace_animation(result, animation, reduction.curves)
        rows.append(
            {
                "clip": animation.name,
                "frames": reduction.frames,
                "keys_before": reduction.source_keys,
                "keys": reduction.keys,
                "error_mm": round(1000 * reduction.error_m, 6),
                "error_degrees": round(math.degrees(reduction.error_angle), 6),
                "error_weight": round(reduction.error_weight, 6),
                "binding": reduction.binding,
                "used": round(reduction.used, 6),
                "cuts_s": [round(time, 6) for time in reduction.cuts],
                "loop": reduction.loop,
                "seconds": round(seconds, 3),
                "notes": list(reduction.notes),
            }
        )
    return result, rows


def clip_summary(row: dict[str, Any]) -> str:
    """The figures of one clip in a line."""
    keys = f"{row['keys_before']:,} keys to {row['keys']:,} ({100.0 * row['keys'] / max(row['keys_before'], 1):.1f} %)"
    measured = ((row["error_mm"], "mm"), (row["error_degrees"], "degrees"), (row["error_weight"], "of a weight"))
    error = " and ".join(f"{value:.3g} {unit}" for value, unit in measured if value) or "rounding"
    binding = f"the {row['binding']} tolerance binds ({100.0 * row['used']:.0f} % used)"
    return f"{row['clip']}: {keys}, within {error}; {binding}, {row['seconds']:.2f} s"

"""`understudy express capture`: the face in a video as ARKit weights."""

from __future__ import annotations

from pathlib import Path

import click

from understudy.cli import options
from understudy.cli.options import flatten_layers, target_ending, write_asset
from understudy.errors import InvalidInput, Unsupported


@click.command(name="capture", short_help="Take the weights of a face from a video.")
@click.argument("video")
@options.output(help="x.csv for Live Link weights and head; .glb, .gltf or .usd for the character that acts them.")
@click.option("--seconds", type=options.Finite(0.01, 600), metavar="S", help="Watch no longer; a camera needs this.")
@click.option("--neutral", type=options.Finite(0), metavar="S", help="When the face is at rest; found by default.")
@click.option("--field", type=options.Finite(1, 170), metavar="DEGREES", help="Of the camera, across its longer side.")
@click.option("--window", type=options.Finite(0, 5), metavar="S", help="Of the moving average; 0.17 by default.")
@click.option(
    "--character", metavar="FILE|NAME", default="face", show_default=True, help="Whose shapes are solved for."
)
@click.option("--landmarks", type=click.Path(dir_okay=False), metavar="FILE", help="Of that character, as for `act`.")
@options.as_json
@options.quiet
def capture_command(
    video: str,
    output: str,
    seconds: float | None,
    neutral: float | None,
    field: float | None,
    window: float | None,
    character: str,
    landmarks: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find the 68 landmarks in every picture of VIDEO and solve for the weights that a character shows them with.

    VIDEO is a file, a photograph, or `camera`. Needs the extra `capture`.
    """
    from understudy import formats
    from understudy.character import Asset
    from understudy.cli.express_output import resolve_character
    from understudy.express import face_capture
    from understudy.express.face_fit import SMOOTHING_SECONDS

    kind = target_ending(output, None)
    endings = [ending for entry in formats.FORMATS if entry.writes for ending in entry.endings]
    if kind not in endings:
        raise Unsupported(output, f"a capture is not written as {kind or 'this'}; written are: {', '.join(endings)}")
    if not Path(output).parent.is_dir():
        raise InvalidInput(f"cannot write {output}: there is no folder {Path(output).parent}")
    actor = resolve_character(character, landmarks)
    if actor.landmarks is None:
        raise InvalidInput(f"capture needs the landmark vertices of {character!r}; give them with --landmarks FILE")
    with options.progress(f"watching {Path(video).name}", quiet or as_json) as report:
        solution, capture_notes = face_capture.capture(
            video,
            actor.character,
            actor.landmarks,
            seconds=seconds,
            neutral=neutral,
            field=field,
            window=SMOOTHING_SECONDS if window is None else window,
            progress=lambda frame: report(frame, 0),
        )
    clip = solution.clip(Path(video).stem, head=kind == ".csv")
    asset = flatten_layers(Asset([] if kind == ".csv" else [actor.character], [clip]), kind, quiet or as_json)
    notes = [*capture_notes, *asset.notes, *write_asset(asset, output, None)]
    error = float(solution.errors.mean())
    if as_json:
        row = {"input": video, "output": output, "frames": len(clip), "rate": clip.rate, "pixels": round(error, 3)}
        options.echo_json(row | {"notes": notes})
        return
    options.echo_notes(notes, quiet)
    if not quiet:
        click.echo(
            f"{output}: {len(clip)} frames at {clip.rate:g} fps, landmarks met within {error:.1f} pixels", err=True
        )

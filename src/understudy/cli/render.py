"""`understudy render`: a picture, a contact sheet or a video."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.cli.farm import FolderCommand
from understudy.cli.options import InputJobs, target_ending
from understudy.errors import Unsupported

if TYPE_CHECKING:
    from understudy.render.take import RenderTake
    from understudy.render.trail import Trail
    from understudy.render.trail_drawing import TrailStyle

OUTPUT_ENDINGS = (".png", ".mp4", ".webm", ".gif")


@click.command(name="render", cls=FolderCommand, short_help="Draw a picture, a contact sheet or a video.")
@click.argument("input")
@options.output(help="x.png, x.mp4, x.webm or x.gif; for a folder as INPUT a folder, with --to.")
@click.option(
    "--to", "ending", type=click.Choice([kind[1:] for kind in OUTPUT_ENDINGS]), help="What to write into a folder."
)
@options.clip
@options.rate
@options.character
@options.size_option("960x720", "320x240")
@click.option(
    "--time",
    type=options.Finite(),
    metavar="S",
    help="The moment of a PNG, seconds of the clip's clock; its start by default.",
)
@click.option("--sheet", type=click.IntRange(1, 400), metavar="N", help="A contact sheet of N frames, as PNG.")
@click.option("--centred", is_flag=True, help="Keep what is framed in the middle of every picture of a sheet.")
@click.option("--captions/--no-captions", default=True, help="Title and times on a contact sheet.")
@click.option(
    "--azimuth",
    type=options.Finite(),
    metavar="DEGREES",
    default=30.0,
    show_default=True,
    help="Around the character from its front, towards its left.",
)
@click.option(
    "--elevation",
    type=options.Finite(-90, 90),
    metavar="DEGREES",
    default=12.0,
    show_default=True,
    help="Above the horizon.",
)
@click.option(
    "--target", metavar="NAME", help="Frame only this: a named point, a region, a part or a joint of the character."
)
@click.option(
    "--zoom", type=options.Finite(0.05, 50), metavar="FACTOR", default=1.0, show_default=True, help="Narrow the view."
)
@click.option("--background", type=click.Choice(["warm", "studio"]), default="warm", show_default=True)
@click.option("--bones", is_flag=True, help="Draw the skeleton instead of the skin.")
@click.option("--follow/--no-follow", default=None, help="Travel with the character; by default where it walks away.")
@click.option(
    "--trail",
    "trails",
    multiple=True,
    metavar="JOINT",
    help="Draw the path of a joint, a named point or a marker; may be given several times.",
)
@click.option(
    "--trail-vertex",
    "trail_vertices",
    multiple=True,
    type=click.IntRange(0),
    metavar="N",
    help="Draw the path of a vertex, numbered over all parts; may be given several times.",
)
@click.option(
    "--trail-colour",
    "trail_colouring",
    type=click.Choice(["time", "speed"]),
    default="time",
    show_default=True,
    help="Past and future, or slow to fast.",
)
@click.option(
    "--trail-axes", type=click.IntRange(1), metavar="N", help="Draw the directions of x, y and z at every Nth frame."
)
@click.option(
    "--trail-around", type=options.Finite(1e-3), metavar="S", help="Draw only S seconds before and after the moment."
)
@click.option(
    "--supersample",
    type=click.IntRange(1, 4),
    metavar="N",
    help="Draw N times larger and average; 2 for pictures and small sheets by default, 1 for videos.",
)
@click.option("--software", is_flag=True, help="Draw without OpenGL.")
@options.placing
@options.skeleton
@options.source_format
@options.as_json
@options.quiet
def command(
    input: str,
    output: str,
    ending: str | None,
    clip: str | None,
    rate: float | None,
    character: str | None,
    size: tuple[int, int] | None,
    time: float | None,
    sheet: int | None,
    centred: bool,
    captions: bool,
    azimuth: float,
    elevation: float,
    target: str | None,
    zoom: float,
    background: str,
    bones: bool,
    follow: bool | None,
    trails: tuple[str, ...],
    trail_vertices: tuple[int, ...],
    trail_colouring: str,
    trail_axes: int | None,
    trail_around: float | None,
    supersample: int | None,
    software: bool,
    placing: dict[str, Any],
    skeleton: str | None,
    source_format: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Render INPUT to a picture (.png), a contact sheet (--sheet N) or a video (.mp4, .webm, .gif)."""
    kind = target_ending(output, ending)

    pixels = size or ((960, 720) if sheet is None else (320, 240))
    # A still picture of a trail shows all of it, unless --trail-around limits it.
    still = kind == ".png" and sheet is None and trail_around is None and bool(trails or trail_vertices)

    def work(path: str, place: str) -> dict[str, Any]:
        from understudy.render import show

        asset = options.open_input(path, source_format, jobs.many, skeleton=skeleton, **placing)
        take = show.RenderTake.from_asset(asset, clip, rate, character, bones)
        drawn = _trails(take, trails, trail_vertices)
        view = show.ViewSettings(
            size=pixels,
            azimuth=math.radians(azimuth),
            elevation=math.radians(elevation),
            background=background,
            follow=False if follow is None and still else follow,
            backend="software" if software else None,
            # Small pictures show their edges more; very large ones exceed what can be drawn finer.
            supersample=supersample or (2 if kind == ".png" and max(pixels) <= (4096 if sheet is None else 480) else 1),
            target=target,
            zoom=zoom,
            centred=centred and sheet is not None,
            trails=drawn,
            trail_style=_style(take, trail_colouring, trail_axes, trail_around),
        )
        with options.progress(f"rendering {take.name}", quiet) as report:
            if sheet is not None:
                how = show.contact_sheet(take, place, view, sheet, report, captions)
            elif kind == ".png":
                how = show.picture(take, place, view, time)
            else:
                how = show.video(take, place, view, report)
        if not as_json and not quiet:
            click.echo(f"{place}: {how}", err=True)
        facts = {"output": place, "clip": take.name, "frames": len(take), "how": how}
        return facts | ({"trails": [trail_facts(trail) for trail in drawn]} if drawn else {})

    jobs = InputJobs.plan(input, output, kind if ending else None)
    if kind not in OUTPUT_ENDINGS:
        raise Unsupported(
            output, f"a picture is not written as {kind or 'this'}; written are: {', '.join(OUTPUT_ENDINGS)}"
        )
    jobs.run(work, as_json, quiet)


def _trails(take: RenderTake, names: tuple[str, ...], vertices: tuple[int, ...]) -> tuple[Trail, ...]:
    """The trails of joints, points and vertices."""
    from understudy.edit.goals import Point
    from understudy.render import trail

    points: list[Point | str] = [*names, *(Point(vertex=number) for number in vertices)]
    return tuple(trail.trail_of_take(take, point) for point in points)


def _style(take: RenderTake, colouring: str, axes: int | None, around: float | None) -> TrailStyle:
    """The style of the options, with axes of a twentieth of the figure's size."""
    import numpy as np

    from understudy.render.trail_drawing import TrailStyle

    size = float(np.ptp(take.outlines()[0], axis=0).max()) if axes else 1.0
    return TrailStyle(colouring=colouring, axes=axes or 0, reach=0.05 * size, around=around)


def trail_facts(trail: Trail) -> dict[str, Any]:
    """The facts of a trail, for --json."""
    import numpy as np

    length = float(np.linalg.norm(np.diff(trail.line, axis=0), axis=1).sum())
    return {
        "point": trail.name,
        "metres": round(length, 6),
        "fastest": round(float(trail.speed.max(initial=0.0)), 6),
        "keys": [round(float(time), 6) for time in trail.key_times],
    }

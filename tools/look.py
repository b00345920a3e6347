"""Look at a dope sheet: a contact sheet with frame numbers from the text file itself, and the findings of the lint.

    tools.look happy_hello.txt -o hello.png                  every third frame
    tools.look happy_hello.txt --frames 16-30 -o accent.png  each frame round an accent
    tools.look happy_hello.txt --lock-head -o face.png       the face alone, head and neck frozen, from nearer
    tools.look happy_hello.txt --black -o shape.png          the silhouette: still readable?
    tools.look --face happy --face lids.angry -o faces.png   poses of the library; --face all for every full face

A sheet is given by its file, or by the name of a clip that is in the package. Below each picture are the frame and
how much the picture has changed since the one before (mean over all pixels, 0 to 255; under 2.5 twice running looks
dead). Run it with the environment's Python: .venv/bin/python -m tools.look ...
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import cos, radians, sin
from pathlib import Path

import click
import numpy as np

from assets.dragon import measures
from assets.lint import acting
from understudy import cast
from understudy.cast import archive, sheet_library
from understudy.cast.dope_sheet import Sheet
from understudy.character import Asset, Channels, Character, Clip, Controls, rig
from understudy.checks import Array
from understudy.errors import UnderstudyError
from understudy.render import Camera, Surface, contact_sheet, floor_of, open_renderer, write_png
from understudy.render.scene import SurfaceFinish
from understudy.render.take import RenderTake

FIELD_OF_VIEW = radians(22)
FIGURE = ((0.0, -0.14, 0.03), 4.6)  # what the camera looks at, and from how far, in head lengths
FACE = ((0.0, 0.02, 0.05), 2.9)
BODY = ("head", "neck")  # the groups that --lock-head keeps at rest


@click.command()
@click.argument("source", required=False)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The PNG to write."
)
@click.option("--every", type=click.IntRange(1), help="Frames from picture to picture; 3, or 1 with --frames.")
@click.option("--frames", "span", help="Only these frames, as in 20-40.")
@click.option("--azimuth", default=22.0, show_default=True, help="Degrees; + looks from its left.")
@click.option("--elevation", default=5.0, show_default=True, help="Degrees above the horizontal.")
@click.option("--size", default=176, show_default=True, help="Pixels a side of each picture.")
@click.option("--columns", type=click.IntRange(1), default=8, show_default=True, help="Pictures in a row.")
@click.option("--lock-head", is_flag=True, help="Freeze head and neck, and look at the face from nearer.")
@click.option("--black", is_flag=True, help="Fill the silhouette.")
@click.option("--face", "faces", multiple=True, help="A pose of the library, or all; may be repeated.")
def look(
    source: str | None,
    output: Path,
    every: int | None,
    span: str | None,
    azimuth: float,
    elevation: float,
    size: int,
    columns: int,
    lock_head: bool,
    black: bool,
    faces: tuple[str, ...],
) -> None:
    """Draw a dope sheet (a file, or a clip's name) or poses of the library as a contact sheet."""
    try:
        body = cast.load("dragon").character()
        if faces:
            title, captions, take = "", *_poses(body, faces)
        else:
            if source is None:
                raise click.UsageError("say which sheet, or which --face")
            sheet = _sheet(source)
            title = f"{sheet.name}: {sheet.about}"
            chosen = _chosen(sheet, span, every)
            _report(sheet)
            captions, take = [str(frame) for frame in chosen], _take(body, sheet, chosen, lock_head)
        camera = _camera(FACE if lock_head or faces else FIGURE, radians(azimuth), radians(elevation))
        pictures = _draw(take, camera, size, black)
        changes = ["", *(f"{_change(a, b):.1f}" for a, b in pairwise(pictures))]
        if not faces:
            captions = [f"{caption} ({change})" if change else caption for caption, change in zip(captions, changes)]
        write_png(output, contact_sheet(pictures, captions, columns, title))
        click.echo(f"{output}: {len(pictures)} pictures")
    except UnderstudyError as error:
        raise click.ClickException(str(error)) from None


def _controls() -> Controls:
    return archive.read_controls(cast.arrays_file("dragon"))


def _sheet(source: str) -> Sheet:
    path = Path(source)
    if not path.is_file():
        folder = Path(cast.__file__).parent / "sheets" / "dragon"
        found = sorted(folder.rglob(f"{source}.txt"))
        if not found:
            raise click.UsageError(f"{source} is neither a file nor the name of a clip")
        path = found[0]
    return sheet_library.dragon_library(_controls()).sheet(path.read_text(encoding="utf-8"), str(path))


def _chosen(sheet: Sheet, span: str | None, every: int | None) -> list[int]:
    first, last = 0, int(sheet.frames)
    if span:
        found = re.fullmatch(r"(\d+)-(\d+)", span)
        if not found or int(found[1]) > min(int(found[2]), last):
            raise click.UsageError(f"--frames should be written first-last within 0 to {last}, but is {span}")
        first, last = int(found[1]), min(int(found[2]), last)
    return list(range(first, last + 1, every or (1 if span else 3)))


def _take(body: Character, sheet: Sheet, frames: list[int], lock_head: bool) -> RenderTake:
    """A take of the chosen frames only."""
    curves = sheet_library.dragon_library(_controls()).curves(sheet)
    values = curves.sample(np.array(frames) / sheet.rate)
    channels = curves.channels
    if lock_head:
        kept = [i for i, channel in enumerate(channels) if channel.target.partition(".")[0] not in BODY]
        channels, values = Channels([channels[i] for i in kept]), values[:, kept]
    return RenderTake.from_asset(Asset([body], clips=[Clip(sheet.name, channels, values, sheet.rate)]))


def _poses(body: Character, names: tuple[str, ...]) -> tuple[list[str], RenderTake]:
    """A take with a pose a frame."""
    controls = _controls()
    known = sheet_library.dragon_poses(controls)
    chosen = [name for name in known if "." not in name] if names == ("all",) else list(names)
    missing = [name for name in chosen if name not in known]
    if missing or not chosen:
        raise click.UsageError(f"there is no face {', '.join(missing)}; available: {', '.join(known)}")
    rows = np.stack([known[name] for name in chosen])
    clip = Clip("faces", rig.rig_of(body).channels, rows, 24.0)
    return chosen, RenderTake.from_asset(Asset([body], clips=[clip]))


def _camera(place: tuple[tuple[float, float, float], float], azimuth: float, elevation: float) -> Camera:
    centre, distance = place
    target = measures.metres(np.array(centre))
    flat = cos(elevation)
    back = np.array([sin(azimuth) * flat, sin(elevation), cos(azimuth) * flat])
    eye = target + back * distance * measures.SCALE
    return Camera(tuple(eye), tuple(target), FIELD_OF_VIEW, aspect=1.0)


def _draw(take: RenderTake, camera: Camera, size: int, black: bool) -> list[Array]:
    outlines = take.outlines()
    stage = floor_of(outlines, ground=0.0)
    surfaces = [_black(surface) for surface in take.surfaces] if black else take.surfaces
    with open_renderer(size, size) as renderer:
        drawings = [take.draw(frame) for frame in range(len(take))]
        return [renderer.draw(camera, surfaces, d.vertices, d.normals, stage=stage) for d in drawings]


def _change(before: Array, after: Array) -> float:
    return float(np.abs(after.astype(float) - before.astype(float)).mean())


def _black(surface: Surface) -> Surface:
    """The same surface, black whatever the light, and without a shadow."""
    return Surface(surface.triangles, np.zeros(3), SurfaceFinish(unlit=True), casts_shadow=False)


def _report(sheet: Sheet) -> None:
    found = acting.lint(sheet, _controls())
    click.echo("\n".join(map(str, found)) or "lint: clean")


if __name__ == "__main__":
    look()

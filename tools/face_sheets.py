"""Draw the face: its 52 shapes, its expressions, its landmarks, or a clip, as contact sheets.

    tools/face_sheets.py shapes -o shapes.png
    tools/face_sheets.py expressions -o expressions.jpg      the peak of one clip a label, and others
    tools/face_sheets.py peaks -o peaks.png                  the peak of every clip
    tools/face_sheets.py landmarks -o landmarks.png
    tools/face_sheets.py views -o views.png
    tools/face_sheets.py happiness_grin -o grin.png          every third frame of a clip

Run it with the environment's Python: .venv/bin/python tools/face_sheets.py ...
"""

from __future__ import annotations

from math import cos, radians, sin
from pathlib import Path

import click
import numpy as np

from understudy import cast, rig
from understudy.cast.face import LANDMARKS
from understudy.cast.face.measures import SCALE, metres
from understudy.character import Asset, Channels, Clip
from understudy.checks import Array
from understudy.formats.arkit_names import WEIGHTS
from understudy.render import Camera, contact_sheet, open_renderer, stage_of, write_png
from understudy.render.take import Take

FIELD_OF_VIEW = radians(22)
Row = dict[str, float]


def _camera(azimuth: float, distance: float, centre: tuple[float, float, float], elevation: float = 4.0) -> Camera:
    a, e = radians(azimuth), radians(elevation)
    target = metres(np.array(centre))
    eye = target + SCALE * distance * np.array([sin(a) * cos(e), sin(e), cos(a) * cos(e)])
    return Camera(tuple(eye), tuple(target), FIELD_OF_VIEW, aspect=1.0)


def _take(asset: Asset, rows: list[Row]) -> Take:
    """A take with a row of weights a frame."""
    found = rig.of(asset.character())
    place = found.channels.slice("Face", "weights")
    assert place is not None
    values = np.tile(found.rest, (len(rows), 1))
    for frame, row in enumerate(rows):
        for name, weight in row.items():
            values[frame, place.start + WEIGHTS.index(name)] = weight
    return Take.of(Asset(asset.characters, clips=[Clip("rows", found.channels, values, 24.0)]))


def _sampled(asset: Asset, clip: str, times: Array) -> tuple[Channels, Array]:
    animation = asset.animation(clip)
    found = rig.of(asset.character())
    return found.channels, found.pose(animation, times)


def _draw(take: Take, camera: Camera, size: int, marks: bool = False) -> list[Array]:
    stage = stage_of(take.outlines(), ground=0.0)
    pictures = []
    with open_renderer(size, size) as renderer:
        for frame in range(len(take)):
            drawn = take.draw(frame)
            picture = renderer.draw(camera, take.surfaces, drawn.vertices, drawn.normals, stage=stage)
            pictures.append(_marked(picture, camera, take, frame) if marks else picture)
    return pictures


def _marked(picture: Array, camera: Camera, take: Take, frame: int) -> Array:
    """The picture with a dot for each landmark."""
    from PIL import Image, ImageDraw

    image = Image.fromarray(picture)
    pen = ImageDraw.Draw(image)
    size = picture.shape[0]
    eye, target = np.array(camera.eye), np.array(camera.target)
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(forward, [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    points = _vertices(take, frame)[LANDMARKS] - eye
    scale = 0.5 * size / np.tan(0.5 * FIELD_OF_VIEW) / (points @ forward)
    for number, (x, y) in enumerate(zip(size / 2 + scale * (points @ right), size / 2 - scale * (points @ up))):
        radius = size / 110
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill="#19e0c8" if number % 2 else "#fff04a")
    return np.asarray(image)


def _vertices(take: Take, frame: int) -> Array:
    return np.asarray(take.vertices(frame))


@click.command()
@click.argument("what")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
@click.option("--size", default=0, help="Pixels a side of each picture.")
@click.option("--columns", default=0)
@click.option("--azimuth", default=10.0)
@click.option("--every", default=3, help="Frames from picture to picture of a clip.")
@click.option("--near", is_flag=True, help="From nearer.")
@click.option("--only", default="", help="Shapes or clips whose names hold this.")
def main(what: str, output: Path, size: int, columns: int, azimuth: float, every: int, near: bool, only: str) -> None:
    """Draw a sheet of the face."""
    asset = cast.load("face")
    distance, centre = (2.5, (0.0, -0.10, 0.1)) if near else (3.6, (0.0, -0.05, 0.0))
    if what == "shapes":
        names = [name for name in WEIGHTS if only in name]
        rows = [_example(name) for name in names]
        pictures = _draw(_take(asset, rows), _camera(14.0, 2.7, (0.0, -0.10, 0.1)), size or 160)
        write_png(output, contact_sheet(pictures, names, columns or 9, ""))
    elif what == "views":
        take = _take(asset, [{}])
        pictures = [_draw(take, _camera(a, 4.0, (0.0, -0.05, 0.0)), size or 448)[0] for a in (0, 35, 90, 180)]
        write_png(output, contact_sheet(pictures, ["", "", "", ""], 4, ""))
    else:
        _animations(asset, what, output, size, columns, _camera(azimuth, distance, centre), every, only)


def _example(name: str) -> Row:
    if name == "mouthClose":
        return {"jawOpen": 1.0, name: 1.0}
    return {name: 1.0, "jawOpen": 0.35} if name == "tongueOut" else {name: 1.0}


def _animations(
    asset: Asset, what: str, output: Path, size: int, columns: int, camera: Camera, every: int, only: str
) -> None:
    found = rig.of(asset.character())
    if what in ("peaks", "landmarks"):
        chosen = [a for a in asset.curves if only in a.name]
        rows = np.concatenate([found.pose(a, [a.moments["peak"]]) for a in chosen])
        captions = [a.name for a in chosen]
    else:
        animation = asset.animation(what)
        times = animation.frame_times()[::every]
        rows = found.pose(animation, times)
        captions = [str(round(t * animation.rate)) for t in times]
    take = Take.of(Asset(asset.characters, clips=[Clip("rows", found.channels, rows, 24.0)]))
    pictures = _draw(take, camera, size or 200, what == "landmarks")
    write_png(output, contact_sheet(pictures, captions, columns or 8, ""))


if __name__ == "__main__":
    main()

"""Draw the face: its 52 shapes, its expressions, its landmarks, or a clip, as contact sheets.

    tools.face_sheets shapes -o shapes.png
    tools.face_sheets views -o views.png                  neutral, from four sides
    tools.face_sheets expressions -o expressions.jpg      the peaks of two takes a label
    tools.face_sheets peaks -o peaks.png                  the peak of every take; --only fear for some
    tools.face_sheets landmarks -o landmarks.png          the 68 landmarks at rest and at two peaks
    tools.face_sheets happiness_grin -o grin.png          every third frame of a take

Run it with the environment's Python: .venv/bin/python -m tools.face_sheets ...
"""

from __future__ import annotations

from math import cos, radians, sin
from pathlib import Path

import click
import numpy as np

from assets.face.measures import SCALE, metres
from understudy import cast
from understudy.cast import FACE_LANDMARKS
from understudy.character import Asset, Clip, rig
from understudy.checks import Array
from understudy.formats.arkit_names import SHAPE_NAMES
from understudy.render import Camera, contact_sheet, floor_of, open_renderer, write_png
from understudy.render.take import RenderTake

FIELD_OF_VIEW = radians(22)
QUALITY = 82  # of a JPEG
FACE, CLOSE, FIGURE = (2.5, (0.0, -0.10, 0.1)), (2.7, (0.0, -0.10, 0.1)), (4.0, (0.0, -0.05, 0.0))
EXPRESSIONS = (
    *("happiness_grin", "happiness_laugh", "sadness_grief", "sadness_hurt", "disgust_smell", "disgust_taste"),
    *("surprise_gasp", "surprise_oh", "anger_glare", "anger_snarl", "fear_gasp", "fear_freeze"),
    *("contempt_smirk", "contempt_curl"),
)


@click.command()
@click.argument("what")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="A PNG or JPEG to write.")
@click.option("--size", default=0, help="Pixels a side of each picture.")
@click.option("--columns", default=0, help="Pictures in a row.")
@click.option("--azimuth", default=10.0, show_default=True, help="Degrees; + looks from its left.")
@click.option("--every", default=3, show_default=True, help="Frames from picture to picture of a take.")
@click.option("--only", default="", help="Shapes or takes whose names hold this.")
def main(what: str, output: Path, size: int, columns: int, azimuth: float, every: int, only: str) -> None:
    """Draw a sheet of the face."""
    asset = cast.load("face")
    if what == "shapes":
        names = [name for name in SHAPE_NAMES if only in name]
        pictures = _draw(asset, _rows(asset, [_example(name) for name in names]), _camera(14.0, *CLOSE), size or 160)
        _write(output, contact_sheet(pictures, names, columns or 9, ""))
    elif what == "views":
        views = [_draw(asset, _rows(asset, [{}]), _camera(a, *FIGURE), size or 448)[0] for a in (0, 35, 90, 180)]
        _write(output, contact_sheet(views, [""] * 4, 4, ""))
    elif what == "landmarks":
        names = ["surprise_gasp", "happiness_crooked"]
        rows = np.concatenate([_rows(asset, [{}]), _peaks(asset, names)])
        pictures = _draw(asset, rows, _camera(azimuth, *CLOSE), size or 400, marks=True)
        _write(output, contact_sheet(pictures, ["neutral", *names], 3, ""))
    elif what in ("peaks", "expressions"):
        found = EXPRESSIONS if what == "expressions" else [take.name for take in asset.curves]
        names = [name for name in found if only in name]
        pictures = _draw(asset, _peaks(asset, names), _camera(azimuth, *FACE), size or 200)
        _write(output, contact_sheet(pictures, names, columns or 7, ""))
    else:
        take = asset.animation(what)
        times = take.frame_times()[::every]
        pictures = _draw(asset, rig.rig_of(asset.character()).pose(take, times), _camera(azimuth, *FACE), size or 200)
        _write(output, contact_sheet(pictures, [str(round(t * take.rate)) for t in times], columns or 8, ""))


def _camera(azimuth: float, distance: float, centre: tuple[float, float, float]) -> Camera:
    a, e = radians(azimuth), radians(4.0)
    target = metres(np.array(centre))
    eye = target + SCALE * distance * np.array([sin(a) * cos(e), sin(e), cos(a) * cos(e)])
    return Camera(tuple(eye), tuple(target), FIELD_OF_VIEW, aspect=1.0)


def _example(name: str) -> dict[str, float]:
    """Weights that show a shape; two of them need an open jaw."""
    return {"jawOpen": {"mouthClose": 1.0, "tongueOut": 0.35}.get(name, 0.0)} | {name: 1.0}


def _rows(asset: Asset, weights: list[dict[str, float]]) -> Array:
    """(F, C) rows of the rig, one for each set of weights."""
    found = rig.rig_of(asset.character())
    place = found.channels.slice("Face", "weights")
    assert place is not None  # the face has shapes
    rows = np.tile(found.rest, (len(weights), 1))
    for frame, own in enumerate(weights):
        for name, weight in own.items():
            rows[frame, place.start + SHAPE_NAMES.index(name)] = weight
    return rows


def _peaks(asset: Asset, names: list[str]) -> Array:
    """(F, C) rows of the rig at the peaks of takes."""
    found, takes = rig.rig_of(asset.character()), [asset.animation(name) for name in names]
    return np.concatenate([found.pose(take, [take.moments["peak"]]) for take in takes])


def _draw(asset: Asset, rows: Array, camera: Camera, size: int, marks: bool = False) -> list[Array]:
    found = rig.rig_of(asset.character())
    take = RenderTake.from_asset(Asset(asset.characters, clips=[Clip("rows", found.channels, rows, 24.0)]))
    stage = floor_of(take.outlines(), ground=0.0)
    with open_renderer(size, size) as renderer:
        drawings = [take.draw(frame) for frame in range(len(take))]
        pictures = [renderer.draw(camera, take.surfaces, d.vertices, d.normals, stage=stage) for d in drawings]
    if not marks:
        return pictures
    return [
        _marked(picture, camera, own) for picture, own in zip(pictures, found.points(rows, FACE_LANDMARKS.tolist()))
    ]


def _marked(picture: Array, camera: Camera, points: Array) -> Array:
    """The picture with a dot for each landmark (68, 3)."""
    from PIL import Image, ImageDraw

    image = Image.fromarray(picture)
    pen, size = ImageDraw.Draw(image), picture.shape[0]
    local = (camera.view @ np.concatenate([points, np.ones((len(points), 1))], axis=1).T)[:3]
    x, y = size / 2 + 0.5 * size / np.tan(0.5 * FIELD_OF_VIEW) * local[:2] * [[1.0], [-1.0]] / -local[2]
    radius = size / 110
    for number, (a, b) in enumerate(zip(x, y)):
        pen.ellipse((a - radius, b - radius, a + radius, b + radius), fill="#19e0c8" if number % 2 else "#fff04a")
    return np.asarray(image)


def _write(path: Path, picture: Array) -> None:
    if path.suffix.lower() in (".jpg", ".jpeg"):
        from PIL import Image

        Image.fromarray(picture).save(path, "JPEG", quality=QUALITY, optimize=True)
    else:
        write_png(path, picture)


if __name__ == "__main__":
    main()

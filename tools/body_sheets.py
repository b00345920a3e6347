"""Draw the bodies of the cast, at rest and in poses that try their skin, from several sides.

    tools/body_sheets.py all -o bodies.jpg                   all three in three poses each
    tools/body_sheets.py penguin -o penguin.png
    tools/body_sheets.py squirrel --pose fours --azimuth 50 --azimuth 90 -o fours.png
    tools/body_sheets.py actor --bvh 09_01.bvh --frame 40 -o run.png
    tools/body_sheets.py penguin --shape eyeBlinkLeft=1 --closeup Head -o blink.png

A pose turns joints by degrees about the axes of the world (z y x), or aims the bone to the first child that way.
Run it with the environment's Python: .venv/bin/python tools/body_sheets.py ...
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, radians, sin
from pathlib import Path
from typing import Any

import click
import numpy as np

from understudy import cast, formats
from understudy.character import Character, Skeleton, rig
from understudy.checks import Array
from understudy.maths import euler, quaternion
from understudy.render import Camera, contact_sheet, floor_of, open_renderer, write_png
from understudy.render.take import RenderTake

FIELD_OF_VIEW = radians(22)
Aim = tuple[str, tuple[float, float, float]]
POSES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "penguin": {
        "rest": {},
        "cheer": {
            "Hips": (0, 0, -6),
            "Spine": (-4, 0, 4),
            "Chest": (-5, 0, 4),
            "Head": (-8, 8, -10),
            "Jaw": (24, 0, 0),
            "LeftFlipper": (0, 0, 88),
            "LeftFlipperTip": (0, 0, 18),
            "RightFlipper": (0, 0, -70),
            "RightFlipperTip": (0, 0, -16),
            "LeftLeg": (-38, 0, 12),
            "LeftFoot": (16, 0, 0),
            "RightLeg": (4, 0, 6),
            "RightFoot": (-4, 0, 0),
            "Tail": (-16, 0, 0),
        },
        "waddle": {
            "Hips": (0, 10, 9),
            "Chest": (0, -6, -5),
            "Head": (0, -6, -9),
            "LeftFlipper": (0, 0, 34),
            "RightFlipper": (0, 0, -34),
            "LeftFlipperTip": (0, 0, 22),
            "RightFlipperTip": (0, 0, -22),
            "RightLeg": (-26, 0, -10),
            "RightFoot": (-8, 0, 0),
            "LeftLeg": (6, 0, -9),
        },
        "bow": {
            "Spine": (28, 0, 0),
            "Chest": (26, 0, 0),
            "Neck": (20, 0, 0),
            "Head": (20, 20, 0),
            "LeftFlipper": (40, 0, 30),
            "RightFlipper": (-60, 0, -20),
        },
    },
    "squirrel": {
        "rest": {},
        "cheeky": {
            "Hips": (0, 0, -6),
            "Spine": (-4, 0, 4),
            "Chest": (-4, 10, 6),
            "Head": (-6, 8, -12),
            "LeftArm": ("aim", (0.95, 0.02, 0.10)),
            "LeftForeArm": ("aim", (0.62, 0.78, 0.10)),
            "LeftHand": ("aim", (0.55, 0.82, 0.1)),
            "RightArm": ("aim", (-0.80, -0.55, -0.15)),
            "RightForeArm": ("aim", (0.75, -0.35, 0.50)),
            "RightHand": ("aim", (0.7, -0.5, 0.4)),
            "LeftUpLeg": (0, 0, 4),
            "RightUpLeg": (-8, 0, -8),
            "RightLeg": (10, 0, 8),
            "Tail2": (0, 0, 9),
            "Tail3": (-4, 0, 10),
            "Tail4": (0, 0, 10),
            "Tail5": (0, 0, 8),
            "Tail6": (-20, 0, 0),
            "LeftEar": (0, 0, -10),
            "RightEar": (0, 0, 22),
        },
        "fours": {
            "Hips": (76, 0, 0),
            "Spine": (8, 0, 0),
            "Neck": (-30, 0, 0),
            "Head": (-56, 16, 6),
            "LeftShoulder": (0, 0, -6),
            "LeftArm": ("aim", (0.30, -0.75, 0.25)),
            "RightArm": ("aim", (-0.30, -0.78, -0.50)),
            "LeftForeArm": ("aim", (0.02, -0.72, 0.66)),
            "RightForeArm": ("aim", (-0.02, -0.86, 0.45)),
            "LeftHand": ("aim", (0.1, -0.15, 0.98)),
            "RightHand": ("aim", (-0.1, -0.15, 0.98)),
            "LeftUpLeg": ("aim", (0.35, -0.62, 0.60)),
            "RightUpLeg": ("aim", (-0.35, -0.70, 0.30)),
            "LeftLeg": ("aim", (0.02, -0.85, -0.52)),
            "RightLeg": ("aim", (-0.02, -0.80, -0.60)),
            "LeftFoot": ("aim", (0.06, -0.22, 0.97)),
            "RightFoot": ("aim", (-0.06, -0.22, 0.97)),
            "Tail1": (-64, 0, 0),
            "Tail2": (-18, 0, 0),
            "Tail3": (8, 0, 6),
            "Tail4": (14, 0, 8),
            "Tail6": (-26, 0, 0),
        },
        "run": {
            "Hips": (14, 0, 0),
            "Head": (-10, 0, 0),
            "LeftUpLeg": (-70, 0, 0),
            "LeftLeg": (60, 0, 0),
            "RightUpLeg": (45, 0, 0),
            "RightLeg": (50, 0, 0),
            "LeftArm": ("aim", (0.5, -0.6, -0.7)),
            "LeftForeArm": ("aim", (0.1, -0.6, 0.8)),
            "RightArm": ("aim", (-0.4, -0.4, 0.8)),
            "RightForeArm": ("aim", (0.1, 0.5, 0.8)),
            "Jaw": (20, 0, 0),
        },
    },
    "actor": {
        "rest": {},
        "stand": {
            "LeftUpLeg": (0, 0, -18),
            "RightUpLeg": (0, 0, 18),
            "LeftArm": (0, 0, -76),
            "RightArm": (0, 0, 76),
            "LeftForeArm": (0, -12, 0),
            "RightForeArm": (0, 12, 0),
        },
        "hero": {
            "Hips": (0, 14, 0),
            "LeftUpLeg": ("aim", (0.22, -0.95, 0.12)),
            "RightUpLeg": ("aim", (-0.15, -0.98, -0.10)),
            "LeftLeg": ("aim", (0.12, -0.98, -0.08)),
            "RightLeg": ("aim", (-0.10, -0.98, -0.06)),
            "LeftFoot": ("aim", (0.25, -0.28, 0.95)),
            "RightFoot": ("aim", (-0.28, -0.28, 0.92)),
            "Spine": (-4, -6, 0),
            "Spine1": (-4, -6, 3),
            "Head": (-4, 4, -6),
            "LeftArm": ("aim", (0.75, 0.55, 0.15)),
            "LeftForeArm": ("aim", (0.15, 0.95, 0.20)),
            "RightArm": ("aim", (-0.70, -0.70, -0.05)),
            "RightForeArm": ("aim", (0.72, -0.45, 0.50)),
            "RightHand": ("aim", (0.8, -0.5, 0.3)),
        },
        "sit": {
            "LowerBack": (15, 0, 0),
            "Spine": (15, 0, 0),
            "Spine1": (10, 0, 0),
            "LeftUpLeg": ("aim", (0.2, 0.1, 1.0)),
            "RightUpLeg": ("aim", (-0.2, 0.1, 1.0)),
            "LeftLeg": ("aim", (0.0, -1.0, -0.25)),
            "RightLeg": ("aim", (0.0, -1.0, -0.25)),
            "LeftFoot": ("aim", (0.05, -0.28, 0.95)),
            "RightFoot": ("aim", (-0.05, -0.28, 0.95)),
            "LeftArm": ("aim", (0.35, -0.9, 0.3)),
            "RightArm": ("aim", (-0.35, -0.9, 0.3)),
            "LeftForeArm": ("aim", (-0.35, 0.55, 0.8)),
            "RightForeArm": ("aim", (0.35, 0.75, 0.6)),
            "Head": (12, 0, 8),
        },
    },
}

# of the sheet of all: body, pose, degrees, shapes
EVERYBODY = (
    ("penguin", "rest", 28.0, ()),
    ("squirrel", "rest", 28.0, ()),
    ("actor", "stand", 28.0, ()),
    ("penguin", "cheer", 28.0, ("eyeSquintLeft=.6", "eyeSquintRight=.6")),
    ("squirrel", "cheeky", 28.0, ("eyeSquintLeft=.5", "eyeSquintRight=.5")),
    ("actor", "hero", 28.0, ("mouthSmileLeft=1", "mouthSmileRight=1")),
    ("penguin", "waddle", 28.0, ()),
    ("squirrel", "fours", 48.0, ()),
    ("actor", "sit", 28.0, ("browInnerUp=1", "mouthFrownLeft=.8", "mouthFrownRight=.8")),
)
QUALITY = 84  # of a JPEG


@click.command()
@click.argument("name", type=click.Choice((*POSES, "all")))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The PNG or JPEG to write.")
@click.option("--pose", "poses", multiple=True, help="Which poses; all by default.")
@click.option("--azimuth", "azimuths", multiple=True, type=float, help="Degrees; 0, 35 and 90 by default.")
@click.option("--elevation", default=8.0, show_default=True)
@click.option("--size", default=400, show_default=True, help="Pixels a side of each picture.")
@click.option("--bvh", type=click.Path(exists=True, path_type=Path), help="Rotations of a motion file instead.")
@click.option("--frame", "frames", multiple=True, type=int, help="Which of its frames.")
@click.option("--shape", "shapes", multiple=True, help="A weight of the face, as in eyeBlinkLeft=1.")
@click.option("--closeup", help="Look at this joint from near.")
@click.option("--file", type=click.Path(exists=True, path_type=Path), help="A file of `cast.archive` instead.")
def main(
    name: str,
    output: Path,
    poses: tuple[str, ...],
    azimuths: tuple[float, ...],
    elevation: float,
    size: int,
    bvh: Path | None,
    frames: tuple[int, ...],
    shapes: tuple[str, ...],
    closeup: str | None,
    file: Path | None,
) -> None:
    """Draw a sheet: a row for each pose, a column for each side."""
    if name == "all":
        _write(output, _everybody(size))
        return
    character = _read(file or _file(name))
    if bvh is not None:
        rows, labels = _moved(character, bvh, frames), [f"{bvh.stem} {frame}" for frame in frames]
    else:
        labels = list(poses or POSES[name])
        rows = [_row(character, posed(character.skeleton, POSES[name][pose]), shapes) for pose in labels]
    views = azimuths or (0.0, 35.0, 90.0)
    drawn = [_draw(character, row, view, elevation, size, closeup) for row in rows for view in views]
    captions = [label if number == 0 else "" for label in labels for number in range(len(views))]
    _write(output, contact_sheet(drawn, captions, len(views), ""))


def _everybody(size: int) -> Array:
    pictures = []
    for name, pose, azimuth, shapes in EVERYBODY:
        character = _read(_file(name))
        row = _row(character, posed(character.skeleton, POSES[name][pose]), shapes)
        pictures.append(_draw(character, row, azimuth, 8.0, size, None))
    return np.concatenate([np.concatenate(pictures[i : i + 3], axis=1) for i in range(0, len(pictures), 3)])


def _file(name: str) -> Path:
    return Path(cast.__file__).parent / name / f"{name}.npz"


def _write(path: Path, picture: Array) -> None:
    if path.suffix.lower() in (".jpg", ".jpeg"):
        from PIL import Image

        Image.fromarray(picture).save(path, "JPEG", quality=QUALITY, optimize=True)
    else:
        write_png(path, picture)


def _read(path: Path) -> Character:
    from understudy.cast import archive

    return archive.read(path).character()


def posed(skeleton: Skeleton, pose: Mapping[str, Any]) -> Array:
    """(J, 4) rotations of a skeleton whose joints have the axes of the world at rest."""
    local = quaternion.identity((len(skeleton),))
    world = quaternion.identity((len(skeleton),))
    for joint, joint_name in enumerate(skeleton.names):
        parent = int(skeleton.parents[joint])
        above = world[parent] if parent >= 0 else quaternion.identity(())
        asked = pose.get(joint_name, (0, 0, 0))
        if asked[0] == "aim":
            below = [j for j in np.flatnonzero(skeleton.parents == joint) if np.any(skeleton.translations[j])]
            bone = skeleton.translations[below[0]] if below else skeleton.translations[joint]
            local[joint] = _between(bone, quaternion.rotate(quaternion.conjugate(above), np.array(asked[1], float)))
        else:
            local[joint] = euler.from_euler(np.radians([asked[2], asked[1], asked[0]]), "zyx")
        world[joint] = quaternion.multiply(above, local[joint])
    return local


def _between(a: Array, b: Array) -> Array:
    """(4,) the shortest turn from one direction to another."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    q = np.append(np.cross(a, b), 1 + a @ b)
    return q / np.linalg.norm(q)


def _row(character: Character, rotations: Array, shapes: tuple[str, ...]) -> Array:
    found = rig.rig_of(character)
    row = found.rest.copy()
    for joint, joint_name in enumerate(character.skeleton.names):
        place = found.channels.slice(joint_name, "rotation")
        if place is not None:
            row[place] = rotations[joint]
    own = character.shapes.get("Face", ())
    for shape in shapes:
        label, _, weight = shape.partition("=")
        place = found.channels.slice("Face", "weights")
        assert place is not None
        row[place.start + own.index(label)] = float(weight or 1)
    return row


def _moved(character: Character, path: Path, frames: tuple[int, ...]) -> list[Array]:
    asset = formats.read(path)
    source = asset.character().skeleton
    clip = asset.animations[0]
    found = rig.rig_of(asset.character())
    rows = []
    for frame in frames:
        row = found.pose(clip, [clip.start + frame / clip.rate])[0]
        rotations = quaternion.identity((len(character.skeleton),))
        for joint, joint_name in enumerate(character.skeleton.names):
            place = found.channels.slice(joint_name, "rotation") if joint_name in source else None
            if place is not None:
                rotations[joint] = row[place]
        rows.append(_row(character, rotations, ()))
    return rows


def _draw(character: Character, row: Array, azimuth: float, elevation: float, size: int, closeup: str | None) -> Array:
    take = RenderTake.from_rows(rig.rig_of(character), row[None])
    points = take.draw(0).vertices
    every = np.concatenate(points) if isinstance(points, list) else np.asarray(points).reshape(-1, 3)
    low, high = every.min(axis=0), every.max(axis=0)
    middle, reach = 0.5 * (low + high), 0.60 * float((high - low).max())
    if closeup is not None:
        middle, reach = _place(character, row, closeup), 0.22 * float(high[1] - low[1])
    a, e = radians(azimuth), radians(elevation)
    eye = middle + reach / np.tan(0.5 * FIELD_OF_VIEW) * np.array([sin(a) * cos(e), sin(e), cos(a) * cos(e)])
    camera = Camera(tuple(eye), tuple(middle), FIELD_OF_VIEW, aspect=1.0)
    drawing = take.draw(0)
    stage = floor_of(take.outlines(), ground=float(low[1]))
    with open_renderer(2 * size, 2 * size) as renderer:
        picture = renderer.draw(camera, take.surfaces, drawing.vertices, drawing.normals, stage=stage)
    fine = picture[..., :3].reshape(size, 2, size, 2, 3).mean(axis=(1, 3))
    return np.asarray(fine.astype(np.uint8))


def _place(character: Character, row: Array, joint: str) -> Array:
    found = rig.rig_of(character)
    place = found.joints(row[None])[0, character.skeleton.index(joint), :3, 3]
    return np.asarray(place * [1.0, 1.04 if joint == "Head" else 1.0, 1.0])


if __name__ == "__main__":
    main()

"""The pictures of docs/deform.md and docs/deform_truth.md: six skins at their worst poses, and the ground truth.

.venv/bin/python tools/deform_pictures.py
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from understudy.checks import Array
from understudy.cli.deform import HEAT_MAP_PIXELS, heat_maps
from understudy.deform.comparison import compare_skins
from understudy.deform.deformer import method_class
from understudy.deform.ground_truth.arm import solve_arm
from understudy.render import open_renderer
from understudy.render.overlay import comparison_view, heat_picture

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
METHODS = ("linear", "dual", "centres-of-rotation", "pose-space", "eigenskin", "neuro-enveloping")
AZIMUTH_RAD = math.radians(30.0)
ELEVATION_RAD = math.radians(14.0)
TRUTH_ANGLES_DEGREES = ((0, 0), (75, 0), (150, 0), (0, 90), (0, 180), (90, 120))  # elbow bend, wrist twist
HEAT_SCALE_M = 0.02  # metres of error that are yellow in the picture of the ground truth


def main() -> None:
    """Draw both pictures."""
    arm = solve_arm()
    maps = heat_maps(compare_skins(arm, METHODS), AZIMUTH_RAD, quiet=True)
    write_grid([np.asarray(Image.open(io.BytesIO(maps[name])).convert("RGB")) for name in METHODS], "deform_worst")
    posed = solve_arm(np.radians(TRUTH_ANGLES_DEGREES))
    linear = method_class("linear").fit(arm).deform(posed.transforms)
    write_grid(truth_pictures(posed.vertices, posed.triangles, linear), "deform_truth")


def truth_pictures(truth: Array, triangles: Array, linear: Array) -> list[Array]:
    """Draw meshes (E, V, 3) of the ground truth, coloured by the error of linear blending (E, V, 3) there."""
    pictures = []
    with open_renderer(*HEAT_MAP_PIXELS, "warm", supersample=2) as renderer:
        for mesh, blend in zip(truth, linear):
            camera, floor = comparison_view([mesh], HEAT_MAP_PIXELS[0] / HEAT_MAP_PIXELS[1], AZIMUTH_RAD, ELEVATION_RAD)
            errors = np.linalg.norm(blend - mesh, axis=1)
            pictures.append(heat_picture(renderer, camera, floor, mesh, triangles, errors, HEAT_SCALE_M))
    return pictures


def write_grid(pictures: Sequence[Array], name: str, columns: int = 3) -> None:
    """Write pictures (H, W, 3), `columns` in a row, as docs/images/NAME.jpg."""
    rows = [np.hstack(pictures[start : start + columns]) for start in range(0, len(pictures), columns)]
    Image.fromarray(np.vstack(rows)).save(IMAGES / f"{name}.jpg", quality=86)


if __name__ == "__main__":
    main()

"""Heat maps: a number a vertex as colour on the mesh, from dark violet (none) over green to yellow (the most).

The colours are those of viridis (Smith, van der Walt and Firing 2015): even steps look even, also in grey and to people
who see fewer colours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.maths.colour import to_linear
from understudy.render.camera import Camera, frame_camera
from understudy.render.finish import Finish
from understudy.render.renderer import Renderer
from understudy.render.scene import Stage, Surface, stage_of

# viridis at 0, 1/8, ... 1, sRGB
STOPS = np.array(
    [
        [0.267, 0.005, 0.329],
        [0.283, 0.141, 0.458],
        [0.254, 0.265, 0.530],
        [0.207, 0.372, 0.553],
        [0.164, 0.471, 0.558],
        [0.128, 0.567, 0.551],
        [0.267, 0.749, 0.441],
        [0.627, 0.857, 0.224],
        [0.993, 0.906, 0.144],
    ]
)


def heat_colours(values: ArrayLike, most: float) -> Array:
    """Linear colours (..., 3) of values (...), from 0 to `most` and beyond."""
    share = np.clip(np.asarray(values, float) / checks.positive(most, "the largest value of a heat map"), 0, 1)
    place = share * (len(STOPS) - 1)
    colours = np.stack([np.interp(place, np.arange(len(STOPS)), STOPS[:, i]) for i in range(3)], axis=-1)
    return to_linear(colours)


def heat_surface(triangles: ArrayLike, values: ArrayLike, most: float) -> Surface:
    """A surface with triangles (T, 3) coloured by values (V,)."""
    return Surface(np.asarray(triangles), heat_colours(values, most), Finish(roughness=0.8, softness=0.0))


def view_of(meshes: Sequence[Array], aspect: float, azimuth: float, elevation: float) -> tuple[Camera, Stage]:
    """One camera and stage for meshes (V, 3) that are to be compared."""
    points = np.concatenate([np.asarray(mesh, float) for mesh in meshes])
    return frame_camera(points, azimuth, elevation, aspect=aspect), stage_of(list(meshes))


def heat_picture(
    renderer: Renderer, camera: Camera, stage: Stage, vertices: Array, triangles: ArrayLike, values: Array, most: float
) -> Array:
    """(H, W, 3) uint8: a mesh (V, 3) coloured by values (V,) from 0 to `most`."""
    surface = heat_surface(triangles, values, most)
    return renderer.draw(camera, [surface], [np.asarray(vertices, np.float32)], stage=stage)

"""Drawing over a finished picture: anti-aliased marks, and heat maps of values on a mesh.

Marks are strokes and small shapes in pixels, the same for both renderers. Each mark has a signed distance d to its
edge, negative inside, and covers a pixel by clip(1/2 - d, 0, 1): a straight edge is as smooth as if the pixel's area
had been measured. Overlapping marks of one layer do not add up; the one that covers most wins. So a line of many short
strokes has no seams, and a transparent one no dark joints. Positions are x to the right and y down from the picture's
upper left corner; colours are sRGB and alpha in [0, 1], mixed without conversion, as drawing programs do.

Heat maps colour a mesh by a value for each vertex, from dark violet (zero) over green to yellow (the largest). The
colours are those of viridis (Smith, van der Walt and Firing 2015): even steps look even, also in grey and with colour
vision deficiency.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.maths.colour import to_linear
from understudy.render.camera import Camera, frame_camera
from understudy.render.picture import check_picture, font
from understudy.render.renderer import Renderer
from understudy.render.scene import Floor, Surface, SurfaceFinish, floor_of

# Viridis at 0, 1/8, ... 1, sRGB.
HEAT_COLOUR_STOPS = np.array(
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
MAX_STROKE_PIXELS = 16.0  # length of a piece of a stroke: a longer one has a large, nearly empty box


def _disc(x: Array, y: Array, r: Array) -> Array:
    return np.hypot(x, y) - r


def _ring(x: Array, y: Array, r: Array) -> Array:
    return np.abs(np.hypot(x, y) - 0.82 * r) - 0.18 * r


def _diamond(x: Array, y: Array, r: Array) -> Array:
    return (np.abs(x) + np.abs(y) - r) * 0.5**0.5


def _square(x: Array, y: Array, r: Array) -> Array:
    return np.maximum(np.abs(x), np.abs(y)) - 0.8 * r


def _triangle(x: Array, y: Array, r: Array) -> Array:
    """An equilateral triangle on its base; the centre is that of its circumcircle."""
    return np.maximum(y - 0.5 * r, 0.75**0.5 * np.abs(x) - 0.5 * y - 0.5 * r)


# Signed distance (N,) of points at x, y (N,) from the middle of a shape of radius r (N,).
SHAPES: dict[str, Callable[[Array, Array, Array], Array]] = {
    "disc": _disc,
    "ring": _ring,
    "diamond": _diamond,
    "square": _square,
    "triangle": _triangle,
}


class Overlay:
    """A picture (H, W, 3) uint8 to draw on; `picture` is the result.

    Only touched pixels are computed, since a trail touches a few percent of them.
    """

    def __init__(self, picture: Array) -> None:
        check_picture(picture, (3,))
        self.height, self.width = picture.shape[:2]
        pixels = self.height * self.width
        self._given = picture.reshape(-1, 3)
        self._touched = np.zeros(pixels, bool)
        self._drawn = np.empty((pixels, 3))  # sRGB, where touched
        self._best = np.zeros(pixels, np.int64)  # while a layer is drawn: the mark that covers each pixel most

    @property
    def picture(self) -> Array:
        """(H, W, 3) uint8 with everything drawn so far."""
        result, at = self._given.copy(), np.flatnonzero(self._touched)
        result[at] = np.round(255.0 * np.clip(self._drawn[at], 0.0, 1.0)).astype(np.uint8)
        return result.reshape(self.height, self.width, 3)

    def _mix(self, at: Array, alpha: Array, colours: Array) -> None:
        """Blend colours (N, 3) over distinct pixels (N,) by alpha (N,)."""
        new = at[~self._touched[at]]
        self._drawn[new] = self._given[new] / 255.0
        self._touched[new] = True
        self._drawn[at] += alpha[:, None] * (colours - self._drawn[at])

    def strokes(self, starts: Array, ends: Array, width: float, colours: Array) -> None:
        """Draw a layer of strokes with round ends, from (N, 2) to (N, 2), `width` pixels wide.

        colours (N, 2, 4): at both ends.
        """
        a, b, tints = self._pieces(starts, ends, colours, 0.5 * width + 1.0)
        half = np.full(len(a), 0.5 * width)
        d = b - a
        square = np.maximum((d * d).sum(axis=1), 1e-12)

        def distance(which: Array, x: Array, y: Array) -> tuple[Array, Array]:
            px, py = x - a[which, 0], y - a[which, 1]
            along = np.clip((px * d[which, 0] + py * d[which, 1]) / square[which], 0.0, 1.0)
            off = np.hypot(px - along * d[which, 0], py - along * d[which, 1])
            return off - half[which], tints[which, 0] + along[:, None] * (tints[which, 1] - tints[which, 0])

        self._layer(np.minimum(a, b) - half[:, None], np.maximum(a, b) + half[:, None], distance)

    def shapes(self, kind: str, centres: Array, radii: Array | float, colours: Array) -> None:
        """Draw a layer of a shape, `kind` of SHAPES, at centres (N, 2), of radii (N,) in pixels, in colours (N, 4)."""
        measure = SHAPES[checks.one_of(kind, "shape", SHAPES)]
        centres = np.asarray(centres, np.float64).reshape(-1, 2)
        r = np.broadcast_to(np.asarray(radii, np.float64), (len(centres),))
        tints = np.broadcast_to(np.asarray(colours, np.float64), (len(centres), 4))

        def distance(which: Array, x: Array, y: Array) -> tuple[Array, Array]:
            return measure(x - centres[which, 0], y - centres[which, 1], r[which]), tints[which]

        self._layer(centres - r[:, None], centres + r[:, None], distance)

    def words(self, text: str, left: float, middle: float, size: float, colour: Array, halo: Array) -> None:
        """Draw a line of text from x = `left`, its middle at y = `middle`, `size` pixels high.

        colour and halo (4,): of the letters, and of the outline that separates them from the picture.
        """
        from PIL import Image, ImageDraw

        letters, edge = font(max(round(size), 8)), max(1, round(0.16 * size))
        box = letters.getbbox(text, anchor="lm", stroke_width=edge)
        width, height = (int(np.ceil(box[i + 2] - box[i])) + 2 for i in (0, 1))
        corner = np.array([round(left + box[0]) - 1, round(middle + box[1]) - 1])
        for stroke, tint in ((edge, halo), (0, colour)):
            mask = Image.new("L", (width, height))
            place = (left - corner[0], middle - corner[1])
            ImageDraw.Draw(mask).text(place, text, 255, letters, anchor="lm", stroke_width=stroke)
            rows, columns = np.nonzero(np.asarray(mask))
            alpha = np.asarray(mask)[rows, columns] / 255.0 * tint[3]
            x, y = columns + corner[0], rows + corner[1]
            seen = (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height)
            at = (y * self.width + x)[seen]
            self._mix(at, alpha[seen], np.broadcast_to(tint[:3], (len(at), 3)))

    def _pieces(self, starts: Array, ends: Array, colours: Array, margin: float) -> tuple[Array, Array, Array]:
        """Strokes cut at the picture's edges and into short pieces: ends (M, 2), (M, 2) and colours (M, 2, 4)."""
        a, b = (np.asarray(points, np.float64).reshape(-1, 2) for points in (starts, ends))
        tints = np.broadcast_to(np.asarray(colours, np.float64), (len(a), 2, 4))
        first, last = _inside(a, b, np.full(2, -margin), np.array([self.width, self.height]) + margin)
        seen = np.flatnonzero(first < last)
        a, b, tints, first, last = a[seen], b[seen], tints[seen], first[seen], last[seen]
        length = (last - first) * np.hypot(*(b - a).T)
        count = np.maximum(np.ceil(length / MAX_STROKE_PIXELS), 1).astype(np.int64)
        which = np.repeat(np.arange(len(a)), count)
        number = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
        step = (last - first)[which] / count[which]
        s0 = (first[which] + number * step)[:, None]
        s1 = s0 + step[:, None]
        a, d, tints = a[which], (b - a)[which], tints[which]
        shift = tints[:, 1] - tints[:, 0]
        return a + s0 * d, a + s1 * d, np.stack([tints[:, 0] + s0 * shift, tints[:, 0] + s1 * shift], axis=1)

    def _layer(self, low: Array, high: Array, distance: Callable[..., tuple[Array, Array]]) -> None:
        """Draw marks with boxes from low (N, 2) to high (N, 2), at each pixel the one that covers most."""
        limit = np.array([self.width, self.height])
        corner = np.clip(np.floor(low - 1.0), 0, limit).astype(np.int64)
        extent = np.maximum(np.clip(np.ceil(high + 1.0), 0, limit).astype(np.int64) - corner, 0)
        pixels = extent[:, 0] * extent[:, 1]
        which = np.repeat(np.arange(len(low)), pixels)
        if not len(which):
            return
        within = np.arange(len(which)) - np.repeat(np.cumsum(pixels) - pixels, pixels)
        across = extent[which, 0]
        x, y = corner[which, 0] + within % across, corner[which, 1] + within // across
        d, tint = distance(which, x + 0.5, y + 0.5)
        alpha = np.clip(0.5 - d, 0.0, 1.0) * tint[:, 3]
        drawn = alpha > 0.0
        at, alpha, colour = (y * self.width + x)[drawn], alpha[drawn], tint[drawn, :3]
        order = np.argsort(alpha, kind="stable")  # the last one written to a pixel covers it most
        self._best[at[order]] = order
        mark = np.flatnonzero(self._best[at] == np.arange(len(at)))
        self._mix(at[mark], alpha[mark], colour[mark])


def _inside(a: Array, b: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """The part of strokes a (N, 2) to b (N, 2) inside a box, as fractions from (N,) to (N,) of their length.

    The first is not below the second if the stroke misses the box. A stroke without length is inside or outside.
    """
    d = b - a
    still = np.abs(d) < 1e-9
    with np.errstate(divide="ignore", invalid="ignore"):
        t0, t1 = (low - a) / d, (high - a) / d
    enter, leave = np.minimum(t0, t1), np.maximum(t0, t1)
    out = still & ((a < low) | (a > high))
    enter = np.where(still, np.where(out, np.inf, -np.inf), enter)
    leave = np.where(still, np.where(out, -np.inf, np.inf), leave)
    return np.maximum(enter.max(axis=1), 0.0), np.minimum(leave.min(axis=1), 1.0)


def heat_colours(values: ArrayLike, most: float) -> Array:
    """Linear colours (..., 3) of values (...), from 0 to `most` and beyond."""
    share = np.clip(np.asarray(values, float) / checks.positive(most, "the largest value of a heat map"), 0, 1)
    place = share * (len(HEAT_COLOUR_STOPS) - 1)
    colours = np.stack(
        [np.interp(place, np.arange(len(HEAT_COLOUR_STOPS)), HEAT_COLOUR_STOPS[:, i]) for i in range(3)], axis=-1
    )
    return to_linear(colours)


def heat_surface(triangles: ArrayLike, values: ArrayLike, most: float) -> Surface:
    """A surface with triangles (T, 3) coloured by values (V,)."""
    return Surface(np.asarray(triangles), heat_colours(values, most), SurfaceFinish(roughness=0.8, softness=0.0))


def comparison_view(meshes: Sequence[Array], aspect: float, azimuth: float, elevation: float) -> tuple[Camera, Floor]:
    """One camera and floor for meshes (V, 3) that are compared."""
    points = np.concatenate([np.asarray(mesh, float) for mesh in meshes])
    return frame_camera(points, azimuth, elevation, aspect=aspect), floor_of(list(meshes))


def heat_picture(
    renderer: Renderer, camera: Camera, stage: Floor, vertices: Array, triangles: ArrayLike, values: Array, most: float
) -> Array:
    """(H, W, 3) uint8: a mesh (V, 3) coloured by values (V,) from 0 to `most`."""
    surface = heat_surface(triangles, values, most)
    return renderer.draw(camera, [surface], [np.asarray(vertices, np.float32)], stage=stage)

"""Trails drawn over a picture: a line, a dot for each frame, diamonds at keys, and the current position.

Past and future have two colours, and the past is thinner, so that the meaning does not depend on colour alone; or the
colour shows the speed of the point. Parts behind the character are drawn faintly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.maths.colour import from_hex
from understudy.render.camera import Camera
from understudy.render.overlay import Overlay
from understudy.render.trail import Trail

# Distance (N,) along the view to the nearest solid surface at pixels (N,), (N,): columns, rows; infinite for none.
Distances = Callable[[Array, Array], Array]

COLOURINGS = ("time", "speed")
# From slow to fast, in even steps of lightness.
SPEED_COLOURS = ("#3d4fb8", "#1f8fc4", "#2bb38a", "#b9c63c", "#f5a623", "#e8502f")
AXIS_COLOURS = ("#e0483e", "#5fa83a", "#3f7fe0")  # x, y, z
# Diameters of a frame's dot; between them it is 0.6 of the distance to the next dot.
MIN_DOT_PIXELS, MAX_DOT_PIXELS = 2.4, 5.6
KEY_RADIUS_PIXELS, MIN_KEY_RADIUS_PIXELS, NOW_RADIUS_PIXELS = 5.8, 3.4, 4.6
REFERENCE_HEIGHT_PIXELS = 720.0  # height of the picture for which all sizes are given
SURFACE_TOLERANCE_RATIO = 0.004  # of the camera's distance: a point less far behind a surface counts as on it


@dataclass(frozen=True)
class TrailColours:
    """Colours sRGB (3,) of trails on one background. `edge` is around dots and keys, `halo` beneath the line."""

    past: Array
    future: Array
    key: Array
    edge: Array
    halo: Array
    faded: Array  # of a trail before an edit


TRAIL_COLOURS = {
    "warm": TrailColours(*map(from_hex, ("#cf3f68", "#0f8f7f", "#f59a1b", "#35211f", "#fff9f0", "#8d817c"))),
    "studio": TrailColours(*map(from_hex, ("#e0607e", "#4cc9b0", "#f2a33a", "#0e1013", "#0e1013", "#8b919b"))),
}


@dataclass(frozen=True)
class TrailStyle:
    """How trails are drawn.

    `colouring` is "time" (past and future) or "speed" (slow to fast over all trails together); `colour` (3,) sRGB draws
    the whole trail in one colour. `axes` draws the point's axes at every so many frames, 0 at none, `reach` metres
    long. `around` shows only so many seconds before and after. `through` is the opacity of a trail behind a surface.
    """

    colouring: str = "time"
    colour: Array | None = None
    axes: int = 0
    reach: float = 0.1
    around: float | None = None
    through: float = 0.45
    dots: bool = True
    keys: bool = True
    now: bool = True
    names: bool = True  # beside the current positions, if there are several trails
    width: float = 2.6

    def __post_init__(self) -> None:
        checks.one_of(self.colouring, "colouring of trails", COLOURINGS)


def draw_trails(
    overlay: Overlay,
    camera: Camera,
    trails: Sequence[Trail],
    now: float | None,
    style: TrailStyle,
    background: str = "warm",
    distances: Distances | None = None,
) -> None:
    """Draw trails over a picture of this camera at the time `now`; `distances` is used to find hidden parts."""
    pen = TrailPen(
        overlay, camera, style, TRAIL_COLOURS[checks.one_of(background, "background", TRAIL_COLOURS)], distances
    )
    fastest = top_speed(trails)
    for trail in trails:
        pen.trail(trail, now, fastest)
    if style.names and len(trails) > 1:
        pen.names(trails, now)
    if style.colouring == "speed" and style.colour is None and trails:
        pen.legend(fastest)


class TrailPen:
    """Draws on one picture in world coordinates; sizes are pixels of a picture 720 high."""

    def __init__(
        self, overlay: Overlay, camera: Camera, style: TrailStyle, ink: TrailColours, distances: Distances | None = None
    ) -> None:
        self.overlay, self.camera, self.style, self.ink, self.distances = overlay, camera, style, ink, distances
        # a power below 1, so that marks stay visible in small pictures
        share = min(overlay.height, 0.75 * overlay.width) / REFERENCE_HEIGHT_PIXELS
        self.scale = float(np.clip(share**0.6, 0.5, 3.0))

    def trail(self, trail: Trail, now: float | None, fastest: float) -> None:
        """Draw one trail with its line, dots, keys and current position."""
        style = self.style
        near = _visible_times(trail.line_times, now, style.around)
        times, line = trail.line_times[near], trail.line[near]
        tints = self._tints(trail, times, now, fastest, near)
        self.path(line, tints, times < now if now is not None and style.colour is None else None)
        shown = _visible_times(trail.times, now, style.around)
        if style.axes:
            every = shown & (np.arange(len(trail.times)) % style.axes == 0)
            self.axes(trail.positions[every], trail.axes[every])
        if style.dots and shown.any():
            frames = trail.times[shown]
            colours = np.stack([np.interp(frames, times, column) for column in tints.T], axis=1)
            self.dots(trail.positions[shown], colours)
        visible_keys = _visible_times(trail.key_times, now, style.around)
        if style.keys and visible_keys.any():
            self.keys(trail.keys[visible_keys])
        if style.now and now is not None and trail.times[0] - 1e-9 <= now <= trail.times[-1] + 1e-9:
            position = trail.position_at(now)[None]
            self.shapes("disc", position, NOW_RADIUS_PIXELS, np.ones(3), hidden=1.0)

    def _tints(self, trail: Trail, times: Array, now: float | None, fastest: float, near: Array) -> Array:
        """(L, 3) the colour along a line at times (L,)."""
        if self.style.colour is not None:
            return np.tile(self.style.colour, (len(times), 1))
        if self.style.colouring == "speed":
            return speed_colours(trail.speed[near] / max(fastest, 1e-12))
        past = np.zeros(len(times), bool) if now is None else times < now - 1e-9
        return np.where(past[:, None], self.ink.past, self.ink.future)

    def path(self, line: Array, tints: Array, thin: Array | None = None) -> None:
        """A line through points (L, 3) in colours (L, 3), thinner where `thin` (L,)."""
        pixels, depth = self._project(line)
        strength = self._strength(pixels, depth, self.style.through)
        if len(strength) > 2:  # smoothed over three points, so that the line does not end abruptly at an outline
            padded = np.pad(strength, 1, mode="edge")
            strength = (padded[:-2] + padded[1:-1] + padded[2:]) / 3.0
        whole = (depth[:-1] > self.camera.near) & (depth[1:] > self.camera.near)
        thin = np.zeros(len(line), bool) if thin is None else thin
        ends = np.stack([np.column_stack([tints, strength])[i : len(line) - 1 + i] for i in (0, 1)], axis=1)
        # each piece has the colour of its later end: the colour changes at the present, not over a frame before it
        ends[:, 0, :3] = np.where((thin[:-1] != thin[1:])[:, None], ends[:, 1, :3], ends[:, 0, :3])
        halo = ends * [1.0, 1.0, 1.0, 0.55]
        halo[..., :3] = self.ink.halo
        for slim in (True, False):
            part = whole & (thin[:-1] == slim)
            width = self.style.width * self.scale * (0.8 if slim else 1.0)
            self.overlay.strokes(pixels[:-1][part], pixels[1:][part], width + 2.2 * self.scale, halo[part])
        for slim in (True, False):
            part = whole & (thin[:-1] == slim)
            width = self.style.width * self.scale * (0.8 if slim else 1.0)
            self.overlay.strokes(pixels[:-1][part], pixels[1:][part], width, ends[part])

    def dots(self, points: Array, colours: Array) -> None:
        """A dot at each of points (N, 3), in colours (N, 3); smaller where they are close."""
        pixels, depth = self._project(points)
        size = np.clip(0.6 * _gaps(pixels), MIN_DOT_PIXELS * self.scale, MAX_DOT_PIXELS * self.scale)
        strength = self._strength(pixels, depth, self.style.through)
        radius = 0.5 * size + 0.5 * self.style.width * self.scale * 0.8
        self._discs(pixels, radius, colours, strength)

    def _discs(self, pixels: Array, radius: Array, colours: Array, strength: Array) -> None:
        around = np.column_stack([np.broadcast_to(self.ink.edge, colours.shape), 0.75 * strength])
        self.overlay.shapes("disc", pixels, radius + 0.8 * self.scale, around)
        self.overlay.shapes("disc", pixels, radius, np.column_stack([colours, strength]))

    def keys(self, points: Array) -> None:
        """Diamonds at points (K, 3) of one trail, in its order; smaller where they are close."""
        pixels, _ = self._project(points)
        self.shapes(
            "diamond",
            points,
            np.clip(0.7 * _gaps(pixels) / self.scale, MIN_KEY_RADIUS_PIXELS, KEY_RADIUS_PIXELS),
            self.ink.key,
        )

    def shapes(
        self, kind: str, points: Array, radius: Array | float, colour: Array, hidden: float | None = None
    ) -> None:
        """Marks of one kind, edged, at points (N, 3); `hidden` is how strong they are behind a surface."""
        pixels, depth = self._project(points)
        strength = self._strength(pixels, depth, max(self.style.through, 0.6) if hidden is None else hidden)
        edge = np.column_stack([np.tile(self.ink.edge, (len(pixels), 1)), strength])
        fill = np.column_stack([np.broadcast_to(colour, (len(pixels), 3)), strength])
        size = np.asarray(radius) * self.scale
        self.overlay.shapes(kind, pixels, size + 1.6 * self.scale, edge)
        self.overlay.shapes(kind, pixels, size, fill)

    def names(self, trails: Sequence[Trail], now: float | None) -> None:
        """Each trail's name beside where its point is now, or where it begins."""
        points = np.array([trail.line[0] if now is None else trail.position_at(now) for trail in trails])
        pixels, depth = self._project(points)
        for trail, (x, y), far in zip(trails, pixels, depth):
            if far > self.camera.near:
                self._words(trail.name, x + 9.0 * self.scale, y, 14.0)

    def legend(self, fastest: float) -> None:
        """What the colours of speed mean: a bar in the lower left corner."""
        k = self.scale
        x0, x1, y = 18.0 * k, 138.0 * k, self.overlay.height - 20.0 * k
        stops = np.linspace(x0, x1, 25)
        places = np.stack([stops, np.full(25, y)], axis=1)
        tints = np.column_stack([speed_colours(np.linspace(0.0, 1.0, 25)), np.ones(25)])
        pair = np.stack([tints[:-1], tints[1:]], axis=1)
        halo = np.append(self.ink.halo, 0.7)
        self.overlay.strokes(places[:-1], places[1:], 9.0 * k, np.broadcast_to(halo, pair.shape))
        self.overlay.strokes(places[:-1], places[1:], 6.0 * k, pair)
        self._words(f"0 to {fastest:.3g} m/s", x1 + 11.0 * k, y, 14.0)

    def _words(self, text: str, left: float, middle: float, size: float) -> None:
        letters = self.ink.edge if self.ink.halo.mean() > 0.5 else np.full(3, 0.85)
        self.overlay.words(
            text, left, middle, size * self.scale, np.append(letters, 1.0), np.append(self.ink.halo, 0.8)
        )

    def axes(self, points: Array, axes: Array) -> None:
        """The three directions (N, 3, 3), as columns, at points (N, 3)."""
        starts, depth = self._project(points)
        strength = self._strength(starts, depth, self.style.through)
        for column, colour in enumerate(AXIS_COLOURS):
            ends, far = self._project(points + self.style.reach * axes[:, :, column])
            drawn = (depth > self.camera.near) & (far > self.camera.near)
            tint = np.column_stack([np.tile(from_hex(colour), (len(points), 1)), 0.9 * strength])
            pair = np.stack([tint, tint], axis=1)[drawn]
            dark = pair * [0.0, 0.0, 0.0, 0.45]
            self.overlay.strokes(starts[drawn], ends[drawn], 2.9 * self.scale, dark)
            self.overlay.strokes(starts[drawn], ends[drawn], 1.6 * self.scale, pair)

    def _project(self, points: Array) -> tuple[Array, Array]:
        """Pixels (N, 2) and distances along the view (N,) of points (N, 3)."""
        points = np.asarray(points, np.float64).reshape(-1, 3)
        if not len(points):
            return np.zeros((0, 2)), np.zeros(0)
        with np.errstate(divide="ignore", invalid="ignore"):
            projected = self.camera.project(points)
        size = np.array([self.overlay.width, self.overlay.height])
        pixels = np.stack([0.5 + 0.5 * projected[:, 0], 0.5 - 0.5 * projected[:, 1]], axis=1) * size
        behind = projected[:, 2] <= self.camera.near
        pixels[behind] = -1e6
        return pixels, np.where(behind, 0.0, projected[:, 2])

    def _strength(self, pixels: Array, depth: Array, hidden: float) -> Array:
        """(N,) 1 for visible points, `hidden` for points behind a surface, 0 behind the camera."""
        columns, rows = np.floor(pixels).astype(np.int64).T
        size = self.overlay.width, self.overlay.height
        inside = (columns >= 0) & (columns < size[0]) & (rows >= 0) & (rows < size[1])
        result = np.where(depth > self.camera.near, 1.0, 0.0)
        if self.distances is not None and inside.any():
            surface = np.full(len(depth), np.inf)
            surface[inside] = self.distances(columns[inside], rows[inside])
            result[depth > surface * (1.0 + SURFACE_TOLERANCE_RATIO)] = hidden
        return result


def top_speed(trails: Sequence[Trail]) -> float:
    """The speed of the fastest colour, m/s: a high percentile, so that one jump does not make the rest look slow."""
    return max([float(np.percentile(trail.speed, 98.0)) for trail in trails if len(trail.line)], default=0.0)


def speed_colours(share: Array) -> Array:
    """(N, 3) sRGB of shares (N,) from 0, slow, to 1, fast."""
    table = np.array([from_hex(colour) for colour in SPEED_COLOURS])
    at = np.clip(share, 0.0, 1.0) * (len(table) - 1)
    return np.stack([np.interp(at, np.arange(len(table)), column) for column in table.T], axis=1)


def _gaps(pixels: Array) -> Array:
    """(N,) the distance from each of a sequence of points (N, 2) to the nearer of its neighbours."""
    if len(pixels) < 2:
        return np.full(len(pixels), np.inf)
    steps = np.hypot(*np.diff(pixels, axis=0).T)
    return np.minimum(np.append(steps, np.inf), np.insert(steps, 0, np.inf))


def _visible_times(times: Array, now: float | None, around: float | None) -> Array:
    """(N,) which times are shown."""
    if now is None or around is None:
        return np.ones(len(times), bool)
    return np.abs(times - now) <= around + 1e-9

"""The scene of a picture, as plain arrays: surfaces with their finish, lines, dots, the floor, and the style.

A `Surface` holds what does not change over a clip (triangles, colours, material). The vertices and normals of a frame
are given to the renderer's `draw`, so that a clip of a thousand frames uploads everything else once. Colours are
**linear** RGB or RGBA, as glTF's colour factors and vertex colours are; `linear_from_srgb("#f2a33a")` converts a usual
colour. Textures are sRGB bytes, as image files are; row 0 of any map is at v = 0 (glTF's convention). A `SurfaceFinish`
is how a surface reflects light, apart from its colour; it is compared by value, so that renderers keep one table of
finishes.

A `SceneStyle` is the look of a picture: background, lights, shadows, grid. Both renderers use the same numbers: a key
light from the upper left front of the camera, a cool soft fill from the right, a warm rim from behind, and sky and
ground as a hemisphere. All light colours are linear; background, shadow and grid colours are sRGB, since they are mixed
in the finished picture, after the tone curve.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import cos, radians, sin

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths.colour import from_hex, to_linear

UNIT_RANGE_FIELDS = (
    "roughness",
    "metallic",
    "specular",
    "softness",
    "clearcoat",
    "clearcoat_roughness",
    "translucency",
)
ALPHA_MODES = ("opaque", "mask", "blend")
MAP_NAMES = ("texture", "normal_map", "detail_map")
GROUND_EXTENT = 9.0  # half-width of the ground, in sizes of the figure; the grid fades before


def linear_from_srgb(colour: str | ArrayLike) -> Array:
    """Linear RGB (..., 3) of an sRGB colour: "#rrggbb", or an array (..., 3) with entries in [0, 1]."""
    return to_linear(from_hex(colour) if isinstance(colour, str) else colour)


@dataclass(frozen=True)
class SurfaceFinish:
    """How a surface reflects light; all values in [0, 1], the colours `sheen` and `emissive` linear (3,).

    roughness, metallic: as in glTF; maps of a surface are multiplied with them.
    specular: strength of the highlight of non-metals (1 is glTF's default, a reflectance of 4 %).
    softness: how far light wraps around the form and warms the terminator, as it does in skin, fur and cloth.
    clearcoat, clearcoat_roughness: a clear layer on top, such as the tear film of an eye.
    sheen: light that fibres and down reflect at grazing angles.
    translucency: the fraction of light from behind that passes through, as in thin ears and leaves.
    emissive: added to the picture.
    unlit: the colour is neither shaded nor tone-mapped, so white stays white.
    """

    roughness: float = 0.6
    metallic: float = 0.0
    specular: float = 1.0
    softness: float = 0.4
    clearcoat: float = 0.0
    clearcoat_roughness: float = 0.0
    sheen: tuple[float, float, float] = (0.0, 0.0, 0.0)
    translucency: float = 0.0
    emissive: tuple[float, float, float] = (0.0, 0.0, 0.0)
    unlit: bool = False

    def __post_init__(self) -> None:
        for name in UNIT_RANGE_FIELDS:
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InvalidInput(f"{name} should lie between 0 and 1, but is {getattr(self, name)}")
        for name in ("sheen", "emissive"):
            value = tuple(float(x) for x in getattr(self, name))
            if len(value) != 3 or not all(0.0 <= x < float("inf") for x in value):
                raise InvalidInput(f"{name} should be three numbers from 0 up, but is {getattr(self, name)}")
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class Surface:
    """The constant part of a drawable mesh. It is compared by identity, under which a renderer keeps its buffers.

    triangles (T, 3), vertex indices, counter-clockwise seen from outside.
    colours one linear colour (3,) or (4,), or one a vertex (V, 3) or (V, 4); multiplied with the texture.
    uvs (V, 2) for all maps, each (H, W, 4) uint8, which repeat; uvs and maps come together or not at all.
    texture: sRGB and alpha.
    normal_map: glTF's tangent space, (x, y, z) as (r, g, b), x along u and y against v; `normal_scale` multiplies x, y.
    detail_map: linear; red is ambient occlusion, green and blue factors of roughness and metallic, as glTF packs them.
    occlusion (V,) in [0, 1], ambient light that reaches each vertex; 1 everywhere if absent.
    double_sided: False hides triangles seen from behind.
    casts_shadow: on others and on the ground. Blended and unlit surfaces cast none in any case.
    alpha_mode: "opaque" ignores alpha, "mask" cuts below alpha_cutoff, "blend" mixes over what lies behind.
    """

    triangles: Array
    colours: Array = field(default_factory=lambda: np.array([0.8, 0.8, 0.8]))
    finish: SurfaceFinish = field(default_factory=SurfaceFinish)
    uvs: Array | None = None
    texture: Array | None = None
    normal_map: Array | None = None
    normal_scale: float = 1.0
    detail_map: Array | None = None
    occlusion: Array | None = None
    double_sided: bool = True
    casts_shadow: bool = True
    alpha_mode: str = "opaque"
    alpha_cutoff: float = 0.5
    least_vertices: int = field(init=False, default=0)  # the highest index in `triangles`, plus one

    def __post_init__(self) -> None:
        keep = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        keep("triangles", checks.array(self.triangles, "triangles", ("T", 3), dtype=np.int32))
        checks.indices(self.triangles, "triangles", np.iinfo(np.int32).max)
        keep("least_vertices", int(self.triangles.max()) + 1 if self.triangles.size else 0)
        colours = np.asarray(self.colours)
        if colours.ndim not in (1, 2) or colours.shape[-1] not in (3, 4):
            raise InvalidInput(f"colours should have shape (3,), (4,), (V, 3) or (V, 4), but has shape {colours.shape}")
        keep("colours", checks.array(colours, "colours", [None] * colours.ndim, dtype=np.float32))
        if (self.uvs is None) == bool(self.maps):
            raise InvalidInput("uvs and maps come together, but only one of them was given")
        for name, value in self.maps.items():
            keep(name, _freeze_map(value, name))
            if not value.size:
                raise InvalidInput(f"{name} should have at least one pixel, but is empty")
        if self.uvs is not None:
            keep("uvs", checks.array(self.uvs, "uvs", ("V", 2), dtype=np.float32))
        if self.occlusion is not None:
            keep("occlusion", checks.array(self.occlusion, "occlusion", ("V",), dtype=np.float32))
        checks.one_of(self.alpha_mode, "alpha mode", ALPHA_MODES)
        if not 0.0 <= self.alpha_cutoff <= 1.0:
            raise InvalidInput(f"alpha_cutoff should lie between 0 and 1, but is {self.alpha_cutoff}")

    @property
    def maps(self) -> dict[str, Array]:
        """The existing maps, by name."""
        maps = {name: getattr(self, name) for name in MAP_NAMES}
        return {name: value for name, value in maps.items() if value is not None}

    @property
    def shadows(self) -> bool:
        """Whether it casts a shadow."""
        return self.casts_shadow and self.alpha_mode != "blend" and not self.finish.unlit

    def per_vertex(self, count: int) -> tuple[Array, Array, Array]:
        """Colours (count, 4), uvs (count, 2) and occlusion (count,) as float32, defaults filled in."""
        colours = np.ones((count, 4), dtype=np.float32)
        colours[:, : self.colours.shape[-1]] = self.colours
        uvs = self.uvs if self.uvs is not None else np.zeros((count, 2), dtype=np.float32)
        occlusion = self.occlusion if self.occlusion is not None else np.ones(count, dtype=np.float32)
        return colours, uvs, occlusion

    def check_count(self, count: int, name: str) -> None:
        """Raise unless a frame of `count` vertices fits this surface."""
        if count < self.least_vertices:
            raise InvalidInput(f"{name} has {count} vertices, but its triangles need {self.least_vertices}")
        for part in ("colours", "uvs", "occlusion"):
            value = getattr(self, part)
            given = value is not None and (part != "colours" or value.ndim == 2)
            if given and len(value) != count:
                raise InvalidInput(f"{name} has {count} vertices, but its surface has {len(value)} {part}")


def _freeze_map(picture: Array, name: str) -> Array:
    """A read-only map (H, W, 4) uint8; the same array if it is read-only already, so that surfaces share it."""
    known = isinstance(picture, np.ndarray) and picture.dtype == np.uint8 and not picture.flags.writeable
    if known and picture.ndim == 3 and picture.shape[2] == 4 and picture.flags.c_contiguous:
        return picture
    return checks.array(picture, name, ("H", "W", 4), dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class Lines:
    """Segments (N, 2, 3) of constant width in pixels on the screen; linear colours (3,), (N, 3) or (N, 2, 3)."""

    positions: Array
    colours: Array
    width: float = 2.0
    in_front: bool = False  # drawn over everything, like bones through the skin

    def __post_init__(self) -> None:
        positions = checks.array(self.positions, "positions", ("N", 2, 3))
        colours = np.asarray(self.colours, dtype=np.float64)
        colours = colours[:, None] if colours.ndim == 2 else colours
        if colours.shape not in ((3,), (len(positions), 1, 3), (len(positions), 2, 3)):
            raise InvalidInput(
                f"colours of {len(positions)} lines should have shape (3,), (N, 3) or (N, 2, 3), "
                f"but have shape {np.shape(self.colours)}"
            )
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "colours", checks.freeze(np.broadcast_to(colours, positions.shape).copy()))
        checks.positive(self.width, "width")


@dataclass(frozen=True, eq=False)
class Dots:
    """Round markers of constant size on the screen: positions (N, 3), colours (3,) or (N, 3), diameter in pixels."""

    positions: Array
    colours: Array
    diameter: float = 7.0
    in_front: bool = False

    def __post_init__(self) -> None:
        positions = checks.array(self.positions, "positions", ("N", 3))
        colours = np.asarray(self.colours, dtype=np.float64)
        if colours.shape not in ((3,), positions.shape):
            raise InvalidInput(
                f"colours of {len(positions)} dots should have shape (3,) or (N, 3), but have shape {colours.shape}"
            )
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "colours", checks.freeze(np.broadcast_to(colours, positions.shape).copy()))
        checks.positive(self.diameter, "diameter")


@dataclass(frozen=True)
class Floor:
    """The ground, and the size of the figure on it.

    ground: height of the ground plane, metres; None hides it.
    size: the figure's extent, metres; sets the grid and the shadows' softness.
    reach: radius of a sphere that holds the figure in every frame, metres; sets the extent of the shadows.
    """

    ground: float | None = 0.0
    size: float = 1.8
    reach: float = 1.2

    @property
    def grid(self) -> float:
        """Spacing of the ground's grid: the round number (1, 2, 5 times a power of ten) nearest to half the size."""
        wanted = np.log10(max(0.55 * self.size, 1e-9))
        rounds = np.log10([1.0, 2.0, 5.0, 10.0]) + np.floor(wanted)
        return float(10.0 ** rounds[np.abs(rounds - wanted).argmin()])


def floor_of(frames: Iterable[Array | Sequence[Array]], ground: float | None = None) -> Floor:
    """The floor of a clip: `frames` yields the points (N, 3) of each frame, or a list of such arrays.

    The ground lies at the lowest point of the clip, or at `ground`.
    """
    lowest, size, reach = np.inf, 0.0, 0.0
    for frame in frames:
        clouds = frame if isinstance(frame, list | tuple) else [frame]
        points = np.concatenate([np.reshape(cloud, (-1, 3)) for cloud in clouds])
        if not len(points):
            continue
        low, high = points.min(axis=0), points.max(axis=0)
        lowest = min(lowest, float(low[1]))
        size = max(size, float((high - low).max()))
        reach = max(reach, 0.5 * float(np.linalg.norm(high - low)))
    if not np.isfinite(lowest):
        return Floor(0.0 if ground is None else ground)
    size = max(size, 1e-6)
    return Floor(lowest if ground is None else ground, size, max(reach, 0.5 * size))


@dataclass(frozen=True)
class SceneStyle:
    """Colours (3,) and strengths of one background. `inner` and `outer` are the backdrop's middle and corners."""

    inner: Array
    outer: Array
    key: Array
    fill: Array
    rim: Array
    back: Array  # a faint cool rim at the other side
    sky: Array
    bounce: Array
    shadow: Array  # colour of full shadow on the ground
    shadow_strength: float
    contact_strength: float
    grid: Array
    grid_strength: float
    vignette: float
    exposure: float = 0.82


SCENE_STYLES = {
    "warm": SceneStyle(
        inner=from_hex("#F3E7D8"),
        outer=from_hex("#BFAFA6"),
        key=2.6 * linear_from_srgb([1.0, 0.93, 0.84]),
        fill=0.55 * linear_from_srgb([0.78, 0.86, 1.0]),
        rim=1.65 * linear_from_srgb([1.0, 0.86, 0.72]),
        back=0.5 * linear_from_srgb([0.6, 0.8, 1.0]),
        sky=0.75 * linear_from_srgb([0.80, 0.88, 1.0]),
        bounce=0.55 * linear_from_srgb([0.72, 0.52, 0.46]),
        shadow=np.array([0.26, 0.16, 0.16]),
        shadow_strength=0.38,
        contact_strength=0.6,
        grid=np.array([0.42, 0.30, 0.27]),
        grid_strength=0.14,
        vignette=0.06,
    ),
    "studio": SceneStyle(
        inner=from_hex("#2D323A"),
        outer=from_hex("#16181C"),
        key=2.5 * linear_from_srgb([1.0, 0.95, 0.88]),
        fill=0.5 * linear_from_srgb([0.70, 0.82, 1.0]),
        rim=2.2 * linear_from_srgb([1.0, 0.84, 0.66]),
        back=0.8 * linear_from_srgb([0.55, 0.78, 1.0]),
        sky=0.6 * linear_from_srgb([0.78, 0.87, 1.0]),
        bounce=0.3 * linear_from_srgb([0.50, 0.50, 0.56]),
        shadow=np.array([0.035, 0.04, 0.05]),
        shadow_strength=0.62,
        contact_strength=0.8,
        grid=np.array([0.55, 0.58, 0.64]),
        grid_strength=0.16,
        vignette=0.12,
    ),
}


def scene_style(background: str) -> SceneStyle:
    """The style of a background; an error lists the known ones."""
    return SCENE_STYLES[checks.one_of(background, "background", SCENE_STYLES)]


@dataclass(frozen=True)
class Lights:
    """Unit directions (3,) towards the lights, for a camera at a given azimuth."""

    key: Array
    fill: Array
    rim: Array
    back: Array


def lights_for(azimuth: float) -> Lights:
    """Lights that follow a camera at `azimuth` (radians), the key always from its upper left.

    Near the front they follow by 60 % of the angle, so that a figure seen from the side shows more of its lit side;
    towards the back they catch up: a - 0.4 sin a is a full turn again, without a jump.
    """
    followed = azimuth - 0.4 * sin(azimuth)

    def towards(turn: float, height: float) -> Array:
        a, e = followed + radians(turn), radians(height)
        return np.array([sin(a) * cos(e), sin(e), cos(a) * cos(e)])

    return Lights(
        key=towards(-35.0, 38.0), fill=towards(50.0, 10.0), rim=towards(150.0, 35.0), back=towards(-150.0, 15.0)
    )

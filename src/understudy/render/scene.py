"""What can be drawn, as plain arrays: surfaces, lines, dots, and the stage that they stand on.

A `Surface` holds what does not change over a clip (triangles, colours, material). What does change, the vertices and
the normals of a frame, is handed to the renderer's `draw`, so that a clip of a thousand frames uploads everything else
once.

Colours are **linear** RGB or RGBA, as glTF's colour factors and vertex colours are; `srgb("#f2a33a")` turns a colour as
people write it into a linear one. Textures are sRGB bytes, as image files are; row 0 of any map is at v = 0 (glTF's
convention).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.maths.colour import from_hex, to_linear
from understudy.render.finish import Finish

ALPHA_MODES = ("opaque", "mask", "blend")
MAPS = ("texture", "normal_map", "detail_map")


def srgb(colour: str | ArrayLike) -> Array:
    """Linear RGB (..., 3) of an sRGB colour: "#rrggbb", or an array (..., 3) with entries in [0, 1]."""
    return to_linear(from_hex(colour) if isinstance(colour, str) else colour)


@dataclass(frozen=True, eq=False)
class Surface:
    """The unchanging part of one drawable piece. Compared by identity: a renderer keeps its buffers under it.

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
    finish: Finish = field(default_factory=Finish)
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
            keep(name, _shared(value, name))
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
        """The maps that there are, by name."""
        found = {name: getattr(self, name) for name in MAPS}
        return {name: value for name, value in found.items() if value is not None}

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


def _shared(picture: Array, name: str) -> Array:
    """A map (H, W, 4) uint8, itself where it is frozen already: surfaces that share one keep sharing it."""
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
    in_front: bool = False  # drawn over everything, like bones seen through the skin

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
class Stage:
    """Where the ground is and how large the figure on it.

    ground: height of the ground plane, metres; None hides it.
    size: the figure's extent, metres; sets the grid and the shadows' softness.
    reach: radius of a sphere around the figure that holds it in every frame, metres; the shadows' extent.
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


def stage_of(frames: Iterable[Array | Sequence[Array]], ground: float | None = None) -> Stage:
    """The stage for a clip: `frames` yields the points (N, 3) of each frame, or a list of such arrays.

    The ground lies at the lowest point of the clip unless `ground` says otherwise.
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
        return Stage(0.0 if ground is None else ground)
    size = max(size, 1e-6)
    return Stage(lowest if ground is None else ground, size, max(reach, 0.5 * size))

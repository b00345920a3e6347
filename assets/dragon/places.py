"""Where on the dragon's skin: coordinates in which its shapes are written, its regions, and shapes of the whole body.

**Places.** Everything is in head lengths and symmetric: `folded` points have |x|, and an x given to `push` points
outwards. Beside x, y, z each skin vertex knows

- `arc`, how far along the mouth's line it lies: 0 in front, 1 at the corner, above 1 behind it;
- `height` above the mouth's line, and `low`: 1 on the lower lip and jaw, 0 on the upper lip, smooth behind the corner
  where both are one skin;
- `eye`, its distance from the eye's centre;
- `brow`, how far along the brow's ridge (0 inner end, 1 outer end), and `brow_off`, its distance from the ridge.

**Regions.** Masks tell how much of a vertex belongs to brows, eyes, nose, mouth, jaw, ears and neck (which carries the
rest of the head); they sum to one. Landmarks are numbered as in the 300-W scheme, from its right to its left: jaw line
0-16, brows 17-26, nose 27-35, eyes 36-47 (on the lids' edges, so that a blink is seen), outer lips 48-59, inner lips
60-67.

**Whole.** Deltas on the skin, or on single pieces, become shapes of the whole dragon. Teeth ride on the lips they stand
behind, horns and spikes on the skin at their base. A shape of a pair is the left half of what both sides do; the right
one is its mirror image to the last bit.

**Unfolding.** A shape may compress the skin so far that small triangles flip, most of all in the mouth's lining, where
they are long and thin. Where that happens within the range of a control, the motion is evened out over the
neighbourhood, little by little, until no triangle is in danger; everything else stays as it was made. The corners'
joints go along with many shapes of the lips, and the jaw turns about its hinge; `Carried` gives these displacements at
the ends of a control's range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from assets.dragon import measures
from assets.dragon.body import Body, SkinSurface
from assets.dragon.controls import drive_rules
from assets.dragon.measures import CORNER, EAR_ROOT, HINGE, SCALE
from assets.sculpting.fields import ramp, smoothed
from understudy.cast.archive import area_normals
from understudy.character.controls import Controls, SparseShapes
from understudy.checks import Array
from understudy.maths import euler, quaternion, vector

BROW_RIDGE = np.array([(0.075, 0.20, 0.348), (0.195, 0.247, 0.298), (0.335, 0.175, 0.17)])
ARC_CENTRE = 0.12  # z of the middle axis round which the mouth's line is followed
LIP_THICKNESS = 0.048
Knots = Sequence[tuple[float, float]]


class Places:
    """The skin's V vertices and their places. Points are at rest; the lips are told apart before they were sealed."""

    def __init__(self, skin: SkinSurface) -> None:
        self.points = skin.sealed
        self.triangles = skin.triangles
        self.mirror = skin.mirror
        self.average = skin.mean
        self.depth = skin.depth
        self.height = skin.unsealed[:, 1] - skin.sheet
        self.side = np.sign(self.points[:, 0])
        self.folded = np.abs(self.points) * [1, 0, 0] + self.points * [0, 1, 1]
        self.eye = np.linalg.norm(self.folded - measures.EYE, axis=1)

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def normals(self) -> Array:
        """(V, 3) unit normals of the skin."""
        return area_normals(self.points, self.triangles)

    @cached_property
    def facing(self) -> Array:
        """(T, 3) the triangles' normals at rest, as long as twice their areas."""
        return facing(self.points, self.triangles)

    @cached_property
    def low(self) -> Array:
        """(V,) 1 where a vertex belongs to the lower lip and jaw, 0 to the upper; connectivity keeps the lips apart."""
        z = self.points[:, 2]
        behind = np.maximum(measures.CORNER_Z + 0.01 - z, 0.0)
        first = ramp(0.012 + 0.55 * behind, -0.012 - 0.55 * behind, self.height)
        ahead = z > measures.CORNER_Z + 0.02
        first = np.where(ahead, self.height < 0, first)
        return self.smooth(first, 15, held=z > measures.CORNER_Z + 0.04)

    @cached_property
    def _line(self) -> tuple[Array, Array]:
        """The mouth's line on the skin, seen from above: (n, 2) x and z by angle from the front, and their arcs."""
        on_line = (np.abs(self.height) < 0.02) & (np.abs(self.depth) < 0.012) & (self.points[:, 2] > 0.0)
        x, z = self.folded[on_line, 0], self.points[on_line, 2]
        angle = np.arctan2(x, z - ARC_CENTRE)
        stations = np.linspace(0.0, np.arctan2(measures.CORNER[0], measures.CORNER_Z - ARC_CENTRE), 40)
        width = 0.06
        weight = np.exp(-(((angle[None] - stations[:, None]) / width) ** 2)) + 1e-12
        radius = (weight * np.hypot(x, z - ARC_CENTRE)).sum(axis=1) / weight.sum(axis=1)
        line = np.stack([radius * np.sin(stations), ARC_CENTRE + radius * np.cos(stations)], axis=1)
        steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
        return line, np.concatenate([[0.0], np.cumsum(steps)])

    @property
    def lip_length(self) -> float:
        """HL from the middle of the lips to the corner, along the line."""
        return float(self._line[1][-1])

    @cached_property
    def arc(self) -> Array:
        """(V,) how far along the mouth's line, 0 the middle, 1 the corner; behind the corner it grows with distance."""
        line, lengths = self._line
        angles = np.arctan2(line[:, 0], line[:, 1] - ARC_CENTRE)
        own = np.arctan2(self.folded[:, 0], self.points[:, 2] - ARC_CENTRE)
        inside = np.interp(own, angles, lengths / lengths[-1])
        return inside + np.maximum(measures.CORNER_Z - self.points[:, 2], 0.0) / lengths[-1]

    @cached_property
    def along(self) -> Array:
        """(V, 3) horizontal unit vectors along the mouth's line, towards the corner, on the folded side."""
        line, lengths = self._line
        tangents = np.gradient(line, axis=0)
        tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
        at = np.clip(self.arc, 0.0, 1.0)
        x, z = (np.interp(at, lengths / lengths[-1], tangents[:, i]) for i in range(2))
        result = np.stack([x, np.zeros(len(self)), z], axis=1)
        return result / np.linalg.norm(result, axis=1, keepdims=True)

    def lip_place(self, arc: float, upper: bool) -> Array:
        """(3,) a point of the folded lip's line, just outside the slit."""
        at = np.where(np.abs(self.depth) < 0.02, np.abs(self.arc - arc) * self.lip_length, 9.0)
        other = np.where((self.low > 0.5) == (not upper), 0.0, 9.0 if arc < 0.95 else 0.0)
        return self.folded[np.argmin(at + other + np.abs(np.abs(self.height) - 0.012))]

    @cached_property
    def _brow(self) -> tuple[Array, Array]:
        best, at = np.full(len(self), np.inf), np.zeros(len(self))
        for i in range(len(BROW_RIDGE) - 1):
            start, way = BROW_RIDGE[i], BROW_RIDGE[i + 1] - BROW_RIDGE[i]
            t = np.clip((self.folded - start) @ way / (way @ way), 0.0, 1.0)
            off = np.linalg.norm(self.folded - start - t[:, None] * way, axis=1)
            nearer = off < best
            best, at = np.where(nearer, off, best), np.where(nearer, (i + t) / (len(BROW_RIDGE) - 1), at)
        return self.smooth(at, 30), best

    @property
    def brow(self) -> Array:
        """(V,) 0 at the brow's inner end, 1 at its outer end."""
        return self._brow[0]

    @property
    def brow_off(self) -> Array:
        """(V,) distance from the brow's ridge."""
        return self._brow[1]

    def smooth(self, values: Array, rounds: int, held: Array | None = None) -> Array:
        """Umbrella smoothing: each round goes half-way to the neighbours' mean; `held` vertices (V,) bool stay."""
        return smoothed(values, self.average, rounds, held)

    def blob(self, centre: ArrayLike, reach: ArrayLike) -> Array:
        """(V,) 1 at a place, 0 beyond `reach` (one radius, or one an axis)."""
        return ramp(1.0, 0.0, np.linalg.norm((self.folded - np.asarray(centre)) / np.asarray(reach), axis=1))

    def upper(self, reach: float | Array, below: float = 0.10) -> Array:
        """(V,) the upper lip: 1 on its edge, 0 at `reach` above; fading inside the mouth by `below` of depth."""
        return (1 - self.low) * ramp(reach, 0.0, np.maximum(self.height, 0.0)) * ramp(-below, -0.04, self.depth)

    def lower(self, reach: float | Array, below: float = 0.10) -> Array:
        """(V,) the lower lip: 1 on its edge, 0 at `reach` below."""
        return self.low * ramp(reach, 0.0, np.maximum(-self.height, 0.0)) * ramp(-below, -0.04, self.depth)

    def profile(self, knots: Knots) -> Array:
        """(V,) a smooth curve through (arc, value) knots, held beyond the ends."""
        from scipy.interpolate import PchipInterpolator

        arcs, values = zip(*knots)
        return PchipInterpolator(arcs, values)(np.clip(self.arc, arcs[0], arcs[-1]))

    def push(self, weight: ArrayLike, x: ArrayLike = 0.0, y: ArrayLike = 0.0, z: ArrayLike = 0.0) -> Array:
        """(V, 3) weight times (x outwards, y, z)."""
        columns = [np.broadcast_to(np.asarray(c, float), len(self)) for c in (x, y, z)]
        return np.asarray(weight)[..., None] * np.stack([columns[0] * self.side, *columns[1:]], axis=1)

    def lip(
        self, weight: Array, along: Knots | None = None, up: Knots | None = None, out: Knots | None = None
    ) -> Array:
        """(V, 3) weight times a motion given by profiles: along the line to the corner, up, and out from the mouth."""
        result = np.zeros((len(self), 3))
        unfold = np.stack([self.side, np.ones(len(self)), np.ones(len(self))], axis=1)
        if along is not None:
            result += self.profile(along)[:, None] * self.along * unfold
        if up is not None:
            result[:, 1] += self.profile(up)
        if out is not None:
            outwards = np.stack([-self.along[:, 2], np.zeros(len(self)), self.along[:, 0]], axis=1)
            result += self.profile(out)[:, None] * outwards * unfold
        return weight[:, None] * result

    def rim(self, least: float, full: float = 0.22) -> Array:
        """(V,) how far skin near the eye's opening may move: `least` on the rim, 1 from `full` on; else gaps open."""
        return least + (1 - least) * ramp(0.165, full, self.eye)


def facing(points: Array, triangles: Array) -> Array:
    """(T, 3) normals of triangles, as long as twice their areas."""
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    return vector.cross(b - a, c - a)


REGIONS = ("brows", "eyes", "nose", "mouth", "jaw", "ears", "neck")
REGION_OF_PIECE = {
    "Lid": "eyes",
    "Eyeball": "eyes",
    "Highlight": "eyes",
    "Fin": "ears",
    "Tooth": "mouth",
    "Tongue": "mouth",
}
JAW_LINE = (  # the left half in HL, from the chin to the ear
    (0.000, -0.295, 0.480),
    (0.075, -0.285, 0.450),
    (0.145, -0.270, 0.380),
    (0.205, -0.255, 0.280),
    (0.255, -0.240, 0.180),
    (0.300, -0.215, 0.080),
    (0.340, -0.165, 0.000),
    (0.375, -0.090, -0.030),
    (0.385, 0.000, -0.050),
)
BRIDGE = ((0.0, 0.120, 0.320), (0.0, 0.070, 0.390), (0.0, 0.035, 0.450), (0.0, 0.000, 0.530))
NOSTRILS = ((0.0, -0.075, 0.570), (0.060, -0.070, 0.560), (0.120, -0.030, 0.520))
OUTER_LIPS, INNER_LIPS = (0.0, 0.22, 0.55), (0.0, 0.30)  # arcs from the middle outwards
LANDMARK_LID_PLACES = (-0.95, -0.35, 0.35, 0.95)  # from the inner to the outer corner
OTHER_SIDE = {".L": ".R", ".R": ".L"}


def region_masks(body: Body, p: Places) -> dict[str, Array]:
    """Region -> (V,) float32; the regions of a vertex sum to one."""
    outside = ramp(-0.05, -0.02, p.depth)
    skin = {
        "brows": ramp(0.17, 0.05, p.brow_off) * ramp(0.10, 0.18, p.points[:, 1]),
        "eyes": ramp(0.25, 0.175, p.eye) * ramp(0.0, 0.12, p.points[:, 2]),
        "nose": np.minimum(2.5 * p.blob([0.0, -0.005, 0.490], (0.20, 0.15, 0.21)), 1.2) * ramp(0.025, 0.075, p.height),
        "mouth": 1.6 * np.maximum(p.upper(0.10, 0.2), p.lower(0.11, 0.2)) * ramp(1.30, 0.90, p.arc),
        "jaw": np.maximum(p.low * ramp(-0.44, -0.32, p.points[:, 1]), p.blob([0.33, -0.07, 0.06], 0.20)),
        "ears": 1.5 * p.blob(EAR_ROOT, 0.13),
    }
    skin["brows"] = skin["brows"] * outside
    total = sum(skin.values())
    skin["neck"] = np.maximum(1.0 - total, 0.0)
    whole = np.maximum(total, 1.0)
    result = {name: np.zeros(len(body.points), np.float32) for name in REGIONS}
    for name in REGIONS:
        share = p.smooth(skin[name] / whole, 4)
        result[name][body.pieces["Skin"]] = 0.5 * (share + share[p.mirror])
    for piece, place in body.pieces.items():
        if piece != "Skin":
            owner = next((region for start, region in REGION_OF_PIECE.items() if piece.startswith(start)), "neck")
            result[owner][place] = 1.0
    return {name: np.clip(mask, 0.0, 1.0) for name, mask in result.items()}


def named_points(body: Body, p: Places) -> dict[str, int]:
    """Name -> vertex: named points, then `landmark_00` to `landmark_67`."""
    left = _named_left(body, p)
    result = {f"{name}.L": vertex for name, vertex in left.items()}
    result |= {f"{name}.R": int(body.mirror[vertex]) for name, vertex in left.items()}
    result |= _named_middle(body, p)
    return result | {f"landmark_{i:02d}": vertex for i, vertex in enumerate(landmark_vertices(body, p))}


def landmark_vertices(body: Body, p: Places) -> list[int]:
    """The 68 vertices, from the dragon's right to its left."""

    def both_ways(half: list[int]) -> list[int]:
        """From the right end through the middle, which comes first in `half`, to the left end."""
        return [*(int(body.mirror[v]) for v in half[:0:-1]), *half]

    def right(vertices: list[int]) -> list[int]:
        return [int(body.mirror[v]) for v in vertices]

    brow = [_vertex_on_skin(p, _along_brow(t)) for t in np.linspace(0.0, 1.0, 5)]
    inner, upper_in, upper_out, outer = _lid_edge(body, "Upper")
    _, lower_in, lower_out, _ = _lid_edge(body, "Lower")
    corner = _vertex_on_skin(p, CORNER)
    upper, lower = ([_vertex_on_lip(p, arc, 0.022 * s) for arc in OUTER_LIPS] for s in (1, -1))
    upper_edge, lower_edge = ([_vertex_on_lip(p, arc, 0.004 * s) for arc in INNER_LIPS] for s in (1, -1))
    corner_edge = _vertex_on_lip(p, 0.97, 0.004)
    return [
        *both_ways([_vertex_on_skin(p, place) for place in JAW_LINE]),
        *right(brow[::-1]),
        *brow,
        *(_vertex_on_skin(p, place) for place in BRIDGE),
        *both_ways([_vertex_on_skin(p, place) for place in NOSTRILS]),
        *right([outer, upper_out, upper_in, inner, lower_in, lower_out]),
        *(inner, upper_in, upper_out, outer, lower_out, lower_in),
        *both_ways([*upper, corner]),
        *both_ways(lower)[::-1],
        *both_ways([*upper_edge, corner_edge]),
        *both_ways(lower_edge)[::-1],
    ]


def _named_left(body: Body, p: Places) -> dict[str, int]:
    return {
        "mouth_corner": _vertex_on_skin(p, CORNER),
        "brow_inner": _vertex_on_skin(p, BROW_RIDGE[0]),
        "brow_mid": _vertex_on_skin(p, BROW_RIDGE[1]),
        "brow_outer": _vertex_on_skin(p, BROW_RIDGE[2]),
        "cheek": _vertex_on_skin(p, (0.37, -0.04, 0.11)),
        "nostril": _vertex_on_skin(p, NOSTRILS[2]),
        "jaw_angle": _vertex_on_skin(p, (0.30, -0.21, -0.01)),
        "pupil": body.pieces["Eyeball.L"].start,
        "lid_upper": _lid_edge(body, "Upper", (0.0,))[0],
        "lid_lower": _lid_edge(body, "Lower", (0.0,))[0],
        "ear_tip": _furthest(body, "Fin.L", (0.8, 0.4, -0.5)),
        "horn_tip": _furthest(body, "Horn.L", (0.1, 1.0, -0.6)),
        "fang_tip": _furthest(body, "ToothUpper3.L", (0.0, -1.0, 0.0)),
    }


def _named_middle(body: Body, p: Places) -> dict[str, int]:
    return {
        "nose_tip": _vertex_on_skin(p, (0.0, -0.045, 0.575)),
        "chin": _vertex_on_skin(p, JAW_LINE[0]),
        "head_top": _vertex_on_skin(p, (0.0, 0.46, -0.04)),
        "head_back": _vertex_on_skin(p, (0.0, 0.10, -0.46)),
        "lip_upper": _vertex_on_lip(p, 0.0, 0.012),
        "lip_lower": _vertex_on_lip(p, 0.0, -0.012),
        "throat": _vertex_on_skin(p, (0.0, -0.45, -0.09)),
        "neck_base": _vertex_on_skin(p, (0.0, -0.90, 0.08)),
        "tongue_tip": _furthest(body, "Tongue", (0.0, 0.0, 1.0)),
    }


def _vertex_on_skin(p: Places, place: ArrayLike) -> int:
    """The nearest vertex of the outer skin; exactly on the midline where the place is."""
    place = np.asarray(place, float)
    off_line = np.where(p.points[:, 0] == 0, 0.0, 9.0) if place[0] == 0 else 0.0
    inside = np.where(p.depth < -0.012, 9.0, 0.0)
    return int(np.argmin(np.linalg.norm(p.points - place, axis=1) + inside + off_line))


def _vertex_on_lip(p: Places, arc: float, height: float) -> int:
    """The left (or midline) vertex at an arc of the mouth's line and a height over it."""
    off_line = np.where(p.points[:, 0] == 0, 0.0, 9.0) if arc == 0 else np.where(p.points[:, 0] > 0, 0.0, 9.0)
    other_lip = np.where((p.low > 0.5) == (height < 0), 0.0, 9.0)
    deep = np.maximum(-0.020 - p.depth, 0.0)
    return int(
        np.argmin(np.abs(p.arc - arc) * p.lip_length + np.abs(p.height - height) + 4 * deep + other_lip + off_line)
    )


def _along_brow(t: float) -> Array:
    return np.array([np.interp(t, [0.0, 0.5, 1.0], BROW_RIDGE[:, axis]) for axis in range(3)])


def _lid_edge(body: Body, which: str, columns: tuple[float, ...] = LANDMARK_LID_PLACES) -> list[int]:
    """Vertices of the left lid's edge at places -1 (inner corner) to 1."""
    lid, start = body.lids[which], body.pieces[f"Lid{which}.L"].start
    on_edge = np.flatnonzero((lid.share == 1.0) & (lid.radius == lid.radius.max()))
    return [start + int(on_edge[np.argmin(np.abs(lid.a[on_edge] - a))]) for a in columns]


def _furthest(body: Body, piece: str, way: ArrayLike) -> int:
    place = body.pieces[piece]
    return place.start + int(np.argmax(body.points[place] @ np.asarray(way, float)))


FLIP = np.array([-1.0, 1.0, 1.0])
MIDDLE_FADE = 0.06  # HL to each side of the midline over which a sided shape fades out
LEAST_MOTION = 1e-5  # metres; a hundredth of a millimetre on a dragon of 69 centimetres is not seen
HORN_BASE = (0.175, 0.40, -0.16)
RIDER_VERTICES = 12  # skin vertices that lead a horn or spike


class Whole:
    """Makes (V, 3) deltas of the whole character, in HL, out of those of its skin or of some pieces."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self._riders = {tooth.name: tooth.near for tooth in body.teeth}
        for spike in body.spikes:
            self._riders[spike.patch.name] = self._near(spike.base)
        for side, sign in (("L", 1.0), ("R", -1.0)):
            self._riders[f"Horn.{side}"] = self._near(np.array(HORN_BASE) * [sign, 1, 1])

    def _near(self, place: Array) -> Array:
        """The skin vertices nearest to a place, as many on one side as on the other where it lies in the middle."""
        away = np.linalg.norm(self.body.skin.sealed - place, axis=1)
        near = np.argsort(away, kind="stable")[:RIDER_VERTICES]
        return np.union1d(near, self.body.skin.mirror[near]) if place[0] == 0 else near

    def skin(self, delta: Array, tuck: float = 0.0, bared: float = 0.0) -> Array:
        """(V, 3) of deltas (v, 3) of the skin.

        `tuck` HL draws the teeth in behind lips that close over them, as far as the lip itself moves; `bared` is the
        share of the lip's way up or down that they do not take, since teeth stand in bone.
        """
        result = np.zeros_like(self.body.points)
        result[self.body.pieces["Skin"]] = delta
        for name, near in self._riders.items():
            ride = delta[near].mean(axis=0)
            if name.startswith("Tooth"):
                share = tuck * min(1.0, float(np.linalg.norm(ride)) / 0.03)
                inwards = np.array([0.0, 0.8 if "Upper" in name else -0.8, -0.6])
                ride = ride * [1.0, 1.0 - bared, 1.0] + share * inwards
            result[self.body.pieces[name]] = ride
        return result

    def pieces(self, deltas: Mapping[str, Array]) -> Array:
        """(V, 3) of deltas of single pieces."""
        result = np.zeros_like(self.body.points)
        for name, delta in deltas.items():
            result[self.body.pieces[name]] = delta
        return result

    def mirrored(self, delta: Array) -> Array:
        """(V, 3) seen in a mirror."""
        return np.asarray(delta[self.body.mirror] * FLIP)

    def left(self, skin_delta: Array) -> Array:
        """(v, 3) the left half of a skin's delta; its mirror image adds up to the whole with it."""
        return skin_delta * ramp(-MIDDLE_FADE, MIDDLE_FADE, self.body.skin.sealed[:, 0])[:, None]

    def pair(self, name: str, left: Array) -> dict[str, Array]:
        """The left shape and its mirror image."""
        return {f"{name}.L": left, f"{name}.R": self.mirrored(left)}

    def centre(self, delta: Array, flips: bool) -> Array:
        """(V, 3) made its own mirror image, or its own negative mirror image, to the last bit."""
        image = self.mirrored(delta)
        return 0.5 * (delta - image) if flips else 0.5 * (delta + image)


def sparse_shapes(shapes: Mapping[str, Array]) -> SparseShapes:
    """Metres of deltas (V, 3) in HL, without those that nobody sees."""
    kept = {}
    for name, delta in shapes.items():
        metres = delta * SCALE
        moved = np.flatnonzero(np.linalg.norm(metres, axis=1) >= LEAST_MOTION)
        kept[name] = (moved, metres[moved])
    return SparseShapes.from_named_deltas(kept)


AXES = ("x", "y", "z")


class Carried:
    """Displacements of the skin, for a unit of a control."""

    def __init__(self, body: Body, controls: Controls, shapes: Sequence[str]) -> None:
        skin, part = body.skin, body.character.parts[0].skin
        names = body.character.skeleton.names
        self._weights = {}
        for column, joint in enumerate(part.joints):
            if names[joint].startswith(("Jaw", "Corner")):
                own = np.where(part.influences == column, part.weights, 0.0)
                self._weights[names[joint]] = own.sum(axis=1).astype(float)
        self._points = skin.sealed
        self._gains: dict[str, dict[tuple[str, str], float]] = {}
        for rule in drive_rules(controls, shapes):
            joint, _, component = rule.target.rpartition(".")
            if rule.section == "drives" and joint in self._weights:
                self._gains.setdefault(rule.controls[0], {})[joint, component] = rule.amount

    def by(self, control: str) -> Array | None:
        """(v, 3) what the corners' joints do for one unit, by moving; None where they do not."""
        gains = self._gains.get(control, {})
        result = np.zeros_like(self._points)
        for (joint, component), gain in gains.items():
            if joint.startswith("Corner") and component[0] == "t":
                result[:, AXES.index(component[1])] += self._weights[joint] * gain / SCALE
        return result if result.any() else None

    def of_jaw(self, control: str, value: float) -> Array:
        """(v, 3) what jaw and corners do when one of the jaw's controls has a value."""
        gains = {target: gain * value for target, gain in self._gains[control].items()}
        turn = [gains.get(("Jaw", f"r{axis}"), 0.0) for axis in ("y", "x", "z")]
        slide = np.array([gains.get(("Jaw", f"t{axis}"), 0.0) for axis in AXES]) / SCALE
        arm = self._points - HINGE
        swung = quaternion.rotate(euler.from_euler(np.array(turn), "yxz"), arm) - arm + slide
        corners = self.by(control)
        result = self._weights["Jaw"][:, None] * swung
        return result if corners is None else result + value * corners


LEAST_COSINE = 0.15  # between a triangle's normal and its rest: 0 would be on edge, this leaves room for joints
LEAST_AREA = 0.05  # of its rest; the law asks for 0.01
UNFOLD_STEPS, UNFOLD_ROUNDS = 160, 3  # of evening out: at most so often, with so many rounds of smoothing
UNFOLD_RINGS, UNFOLD_WIDER = 2, 40  # rings of vertices round a triangle, and after how many steps there is one more


def unfold(p: Places, delta: Array, weights: Sequence[float], carried: Array | None = None) -> Array:
    """The deltas (v, 3), evened out where a weight among `weights` would flip a triangle.

    `carried` (v, 3) is what joints add to the same control's motion; it counts, but is not changed.
    """
    moved = delta if carried is None else delta + carried
    for step in range(UNFOLD_STEPS):
        bad = np.unique(np.concatenate([in_danger(p, weight * moved) for weight in weights]))
        if not bad.size:
            break
        # three steps of four carry the triangles themselves as one: at the slit's end the motion is torn, as at the tip
        # of a crack, and no smoothing would take that away
        moved = (
            _moved_as_one(moved, p.triangles[bad])
            if step % 4
            else _evened(p, moved, bad, UNFOLD_RINGS + step // UNFOLD_WIDER)
        )
    return moved if carried is None else moved - carried


def _moved_as_one(moved: Array, triangles: Array) -> Array:
    """Displacements (v, 3) with the corners of each of `triangles` (n, 3) half-way to their mean."""
    result = moved.copy()
    total, count = np.zeros_like(moved), np.zeros(len(moved))
    np.add.at(total, triangles, np.repeat(moved[triangles].mean(axis=1, keepdims=True), 3, axis=1))
    np.add.at(count, triangles, 1.0)
    at = np.flatnonzero(count)
    result[at] = 0.5 * moved[at] + 0.5 * total[at] / count[at, None]
    return result


def _evened(p: Places, moved: Array, bad: Array, rings: int) -> Array:
    """Displacements (v, 3) smoothed on the triangles `bad` and so many rings of vertices round them."""
    near = np.zeros(len(p), bool)
    near[p.triangles[bad]] = True
    for _ in range(rings):
        near |= (p.average @ near.astype(float)) > 0
    return p.smooth(moved, UNFOLD_ROUNDS, held=~near)


def in_danger(p: Places, moved: Array) -> Array:
    """(n,) the triangles that displacements (v, 3) turn over, or nearly so."""
    rest, now = p.facing, facing(p.points + moved, p.triangles)
    before, after = (np.linalg.norm(normals, axis=1) for normals in (rest, now))
    cosine = np.einsum("ti,ti->t", rest, now) / np.maximum(before * after, 1e-30)
    return np.flatnonzero((cosine < LEAST_COSINE) | (after < LEAST_AREA * before))

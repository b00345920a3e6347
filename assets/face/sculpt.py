"""The sculpted head: its fields at points, its meshes, and the skin at rest.

`sculpt_kernels` is the sculpture itself. Skin, hair and shirt are meshed by marching cubes, remeshed by zones and put
back onto the sculpture. Skin and shirt are made as a left half and mirrored, so that they are symmetric to the last
bit; hair is not symmetric, and is made whole. Edges are short on lips, lids and nose, long at the back of the head.

At rest the lips are sealed. The jaw takes hold below the lips' line, at once between the lips and softly beyond the
corner. Along the lips it takes

    w = 1/2 + (low - 1/2) e,   e = (1 - (x / x_corner)^2)^0.45,

so that the open mouth is an ellipse and not a letterbox.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assets.dragon.body import SkinSurface
from assets.dragon.places import Places
from assets.face.measures import CORNER_X, EYE, EYE_RADIUS, LIP_Y
from assets.sculpting.fields import Field, average, isosurface, ramp, smoothed
from assets.sculpting.meshing import Skinned, remesh, symmetric
from understudy.checks import Array


def _kernels() -> ModuleType:
    from assets.face import sculpt_kernels

    return sculpt_kernels


def distance(points: ArrayLike, field: str = "skin") -> Array:
    """(M,) signed distance to one of `sculpt_kernels.FIELDS` at points (M, 3)."""
    kernels = _kernels()
    result: Array = kernels.at_points(np.ascontiguousarray(points, dtype=float), kernels.FIELDS.index(field))
    return result


def field(name: str) -> Field:
    """One of `sculpt_kernels.FIELDS` as a function."""
    return lambda points: distance(points, name)


def hair_field(locks: Array) -> Field:
    """The hair of locks (N, P, 4): points and radii."""
    kernels = _kernels()

    def at(points: Array) -> Array:
        result: Array = kernels.hair_at_points(np.ascontiguousarray(points, dtype=float), locks)
        return result

    return at


def piece(name: str, points: Array) -> Array:
    """(M,) distance to one piece of the head (`upper_lip`, `lower_lip`, `concha`, `collar`) at left points (M, 3)."""
    result: Array = getattr(_kernels(), name)(*np.asarray(points, dtype=float).T)
    return result


def lip_line(points: ArrayLike) -> Array:
    """(M,) height at which the lips meet above or below points (M, 3)."""
    result: Array = _kernels().lip_line(np.abs(np.asarray(points, dtype=float)[:, 0]))
    return result


def along_rays(origin: ArrayLike, directions: ArrayLike, near: float, far: float) -> Array:
    """(M, 3) where rays leave the closed head between `near` (inside) and `far` (outside), by bisection."""
    origin, directions = np.broadcast_arrays(np.asarray(origin, float), np.asarray(directions, float))
    low, high = np.full(len(directions), near), np.full(len(directions), far)
    for _ in range(40):
        middle = 0.5 * (low + high)
        inside = distance(origin + middle[:, None] * directions, "closed") < 0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.asarray(origin + low[:, None] * directions)


def on_front(xy: ArrayLike) -> Array:
    """(M, 3) places on the closed head's front at (M, 2) x and y."""
    xy = np.asarray(xy, dtype=float)
    origin = np.concatenate([xy, np.zeros((len(xy), 1))], axis=1)
    return along_rays(origin, np.tile([0.0, 0.0, 1.0], (len(xy), 1)), 0.05, 0.55)


FINE_EDGE, FACE_EDGE, COARSE_EDGE = 0.0112, 0.0165, 0.030  # lengths of edges: rims, lips and nose; the face; all else
LID_RIM = (0.98, 1.42)  # of the eye's radius: where marching cubes leave saw teeth on the thin rim of the lids
HAIR_TRIANGLES = 14_000  # triangles


def skin_mesh() -> Skinned:
    """The skin, closed, exactly symmetric, counter-clockwise from outside."""
    work = isosurface(field("skin"), (0, -0.84, -0.52), (0.48, 0.54, 0.52), 0.0065)
    remesh(work, FINE_EDGE)
    for length, zone in ((1.4 * FACE_EDGE, 2), (COARSE_EDGE, 2), (FACE_EDGE, 1)):
        remesh(work, length, _zones(work) == zone)
    half = symmetric(work, field("skin"))
    p = half.vertices
    mean = average(half.triangles, len(p))
    folded = p * np.where(p[:, :1] < 0, [-1.0, 1.0, 1.0], 1.0)
    away = np.linalg.norm(folded - EYE, axis=1) / EYE_RADIUS
    rim = (away > LID_RIM[0]) & (away < LID_RIM[1]) & (p[:, 2] > 0.14)
    for _ in range(7):
        p = np.where(rim[:, None], 0.5 * p + 0.5 * (mean @ p), p)
    p = 0.5 * (p + p[half.mirror] * [-1.0, 1.0, 1.0])  # the sums above are the same on both sides but for rounding
    return Skinned(p, half.triangles, half.mirror)


def shirt_mesh() -> Skinned:
    """The shirt, made as the skin is."""
    work = isosurface(field("shirt"), (0, -1.1, -0.5), (0.62, -0.45, 0.3), 0.012)
    remesh(work, 0.026)
    return symmetric(work, field("shirt"))


def hair_mesh(locks: Array) -> tuple[Array, Array]:
    """Vertices (V, 3) and triangles (T, 3) of the hair of locks (N, P, 4), smoothed and thinned out."""
    work = isosurface(hair_field(locks), (-0.54, -0.45, -0.64), (0.54, 0.74, 0.56), 0.011)
    remesh(work, 0.015)
    work.apply_coord_taubin_smoothing(stepsmoothnum=14, lambda_=0.5, mu=-0.52)
    work.meshing_decimation_quadric_edge_collapse(targetfacenum=HAIR_TRIANGLES, preservenormal=True, qualitythr=0.5)
    mesh = work.current_mesh()
    return mesh.vertex_matrix().copy(), mesh.face_matrix().astype(np.int64)


def _zones(work: Any) -> Array:
    """(V,) 0 rims, lips and nose, 1 the face, 2 all else, of a left half."""
    p = work.current_mesh().vertex_matrix()
    x, y, z = p.T
    eye = (np.abs(np.linalg.norm(p - EYE, axis=1) - 0.140) < 0.030) & (z > 0.14)
    lip = (np.abs(y - lip_line(p)) < 0.050) & (x < 0.150) & (z > 0.22)
    nose = np.linalg.norm(p - [0.03, -0.14, 0.40], axis=1) < 0.070
    nose |= (x < 0.065) & (y > -0.07) & (y < 0.17) & (z > 0.25)  # where a frown folds
    along = np.clip(((x - 0.068) * 0.104 - (y + 0.135) * 0.127) / (0.104**2 + 0.127**2), 0, 1)
    cheek = np.hypot(x - 0.068 - 0.104 * along, y + 0.135 + 0.127 * along)
    nose |= (cheek < 0.026) & (z > 0.15)  # from the nose's wing past the mouth's corner
    face = ((z > 0.06) & (y > -0.42)) | (x > 0.33)
    return np.select([eye | lip | nose, face], [0, 1], 2)


LIP_SEAL = 0.0066  # each lip goes so far to the line: a little beyond, or teeth flash in every one-sided shape
MIDDLE_FADE = 0.045  # to each side of the midline, over which a sided shape fades out
NECK_HEIGHTS = (-0.70, -0.40)  # y: from the neck's joint alone to the head's alone


class FacePlaces(Places):
    """The places of the face's skin: the coordinates of the dragon's that a face has too, and its own lips."""

    def __init__(self, skin: SkinSurface) -> None:
        super().__init__(skin)
        self.eye = np.linalg.norm(self.folded - EYE, axis=1)
        self.jaw = skin.jaw
        self.lower_half = _low_share(skin.unsealed, skin.sheet)
        x, z = self.folded[:, 0], self.folded[:, 2]
        band = ramp(0.045, 0.010, np.abs(self.height)) * ramp(0.20, 0.26, z)
        self.lips = band * ramp(CORNER_X + 0.03, CORNER_X - 0.02, x)
        # how far from the line in what is seen of a lip: at the line itself shapes that thin or swell must not move it
        self.fullness = np.sign(self.height) * np.maximum(np.abs(self.height) - 0.009, 0.0)
        self.arch = np.sqrt(np.clip(1 - (x / (CORNER_X + 0.002)) ** 2, 0, 1))
        self.left = ramp(-MIDDLE_FADE, MIDDLE_FADE, self.points[:, 0])


def skin_surface() -> tuple[SkinSurface, dict[str, Array]]:
    """The skin, and its hold on the joints."""
    mesh = skin_mesh()
    p = mesh.vertices
    depth, line = distance(p, "closed"), lip_line(p)
    mean = average(mesh.triangles, len(p))
    jaw = _jaw_share(p, line, mean)
    jaw = 0.5 * (jaw + jaw[mesh.mirror])
    x, y, z = np.abs(p[:, 0]), p[:, 1], p[:, 2]
    above = y - line
    close = (
        LIP_SEAL * ramp(0.06, 0.012, np.abs(above)) * ramp(CORNER_X + 0.012, CORNER_X - 0.004, x) * ramp(0.20, 0.24, z)
    )
    sealed = p.copy()
    sealed[:, 1] -= np.sign(above) * close
    head = ramp(*NECK_HEIGHTS, y)
    hold = {"Root": (1 - head) * ramp(-0.62, -0.80, y), "Neck": (1 - head) * ramp(-0.80, -0.62, y)}
    hold |= {"Head": head * (1 - jaw), "Jaw": head * jaw}
    return SkinSurface(p, sealed, mesh.triangles, mesh.mirror, depth, line, jaw, mean), hold


def _low_share(p: Array, line: Array) -> Array:
    """(V,) 0 above the lips' line, 1 below; sharp only along the slit."""
    x, y, z = np.abs(p[:, 0]), p[:, 1], p[:, 2]
    width = 0.005 + 0.85 * np.clip(x - (CORNER_X - 0.004), 0, 1) + 0.35 * np.clip(0.21 - z, 0, 1)
    return ramp(-1.0, 1.0, (np.where(x > CORNER_X, LIP_Y + 0.016, line) - y) / width)


def _jaw_share(p: Array, line: Array, mean: object) -> Array:
    """(V,) how much each vertex follows the jaw."""
    x, y, z = np.abs(p[:, 0]), p[:, 1], p[:, 2]
    low = _low_share(p, line)
    e = np.sqrt(np.clip(1 - (x / (CORNER_X + 0.003)) ** 2, 0, 1)) ** 0.9
    e = e + (1 - e) * ramp(0.02, 0.11, np.abs(y - line))
    share = np.where(x < CORNER_X + 0.003, 0.5 + (low - 0.5) * e, low)
    share = share * ramp(-0.13, 0.10, z) * ramp(-0.60, -0.40, y - 0.30 * np.clip(z, -0.2, 0.3))
    return smoothed(share, mean, 22, (np.abs(y - line) < 0.03) & (x < CORNER_X - 0.012) & (z > 0.22))

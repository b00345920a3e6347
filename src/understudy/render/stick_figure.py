"""A stick figure for motion without a mesh: octahedral bones and small balls, in the colours of the studio.

The triangles and colours depend on the skeleton only, so a clip needs one `Surface` and the vertices of each frame.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.character.kinematics import check_parents
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.render.scene import Surface, SurfaceFinish, linear_from_srgb

BONE_COLOUR, JOINT_COLOUR = "#2f9e91", "#f2a33a"
RING_POSITION_RATIO = 0.16  # position of the widest ring along a bone, from the parent
BONE_HALF_WIDTH_RATIO = 0.085  # a bone's half-width, of its length
MIN_HALF_WIDTH_RATIO, MAX_HALF_WIDTH_RATIO = 0.0075, 0.022  # bounds on the half-width, of the figure's size
MAX_HALF_WIDTH_PER_LENGTH = 0.22  # of the bone's length, also below the least: fingers stay slender


def bone_mesh(
    joint_positions: ArrayLike,
    parents: ArrayLike,
    bone_colours: ArrayLike | None = None,
    joint_colours: ArrayLike | None = None,
) -> tuple[Array, Array, Array]:
    """Vertices (..., V, 3), triangles (T, 3) and linear colours (V, 3) of a stick figure.

    joint_positions (..., J, 3), one frame or many; parents (J,), -1 for a root, each parent before its children.
    bone_colours and joint_colours: one linear colour (3,) or one a joint (J, 3); a bone has the colour of its child
    end.
    """
    positions = checks.array(joint_positions, "joint_positions", [None] * np.ndim(joint_positions))
    parent = check_parents(parents)
    J = len(parent)
    if positions.ndim < 2 or positions.shape[-2:] != (J, 3):
        raise InvalidInput(f"joint_positions should have shape (..., {J}, 3), but has shape {positions.shape}")
    child = np.flatnonzero(parent >= 0)
    start, end = positions[..., parent[child], :], positions[..., child, :]
    length = np.linalg.norm(end - start, axis=-1)  # (..., B)
    typical = length.reshape(-1, len(child)).mean(axis=0) if length.size else np.zeros(len(child))
    size = _size(parent, child, typical)
    width = np.minimum(
        np.clip(BONE_HALF_WIDTH_RATIO * typical, MIN_HALF_WIDTH_RATIO * size, MAX_HALF_WIDTH_RATIO * size),
        MAX_HALF_WIDTH_PER_LENGTH * typical,
    )

    side, other = _basis(end - start, length)
    waist = start + RING_POSITION_RATIO * (end - start)
    ring = [waist + width[:, None] * axis for axis in (side, other, -side, -other)]
    bone_vertices, B = _octahedra(start, end, ring), len(child)
    ball, ball_triangles = _ball()
    radius = _ball_radii(parent, child, width, size)
    ball_vertices = positions[..., :, None, :] + radius[:, None, None] * ball

    lead = positions.shape[:-2]
    vertices = np.concatenate([bone_vertices.reshape(*lead, 24 * B, 3), ball_vertices.reshape(*lead, -1, 3)], axis=-2)
    ball_index = 24 * B + len(ball) * np.arange(J)[:, None, None] + ball_triangles
    triangles = np.concatenate([np.arange(24 * B).reshape(-1, 3), ball_index.reshape(-1, 3)])
    colours = np.concatenate(
        [
            np.repeat(_colours(bone_colours, BONE_COLOUR, J)[child], 24, axis=0),
            np.repeat(_colours(joint_colours, JOINT_COLOUR, J), len(ball), axis=0),
        ]
    )
    return vertices, triangles, colours


def stick_figure_surface(joint_positions: ArrayLike, parents: ArrayLike) -> tuple[Surface, Array]:
    """A surface and its vertices (..., V, 3), ready for a renderer, of joints (..., J, 3)."""
    vertices, triangles, colours = bone_mesh(joint_positions, parents)
    return Surface(triangles, colours, SurfaceFinish(roughness=0.45, softness=0.2)), vertices


def _size(parent: Array, child: Array, typical: Array) -> float:
    """The longest way from a root along the bones: a measure of the figure that no pose changes."""
    reach = np.zeros(len(parent))
    for j, length in zip(child, typical):
        reach[j] = reach[parent[j]] + length
    return max(1.6 * float(reach.max(initial=0.0)), 1e-3)


def _basis(direction: Array, length: Array) -> tuple[Array, Array]:
    """Two unit vectors across a direction, continuous except where a bone points along -Z.

    Duff et al., Building an Orthonormal Basis, Revisited (JCGT 2017); along -Z is where bones of a body seldom point.
    """
    short = length < 1e-12
    d = np.where(short[..., None], (0.0, 0.0, 1.0), direction / np.where(short, 1.0, length)[..., None])
    x, y, z = d[..., 0], d[..., 1], d[..., 2]
    sign = np.where(z < -1.0 + 1e-9, -1.0, 1.0)
    a = -1.0 / (sign + z)
    b = x * y * a
    side = np.stack([1.0 + sign * x * x * a, sign * b, -sign * x], axis=-1)
    other = np.stack([b, sign + y * y * a, -y], axis=-1)
    return side, other


def _octahedra(start: Array, end: Array, ring: list[Array]) -> Array:
    """Corners (..., B, 8, 3, 3) of eight faces a bone; corners are not shared, so each face shades flat."""
    faces = []
    for i in range(4):
        p, q = ring[i], ring[(i + 1) % 4]
        faces += [np.stack([start, q, p], axis=-2), np.stack([end, p, q], axis=-2)]
    return np.stack(faces, axis=-3)


def _ball_radii(parent: Array, child: Array, width: Array, size: float) -> Array:
    """A little less than the mean half-width of the bones that meet there, so that fingers get small balls.

    Bones without length do not count; roots are larger.
    """
    J = len(parent)
    ends, widths = np.concatenate([child, parent[child]]), np.concatenate([width, width])
    count = np.bincount(ends, widths > 0, minlength=J)
    mean = np.bincount(ends, widths, minlength=J) / np.maximum(count, 1)
    radius = np.where(count > 0, 0.9 * mean, MIN_HALF_WIDTH_RATIO * size)
    return np.where(parent < 0, np.maximum(radius, 0.9 * MAX_HALF_WIDTH_RATIO * size), radius)


def _colours(given: ArrayLike | None, default: str, J: int) -> Array:
    value = linear_from_srgb(default) if given is None else np.asarray(given, dtype=np.float64)
    if value.shape not in ((3,), (J, 3)):
        raise InvalidInput(f"colours of {J} joints should have shape (3,) or ({J}, 3), but have shape {value.shape}")
    return np.broadcast_to(value, (J, 3))


@lru_cache(maxsize=1)
def _ball() -> tuple[Array, Array]:
    """A unit sphere: an icosahedron (12 vertices, 20 triangles) with each triangle split in four."""
    g = 0.5 * (1.0 + 5.0**0.5)
    corners = [(0, s, t * g) for s in (-1, 1) for t in (-1, 1)]
    points = np.array(corners + [(b, c, a) for a, b, c in corners] + [(c, a, b) for a, b, c in corners], dtype=float)
    edge = np.linalg.norm(points[:, None] - points, axis=-1)
    near = (edge > 0) & (edge < 2.0 + 1e-6)
    faces = [
        (i, j, k) for i in range(12) for j in range(i) for k in range(j) if near[i, j] and near[j, k] and near[i, k]
    ]
    triangles = np.array(faces)
    pairs = np.sort(triangles[:, ((0, 1), (1, 2), (2, 0))].reshape(-1, 2), axis=1)
    unique, index = np.unique(pairs, axis=0, return_inverse=True)
    middle = len(points) + index.reshape(-1, 3)
    points = np.concatenate([points, 0.5 * (points[unique[:, 0]] + points[unique[:, 1]])])
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    (a, b, c), (ab, bc, ca) = triangles.T, middle.T
    split = np.concatenate([np.stack(f, axis=1) for f in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    p = points[split]
    outward = np.einsum("ti,ti->t", np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), p[:, 0]) > 0
    split[~outward] = split[~outward][:, (0, 2, 1)]
    return points, split

"""A soft body on rigid bones at rest under its own elasticity: nearly incompressible, with muscles and a contact plane.

The energy of nodes x (N, 3), for each element of rest volume V with shear modulus mu and bulk modulus lambda:

    E = sum_e  mu/2 * integral(|F A^-1|^2)  +  V lambda/2 (J - alpha)^2  +  contact,    alpha = 1 + mu / lambda

(Smith, de Goes and Kim 2018, "Stable neo-Hookean flesh simulation", without its logarithm). F is the deformation
gradient, J the determinant of its mean over the element: bricks that keep volume on the mean do not lock. A is the
active strain of a muscle (Nardinocchi and Teresi 2007): its fibres want to be s times as long and, the volume being
kept, 1 / sqrt(s) times as thick, so that |F A^-1|^2 = s |F|^2 + (1 / s^2 - s) |F a|^2 with a the direction of fibres.
The first term is quadratic with a fixed matrix, which is factorised once and makes the steps of the minimiser.

A limb is a tube: stations along an axis, each a disc of one centre node and rings around it, filled with bricks. Nodes
are numbered station by station, so that a node shares elements only with its own station and its two neighbours: the
stiffness matrix is block tridiagonal, which the solver uses.

The skin of a solved tube is its outer ring, twice as fine by cubic interpolation, closed by round caps on the bones.
The grid of the solver is smooth between its nodes; a cubic through them shows that surface rather than its facets. The
first and last station are rigid with their bones, so the caps are as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.maths import jit

CAP_ROW_COUNT = 4  # rows of a cap without its pole

# (8, 3) corners of the reference brick in the order of `Tube.elements`; its axes go outwards, around and along.
BRICK_CORNERS = np.array(
    [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], float
)
KERNELS = "understudy.deform.ground_truth.elastic_kernels"


@dataclass(frozen=True, eq=False)
class Tube:
    """S stations of 1 + R * A nodes: the centre, then R rings of A nodes each, from the inside out."""

    nodes: Array  # (S * (1 + R * A), 3) metres, at rest
    stations: int  # S
    rings: int  # R
    around: int  # A

    @property
    def section(self) -> int:
        """Nodes of a station."""
        return 1 + self.rings * self.around

    def grid(self) -> tuple[Array, Array]:
        """Centre nodes (S,) and ring nodes (S, R, A), as indices."""
        index = np.arange(len(self.nodes)).reshape(self.stations, self.section)
        return index[:, 0], index[:, 1:].reshape(self.stations, self.rings, self.around)

    @property
    def surface(self) -> Array:
        """(S, A) the nodes of the outermost ring."""
        return self.grid()[1][:, -1]

    def elements(self) -> Array:
        """(E, 8) bricks, corners in the order of `BRICK_CORNERS`; those at the axis repeat the centre node."""
        centre, ring = self.grid()
        inner = np.concatenate([np.repeat(centre[:, None, None], self.around, axis=2), ring[:, :-1]], axis=1)
        following = [np.roll(inner, -1, axis=2), np.roll(ring, -1, axis=2)]
        corners = [inner, ring, following[1], following[0]]  # around one face, seen along the axis
        bricks = [c[:-1] for c in corners] + [c[1:] for c in corners]
        return np.stack(bricks, axis=-1).reshape(-1, 8)


def tube(along: Array, radii: Array, fractions: Array) -> Tube:
    """A tube whose axis is X: stations at x = `along` (S,), outer radius `radii` (S, A) at angles from +Y towards +Z,
    rings at `fractions` (R,) of it, the last being 1."""
    stations, around = radii.shape
    angle = 2 * np.pi * np.arange(around) / around
    flat = np.stack([np.zeros(around), np.cos(angle), np.sin(angle)], axis=-1)  # (A, 3)
    nodes = np.zeros((stations, 1 + len(fractions) * around, 3))
    rings = (fractions[None, :, None] * radii[:, None, :])[..., None] * flat  # (S, R, A, 3)
    nodes[:, 1:] = rings.reshape(stations, -1, 3)
    nodes[..., 0] = along[:, None]
    return Tube(checks.freeze(nodes.reshape(-1, 3)), stations, len(fractions), around)


@dataclass(frozen=True, eq=False)
class ElasticLoad:
    """The load on a body in P poses: muscles and the contact plane."""

    muscle: Array  # (M, P) length s of each muscle's fibres, 1 at rest
    normals: Array  # (3, P) of the contact plane
    points: Array  # (3, P) points on it

    def subset(self, which: Array) -> ElasticLoad:
        """The load of some of the poses."""
        return ElasticLoad(self.muscle[:, which], self.normals[:, which], self.points[:, which])


@dataclass(frozen=True, eq=False)
class ElasticBody:
    """A tube of flesh. Arrays over elements (E,), nodes (N,); x is laid out (N, 3, P), poses innermost."""

    tube: Tube
    bone: Array  # (N,) the bone a node is part of, -1 for flesh
    elements: Array  # (E, 8)
    gradients: Array  # (E, 8, 3) mean gradient of each shape function
    volumes: Array  # (E,)
    shear: Array  # (E,) mu
    bulk: Array  # (E,) lambda
    side: Array  # (N,) -1 or +1: on which side of the contact plane a node has to stay; 0 anywhere
    crease: Array  # (N,) True where a node has to stay on the plane
    stiffness: Any = field(repr=False)  # (N, N) sparse, passive flesh
    muscles: tuple[tuple[Any, Any], ...] = field(repr=False)  # for each, (N, N) sparse: all directions, along fibres
    areas: Array = field(repr=False)  # (N,) of the skin around a node at rest, zero inside
    contact: float = 0.0  # stiffness of the plane, pascals a metre

    @property
    def free(self) -> Array:
        """(N,) True where the node is flesh."""
        return self.bone < 0

    def energy(self, x: Array, load: ElasticLoad) -> tuple[Array, Array]:
        """Energy (P,) and gradient (N, 3, P), zero at the bones' nodes, of x (N, 3, P)."""
        flat = x.reshape(len(x), -1)
        force = (self.stiffness @ flat).reshape(x.shape)
        for (every, along), s in zip(self.muscles, load.muscle):
            force += s * (every @ flat).reshape(x.shape) + (s**-2 - s) * (along @ flat).reshape(x.shape)
        energy = 0.5 * np.einsum("ncp,ncp->p", x, force)
        elements = self.elements, self.gradients, self.volumes, self.shear, self.bulk
        jit.kernels(KERNELS).add_volume_term(*elements, x, force, energy)
        self._push_apart(x, load, force, energy)
        force[~self.free] = 0.0
        return energy, force

    def _push_apart(self, x: Array, load: ElasticLoad, force: Array, energy: Array) -> None:
        """Frictionless contact: E = k/2 depth^2 for a node `depth` beyond the plane, or off it in the crease."""
        nodes = np.flatnonzero(self.side + self.crease)
        side, crease = self.side[nodes, None], self.crease[nodes, None]
        beyond = np.einsum("ncp,cp->np", x[nodes] - load.points, load.normals)
        push = np.where(crease, -beyond, side * np.maximum(-side * beyond, 0.0))
        stiffness = self.contact * self.areas[nodes, None]
        energy += 0.5 * np.sum(stiffness * push**2, axis=0)
        force[nodes] -= (stiffness * push)[:, None, :] * load.normals

    def ratios(self, x: Array) -> Array:
        """(E, P) volume of each element over its volume at rest."""
        F = np.einsum("eicp,eid->epcd", x[self.elements], self.gradients)
        return np.linalg.det(F)


def build_body(
    shape: Tube,
    bone: Array,
    shear: Array,
    bulk: Array,
    side: Array,
    crease: Array,
    muscles: tuple[Array, ...] = (),
    contact: float = 0.0,
) -> ElasticBody:
    """The body of a tube: `bone` (N,), `shear` and `bulk` (E,), `side` and `crease` (N,), and
    for each muscle how much of an element (E,) belongs to it; fibres run along X."""
    elements = shape.elements()
    gradients, weights = quadrature(shape.nodes[elements])
    volumes = weights.sum(axis=1)
    mean = np.einsum("eq,eqid->eid", weights, gradients) / volumes[:, None, None]
    passive = 1.0 - np.sum(muscles, axis=0) if muscles else np.ones(len(elements))
    every = np.einsum("eq,eqid,eqjd->eij", weights, gradients, gradients) * shear[:, None, None]
    along = np.einsum("eq,eqi,eqj->eij", weights, gradients[..., 0], gradients[..., 0]) * shear[:, None, None]
    count = len(shape.nodes)
    return ElasticBody(
        shape,
        bone,
        elements,
        mean,
        volumes,
        shear,
        bulk,
        side,
        crease,
        assemble_matrix(elements, every * passive[:, None, None], count),
        tuple(
            (
                assemble_matrix(elements, every * m[:, None, None], count),
                assemble_matrix(elements, along * m[:, None, None], count),
            )
            for m in muscles
        ),
        skin_areas(shape),
        contact,
    )


def skin_areas(shape: Tube) -> Array:
    """(N,) the area of the skin of each node: half the distances between its neighbours along and around."""
    grid = shape.nodes[shape.surface]
    along = 0.5 * np.linalg.norm(np.gradient(grid, axis=0) * 2, axis=-1)
    across = 0.5 * np.linalg.norm(np.roll(grid, 1, axis=1) - np.roll(grid, -1, axis=1), axis=-1)
    areas = np.zeros(len(shape.nodes))
    areas[shape.surface] = along * across
    return areas


def quadrature(corners: Array) -> tuple[Array, Array]:
    """Gradients (E, 8, 8, 3) of the shape functions at the 2 x 2 x 2 Gauss points, by point and function, and the
    points' weights (E, 8), of bricks with corners (E, 8, 3)."""
    at = BRICK_CORNERS / np.sqrt(3.0)
    factor = 1 + at[:, None, :] * BRICK_CORNERS[None]  # (point, function, axis)
    slope = 0.125 * np.stack(
        [BRICK_CORNERS[:, d] * factor[..., (d + 1) % 3] * factor[..., (d + 2) % 3] for d in range(3)], axis=-1
    )
    jacobian = np.einsum("eic,qid->eqcd", corners, slope)
    gradients = np.einsum("qid,eqdc->eqic", slope, np.linalg.inv(jacobian))
    return gradients, np.linalg.det(jacobian)


def assemble_matrix(elements: Array, blocks: Array, count: int) -> Any:
    """The sparse matrix (N, N) that sums the elements' blocks (E, 8, 8)."""
    from scipy import sparse

    rows = np.repeat(elements, 8, axis=1).ravel()
    columns = np.tile(elements, (1, 8)).ravel()
    values = blocks.ravel()
    used = values != 0
    return sparse.csr_matrix((values[used], (rows[used], columns[used])), shape=(count, count))


def refine_ring(grid: Array) -> Array:
    """(P, 2 S - 1, 2 A, 3) of (P, S, A, 3): each edge halved, by cubics, around (periodic) and then along."""
    before, after, far = np.roll(grid, 1, axis=2), np.roll(grid, -1, axis=2), np.roll(grid, -2, axis=2)
    middle = (9 * (grid + after) - (before + far)) / 16
    out = np.stack([grid, middle], axis=3).reshape(*grid.shape[:2], -1, 3)
    first, last = 2 * out[:, :1] - out[:, 1:2], 2 * out[:, -1:] - out[:, -2:-1]
    long = np.concatenate([first, out, last], axis=1)
    middle = (9 * (long[:, 1:-2] + long[:, 2:-1]) - (long[:, :-3] + long[:, 3:])) / 16
    result = np.empty((len(out), 2 * out.shape[1] - 1, *out.shape[2:]))
    result[:, ::2], result[:, 1::2] = out, middle
    return result


def close_with_caps(
    rest: Array, posed: Array, first: Array, last: Array, bulges: tuple[float, float]
) -> tuple[Array, Array]:
    """Rest vertices (V, 3) and posed vertices (P, V, 3) of the surface with its caps, from refined grids (S, A, 3) and
    (P, S, A, 3); `first` and `last` (P, 4, 4) move the two ends."""
    near, near_pole = cap_rows(rest[0], -bulges[0])
    far, far_pole = cap_rows(rest[-1], bulges[1])
    starts = np.concatenate([near_pole[None], near[::-1].reshape(-1, 3)])
    ends = np.concatenate([far.reshape(-1, 3), far_pole[None]])

    def carry(points: Array, matrices: Array) -> Array:
        return np.einsum("pij,vj->pvi", matrices[:, :3, :3], points) + matrices[:, None, :3, 3]

    whole = np.concatenate([starts, rest.reshape(-1, 3), ends])
    return whole, np.concatenate([carry(starts, first), posed.reshape(len(posed), -1, 3), carry(ends, last)], axis=1)


def cap_rows(ring: Array, bulge: float) -> tuple[Array, Array]:
    """Rows (CAP_ROW_COUNT, A, 3) and the pole (3,) of a dome on a ring (A, 3) that rises `bulge` along X."""
    centre = ring.mean(axis=0)
    angle = 0.5 * np.pi * np.arange(1, CAP_ROW_COUNT + 1) / (CAP_ROW_COUNT + 1)
    rise = np.array([bulge, 0.0, 0.0])
    rows = centre + np.cos(angle)[:, None, None] * (ring - centre) + np.sin(angle)[:, None, None] * rise
    return rows, centre + rise


def tube_triangles(rows: int, around: int) -> Array:
    """(T, 3) of a pole, `rows` rows of `around` vertices and another pole, counter-clockwise from outside where rows
    go along +X and around from +Y to +Z."""
    ring = 1 + np.arange(rows * around).reshape(rows, around)
    following = np.roll(ring, -1, axis=1)
    a, b, c, d = ring[:-1], following[:-1], following[1:], ring[1:]
    sides = np.concatenate([np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)])
    pole, last = np.zeros(around, np.int64), np.full(around, 1 + rows * around)
    near = np.stack([pole, following[0], ring[0]], axis=-1)
    far = np.stack([last, ring[-1], following[-1]], axis=-1)
    return np.concatenate([near, sides, far])

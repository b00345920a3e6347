"""A soft body on rigid bones at rest under its own elasticity: nearly incompressible, with muscles and a contact plane.

The energy of nodes x (N, 3), for each element of rest volume V with shear modulus mu and bulk modulus lambda:

    E = sum_e  mu/2 * integral(|F A^-1|^2)  +  V lambda/2 (J - alpha)^2  +  contact,    alpha = 1 + mu / lambda

(Smith, de Goes and Kim 2018, "Stable neo-Hookean flesh simulation", without its logarithm). F is the deformation
gradient, J the determinant of its mean over the element: bricks that keep volume on the mean do not lock. A is the
active strain of a muscle (Nardinocchi and Teresi 2007): its fibres want to be s times as long and, the volume being
kept, 1 / sqrt(s) times as thick, so that |F A^-1|^2 = s |F|^2 + (1 / s^2 - s) |F a|^2 with a the direction of fibres.

The first term is quadratic with a fixed matrix, which is factorised once and makes the steps of the minimiser.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.deform.truth.tube import CORNERS, Tube
from understudy.maths import accelerate

KERNELS = "understudy.deform.truth.elastic_kernels"


@dataclass(frozen=True, eq=False)
class Load:
    """What acts on the body in P poses."""

    muscle: Array  # (M, P) length s of each muscle's fibres, 1 at rest
    normals: Array  # (3, P) of the contact plane
    points: Array  # (3, P) on it

    def only(self, which: Array) -> Load:
        """The load of some of the poses."""
        return Load(self.muscle[:, which], self.normals[:, which], self.points[:, which])


@dataclass(frozen=True, eq=False)
class Body:
    """A tube of flesh. Arrays over elements (E,), nodes (N,); x is laid out (N, 3, P), poses innermost."""

    tube: Tube
    bone: Array  # (N,) the bone a node is part of, -1 for flesh
    elements: Array  # (E, 8)
    gradients: Array  # (E, 8, 3) mean gradient of each shape function
    volumes: Array  # (E,)
    shear: Array  # (E,) mu
    bulk: Array  # (E,) lambda
    side: Array  # (N,) -1 or +1: on which side of the contact plane a node has to stay; 0 anywhere
    crease: Array  # (N,) True where a node has to stay on it
    stiffness: Any = field(repr=False)  # (N, N) sparse, passive flesh
    muscles: tuple[tuple[Any, Any], ...] = field(repr=False)  # for each, (N, N) sparse: all directions, along fibres
    areas: Array = field(repr=False)  # (N,) of the skin around a node at rest, zero inside
    contact: float = 0.0  # stiffness of the plane, pascals a metre

    @property
    def free(self) -> Array:
        """(N,) True where the node is flesh."""
        return self.bone < 0

    def energy(self, x: Array, load: Load) -> tuple[Array, Array]:
        """Energy (P,) and gradient (N, 3, P), zero at the bones' nodes, of x (N, 3, P)."""
        flat = x.reshape(len(x), -1)
        force = (self.stiffness @ flat).reshape(x.shape)
        for (every, along), s in zip(self.muscles, load.muscle):
            force += s * (every @ flat).reshape(x.shape) + (s**-2 - s) * (along @ flat).reshape(x.shape)
        energy = 0.5 * np.einsum("ncp,ncp->p", x, force)
        kernels = accelerate.kernels(KERNELS)
        keep_volume = volume_numpy if kernels is None else kernels.volume
        keep_volume(self.elements, self.gradients, self.volumes, self.shear, self.bulk, x, force, energy)
        self._push_apart(x, load, force, energy)
        force[~self.free] = 0.0
        return energy, force

    def _push_apart(self, x: Array, load: Load, force: Array, energy: Array) -> None:
        """Frictionless contact: E = k/2 depth^2 for a node `depth` beyond the plane, or off it in the crease."""
        watched = np.flatnonzero(self.side + self.crease)
        side, crease = self.side[watched, None], self.crease[watched, None]
        beyond = np.einsum("ncp,cp->np", x[watched] - load.points, load.normals)
        push = np.where(crease, -beyond, side * np.maximum(-side * beyond, 0.0))
        stiffness = self.contact * self.areas[watched, None]
        energy += 0.5 * np.sum(stiffness * push**2, axis=0)
        force[watched] -= (stiffness * push)[:, None, :] * load.normals

    def ratios(self, x: Array) -> Array:
        """(E, P) volume of each element over its volume at rest."""
        F = np.einsum("eicp,eid->epcd", x[self.elements], self.gradients)
        return np.linalg.det(F)


def body(
    shape: Tube,
    bone: Array,
    shear: Array,
    bulk: Array,
    side: Array,
    crease: Array,
    muscles: tuple[Array, ...] = (),
    contact: float = 0.0,
) -> Body:
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
    return Body(
        shape,
        bone,
        elements,
        mean,
        volumes,
        shear,
        bulk,
        side,
        crease,
        assembled(elements, every * passive[:, None, None], count),
        tuple(
            (assembled(elements, every * m[:, None, None], count), assembled(elements, along * m[:, None, None], count))
            for m in muscles
        ),
        skin_areas(shape),
        contact,
    )


def skin_areas(shape: Tube) -> Array:
    """(N,) the area of the skin that belongs to each node: half of what lies between its neighbours, both ways."""
    grid = shape.nodes[shape.surface]
    along = 0.5 * np.linalg.norm(np.gradient(grid, axis=0) * 2, axis=-1)
    across = 0.5 * np.linalg.norm(np.roll(grid, 1, axis=1) - np.roll(grid, -1, axis=1), axis=-1)
    areas = np.zeros(len(shape.nodes))
    areas[shape.surface] = along * across
    return areas


def quadrature(corners: Array) -> tuple[Array, Array]:
    """Gradients (E, 8, 8, 3) of the shape functions at the 2 x 2 x 2 Gauss points, by point and function, and the
    points' weights (E, 8), of bricks with corners (E, 8, 3)."""
    at = CORNERS / np.sqrt(3.0)
    factor = 1 + at[:, None, :] * CORNERS[None]  # (point, function, axis)
    slope = 0.125 * np.stack(
        [CORNERS[:, d] * factor[..., (d + 1) % 3] * factor[..., (d + 2) % 3] for d in range(3)], axis=-1
    )
    jacobian = np.einsum("eic,qid->eqcd", corners, slope)
    gradients = np.einsum("qid,eqdc->eqic", slope, np.linalg.inv(jacobian))
    return gradients, np.linalg.det(jacobian)


def assembled(elements: Array, blocks: Array, count: int) -> Any:
    """The sparse matrix (N, N) that sums the elements' blocks (E, 8, 8)."""
    from scipy import sparse

    rows = np.repeat(elements, 8, axis=1).ravel()
    columns = np.tile(elements, (1, 8)).ravel()
    values = blocks.ravel()
    used = values != 0
    return sparse.csr_matrix((values[used], (rows[used], columns[used])), shape=(count, count))


def volume_numpy(
    elements: Array, gradients: Array, volumes: Array, shear: Array, bulk: Array, x: Array, force: Array, energy: Array
) -> None:
    """Add the volume term's energy to `energy` (P,) and its gradient to `force` (N, 3, P)."""
    F = np.einsum("eicp,eid->epcd", x[elements], gradients)
    cofactor = np.stack([np.cross(F[..., (c + 1) % 3, :], F[..., (c + 2) % 3, :]) for c in range(3)], axis=-2)
    J = np.einsum("epd,epd->ep", F[..., 0, :], cofactor[..., 0, :])
    excess = J - (1 + shear / bulk)[:, None]
    energy += np.einsum("e,ep->p", 0.5 * volumes * bulk, excess**2)
    pull = np.einsum("ep,epcd,eid->eicp", (volumes * bulk)[:, None] * excess, cofactor, gradients)
    np.add.at(force, elements, pull)

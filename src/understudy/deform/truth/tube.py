"""A limb as a solid: stations along an axis, each a disc of one centre node and rings around it, filled with bricks.

Numbered station by station, so that a node shares elements only with its own station and its two neighbours: the
stiffness matrix is block tridiagonal, and the solver lives on that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy import checks
from understudy.checks import Array


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
        """(E, 8) bricks, corners in the order of `CORNERS`; those at the axis repeat the centre node."""
        centre, ring = self.grid()
        inner = np.concatenate([np.repeat(centre[:, None, None], self.around, axis=2), ring[:, :-1]], axis=1)
        following = [np.roll(inner, -1, axis=2), np.roll(ring, -1, axis=2)]
        corners = [inner, ring, following[1], following[0]]  # around one face, seen along the axis
        bricks = [c[:-1] for c in corners] + [c[1:] for c in corners]
        return np.stack(bricks, axis=-1).reshape(-1, 8)


CORNERS = np.array(
    [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], float
)
"""(8, 3) corners of the reference brick in the order of `Tube.elements`; its axes go outwards, around and along."""


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

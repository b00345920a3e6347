"""A tube that bends and twists at its middle, with ground truth: the small example set of the deformers' tests.

The truth bends the tube along a smooth curve, each cross-section turned about the axis by its own share of the angle,
so that nothing collapses, and lets the inner side bulge with the bend. It is neither a linear blend nor a dual
quaternion blend of the joints, so that no method has it for free.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from understudy.deform.examples import Examples

LENGTH, RADIUS, SOFT = 2.0, 0.2, 0.3  # metres; the bend is spread over SOFT on either side of the elbow


def rest_tube(rings=13, sides=8):
    """Vertices (V, 3) along x from 0 to LENGTH, triangles (T, 3)."""
    x, a = np.linspace(0, LENGTH, rings), np.arange(sides) * 2 * np.pi / sides
    v = np.stack((np.repeat(x, sides), np.tile(RADIUS * np.cos(a), rings), np.tile(RADIUS * np.sin(a), rings)), axis=1)
    i, j = np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij")
    p, q = (i * sides + j).ravel(), (i * sides + (j + 1) % sides).ravel()
    return v, np.concatenate((np.stack((p, q, q + sides), 1), np.stack((p, q + sides, p + sides), 1)))


def pose(bend, twist, root=None):
    """world_from_joint (3, 4, 4): a root at the origin, the upper bone there, the lower one at the elbow."""
    m = np.tile(np.eye(4), (3, 1, 1))
    m[2, :3, 3] = (LENGTH / 2, 0, 0)
    m[2, :3, :3] = (Rotation.from_rotvec((0, 0, bend)) * Rotation.from_rotvec((twist, 0, 0))).as_matrix()
    return m if root is None else root @ m


def truth(v, bend, twist, bulge=0.25):
    """The tube's vertices (V, 3) in that pose.

    Within SOFT of the elbow the axis follows the quadratic Bezier A, elbow, B whose ends lie on the bones.
    """
    x = v[:, 0] - LENGTH / 2
    u = np.clip(0.5 + x / (2 * SOFT), 0, 1)[:, None]
    a, b = np.array((-SOFT, 0)), SOFT * np.array((np.cos(bend), np.sin(bend)))
    centre = (1 - u) ** 2 * a + u**2 * b
    centre += np.minimum(x + SOFT, 0)[:, None] * (1, 0) + np.maximum(x - SOFT, 0)[:, None] * b / SOFT
    along = u * b - (1 - u) * a
    angle, share = np.arctan2(along[:, 1], along[:, 0]), (u**2 * (3 - 2 * u))[:, 0]
    turn = Rotation.from_rotvec(np.outer(angle, (0, 0, 1))) * Rotation.from_rotvec(np.outer(twist * share, (1, 0, 0)))
    swell = 1 + bulge * np.sin(bend / 2) ** 2 * np.exp(-(((x + 0.5) / 0.2) ** 2)) * (v[:, 1] > 0)
    ring = np.stack((np.zeros(len(v)), v[:, 1] * swell, v[:, 2] * swell), axis=1)
    return turn.apply(ring) + np.column_stack((centre[:, 0] + LENGTH / 2, centre[:, 1], np.zeros(len(v))))


def tube(bends, twists, rings=13, sides=8, weights=True, root_seed=None):
    """Examples at each (bend, twist), in radians."""
    v, t = rest_tube(rings, sides)
    binds = np.linalg.inv(pose(0, 0))
    moves, meshes = [], []
    rng = np.random.default_rng(root_seed)
    for bend, twist in zip(bends, twists):
        root = np.eye(4)
        if root_seed is not None:
            root[:3, :3] = Rotation.random(random_state=int(rng.integers(2**31))).as_matrix()
            root[:3, 3] = rng.normal(size=3)
        moves.append(pose(bend, twist, root))
        meshes.append(truth(v, bend, twist) @ root[:3, :3].T + root[:3, 3])
    share = np.clip(0.5 + (v[:, 0] - LENGTH / 2) / (2 * SOFT), 0, 1)
    w, j = np.stack((1 - share, share), axis=1), np.tile((1, 2), (len(v), 1))
    skin = (w, j) if weights else (None, None)
    return Examples(v, t, binds, moves, meshes, (-1, 0, 1), *skin, names=("root", "upper", "lower"))


def standard(weights=True):
    """Twelve poses: bends to 120 degrees, with and without twist to 90."""
    bends = np.radians([0, 20, 40, 60, 80, 100, 120, 30, 60, 90, 0, 0])
    twists = np.radians([0, 0, 0, 0, 0, 0, 0, 60, -60, 30, 90, -90])
    return tube(bends, twists, weights=weights)


def two_elbows(angles, seed=0):
    """Examples of a tube with elbows at x = 2/3 and 4/3 of its length, bent by angles (E, 2) about z.

    Each elbow adds a bump of its own to a linear blend, in the frame of the strongest joint: corrections are sums of
    one function a joint, which is what EigenSkin assumes.
    """
    v, t = rest_tube(19, 6)
    at = np.array((0, LENGTH / 3, 2 * LENGTH / 3))
    moves = np.tile(np.eye(4), (len(angles), 3, 1, 1))
    for e, pair in enumerate(np.asarray(angles, float)):
        for j in (1, 2):
            local = np.eye(4)
            local[:3, :3] = Rotation.from_rotvec((0, 0, pair[j - 1])).as_matrix()
            local[0, 3] = at[j] - at[j - 1]
            moves[e, j] = moves[e, j - 1] @ local
    binds = np.tile(np.eye(4), (3, 1, 1))
    binds[:, 0, 3] = -at
    s = np.clip(0.5 + (v[:, :1] - at[1:]) / (2 * SOFT), 0, 1)
    w = np.stack((1 - s[:, 0], s[:, 0] * (1 - s[:, 1]), s[:, 0] * s[:, 1]), axis=1)
    matrices = moves @ binds
    meshes = np.einsum("vb,ebij,vj->evi", w, matrices[:, :, :3, :3], v) + np.einsum(
        "vb,ebi->evi", w, matrices[:, :, :3, 3]
    )
    home = np.argmax(w, axis=1)
    for j in (1, 2):
        bump = 0.1 * np.exp(-(((v[:, 0] - at[j]) / 0.2) ** 2))[:, None] * np.array((0, v[0, 1] * 4, 0))
        grown = (1 - np.cos(np.asarray(angles)[:, j - 1]))[:, None, None] * bump
        meshes += np.einsum("evij,evj->evi", matrices[:, home, :3, :3], grown)
    return Examples(v, t, binds, moves, meshes, (-1, 0, 1), w, np.tile(np.arange(3), (len(v), 1)))

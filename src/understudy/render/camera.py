"""The camera, how it frames points by itself, and the targets that it can frame by name.

Angles are radians. Azimuth 0 looks at the character's face from +Z, and grows towards +X (the character's left hand);
elevation is the camera's height above the horizontal. The field of view is vertical. A target is a named point, a
region, a joint with its descendants, or a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import atan, atan2, cos, radians, sin, tan

import numpy as np
from numpy.typing import ArrayLike

from understudy import checks
from understudy.character import Character
from understudy.checks import Array
from understudy.errors import InvalidInput

DEFAULT_AZIMUTH_RAD, DEFAULT_ELEVATION_RAD, DEFAULT_FIELD_OF_VIEW_RAD = radians(28.0), radians(12.0), radians(26.0)
POINT_RADIUS_RATIO = 0.12  # radius of the view around a single point, of the character's size
MIN_MEMBERSHIP = 0.5  # least mask value or skin weight of a vertex that belongs to a target


@dataclass(frozen=True)
class Camera:
    """A perspective camera at `eye` (3,) that looks at `target` (3,), Y up.

    `fov` vertical, radians; `aspect` width/height.
    """

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    fov: float = DEFAULT_FIELD_OF_VIEW_RAD
    aspect: float = 4.0 / 3.0
    near: float = 0.05
    far: float = 100.0

    @property
    def azimuth(self) -> float:
        """Angle of the eye around the target, 0 at +Z."""
        return atan2(self.eye[0] - self.target[0], self.eye[2] - self.target[2])

    @cached_property
    def view(self) -> Array:
        """camera_from_world (4, 4); the camera looks along its own -Z."""
        axes = _axes_towards(np.subtract(self.eye, self.target))
        result = np.eye(4)
        result[:3, :3] = axes
        result[:3, 3] = -axes @ np.asarray(self.eye)
        return result

    @cached_property
    def clip_from_world(self) -> Array:
        """Projection times view (4, 4), OpenGL's clip space."""
        f, n, scale = self.far, self.near, 1.0 / tan(0.5 * self.fov)
        projection = np.zeros((4, 4))
        projection[0, 0], projection[1, 1] = scale / self.aspect, scale
        projection[2, 2], projection[2, 3] = (f + n) / (n - f), 2.0 * f * n / (n - f)
        projection[3, 2] = -1.0
        return projection @ self.view

    def with_offset(self, offset: ArrayLike) -> Camera:
        """The same camera, translated by offset (3,)."""
        return replace(self, eye=_triple(np.add(self.eye, offset)), target=_triple(np.add(self.target, offset)))

    def with_zoom(self, factor: float) -> Camera:
        """The camera with a narrower view, in which things are `factor` times as large; the perspective stays."""
        return replace(self, fov=2.0 * atan(tan(0.5 * self.fov) / checks.positive(factor, "zoom")))

    def project(self, points: Array) -> Array:
        """Points (N, 3) to (N, 3): x, y in [-1, 1] inside the picture (y up), and the distance along the view."""
        homogeneous = points @ self.clip_from_world[:, :3].T + self.clip_from_world[:, 3]
        return np.concatenate([homogeneous[:, :2] / homogeneous[:, 3:], homogeneous[:, 3:]], axis=1)


@dataclass(frozen=True, eq=False)
class CameraTarget:
    """Vertices (N,) of a character to frame, and the radius around each, metres."""

    vertices: Array
    radius: float


def frame_camera(
    points: ArrayLike,
    azimuth: float = DEFAULT_AZIMUTH_RAD,
    elevation: float = DEFAULT_ELEVATION_RAD,
    fov: float = DEFAULT_FIELD_OF_VIEW_RAD,
    aspect: float = 4.0 / 3.0,
    margin: float = 0.1,
    ground: float | None = None,
) -> Camera:
    """The closest camera from a direction that sees all points (..., 3): every vertex of a clip, or its box's corners.

    `margin` is the part of the half-picture that stays free at each side. With `ground`, the points' feet on that plane
    count as well, so that a jump shows the ground below it.

    In the camera's axes a point (x, y, z) is inside where |x - c_x| <= t_x (c_z - z), with t_x the tangent of half the
    horizontal angle. All points are inside where c_x + t_x c_z >= A = max(x + t_x z) and -c_x + t_x c_z >= B = max(t_x
    z - x), so the least c_z is (A + B) / (2 t_x), at c_x = (A - B) / 2; the same for y, and the larger c_z wins.
    """
    cloud = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    if not len(cloud) or not np.isfinite(cloud).all():
        raise InvalidInput("a camera can only frame finite points, at least one")
    if not 0.0 < fov < np.pi:
        raise InvalidInput(f"the field of view should lie between 0 and pi radians, but is {fov}")
    if ground is not None:
        low, high = cloud.min(axis=0), cloud.max(axis=0)
        feet = [(x, ground, z) for x in (low[0], high[0]) for z in (low[2], high[2])]
        centre = np.array([0.5 * (low[0] + high[0]), ground, 0.5 * (low[2] + high[2])])
        # The corners of the box lie further out than any foot: 0.7 of the way is enough to see the ground.
        cloud = np.concatenate([cloud, centre + 0.7 * (np.array(feet) - centre)])
    checks.positive(aspect, "aspect")
    direction = np.array([sin(azimuth) * cos(elevation), sin(elevation), cos(azimuth) * cos(elevation)])
    axes = _axes_towards(direction)
    ty = tan(0.5 * fov) * (1.0 - margin)
    tx = ty * aspect
    # Four support planes; only these maxima of the points are needed.
    planes = np.array([axes[0] + tx * axes[2], tx * axes[2] - axes[0], axes[1] + ty * axes[2], ty * axes[2] - axes[1]])
    A, B, C, D = np.max([(chunk @ planes.T).max(axis=0) for chunk in _chunks(cloud)], axis=0)
    depths = [(chunk @ axes[2]) for chunk in _chunks(cloud)]
    nearest, furthest = max(d.max() for d in depths), min(d.min() for d in depths)
    size = max(float(np.ptp(cloud, axis=0).max()), 1e-6)
    cz = max((A + B) / (2.0 * tx), (C + D) / (2.0 * ty), nearest + 0.25 * size)
    eye = axes.T @ np.array([0.5 * (A - B), 0.5 * (C - D), cz])
    target = eye - axes[2] * (cz - 0.5 * (nearest + furthest))
    reach = cz - furthest
    near = max(0.2 * (cz - nearest), 1e-4 * reach)
    return Camera(_triple(eye), _triple(target), fov, aspect, near, 20.0 * reach + 10.0 * size)


def frame_clip(
    frames: Sequence[Array] | Array,
    azimuth: float = DEFAULT_AZIMUTH_RAD,
    elevation: float = DEFAULT_ELEVATION_RAD,
    fov: float = DEFAULT_FIELD_OF_VIEW_RAD,
    aspect: float = 4.0 / 3.0,
    margin: float = 0.1,
    ground: float | None = None,
    follow: bool = False,
    smoothing: float = 15.0,
    level: bool = True,
) -> list[Camera]:
    """One camera for each frame that never crops: frames (F, N, 3), or a sequence of (N, 3).

    It is fixed for the whole clip, or with `follow` travels with the figure's centre, smoothed over `smoothing` frames
    (a Gaussian's standard deviation; 0 keeps the figure in the middle) and, if `level`, at one height. The distance
    never changes, so that the figure keeps its size.
    """
    clouds = [np.asarray(frame, dtype=np.float64).reshape(-1, 3) for frame in frames]
    if not clouds:
        raise InvalidInput("a clip needs at least one frame to be framed")
    offsets = np.zeros((len(clouds), 3))
    if follow:
        offsets = np.array([cloud.mean(axis=0) if len(cloud) else np.zeros(3) for cloud in clouds])
        if smoothing > 0:
            from scipy.ndimage import gaussian_filter1d

            offsets = gaussian_filter1d(offsets, smoothing, axis=0, mode="nearest")
        offsets[:, 1] *= not level
    relative = np.concatenate([cloud - offset for cloud, offset in zip(clouds, offsets)])
    camera = frame_camera(relative, azimuth, elevation, fov, aspect, margin, ground)
    return [camera.with_offset(offset) for offset in offsets] if follow else [camera] * len(clouds)


def target_of(character: Character, name: str) -> CameraTarget:
    """The target of that name among points, regions, parts and joints, in this order; an error lists them."""
    points = {} if character.layers is None else character.layers.points
    masks = {} if character.layers is None else character.layers.masks
    parts = [part.name for part in character.parts]
    checks.one_of(name, "target", dict.fromkeys((*masks, *parts, *character.skeleton.names, *points)))
    if name in points:
        everything = np.concatenate([part.mesh.vertices for part in character.parts])
        return CameraTarget(np.array([points[name]]), POINT_RADIUS_RATIO * float(np.ptp(everything, axis=0).max()))
    if name in masks:
        vertices = np.flatnonzero(np.asarray(masks[name]) >= MIN_MEMBERSHIP)
    elif name in parts:
        vertices = np.flatnonzero(
            np.concatenate([np.full(len(p.mesh.vertices), p.name == name) for p in character.parts])
        )
    else:
        vertices = _vertices_of_joint(character, name)
    if not len(vertices):
        raise InvalidInput(f"nothing can be seen of target {name!r}: no vertex belongs to it")
    return CameraTarget(vertices, 0.0)


def _axes_towards(back: Array) -> Array:
    """Rows right, up, back (3, 3) of a camera whose own +Z is `back`.

    Straight down and up keep +Z as the picture's up.
    """
    back = np.asarray(back, dtype=np.float64) / np.linalg.norm(back)
    up = np.array([0.0, 1.0, 0.0]) if abs(back[1]) < 1.0 - 1e-9 else np.array([0.0, 0.0, -np.sign(back[1])])
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(back, right), back])


def _chunks(cloud: Array, rows: int = 1 << 20) -> list[Array]:
    """Views of a long point cloud, so that a product with it needs little memory."""
    return [cloud[start : start + rows] for start in range(0, len(cloud), rows)]


def _triple(values: Array) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def _vertices_of_joint(character: Character, name: str) -> Array:
    """(N,) vertices that move mostly with a joint or with those below it."""
    skeleton = character.skeleton
    below = np.zeros(len(skeleton.names), bool)
    below[skeleton.index(name)] = True
    for joint, parent in enumerate(skeleton.parents):
        below[joint] |= parent >= 0 and below[parent]
    skins = [part.skin for part in character.parts]
    shares = [(below[skin.joints][skin.influences] * skin.weights).sum(axis=1) for skin in skins]
    return np.flatnonzero(np.concatenate([*shares, np.zeros(0)]) >= MIN_MEMBERSHIP)

"""A character as the solver sees it: bodies that turn about their joints, with mass, skin and contact points.

A body is a joint that turns, with all joints that it carries: fingers ride on the hand, and a foot that hangs on no leg
(a rig that was animated with IK) is carried by its shin. Mass is kept exactly, as four points to a joint with its mass,
centre and second moments; the skin as its extremes in 98 directions.

Points ride on a body as they do in the reference, frame by frame: a wrist or a rim that bends there, and skin that
hangs on several joints, stay as they are. Offsets are in the frame of the body's joint, without scale, over the height.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.character import Character, Skeleton
from understudy.character.body.contacts import runs
from understudy.character.body.joint_limits import Limits, limit_boxes
from understudy.character.body.limbs import Limbs
from understudy.character.body.mass import Body
from understudy.character.body.poses import PoseSequence
from understudy.character.body.volume import rest_vertices, skin_positions, vertex_owners
from understudy.checks import Array
from understudy.maths import quaternion, transform
from understudy.transfer.bone_map import BoneMap, descendants, line_to_root

MIN_HINGE_ANGLE_RAD = 0.03  # of a knee or an elbow: straighter would be bent the wrong way
MIN_MEAN_BEND_SINE = 0.1  # of a knee or an elbow in the reference: below, its axis is not known
MAX_FOOT_MASS_RATIO = 0.15  # of the body's mass: a foot with all below it
MAX_FOOT_DRIFT_HEIGHT_RATIO = 0.06  # of the height: drift of a detached foot in the frame of its leg
SAMPLE_FRAMES = 64  # frames over which that drift is measured
SOLE_HEIGHT_RATIO = 0.03  # of the height above the lowest skin of a foot: skin of the sole
SOLE_END_LENGTH_RATIO = 0.25  # of a foot's length: its heel, and its toe


@dataclass(frozen=True, eq=False)
class Figure:
    """A bodies, parents before children; n unknowns of a frame: the shift of the first body, then angles."""

    skeleton: Skeleton
    height: float  # metres
    joints: Array  # (A,)
    parents: Array  # (A,) bodies; -1 for the first
    carriers: Array  # (J,) the body that carries a joint, -1: none
    first: Array  # (A + 1,) the first unknown of each body
    axes: Array  # (n, 3) in the frame of the body's joint; zero for the shift
    change: Array  # (n,) standard deviation of the unknowns, rad; the first three are not used
    tracking: Array  # (A,) standard deviation of the world orientation, rad
    mass_bodies: Array  # (M,)
    mass_offsets: Array  # (F, M, 3)
    mass_shares: Array  # (M,) of the whole mass
    skin_bodies: Array  # (S,)
    skin_offsets: Array  # (F, S, 3)
    smooth: Array  # (n,) factors of the standard deviation of second differences
    hinges: tuple[tuple[int, tuple[int, int, int]], ...] = ()  # unknown, and joints above, at and below it
    limits: Limits | None = None

    @property
    def size(self) -> int:
        """n."""
        return len(self.axes)

    def body_of(self, joint: int) -> int:
        """The body that carries a joint."""
        return int(self.carriers[joint])

    def ride(self, reference: PoseSequence, bodies: Array, positions: Array) -> Array:
        """(F, P, 3) offsets on bodies (P,) of points that are at `positions` (F, P, 3) in the reference."""
        return _ride(reference, self.joints[bodies], positions, self.height)

    def bounds(self, reference: PoseSequence) -> tuple[Array, Array]:
        """(F, n) lowest and highest unknowns: limits less the angles that the reference has already."""
        low, high = np.full((len(reference), self.size), -np.inf), np.full((len(reference), self.size), np.inf)
        for unknown, (above, joint, below) in self.hinges:
            low[:, unknown] = MIN_HINGE_ANGLE_RAD - _bend(reference, above, joint, below, self.axes[unknown])
        if self.limits is not None:
            least, most, limited = limit_boxes(self.skeleton, self.limits)
            rest = PoseSequence.rest(self.skeleton).world[0]
            for a in np.flatnonzero(limited[self.joints]):
                joint = int(self.joints[a])
                turn = quaternion.multiply(
                    quaternion.conjugate(self.skeleton.rotations[joint]), reference.rotations[:, joint]
                )
                axes = transform.unscale(
                    rest[joint, :3, :3]
                ).T  # columns: the axes of the world in the frame of the joint
                angles = quaternion.to_rotation_vector(turn) @ axes
                for unknown in range(self.first[a], self.first[a + 1]):
                    x = int(np.abs(self.axes[unknown] @ axes).argmax())
                    # A reference beyond a limit is not thrown back: it may keep what it has.
                    low[:, unknown] = np.minimum(least[joint, x] - angles[:, x], 0.0)
                    high[:, unknown] = np.maximum(most[joint, x] - angles[:, x], 0.0)
        return low, high


@dataclass(frozen=True, eq=False)
class Contacts:
    """K points that may be in contact with the floor, and when they are."""

    names: tuple[str, ...]
    bodies: Array  # (K,)
    offsets: Array  # (F, K, 3)
    down: Array  # (F, K) bool
    flight: Array  # (F,) bool: free fall
    known: Array  # (F,) bool: forces can be told; not where something else carries the figure
    gliding: Array | None = None  # (F,) bool: what is down may slide


@dataclass(frozen=True)
class BodySpec:
    """One body: the joint, its axes in the joint's frame (None: all three), and standard deviations in radians."""

    joint: int
    tracking: float
    change: Array | float  # of one axis each, or of all
    axes: Array | None = None  # (k, 3)
    hinge: tuple[int, int, int] | None = None
    smooth: float = 1.0  # factor of the deviation of its change: a captured foot trembles, and has to stand


def make_figure(
    reference: PoseSequence,
    character: Character,
    body: Body,
    specs: Sequence[BodySpec],
    *,
    parents: Array | None = None,
    left_out: Array | None = None,
    limits: Limits | None = None,
    rest: Array | None = None,
) -> Figure:
    """The figure of a character.

    Args:
        reference: F poses, in which mass and skin are placed on the bodies.
        character: The character.
        body: The masses of its links.
        specs: Its bodies, in any order.
        parents: (J,) the hierarchy that is meant, where that of the file differs (detached feet).
        left_out: (J,) bool, joints without mass and skin (props, limbs on springs).
        limits: Limits of joints.
        rest: (J, 4, 4) world_from_joint of a pose with the figure upright; None: the rest pose.

    Returns:
        The figure.
    """
    skeleton = character.skeleton
    parents = np.asarray(skeleton.parents if parents is None else parents)
    order = sorted(specs, key=lambda spec: len(line_to_root(parents, spec.joint)))
    joints = np.array([spec.joint for spec in order], np.int64)
    number = {int(joint): a for a, joint in enumerate(joints)}
    carriers = np.array([_carrier(parents, number, j) for j in range(len(skeleton))], np.int64)
    above = np.array(
        [-1 if a == 0 else max(_carrier(parents, number, int(parents[j])), 0) for a, j in enumerate(joints)]
    )
    axes, change, first, hinges, smooth = [np.zeros((3, 3))], [np.zeros(3)], [3], [], [1.0] * 3
    for spec in order:
        own = np.eye(3) if spec.axes is None else np.asarray(spec.axes, np.float64).reshape(-1, 3)
        if spec.hinge is not None:
            hinges.append((first[-1], spec.hinge))
        axes.append(own)
        change.append(np.broadcast_to(np.asarray(spec.change, np.float64), (len(own),)))
        first.append(first[-1] + len(own))
        smooth += [spec.smooth] * len(own)
    kept = np.ones(len(skeleton), bool) if left_out is None else ~np.asarray(left_out, bool)
    rest = PoseSequence.rest(skeleton).world[0] if rest is None else rest
    height = _skin_height(character, rest, kept)
    points, shares, owners = _mass_points(body, kept & (carriers >= 0))
    places = transform.apply(reference.world[:, owners], points)
    mass = (carriers[owners], _ride(reference, joints[carriers[owners]], places, height), shares)
    extremes, riders = _skin_extremes(character, rest, carriers, kept & (carriers >= 0))
    places = skin_positions(character, reference.world, extremes)
    skin = (riders, _ride(reference, joints[riders], places, height))
    return Figure(
        skeleton, height, joints, above, carriers, np.array(first), np.concatenate(axes), np.concatenate(change),
        np.array([spec.tracking for spec in order]), *mass, *skin, np.array(smooth), tuple(hinges), limits,
    )  # fmt: skip


def _ride(reference: PoseSequence, joints: Array, positions: Array, height: float) -> Array:
    """(F, P, 3) of positions (F, P, 3) in the unscaled frames of joints (P,) of the reference, over the height."""
    frames = reference.world[:, joints]
    away = positions - frames[..., :3, 3]
    return np.ascontiguousarray(np.einsum("fpji,fpj->fpi", transform.unscale(frames[..., :3, :3]), away) / height)


def _skin_height(character: Character, rest: Array, kept: Array) -> float:
    """Metres at rest from the lowest to the highest skin of the joints that are `kept` (J,); of joints without skin."""
    vertices, owners = rest_vertices(character, rest), vertex_owners(character)
    places = vertices[kept[owners]] if len(owners) else rest[:, :3, 3]
    return (float(np.ptp(places[:, 1])) if len(places) else 0.0) or 1.0


def find_detached_feet(poses: PoseSequence, body: Body, limbs: Limbs) -> dict[int, int]:
    """The first joints of feet that hang on no leg -> the last joints of the legs that they belong to."""
    skeleton = poses.skeleton
    heads: set[int] = set()
    for contact in body.contacts:
        joint = _highest_with_mass(skeleton, body, contact.joint)
        if body.masses[descendants(skeleton.parents, joint)].sum() < MAX_FOOT_MASS_RATIO * body.mass:
            heads.add(joint)
    feet = set().union(*(np.flatnonzero(descendants(skeleton.parents, joint)).tolist() for joint in heads))
    picked = np.linspace(0, len(poses) - 1, min(SAMPLE_FRAMES, len(poses))).astype(np.int64)
    worlds = poses.world[picked]
    shins = {joint: _shin(skeleton, worlds, body, limbs, joint, feet) for joint in sorted(heads)}
    return {joint: shin for joint, shin in shins.items() if shin is not None}


def _highest_with_mass(skeleton: Skeleton, body: Body, joint: int) -> int:
    """The highest ancestor with mass, or the joint itself where there is none."""
    heavy = [j for j in skeleton.ancestors(joint) if body.masses[j] > 0]
    return int(heavy[-1]) if heavy else joint


def _shin(skeleton: Skeleton, worlds: Array, body: Body, limbs: Limbs, foot: int, feet: set[int]) -> int | None:
    """The joint of a limb in whose frame a foot drifts least; None where it drifts too much in all."""
    best, least = None, MAX_FOOT_DRIFT_HEIGHT_RATIO * limbs.size
    for joint in np.flatnonzero((body.masses > 0) & ~limbs.trunk):
        if joint in feet:
            continue
        frames = worlds[:, joint]
        away = np.einsum("fji,fj->fi", frames[:, :3, :3], worlds[:, foot, :3, 3] - frames[:, :3, 3])
        away = away / np.maximum(np.linalg.norm(frames[:, :3, :3], axis=1), 1e-12)
        drift = float(np.sqrt(away.var(axis=0).sum()))
        if drift < least:
            best, least = int(joint), drift
    return best


def sole_corners(target: BoneMap, foot: int, toe: int | None) -> list[tuple[str, int, Array]]:
    """Corners of a sole by the skin: ("heel" or "toe", joint, place (3,) in the world at rest); none without skin.

    Heels are on the foot, toes on the toe joint where there is one; left and right corner of both.
    """
    vertices, owners = rest_vertices(target.character, target.rest), vertex_owners(target.character)
    mine = np.flatnonzero(descendants(target.parents, foot)[owners]) if len(owners) else np.zeros(0, np.int64)
    if not mine.size:
        return []
    floor = float(vertices[mine, 1].min())
    mine = mine[vertices[mine, 1] < floor + SOLE_HEIGHT_RATIO * float(np.ptp(vertices[:, 1]))]
    front, side = _foot_axes(target, foot, toe)
    along, across = vertices[mine] @ front, vertices[mine] @ side
    on_toe = descendants(target.parents, toe)[owners[mine]] if toe is not None else np.zeros(len(mine), bool)
    corners = []
    for role, sign in (("heel", -1.0), ("toe", 1.0)):
        pool = on_toe if role == "toe" else ~on_toe
        pool = pool if pool.any() else np.ones(len(mine), bool)
        end = pool & (sign * along >= (sign * along[pool]).max() - SOLE_END_LENGTH_RATIO * np.ptp(along))
        for left in (-1.0, 1.0):
            picked = np.flatnonzero(end)[(left * across[end] + sign * along[end]).argmax()]
            place = vertices[mine[picked]].copy()
            place[1] = floor
            joint = toe if role == "toe" and toe is not None and on_toe.any() else foot
            corners.append((role, int(joint), place))
    return corners


def _foot_axes(target: BoneMap, foot: int, toe: int | None) -> tuple[Array, Array]:
    """(3,) level directions ahead and to the left of a foot at rest: to its toes, else as the body faces."""
    up = target.axes[:, 1]
    ahead = target.axes[:, 2] if toe is None else target.places[toe] - target.places[foot]
    ahead = ahead - up * (ahead @ up)
    if np.linalg.norm(ahead) < 0.3 * np.linalg.norm(target.places[foot] - target.places[toe or foot]):
        ahead = target.axes[:, 2]
    ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-12)
    return ahead, np.cross(up, ahead)


def lowest_skin(figure: Figure, reference: PoseSequence, candidates: Array, down: Array) -> list[tuple[int, Array]]:
    """For each phase of `down` (F,): the skin point of `candidates` (S,) bool that is lowest, and its frames (F,)."""
    result: list[tuple[int, Array]] = []
    numbers = np.flatnonzero(candidates)
    if not numbers.size:
        return result
    joints = figure.joints[figure.skin_bodies[numbers]]
    for a, b in runs(down):
        middle = (a + b) // 2
        world = reference.world[middle]
        heights = world[joints, 1, 3] + figure.height * np.einsum(
            "si,si->s", transform.unscale(world[joints, :3, :3])[:, 1], figure.skin_offsets[middle, numbers]
        )
        frames = np.zeros(len(down), bool)
        frames[a:b] = True
        result.append((int(numbers[heights.argmin()]), frames))
    return result


def hinge_axis(reference: PoseSequence, above: int, joint: int, below: int) -> Array | None:
    """(3,) the axis, in its joint's frame, about which a knee or an elbow bends in the reference; None: unknown."""
    bend, turns = _bend_normals(reference, above, joint, below)[0], transform.unscale(reference.world[:, joint, :3, :3])
    axis = np.einsum("fab,fa->b", turns, bend) / len(bend)
    length = float(np.linalg.norm(axis))
    return None if length < MIN_MEAN_BEND_SINE else axis / length


def _bend_normals(reference: PoseSequence, above: int, joint: int, below: int) -> tuple[Array, Array]:
    """(F, 3) sine times the normal of the plane of two bones, and (F,) the cosine of their angle."""
    start, middle, end = (reference.world[:, j, :3, 3] for j in (above, joint, below))
    upper, lower = middle - start, end - middle
    upper = upper / np.maximum(np.linalg.norm(upper, axis=1, keepdims=True), 1e-12)
    lower = lower / np.maximum(np.linalg.norm(lower, axis=1, keepdims=True), 1e-12)
    return np.cross(upper, lower), (upper * lower).sum(axis=1)


def _bend(reference: PoseSequence, above: int, joint: int, below: int, axis: Array) -> Array:
    """(F,) angle of a hinge about its axis (3,) in the joint's frame."""
    normals, cosine = _bend_normals(reference, above, joint, below)
    return np.arctan2(
        np.einsum("fa,fab,b->f", normals, transform.unscale(reference.world[:, joint, :3, :3]), axis), cosine
    )


def _carrier(parents: Array, number: Mapping[int, int], joint: int) -> int:
    while joint >= 0 and joint not in number:
        joint = int(parents[joint])
    return number[joint] if joint >= 0 else -1


def _mass_points(body: Body, kept: Array) -> tuple[Array, Array, Array]:
    """Points (M, 3) in the frames of their joints (M,), and shares (M,), with the mass and moments of each joint.

    The corners of a tetrahedron, along the principal axes, have the mass, the centre and the second moments of a link.
    """
    joints = np.flatnonzero((body.masses > 0) & kept)
    masses, centres = body.masses[joints], body.centres[joints]
    moments = body.pseudo_inertias[joints, :3, :3] / masses[:, None, None]
    spread, axes = np.linalg.eigh(moments - centres[:, :, None] * centres[:, None, :])
    corners = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
    away = np.einsum("jab,jb,cb->jca", axes, np.sqrt(np.maximum(spread, 0.0)), corners)
    points = (centres[:, None] + away).reshape(-1, 3)
    return points, np.repeat(masses / max(float(masses.sum()), 1e-300) / 4, 4), np.repeat(joints, 4)


def _skin_extremes(character: Character, rest: Array, carriers: Array, kept: Array) -> tuple[Array, Array]:
    """Numbers (S,) of the vertices that are the extremes of a body's skin in all directions, and the bodies (S,)."""
    vertices, owners = rest_vertices(character, rest), vertex_owners(character)
    grid = np.stack(np.meshgrid(*[np.arange(-2.0, 3.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    directions = grid[np.abs(grid).any(axis=1)]
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    extremes = [np.zeros(0, np.int64)]
    for body in range(int(carriers.max(initial=-1)) + 1):
        mine = np.flatnonzero((carriers[owners] == body) & kept[owners])
        if len(mine):
            extremes.append(mine[(vertices[mine] @ directions.T).argmax(axis=0)])
    numbers = np.unique(np.concatenate(extremes))
    return numbers, carriers[owners[numbers]] if len(owners) else numbers

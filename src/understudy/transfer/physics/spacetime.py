"""One space-time solve for everything after the mapping of poses: contacts, momentum, forces and flights together.

The reference is a motion of the character whose poses are right and whose feet are not: a plain retarget, or the mapped
poses moved over the floor by the actor's momenta. The unknowns of frame t are the shift of the root over the height of
the figure and, for each body (a joint that turns with all that it carries), its rotation from the reference about the
axes that it has,

    d_t = (shift, v_1 ... v_A),        R_a = R_above R^_above^T R^_a exp([E_a v_a])        (hats: the reference)

Minimised is a sum of squares, each residual over its standard deviation (`SpacetimeWeights`):

    orientation   log(R_a R^_a^T), in the world: a tilted pelvis must not tilt all above it; its deviation is what the
                  mapping is uncertain by, for each body and frame
    change        d_t, and d_t-1 - 2 d_t + d_t+1: only the change is smooth, the capture keeps its detail
    contact       steps along the floor of a point that is down in both frames, and its height. There is no variable for
                  the place: where a step lands is free [cf. Yamane 2010, 5.2]
    floor         heights below 0 of all extremes of the skin, and steps of contact points that come near the floor
                  although they are not down: they stop or they rise
    momentum      velocity of the centre of mass and spin about it, beside those of the source, scaled [5.1, eqs. 6-8]
    flight        in the air the centre of mass falls; these rows span take-off and landing, whose speeds thus agree
    wrench        w - P(w), w the force and moment that the motion needs, P(w) the nearest that friction cones at the
                  points that are down can give [in place of 5.3, eqs. 10-15]. Without contact P = 0: free fall at
                  constant spin. With contact the centre of mass moves over the support: balance, sway and lean
    limits        angles of knees, elbows and joints with limits beyond their ends

P is found anew in each evaluation, and held in the equations: by the envelope theorem the gradient is exact. Residuals
join at most the frames t - 1, t, t + 1. So the normal equations of Gauss-Newton are banded, with 3 n numbers to an
unknown, and a step costs O(F n^3). Steps are shortened until the cost falls.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.maths import jit, quaternion, transform
from understudy.transfer.physics.figure import Contacts, Figure

KERNELS = "understudy.transfer.physics.spacetime_kernels"
MAX_ITERATIONS = 12
MAX_STEP_RAD = 0.5
MAX_HALVINGS = 4
MIN_PROGRESS_RATIO = 2e-3  # of the cost: an iteration that gains less is the last
MOVING_ROOT_M = 1e-6
FRICTION_COEFFICIENT = 0.8


@dataclass(frozen=True)
class SpacetimeWeights:
    """Standard deviations of the residuals. Lengths are over the height of the figure, times in seconds."""

    place: float = 0.15  # shift of the root
    smooth: float = 16.0  # rad/s^2 (the root: heights/s^2) of the change
    slide: float = 2.4e-3  # heights/s, of a point that is down
    rub: float = 1.2e-2  # heights/s, of a point that is near the floor
    near: float = 0.015  # heights: nearer points rub
    lie: float = 2e-3  # heights, of a point that is down
    sink: float = 4e-4  # heights, of skin below the floor
    velocity: float = 0.06  # heights/s
    spin: float = 0.02  # heights^2/s
    fall: float = 0.05  # heights/s^2, in flight
    force: float = 0.5  # heights/s^2
    moment: float = 0.5  # heights^2/s^2
    limit: float = 0.01  # rad


@dataclass(frozen=True, eq=False)
class MomentumGoals:
    """What the centre of mass should do: the source's momenta, scaled."""

    velocities: Array  # (F, 3) m/s
    spins: Array | None  # (F, 3) m^2/s: angular momentum about the centre of mass, a kilogram
    falls: Array  # (F,) m/s^2: gravity, scaled; in flights the acceleration with which the source falls, scaled
    vertical_weight: float = 0.1  # of vertical velocities, beside 1 of level ones: the poses tell how high it is


@dataclass(frozen=True, eq=False)
class SpacetimeResult:
    """The motion, and how the search went."""

    poses: PoseSequence
    changes: Array  # (F, n) d
    costs: tuple[dict[str, float], ...]  # of each iteration, by residual
    converged: bool
    missing: Array = field(repr=False)  # (F, 6) force and moment that no contact can give, heights/s^2, heights^2/s^2


def solve(
    reference: PoseSequence,
    figure: Figure,
    contacts: Contacts,
    goals: MomentumGoals,
    *,
    uncertainty: Array | None = None,
    weights: SpacetimeWeights | None = None,
    max_iterations: int = MAX_ITERATIONS,
) -> SpacetimeResult:
    """The motion nearest to a reference that keeps its contacts, stays above the floor and obeys the laws of motion.

    Args:
        reference: F poses of the character, near where it should be.
        figure: The character as bodies that turn (`figure`).
        contacts: The points that may be in contact, and when they are; flights.
        goals: The momenta to keep.
        uncertainty: (F,) or (F, A) factors of the standard deviation of orientations; None: 1 everywhere.
        weights: Standard deviations; None: those of `SpacetimeWeights()`.
        max_iterations: The most steps of Gauss-Newton.

    Returns:
        The motion and the costs of each iteration.
    """
    if len(reference) < 3:
        return SpacetimeResult(
            reference, np.zeros((len(reference), figure.size)), (), True, np.zeros((len(reference), 6))
        )
    problem = _Problem(reference, figure, contacts, goals, uncertainty, weights or SpacetimeWeights())
    with jit.one_blas_thread():
        changes, costs, converged = _minimise(problem, max_iterations)
    return SpacetimeResult(problem.poses(changes), changes, tuple(costs), converged, problem.missing)


def _minimise(problem: _Problem, max_iterations: int) -> tuple[Array, list[dict[str, float]], bool]:
    from scipy.linalg import LinAlgError, solveh_banded

    d = np.zeros((problem.frames, problem.figure.size))
    costs = [problem.evaluate(d, derive=True)]
    for _ in range(max_iterations):
        try:
            step = solveh_banded(problem.bands.T, -problem.slope, lower=True, overwrite_ab=True, check_finite=False)
        except LinAlgError:
            return d, costs, False
        step = step.reshape(d.shape)
        step = np.clip(step, -MAX_STEP_RAD, MAX_STEP_RAD)  # one wild frame does not hold up all others
        before = sum(costs[-1].values())
        for halvings in range(MAX_HALVINGS + 1):
            trial = problem.evaluate(d + step, derive=halvings == 0)
            if sum(trial.values()) < before:
                break
            step *= 0.5
        else:
            return d, costs, True
        if halvings:
            problem.evaluate(d + step, derive=True)
        d = d + step
        costs.append(trial)
        if before - sum(trial.values()) < MIN_PROGRESS_RATIO * before:
            return d, costs, True
    return d, costs, False


class _Problem:
    """The arrays of one problem; `evaluate` fills `bands` and `slope`."""

    def __init__(
        self,
        reference: PoseSequence,
        figure: Figure,
        contacts: Contacts,
        goals: MomentumGoals,
        uncertainty: Array | None,
        weights: SpacetimeWeights,
    ) -> None:
        self.kernels: Any = jit.kernels(KERNELS)
        self.reference, self.figure, self.contacts = reference, figure, contacts
        self.frames, self.rate = len(reference), reference.rate
        count, n, height = len(figure.joints), figure.size, figure.height
        self.wanted = np.ascontiguousarray(transform.unscale(reference.world[:, figure.joints, :3, :3]))
        self.places = np.ascontiguousarray(reference.world[:, figure.joints][..., :3, 3]) / height
        self.relative_turn, self.relative_place = _relative(self.wanted, self.places, figure.parents)
        self.chain, self.length, self.owner = _chains(figure)
        self.low, self.high = figure.bounds(reference)
        ones = np.ones((self.frames, count))
        factor = ones if uncertainty is None else ones * np.reshape(uncertainty, (self.frames, -1))
        self.track = 1 / np.square(factor * figure.tracking)
        self.prior = 1 / np.square(np.concatenate([np.full(3, weights.place), figure.change[3:]]))
        self.smooth = np.square(self.rate**2 / (weights.smooth * figure.smooth))
        self.limit = 1 / weights.limit**2
        self._weigh_contacts(weights)
        self._weigh_momenta(goals, weights)
        self.turns, self.now = np.empty_like(self.wanted), np.empty_like(self.places)
        self.axes = np.zeros((self.frames, n, 3))
        self.points = np.empty((self.frames, len(contacts.bodies), 3))
        self.skin = np.empty((self.frames, len(figure.skin_bodies), 3))
        self.masses = np.empty((self.frames, len(figure.mass_bodies), 3))
        self.centres, self.spins = np.empty((self.frames, 3)), np.empty((self.frames - 1, 3))
        self.by_centre, self.by_next, self.by_last = (np.zeros((self.frames, 3, n)) for _ in range(3))
        self.bands, self.slope = np.empty((self.frames * n, 3 * n)), np.empty(self.frames * n)
        self.missing = np.zeros((self.frames, 6))

    def _weigh_contacts(self, weights: SpacetimeWeights) -> None:
        """Weights come and go over the first and last frames of a phase."""
        down = self.contacts.down.astype(np.float64)
        padded = np.concatenate([down[:1], down, down[-1:]])
        fade = np.square(0.25 * padded[:-2] + 0.5 * down + 0.25 * padded[2:])
        pinned = down[1:] * down[:-1] * np.minimum(fade[1:], fade[:-1])
        if self.contacts.gliding is not None:
            pinned *= ~(self.contacts.gliding[1:] | self.contacts.gliding[:-1])[:, None]
        self.pinned = pinned * (self.rate / weights.slide) ** 2
        self.rubbing = 0.0 if self.contacts.gliding is not None else (self.rate / weights.rub) ** 2
        self.near = weights.near
        self.lying = down * fade / weights.lie**2
        self.sinking = 1 / weights.sink**2
        self.no_skin_lies = np.zeros((self.frames, len(self.figure.skin_bodies)))

    def _weigh_momenta(self, goals: MomentumGoals, weights: SpacetimeWeights) -> None:
        height, flight = self.figure.height, self.contacts.flight
        v = goals.velocities / height
        self.velocity = 0.5 * (v[1:] + v[:-1])
        vertical = np.where(flight[1:] | flight[:-1], 1.0, goals.vertical_weight)
        self.velocity_weight = weights.velocity**-2.0 * np.stack(
            [np.ones_like(vertical), vertical, np.ones_like(vertical)], 1
        )
        self.spin, self.spin_weight = np.zeros_like(self.velocity), np.zeros_like(self.velocity)
        if goals.spins is not None:
            self.spin = 0.5 * (goals.spins[1:] + goals.spins[:-1]) / height**2
            self.spin_weight[:] = weights.spin**-2.0
        self.gravity = goals.falls / height
        self.fall = -self.gravity[:, None] * np.array([0.0, 1.0, 0.0])
        self.fall_weight = np.where(flight[:, None], weights.fall**-2.0, np.zeros(3))
        self.wrench_weight = np.repeat([weights.force**-2.0, weights.moment**-2.0], 3)

    def evaluate(self, d: Array, derive: bool) -> dict[str, float]:
        """The cost of each kind of residual; with `derive` also the normal equations."""
        k, f, c = self.kernels, self.figure, self.contacts
        k.pose_bodies(
            d, f.parents, f.first, f.axes, self.relative_turn, self.relative_place, self.turns, self.now, self.axes
        )
        for bodies, offsets, points in (
            (c.bodies, c.offsets, self.points),
            (f.skin_bodies, f.skin_offsets, self.skin),
            (f.mass_bodies, f.mass_offsets, self.masses),
        ):
            k.place_points(self.turns, self.now, bodies, offsets, points)
        k.centres_and_spins(self.masses, f.mass_shares, self.rate, self.centres, self.spins)
        if derive:
            self.bands[:] = 0.0
            self.slope[:] = 0.0
            k.mass_derivatives(
                self.masses, f.mass_bodies, f.mass_shares, f.parents, f.first, self.axes, self.now, self.centres,
                self.by_centre, self.by_next, self.by_last, self.rate,
            )  # fmt: skip
        equations = k.Equations(self.bands, self.slope, derive)
        tree = k.Tree(self.now, self.chain, self.length, self.owner, self.axes)
        slopes = k.MassSlopes(self.by_centre, self.by_next, self.by_last)
        change, smooth, limits = k.add_changes(d, self.prior, self.smooth, self.low, self.high, self.limit, equations)
        orientation = k.add_orientations(self.turns, self.wanted, self.track, tree, equations)
        velocity, spin, fall = k.add_momenta(
            self.centres, self.spins, self.velocity, self.velocity_weight, self.spin, self.spin_weight, self.fall,
            self.fall_weight, slopes, self.rate, equations,
        )  # fmt: skip
        wrench = k.add_wrenches(
            self.centres, self.spins, self.points, c.bodies, c.down, c.known, self.gravity, FRICTION_COEFFICIENT,
            self.wrench_weight, slopes, tree, self.rate, self.missing, equations,
        )  # fmt: skip
        return {
            "orientation": orientation,
            "change": change,
            "smooth": smooth,
            "limits": limits,
            "height": k.add_heights(self.points, c.bodies, self.lying, self.sinking, tree, equations),
            "skin": k.add_heights(self.skin, f.skin_bodies, self.no_skin_lies, self.sinking, tree, equations),
            "slide": k.add_slides(self.points, c.bodies, self.pinned, self.near, self.rubbing, tree, equations),
            "velocity": velocity,
            "spin": spin,
            "fall": fall,
            "wrench": wrench,
        }

    def poses(self, d: Array) -> PoseSequence:
        """The poses of the skeleton for the unknowns d (F, n).

        Every joint moves rigidly with the body that carries it. What no body carries stays, or, where the reference
        moves its root, follows the level part of the figure's motion.
        """
        reference, figure = self.reference, self.figure
        skeleton, carriers = reference.skeleton, figure.carriers
        self.evaluate(d, derive=False)
        moves = np.tile(np.eye(4), (self.frames, len(figure.joints) + 1, 1, 1))  # the last: no body
        moves[:, :-1, :3, :3] = self.turns @ np.swapaxes(self.wanted, 2, 3)
        turned = (moves[:, :-1, :3, :3] @ self.places[..., None])[..., 0]
        moves[:, :-1, :3, 3] = figure.height * (self.now - turned)
        root = skeleton.roots[0]
        if carriers[root] < 0 and np.ptp(reference.world[:, root, :3, 3], axis=0).max() > MOVING_ROOT_M:
            moves[:, -1] = _level_moves(moves[:, 0], reference.world[:, figure.joints[0], :3, 3])
        world = moves[:, carriers] @ reference.world
        translations, rotations = np.array(reference.translations), np.array(reference.rotations)
        for j, parent in enumerate(skeleton.parents):
            body = carriers[j]
            if parent >= 0 and carriers[parent] == body:
                continue
            turn = quaternion.from_matrix(transform.unscale(world[:, j, :3, :3]))
            if parent < 0:
                translations[:, j], rotations[:, j] = world[:, j, :3, 3], turn
                continue
            above = quaternion.from_matrix(transform.unscale(world[:, parent, :3, :3]))
            rotations[:, j] = quaternion.multiply(quaternion.conjugate(above), turn)
            if body < 0 or carriers[parent] != figure.parents[body] or figure.parents[body] < 0:
                translations[:, j] = transform.apply(np.linalg.inv(world[:, parent]), world[:, j, :3, 3])
        return PoseSequence(skeleton, translations, quaternion.unroll(quaternion.normalise(rotations)), reference.rate)


def _level_moves(moves: Array, places: Array) -> Array:
    """(F, 4, 4) the part of rigid moves (F, 4, 4) of a body at places (F, 3) that keeps to the floor."""
    yaw = np.arctan2(moves[:, 0, 2] - moves[:, 2, 0], moves[:, 0, 0] + moves[:, 2, 2])
    result = transform.compose(np.zeros(3), quaternion.from_rotation_vector(yaw[:, None] * np.array([0.0, 1.0, 0.0])))
    shift = transform.apply(moves, places) - transform.apply(result, places)
    result[:, [0, 2], 3] = shift[:, [0, 2]]
    return np.asarray(result)


def _relative(turns: Array, places: Array, parents: Array) -> tuple[Array, Array]:
    """Rotations (F, A, 3, 3) and places (F, A, 3) of bodies in the frames of those above them; the first as it is."""
    relative_turn, relative_place = turns.copy(), places.copy()
    below = np.flatnonzero(parents >= 0)
    back = np.swapaxes(turns[:, parents[below]], 2, 3)
    relative_turn[:, below] = back @ turns[:, below]
    relative_place[:, below] = (back @ (places[:, below] - places[:, parents[below]])[..., None])[..., 0]
    return relative_turn, relative_place


def _chains(figure: Figure) -> tuple[Array, Array, Array]:
    """For each body the unknowns (A, n) that move it, in ascending order, how many (A,), and the body of each (n,)."""
    n, count = figure.size, len(figure.joints)
    chain, length, owner = np.zeros((count, n), np.int64), np.zeros(count, np.int64), np.zeros(n, np.int64)
    for a in range(count):
        own = list(range(figure.first[a], figure.first[a + 1]))
        above = figure.parents[a]
        unknowns = [0, 1, 2, *own] if above < 0 else [*chain[above, : length[above]], *own]
        chain[a, : len(unknowns)], length[a] = unknowns, len(unknowns)
        owner[own] = a
    return chain, length, owner

"""Locomotion: a character goes at any speed and in any direction on the gaits of its clips.

**Speed and heading** follow what is asked, critically damped. The lateral acceleration of a turn is limited.

**Gait.** Between two gaits whose feet agree their features are mixed at equal phase, such that the mixture's own speed
is the wanted one. Otherwise one gait is kept up to the geometric mean of the two speeds, and then left for the other.
Where the wanted speed v is not the gait's own v0, as below the slowest, cadence and stride share the difference:

    cadence = cadence0 sqrt(v / v0),      L = v / cadence = L0 sqrt(v / v0)

and the body is mixed with the idle by the same root, but not the feet: those have the paths of `gaits.FootPaths` for
the stride L, so that they clear the ground at any speed. A turn on the spot is a walk with L = 0.

**Feet** get a `FootPlan` a frame, which the layer of the feet carries out (`layers.feet`): steady straight walks stand
still on the ground by construction, and what is left in turns and changes of speed is locked there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import atan2, cos, degrees, exp, hypot, log, pi, radians, sin, sqrt
from typing import TYPE_CHECKING

import numpy as np

from understudy.checks import Array
from understudy.maths.springs import step_scalar
from understudy.perform.commands import Go, TurnTo
from understudy.perform.features.root_motion import GroundFrame
from understudy.perform.gaits import PHASES, FootPaths, FootPlan, Gaits, GaitTable, PeriodicClip
from understudy.perform.runtime.state import BlendSource, PerformerState, SelfSteppingSegment, replace_state

if TYPE_CHECKING:
    from understudy.perform.runtime.planner import Planner

SPEED_SECONDS = 0.15  # time constant of the speed: from a run to half a walk within 10 % in a second
HEADING_SECONDS, TURN_SECONDS = 0.24, 0.06  # the rate of turning follows the error in heading; critically damped
GAIT_SECONDS, ACTIVITY_SECONDS = 0.1, 0.12  # time constants of changes of gait, and between standing and going
MAX_LATERAL_HEIGHTS_PER_S2 = 3.0  # acceleration of a turn
MAX_STANCE_TURN_RAD = 0.8  # by which the body turns over a foot that stands
TURN_CADENCE_RATIO, TURN_CADENCE_RAD_PER_S = 1.2, 1.0  # a turn on the spot takes quick steps, from this rate on
MIN_CADENCE_RATIO = 0.6  # of the slowest gait: slower steps look like slow motion
STOP_CADENCE_RATIO = 1.0  # the same for the last steps of a stop
MAX_SPEED_RATIO = 1.3  # of the fastest gait: faster feet than that leave the legs' reach
MIN_LIFT_RATIO = 0.5  # of a foot in its swing, when it steps on the spot
MIN_ACTIVITY = 0.3  # share of the gait in the body while it steps on the spot
GAIT_HYSTERESIS_RATIO = 1.1  # of the speed at which gaits that cannot be mixed change
HALT_SPEED_RATIO = 0.06  # of the slowest gait's speed, below which it halts where no speed is asked
STOP_SECONDS, MIN_TRAVEL = 0.15, 1e-3  # time constant in which an act brings it to rest; m/s or rad/s that is at rest
HALT_TURN_RAD_PER_S, HALT_HEADING_RAD = 0.15, 0.05


@dataclass(frozen=True, eq=False)
class LocomotionState:
    """A character that goes somewhere, at one frame."""

    speed_goal: float = 0.0  # m/s
    heading_goal: float = 0.0  # radians about +Y from +Z
    speed: float = 0.0  # m/s
    acceleration: float = 0.0
    turn: float = 0.0  # rad/s
    phase: float = 0.0  # of the gaits, 0 to 1
    idle_phase: float = 0.0
    place: float = 0.0  # on the way from the slowest gait (0) to the next (1) and so on
    place_rate: float = 0.0
    activity: float = 0.0  # share of the gait in the pose, 0 stands
    activity_rate: float = 0.0
    halting: bool = True  # whether feet that stand stay where they are
    gait: int = 0  # of gaits that cannot be mixed, the one that is used
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of the ground, along its axes and about +Y
    feet: FootPlan | None = None


class Locomotion:
    """Moves a character on its gaits. It keeps nothing that changes; that is the `LocomotionState`.

    Args:
        gaits: Of `gaits.find_gaits`.
        travel: (G,) the features that are velocities over the ground: it moves the ground itself.
    """

    def __init__(self, gaits: Gaits, travel: Array | None = None) -> None:
        self.gaits = gaits
        self.travel = np.zeros(0, np.int64) if travel is None else travel
        self.max_speed = MAX_SPEED_RATIO * gaits.gaits[-1].speed

    def init(self, ground: GroundFrame, speed: float = 0.0, pose: Array | None = None) -> LocomotionState:
        """A character on a ground, that faces ahead.

        Args:
            ground: Where it is.
            speed: At which it goes ahead already, m/s.
            pose: (E,) features that it is to be most like; None begins at phase 0.

        Returns:
            The state.
        """
        state = LocomotionState(heading_goal=ground.heading + self.gaits.facing, speed=speed, speed_goal=speed)
        if speed > HALT_SPEED_RATIO * self.gaits.gaits[0].speed:
            gait, place = self._gait_at(speed, 0)
            activity = min(sqrt(speed / self._paths(place).speed), 1.0)
            state = replace(state, gait=gait, place=place, activity=activity, halting=False)
        if pose is None:
            return state
        name = "idle_phase" if state.halting else "phase"
        tried = [replace(state, **{name: phase}) for phase in np.arange(PHASES) / PHASES]
        return min(tried, key=lambda other: float(np.square(self.features(other) - pose).sum()))

    def ask(self, state: LocomotionState, speed: float, heading: float) -> LocomotionState:
        """The state with another goal: speed in m/s, at most `max_speed`, and heading in radians about +Y from +Z."""
        return replace(state, speed_goal=min(max(speed, 0.0), self.max_speed), heading_goal=heading)

    def step(self, state: LocomotionState, ground: GroundFrame, dt: float) -> LocomotionState:
        """The state of the next frame, which is on `ground`, after `dt` seconds."""
        gaits = self.gaits
        speed, acceleration = step_scalar(state.speed, state.acceleration, state.speed_goal, SPEED_SECONDS, dt)
        if speed < MIN_TRAVEL and state.speed_goal == 0.0:
            speed, acceleration = 0.0, 0.0
        error = _wrap(state.heading_goal - ground.heading - gaits.facing)
        paths = self._paths(state.place)
        pace = max(sqrt(speed / paths.speed), TURN_CADENCE_RATIO) / paths.period
        most = min(
            MAX_LATERAL_HEIGHTS_PER_S2 * gaits.size / max(speed, 1e-9),
            MAX_STANCE_TURN_RAD * pace / float(paths.stance.max()),
        )
        wanted = min(max(error / HEADING_SECONDS, -most), most)
        turn = state.turn + (wanted - state.turn) * (1.0 - exp(-dt / TURN_SECONDS))
        gait, goal = self._gait_at(speed, state.gait)
        place, place_rate = step_scalar(state.place, state.place_rate, goal, GAIT_SECONDS, dt)
        if self._table(goal).continuous and self._table(place).continuous:
            place, place_rate = goal, 0.0
        paths = self._paths(place)
        ratio = speed / paths.speed
        turning = min(abs(turn) / TURN_CADENCE_RAD_PER_S, 1.0) * TURN_CADENCE_RATIO
        least = MIN_CADENCE_RATIO if state.speed_goal > 0.0 else STOP_CADENCE_RATIO
        cadence = max(sqrt(ratio), least, turning) / paths.period
        slow = speed < HALT_SPEED_RATIO * gaits.gaits[0].speed and state.speed_goal == 0.0
        halting = slow and abs(turn) < HALT_TURN_RAD_PER_S and abs(error) < HALT_HEADING_RAD
        strides = min(max(sqrt(ratio), MIN_ACTIVITY), 1.0)
        activity, activity_rate = step_scalar(
            state.activity, state.activity_rate, 0.0 if halting else strides, ACTIVITY_SECONDS, dt
        )
        phase = state.phase
        if state.halting and not halting and state.activity < 0.02:
            phase = self._first_phase(paths)
        phase = (phase + cadence * dt) % 1.0
        idle = gaits.idle
        idle_phase = 0.0 if idle is None else (state.idle_phase + dt / idle.period) % 1.0
        after = LocomotionState(
            state.speed_goal,
            state.heading_goal,
            speed,
            acceleration,
            turn,
            phase,
            idle_phase,
            place,
            place_rate,
            activity,
            activity_rate,
            halting,
            gait,
            (speed * sin(gaits.facing), speed * cos(gaits.facing), turn),
        )
        return replace(after, feet=self._plan(after, paths, speed / cadence, 1 / cadence, ground))

    def features(self, state: LocomotionState) -> Array:
        """(E,) the pose of a state, on no ground."""
        result = self._standing
        if self.gaits.idle is not None:
            result = self.gaits.idle.features_at(np.array([state.idle_phase]))[0]
        if state.activity > 0.0:
            first = min(int(state.place), max(len(self.gaits.gaits) - 2, 0))
            share, phase = state.place - first, np.array([state.phase])
            going = self.gaits.gaits[first].features_at(phase)[0]
            if share > 0.0:
                going = (1.0 - share) * going + share * self.gaits.gaits[first + 1].features_at(phase)[0]
            result = (1.0 - state.activity) * result + state.activity * going
        result = np.array(result)
        result[self.travel] = 0.0
        return result

    def clip_phase(self, state: LocomotionState) -> tuple[PeriodicClip, float]:
        """The clip that a state shows most of, and its phase."""
        if state.activity < 0.5 and self.gaits.idle is not None:
            return self.gaits.idle, state.idle_phase
        gait = self.gaits.gaits[min(round(state.place), len(self.gaits.gaits) - 1)]
        return gait.clip, state.phase + gait.shift

    @cached_property
    def _standing(self) -> Array:
        """(E,) the pose to stand in without an idle: the mean of the slowest gait."""
        return np.asarray(self.gaits.gaits[0].features_at(np.arange(PHASES) / PHASES).mean(axis=0))

    def _table(self, place: float) -> GaitTable:
        return self.gaits.tables[min(int(place), len(self.gaits.tables) - 1)]

    def _paths(self, place: float) -> FootPaths:
        first = min(int(place), len(self.gaits.tables) - 1)
        return self.gaits.tables[first].at(place - first)

    def _gait_at(self, speed: float, gait: int) -> tuple[int, float]:
        """The gait and the place for a speed; `gait` is the one so far."""
        speeds = [entry.speed for entry in self.gaits.gaits]
        place = 0.0
        chosen = 0
        for number, table in enumerate(self.gaits.tables[: len(speeds) - 1]):
            if table.continuous:
                own = np.maximum.accumulate([paths.speed for paths in table.places])
                share = float(np.interp(speed, own, np.linspace(0.0, 1.0, len(own))))
                place = number + share if share > 0.0 else place
                chosen = number + (share > 0.5)
            else:
                limit = exp(0.5 * (log(speeds[number]) + log(speeds[number + 1])))
                limit *= GAIT_HYSTERESIS_RATIO if gait <= number else 1.0 / GAIT_HYSTERESIS_RATIO
                if speed > limit:
                    place, chosen = number + 1.0, number + 1
        return chosen, place

    def _first_phase(self, paths: FootPaths) -> float:
        """The phase at which to start from standing: the first foot is about to leave the ground."""
        rear = int(np.argmin([p @ self._forward for p in self.gaits.idle_joints]))
        return float((paths.touchdown[rear] + paths.stance[rear] - 0.02) % 1.0)

    @cached_property
    def _forward(self) -> Array:
        return np.array([sin(self.gaits.facing), cos(self.gaits.facing)])

    def _plan(
        self, state: LocomotionState, paths: FootPaths, stride: float, period: float, ground: GroundFrame
    ) -> FootPlan:
        place = state.phase * PHASES
        first = int(place) % PHASES
        second, share = (first + 1) % PHASES, place - int(place)

        def at(values: Array) -> Array:
            return np.asarray((1.0 - share) * values[:, first] + share * values[:, second])

        path = at(paths.joints) + at(paths.correction)
        local = (1 - state.activity) * self.gaits.idle_joints + state.activity * path + stride * at(paths.stride)
        since = np.mod(state.phase - paths.touchdown, 1.0)
        contacts = since <= paths.stance
        lift = min(max(2.0 * state.activity, MIN_LIFT_RATIO), 1.0)
        heights = self.gaits.floor + lift * at(paths.heights)
        # in half of a stance the body turns by this much, and the foot under it goes the other way
        half = 0.5 * paths.stance * period
        leads = state.turn * half[:, None] * np.stack([local[:, 1], -local[:, 0]], axis=1)
        sine, cosine = sin(ground.heading), cos(ground.heading)
        turned = np.array([[cosine, -sine], [sine, cosine]])  # rows (x, z) times this turn about +Y
        return FootPlan(
            local @ turned + (ground.x, ground.z),
            heights,
            contacts,
            (1.0 - paths.stance) * period,
            leads @ turned,
            state.activity * min(stride / (paths.speed * paths.period), 1.5) ** 2 * paths.drop,
            self.gaits.floor,
            ground.heading,
            state.turn * float(half.mean()),
            state.halting,
        )


@dataclass(frozen=True, eq=False)
class Locomote(SelfSteppingSegment):
    """Go at a speed in a direction until the next command. The source's `memory` is a `LocomotionState`."""

    speed: float  # m/s
    heading: float  # radians about +Y from +Z

    def enter(self, planner: Planner, source: BlendSource, state: PerformerState) -> BlendSource:
        """The source as it sets off from the pose of a state."""
        locomotion = planner.locomotion
        memory = locomotion.init(state.ground, hypot(*state.travel[:2]), state.features)
        features = locomotion.features(memory)
        later = locomotion.features(locomotion.step(memory, state.ground, 1 / planner.rate))
        return replace(source, cursor=0, features=features, rate=(later - features) * planner.rate, memory=memory)

    def step(self, planner: Planner, source: BlendSource, state: PerformerState) -> BlendSource:
        """The source one frame later."""
        locomotion = planner.locomotion
        memory = source.memory
        if not isinstance(memory, LocomotionState):  # it comes back from something else
            memory = locomotion.init(state.ground, hypot(*state.travel[:2]), state.features)
        memory = locomotion.step(locomotion.ask(memory, self.speed, self.heading), state.ground, 1 / planner.rate)
        features = locomotion.features(memory)
        clip, phase = locomotion.clip_phase(memory)
        return replace_state(
            source,
            label=clip.label,
            x=clip.latents_at(np.array([phase]))[0],
            features=features,
            rate=(features - source.features) * planner.rate,
            cursor=source.cursor + 1,
            memory=memory,
        )


def start_locomotion(planner: Planner, state: PerformerState, command: Go | TurnTo) -> PerformerState:
    """The state of a character that is told to go somewhere. Its main source has features to be blended to."""
    locomotion, source = planner.locomotion, state.main_source
    memory, current = source.memory, source.current_segment
    if not isinstance(current, Locomote):
        current = Locomote(0.0, state.ground.heading + locomotion.gaits.facing)
        memory = None
    speed, heading = command.speed if isinstance(command, Go) else current.speed, current.heading
    if isinstance(command, TurnTo) and command.point is not None:
        heading = atan2(command.point[0] - state.ground.x, command.point[2] - state.ground.z)
    elif command.heading is not None:
        heading = radians(command.heading)
    segment = Locomote(speed, heading)
    source = replace(source, plan=(segment,), memory=memory)
    if not isinstance(memory, LocomotionState):
        source = segment.enter(planner, source, state)
    return replace(state, sources=(source, *state.sources[1:]))


def turn_seconds(locomotion: Locomotion, state: PerformerState) -> float:
    """About how long the main source will take to face where it is told to."""
    segment = state.main_source.current_segment
    assert isinstance(segment, Locomote)
    error = abs(_wrap(segment.heading - state.ground.heading - locomotion.gaits.facing))
    paths = locomotion.gaits.tables[0].places[0]
    rate = MAX_STANCE_TURN_RAD * TURN_CADENCE_RATIO / (paths.period * float(paths.stance.max()))
    return error / rate + 4 * HEADING_SECONDS


def travel_after(planner: Planner, state: PerformerState, sources: tuple[BlendSource, ...]) -> tuple[float, ...]:
    """The velocity of the ground, along its axes (m/s) and about +Y (rad/s), beside that of the features.

    It is that of the sources that go somewhere. What else begins while the character moves brings it to rest.
    """
    main = sources[0].memory
    if isinstance(sources[0].current_segment, Locomote) and isinstance(main, LocomotionState):
        return main.velocity
    if not any(state.travel):
        return state.travel
    keep = exp(-1.0 / (planner.rate * STOP_SECONDS))
    return tuple(keep * value if abs(value) > MIN_TRAVEL else 0.0 for value in state.travel)


def heading_degrees(locomotion: Locomotion, ground: GroundFrame) -> float:
    """Where a character on a ground faces, in degrees about +Y from +Z, from -180 to 180."""
    return degrees(_wrap(ground.heading + locomotion.gaits.facing))


def _wrap(angle: float) -> float:
    return (angle + pi) % (2 * pi) - pi

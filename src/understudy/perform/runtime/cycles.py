"""Cycles: clips that go on for ever, and never twice in the same way.

The phase phi runs from 0 to 1 in a period T. The clip's own periodic spline is the carrier of the motion. The particle
of [Bailey 2016, eqs. 9 to 12] moves around the cycle's curve p(phi) in the latent space, and adds only the difference
that its offset from the curve means:

    phi' = (speed / T) (1 + PHASE_SPEED_DEVIATION xi(t)),     xi: one more stream of the random force
    pose = clip(phi) + d,     d follows f(x) - f(p(phi)), critically damped

So a particle on its curve shows the clip exactly: the error of the mapping never shows, and neither does a latent curve
that does not close. The damping is needed because kernels are one to three frames long there: what one offset means
changes from frame to frame.

**Radius.** The idle radius of a label is five to ten times too large for a cycle: a foot would go through the floor. It
is chosen such that poses at one phase stray by `VARIATION_RATIO` of the clip's own spread.

**Seam.** Where the last frame repeats the first, their difference is taken off in proportion to the phase, so that the
spline has no step. Else the spline goes on from the last frame to the first within the rest of the period.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.perform.behaviours import Behaviour
from understudy.perform.pose_space import PoseSpace, Segment
from understudy.perform.runtime import particle
from understudy.perform.runtime.forces import MotionConstants, amplitude_for, neighbours
from understudy.perform.runtime.label_runtime import LabelRuntime
from understudy.perform.runtime.state import BlendSource, PerformerState, RideCycle, replace_state

if TYPE_CHECKING:
    from understudy.perform.model import PerformanceModel

PHASE_SPEED_DEVIATION = 0.03  # of the speed, root mean square: a person's stride time varies by 2 to 4 %
PHASE_SMOOTHNESS_SECONDS = 0.5  # in which the speed changes; the same for all cycles, so that mixed ones keep step
MIN_SMOOTHNESS_PERIODS = 0.25  # of the particle's force: in a slow idle a quick variation would be the quickest motion
VARIATION_RATIO = 0.08  # of the clip's spread: half is not seen, twice as much accelerates limbs visibly
# Time constant of d, the longer of the two: less lets the kernels tremble, more leaves no variation.
DEVIATION_SECONDS, DEVIATION_PERIODS = 0.06, 0.06
# Liveliness below which the variation fades instead of the radius shrinking, and the greatest that has an effect.
MIN_LIFE_RATIO, MAX_LIFE_RATIO = 0.25, 2.0
MIN_FRAME_GAP = 0.25  # frames before the end of a period that a frame repeats the first
MIN_CYCLE_FRAMES = 3
ALIGNMENT_PHASES = 48
PHASE_STREAM = 1 << 40  # stream of the phase, from which characters count on
CALIBRATION_PHASES, CALIBRATION_COPIES, CALIBRATION_STEPS = 32, 8, 12


@dataclass(frozen=True, eq=False)
class Cycle:
    """A clip as a periodic function of its phase."""

    label: str
    clip: str
    period: float  # seconds at speed 1
    speed: float  # at which the library plays it
    features: Any  # `scipy.interpolate.CubicSpline` of the phase (0 to 1) with values (E,)
    latents: Any  # the same with values (Q,)

    @classmethod
    def from_clip(cls, space: PoseSpace, segment: Segment, behaviour: Behaviour) -> Cycle:
        """The cycle of a clip.

        Args:
            space: The pose space that has the clip's frames.
            segment: The clip.
            behaviour: Its range, period and speed.

        Returns:
            The cycle.

        Raises:
            InvalidInput: If fewer than three frames lie within a period.
        """
        from scipy.interpolate import CubicSpline

        rate, length = space.rate, (len(segment) - 1) / space.rate
        stop = length if behaviour.stop is None else min(behaviour.stop, length)
        period = behaviour.period or stop - behaviour.start
        first = round(behaviour.start * rate)
        last = min(round(stop * rate), len(segment) - 1)
        if last - first + 1 < MIN_CYCLE_FRAMES:
            raise InvalidInput(f"clip {segment.clip!r} has fewer than three frames of a period, so it is no cycle")
        times = np.arange(last - first + 1) / rate
        frames = slice(segment.start + first, segment.start + last + 1)
        inside = times < period - MIN_FRAME_GAP / rate
        repeats = bool((~inside).any())  # a frame at the end of the period repeats the first
        phases = np.append(times[inside], period) / period

        def spline(values: Array) -> Any:
            values = np.asarray(values, np.float64)
            kept = values[inside]
            if repeats:
                kept = kept - np.outer(phases[:-1] - 0.5, values[len(kept)] - values[0])
            return CubicSpline(phases, np.concatenate([kept, kept[:1]]), bc_type="periodic")

        return cls(
            space.label,
            segment.clip,
            float(period),
            behaviour.speed,
            spline(space.features[frames]),
            spline(space.latents[frames]),
        )

    def features_at(self, phase: Array) -> Array:
        """(M, E) features at phases (M,), of which the fraction counts."""
        return np.asarray(self.features(np.mod(phase, 1.0)))

    def latents_at(self, phase: Array) -> Array:
        """(M, Q) latents at phases (M,)."""
        return np.asarray(self.latents(np.mod(phase, 1.0)))

    def latent_rates_at(self, phase: Array) -> Array:
        """(M, Q) how fast the latents change at phases (M,), a second at speed 1."""
        return np.asarray(self.latents(np.mod(phase, 1.0), 1)) / self.period

    def align(self, other: Cycle, weights: Array) -> float:
        """The phase of `other`, when this one is at 0, at which the two look most alike all around, by weights (E,)."""
        phases = np.arange(ALIGNMENT_PHASES) / ALIGNMENT_PHASES
        own, others = self.features_at(phases) * weights, other.features_at(phases) * weights
        away = [float(np.square(own - np.roll(others, -k, axis=0)).sum()) for k in range(ALIGNMENT_PHASES)]
        return int(np.argmin(away)) / ALIGNMENT_PHASES

    def motion_constants(self, model: PerformanceModel, runtime: LabelRuntime) -> MotionConstants:
        """The constants of a particle whose poses stray by `VARIATION_RATIO` of the clip's spread."""
        phases = np.arange(CALIBRATION_PHASES) / CALIBRATION_PHASES
        poses, curve = self.features_at(phases), self.latents_at(phases)
        spread = sqrt(np.square(model.difference(poses, poses.mean(axis=0))).mean())
        directions = (neighbours(curve, 1.0, CALIBRATION_COPIES) - np.tile(curve, (CALIBRATION_COPIES, 1))).reshape(
            CALIBRATION_COPIES, *curve.shape
        )
        # evenly spread in the sphere, as a particle under a random force is
        shares = np.linspace(0, 1, CALIBRATION_COPIES + 1)[1:] ** (1 / curve.shape[1])
        base = runtime.space.features_of(curve)

        def stray(radius: float) -> float:
            strayed = (curve + radius * shares[:, None, None] * directions).reshape(-1, curve.shape[1])
            away = model.difference(runtime.space.features_of(strayed), np.tile(base, (CALIBRATION_COPIES, 1)))
            return sqrt(np.square(away).mean())

        low, high = 0.0, 2 * runtime.forces.radius
        for _ in range(CALIBRATION_STEPS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if stray(middle) < VARIATION_RATIO * spread else (low, middle)
        smoothness = max(runtime.forces.smoothness, MIN_SMOOTHNESS_PERIODS * self.period)
        amplitude = amplitude_for(high / smoothness, smoothness, curve.shape[1])
        return replace(
            runtime.forces,
            radius=high,
            amplitude=amplitude,
            a=sqrt(curve.shape[1]) * amplitude,
            smoothness=smoothness,
            drag=1 / smoothness,
        )


@dataclass(frozen=True, eq=False)
class CycleState:
    """Where a source is on its cycle, and how it differs from the clip there."""

    phase: float  # 0 to 1
    step: float = np.nan  # change of the phase in the last frame; NaN before the first
    deviation: Array | float = 0.0  # (E,) d
    deviation_rate: Array | float = 0.0  # (E,) a second


def enter_cycle(source: BlendSource, cycle: Cycle, segment: RideCycle, phase: float, rate: float) -> BlendSource:
    """The source on a cycle, exactly as the clip at a phase, before its first frame there at `rate` a second."""
    place, speed = np.array([phase]), segment.speed * cycle.speed
    features = cycle.features_at(place)[0]
    return replace(
        source,
        label=cycle.label,
        x=cycle.latents_at(place)[0],
        velocity=speed * cycle.latent_rates_at(place)[0],
        features=features,
        rate=(cycle.features_at(place + speed / (cycle.period * rate))[0] - features) * rate,
        cursor=0,
        memory=CycleState(phase % 1.0),
    )


def step_cycles(
    cycle: Cycle,
    runtime: LabelRuntime,
    constants: MotionConstants,
    sources: Sequence[BlendSource],
    states: Sequence[PerformerState],
    streams: Array,
    seed: int,
    rate: float,
) -> list[BlendSource]:
    """Sources on one cycle, a frame later.

    Args:
        cycle: The cycle.
        runtime: The label's space and density.
        constants: Of `Cycle.motion_constants`.
        sources: M sources whose first segment is a `RideCycle`.
        states: The states (M) that they belong to.
        streams: (M,) streams of the random force.
        seed: Seed of the random force.
        rate: Frames a second.

    Returns:
        The M sources.
    """
    dt = 1 / rate
    life, speeds = [], []
    for source, state in zip(sources, states):
        segment, settings = source.current_segment, state.live_settings
        assert isinstance(segment, RideCycle)
        life.append(0.0 if segment.exact else settings.liveliness * (1 - settings.stillness))
        speeds.append(segment.speed * cycle.speed)
    lively, times = np.array(life), dt * np.array([state.frame for state in states])
    memories: list[CycleState] = [source.memory for source in sources]
    phase = np.array([memory.phase for memory in memories])
    own = PHASE_STREAM + np.array([state.seed for state in states])
    xi = particle.forces_at(seed, own, times, dt, 1, PHASE_SMOOTHNESS_SECONDS, 1)[:, 1, 0]
    varied = 1 + PHASE_SPEED_DEVIATION * np.minimum(lively, MAX_LIFE_RATIO) * xi
    steps = np.array(speeds) * np.maximum(varied, 0.0) * (dt / cycle.period)
    last = np.array([memory.step for memory in memories])
    first = np.isnan(last)
    before, now, then = (cycle.latents_at(phase + shift) for shift in (-np.where(first, 0.0, last), 0.0, steps))
    before[first] = np.nan
    velocity = np.where(first[:, None], (then - now) / dt, np.array([source.velocity for source in sources]))
    force = particle.forces_at(
        seed, streams, times, dt, particle.SUBSTEPS_PER_FRAME, constants.smoothness, now.shape[1]
    )
    force *= (constants.amplitude * lively)[:, None, None]
    radius = constants.radius * np.clip(lively, MIN_LIFE_RATIO, MAX_LIFE_RATIO)
    x, velocity = particle.step(
        runtime.density,
        constants,
        np.array([source.x for source in sources]),
        velocity,
        now,
        then,
        radius,
        force,
        dt,
        particle.SUBSTEPS_PER_FRAME,
        before,
    )
    gain = np.minimum(lively / MIN_LIFE_RATIO, 1.0)[:, None]
    goals = gain * (runtime.space.features_of(x) - runtime.space.features_of(then))
    carried = cycle.features_at(phase + steps)
    tau = max(DEVIATION_SECONDS, DEVIATION_PERIODS * cycle.period)
    decay = np.exp(-dt / tau)
    result = []
    for m, (source, memory) in enumerate(zip(sources, memories)):
        away = memory.deviation - goals[m]
        drift = memory.deviation_rate + away / tau
        deviation = goals[m] + decay * (away + drift * dt)
        deviation_rate = decay * (memory.deviation_rate - drift * (dt / tau))
        features = carried[m] + deviation
        result.append(
            replace_state(
                source,
                x=x[m],
                velocity=velocity[m],
                features=features,
                rate=(features - source.features) * rate,
                cursor=source.cursor + 1,
                memory=CycleState((memory.phase + steps[m]) % 1.0, steps[m], deviation, deviation_rate),
            )
        )
    return result

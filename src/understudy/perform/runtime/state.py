"""Legs: what a voice does next, one after the other. A command is planned into legs; a step of time follows the first.

`Follow` and `Hold` take time and are led by the particle, `Replay` takes time and shows training frames; `Cross`,
`Choose` and `Join` happen between two frames.

State: all that changes while a character performs. It is handed in and handed back, so a take replays exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from understudy.checks import Array
from understudy.maths import springs
from understudy.perform.features.root_motion import GroundFrame


@dataclass(frozen=True, eq=False)
class FollowPath:
    """Go along a path, a point a frame."""

    points: Array  # (n + 1, Q)
    radius: float


@dataclass(frozen=True, eq=False)
class HoldSegment:
    """Stay near a point, for some frames or until told otherwise."""

    point: Array  # (Q,)
    radius: float
    frames: int | None = None


@dataclass(frozen=True, eq=False)
class CrossBridge:
    """Change the label over a bridge, and go on at a latent of the other space."""

    label: str
    latent: Array  # (Q,)
    gap: float  # what the bridge leaves, as `Bridges.gaps`


@dataclass(frozen=True, eq=False)
class ReplayClip:
    """Show frames of a clip as they are, while the particle is carried along their embedding."""

    clip: str
    latents: Array  # (n, Q)
    features: Array  # (n, E)


@dataclass(frozen=True, eq=False)
class ChooseBranch:
    """Go to another of several points, stay near it for a while, and choose again."""

    points: Array  # (P, Q)
    radius: float
    hover: float  # seconds


@dataclass(frozen=True, eq=False)
class JoinSource:
    """Let a second voice of another label in, at a latent near the pose that is shown, heading for a point."""

    label: str
    point: Array  # (Q,)
    weight: float


PlanSegment = FollowPath | HoldSegment | CrossBridge | ReplayClip | ChooseBranch | JoinSource


Record = TypeVar("Record", "BlendSource", "PerformerState")
FADE_SECONDS = 0.8  # seconds in which a second voice comes in or goes
SETTING_CHANGE_SECONDS = 0.5  # seconds for a dial to move by one


@dataclass(frozen=True, eq=False)
class BlendSource:
    """A particle in the space of one label, and the legs before it.

    A performance has one voice; while two labels are mixed it has two, each with a weight that may be on its way from
    one value to another.
    """

    label: str
    x: Array  # (Q,) latent
    velocity: Array  # (Q,) per second
    plan: tuple[PlanSegment, ...]
    cursor: int  # frames of the first leg that are done
    features: Array  # (E,) the pose of this voice alone
    rate: Array  # (E,) how fast that changes, per second
    weight_from: float = 1.0
    weight_to: float = 1.0
    weight_rate: float = 0.0  # a second, at the start of the fade
    fade_start: int = 0  # frame
    fade: float = FADE_SECONDS  # seconds

    @property
    def current_segment(self) -> PlanSegment:
        """What it does now."""
        return self.plan[0]

    @property
    def is_replaying(self) -> bool:
        """Whether it shows training frames."""
        return isinstance(self.current_segment, ReplayClip)

    @property
    def is_segment_over(self) -> bool:
        """Whether the first leg has taken its time."""
        leg = self.plan[0]
        if isinstance(leg, FollowPath):
            return self.cursor >= len(leg.points) - 1
        if isinstance(leg, ReplayClip):
            return self.cursor >= len(leg.features) - 1
        return isinstance(leg, HoldSegment) and leg.frames is not None and self.cursor >= leg.frames

    def weight(self, frame: int, rate: float) -> float:
        """How much it counts at a frame: from one value to the other with no jolt at either end (minimum jerk)."""
        u = min(max((frame - self.fade_start) / (self.fade * rate), 0.0), 1.0)
        if u >= 1:
            return self.weight_to
        changed = (self.weight_to - self.weight_from) * u * u * u * (10 + u * (6 * u - 15))
        drift = self.weight_rate * self.fade * u * (1 + u * u * (u * (8 - 3 * u) - 6))
        return self.weight_from + changed + drift

    def weight_speed(self, frame: int, rate: float) -> float:
        """How fast `weight` changes at a frame, a second."""
        u = min(max((frame - self.fade_start) / (self.fade * rate), 0.0), 1.0)
        changed = 30 * (self.weight_to - self.weight_from) * (u * (1 - u)) ** 2 / self.fade
        return changed + self.weight_rate * (1 + u * u * (u * (32 - 15 * u) - 18))

    def fade_to(self, weight: float, frame: int, rate: float, seconds: float = FADE_SECONDS) -> BlendSource:
        """The same voice, from now on its way to another weight; one that is on its way turns without a jolt."""
        if weight == self.weight_to:
            return self
        now, speed = self.weight(frame, rate), self.weight_speed(frame, rate)
        return replace(
            self, weight_from=now, weight_to=float(weight), weight_rate=speed, fade_start=frame, fade=seconds
        )

    def has_faded_out(self, frame: int, rate: float) -> bool:
        """Whether it has faded out."""
        return self.weight_to <= 0 and frame >= self.fade_start + self.fade * rate


def replace_state(record: Record, **changes: Any) -> Record:
    """`dataclasses.replace` for what every character does every frame, ten times as fast.

    It copies the fields as they are, instead of asking the class for their names and setting each past the freeze.
    """
    result: Record = object.__new__(type(record))
    result.__dict__.update(record.__dict__, **changes)
    return result


def mix_sources(voices: tuple[BlendSource, ...], frame: int, rate: float) -> tuple[Array, Array]:
    """Features (E,) and their rates (E,): the mean of the voices by their weights, which change as well."""
    if len(voices) == 1:
        return voices[0].features, voices[0].rate
    features, rates = np.stack([v.features for v in voices]), np.stack([v.rate for v in voices])
    weights, speeds = np.array([(v.weight(frame, rate), v.weight_speed(frame, rate)) for v in voices]).T
    total = max(weights.sum(), 1e-12)
    weights = weights / total
    speeds = (speeds - weights * speeds.sum()) / total
    return weights @ features, weights @ rates + speeds @ features


@dataclass(frozen=True, eq=False)
class Blend:
    """The difference to what was shown before, on its way to nothing."""

    decay: springs.Decay
    start: int  # frame


@dataclass(frozen=True, eq=False)
class LiveSettings:
    """Where the two dials are, and where they were set; they get there within half a second."""

    liveliness: float = 1.0
    stillness: float = 0.0
    liveliness_to: float = 1.0
    stillness_to: float = 0.0

    def step_to_targets(self, dt: float) -> LiveSettings:
        """The dials a while later."""
        if self.liveliness == self.liveliness_to and self.stillness == self.stillness_to:
            return self
        most = dt / SETTING_CHANGE_SECONDS
        lively = self.liveliness + min(max(self.liveliness_to - self.liveliness, -most), most)
        still = self.stillness + min(max(self.stillness_to - self.stillness, -most), most)
        return replace(self, liveliness=lively, stillness=still)


@dataclass(frozen=True, eq=False)
class PerformanceEvent:
    """Something that happened between two frames: a command, a bridge crossed, a clip begun."""

    frame: int
    what: str
    label: str
    gap: float = 0.0  # metres that had to be blended away


@dataclass(frozen=True, eq=False)
class PerformerState:
    """One character at one frame."""

    frame: int
    seed: int
    sources: tuple[BlendSource, ...]
    features: Array  # (E,) what is meant, of which what the clips never do is shown less (`ranging`)
    rate: Array  # (E,) how fast that changes, per second
    live_settings: LiveSettings
    ground: GroundFrame
    blend: Blend | None = None
    before: tuple[Array, ...] = ()  # the last two rows (C,), without layers
    alone: int = 0  # frames for which one voice has been shown as it is
    look: Any = None  # what `Look` asked for
    look_until: int | None = None  # frame
    until: int | None = None  # frame at which the command has taken its time; None where its legs decide
    choices: int = 0  # how often something was chosen at random
    layers: tuple[Any, ...] = ()
    event: tuple[PerformanceEvent, ...] = ()  # of this frame

    @property
    def main_source(self) -> BlendSource:
        """The voice that commands speak to."""
        return self.sources[0]

    @property
    def blending(self) -> bool:
        """Whether what was shown before the last switch is still seen."""
        return self.blend is not None or len(self.sources) > 1

    @property
    def label(self) -> str:
        """Its label."""
        return self.main_source.label

    def generator(self) -> np.random.Generator:
        """A random generator of this state's own: the same state chooses the same."""
        return np.random.default_rng([self.seed, self.choices])

"""State of a performance: everything that changes while a character performs.

It is passed in and returned, so a performance replays exactly. A command is planned into segments; each frame follows
the first. `FollowPath` and `HoldSegment` take time and are led by the particle, `RideCycle` shows a cycle with its
variation, `ReplayClip` training frames, `StillPose` one pose, and a `SelfSteppingSegment` what it computes itself;
`CrossBridge`, `ChooseBranch` and `JoinSource` happen between two frames.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from understudy.checks import Array
from understudy.maths import springs
from understudy.perform.features.root_motion import GroundFrame

if TYPE_CHECKING:
    from understudy.perform.runtime.planner import Planner

FADE_SECONDS = 0.8  # in which a second blend source fades in or out
SETTING_CHANGE_SECONDS = 0.5  # in which liveliness or stillness changes by one

Record = TypeVar("Record", "BlendSource", "PerformerState")


@dataclass(frozen=True, eq=False)
class FollowPath:
    """Follow a path, a point a frame."""

    points: Array  # (n + 1, Q)
    radius: float


@dataclass(frozen=True, eq=False)
class HoldSegment:
    """Stay near a point, for some frames or until the next command."""

    point: Array  # (Q,)
    radius: float
    frames: int | None = None


@dataclass(frozen=True, eq=False)
class CrossBridge:
    """Change the label over a bridge, and go on at a latent of the other space."""

    label: str
    latent: Array  # (Q,)
    gap: float  # of the bridge, as `Bridges.gaps`


@dataclass(frozen=True, eq=False)
class ReplayClip:
    """Show frames of a clip as they are, while the particle is carried along their embedding."""

    clip: str
    latents: Array  # (n, Q)
    features: Array  # (n, E)


@dataclass(frozen=True, eq=False)
class RideCycle:
    """Go on in a cycle until the next command. The source's `memory` is a `cycles.CycleState`."""

    clip: str
    speed: float = 1.0  # over that of the library
    exact: bool = False  # as it was made, without variation


@dataclass(frozen=True, eq=False)
class StillPose:
    """Show one pose exactly, until the next command."""

    features: Array  # (E,)
    latent: Array  # (Q,)


class SelfSteppingSegment:
    """Base of segments that compute the frames of their source themselves, until the next command.

    A segment is frozen data; what changes from frame to frame is kept in the `memory` of its source.
    """

    def step(self, planner: Planner, source: BlendSource, state: PerformerState) -> BlendSource:
        """The source one frame of `planner.rate` later: features, rate, cursor and memory."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ChooseBranch:
    """Go to another of several points, stay near it for a while, and choose again."""

    points: Array  # (P, Q)
    radius: float
    hover: float  # seconds


@dataclass(frozen=True, eq=False)
class JoinSource:
    """Fade in a second source of another label, at a latent near the pose that is shown, heading for a point."""

    label: str
    point: Array  # (Q,)
    weight: float


PlanSegment = (
    FollowPath
    | HoldSegment
    | CrossBridge
    | ReplayClip
    | RideCycle
    | StillPose
    | SelfSteppingSegment
    | ChooseBranch
    | JoinSource
)


@dataclass(frozen=True, eq=False)
class BlendSource:
    """A particle in the space of one label, and the segments that it still has to do.

    A performance has one source; while two labels are mixed it has two, each with a weight that may be fading from one
    value to another.
    """

    label: str
    x: Array  # (Q,) latent
    velocity: Array  # (Q,) per second
    plan: tuple[PlanSegment, ...]
    cursor: int  # frames of the first segment that are done
    features: Array  # (E,) the pose of this source alone
    rate: Array  # (E,) how fast that changes, per second
    weight_from: float = 1.0
    weight_to: float = 1.0
    weight_rate: float = 0.0  # a second, at the start of the fade
    fade_start: int = 0  # frame
    fade: float = FADE_SECONDS
    memory: Any = None  # what the current segment keeps from frame to frame

    @property
    def current_segment(self) -> PlanSegment:
        """The segment that it follows now."""
        return self.plan[0]

    @property
    def is_replaying(self) -> bool:
        """Whether it shows training frames."""
        return isinstance(self.current_segment, ReplayClip)

    @property
    def is_steady(self) -> bool:
        """Whether its segment goes on until the next command."""
        segment = self.plan[0]
        if isinstance(segment, HoldSegment):
            return segment.frames is None
        return isinstance(segment, RideCycle | StillPose | SelfSteppingSegment)

    @property
    def is_segment_over(self) -> bool:
        """Whether the first segment is done."""
        segment = self.plan[0]
        if isinstance(segment, FollowPath):
            return self.cursor >= len(segment.points) - 1
        if isinstance(segment, ReplayClip):
            return self.cursor >= len(segment.features) - 1
        return isinstance(segment, HoldSegment) and segment.frames is not None and self.cursor >= segment.frames

    def weight(self, frame: int, rate: float) -> float:
        """The weight at a frame: a minimum-jerk fade from one value to the other."""
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
        """The same source, from now on fading to another weight; the speed of a running fade is kept."""
        if weight == self.weight_to:
            return self
        now, speed = self.weight(frame, rate), self.weight_speed(frame, rate)
        return replace(
            self, weight_from=now, weight_to=float(weight), weight_rate=speed, fade_start=frame, fade=seconds
        )

    def has_faded_out(self, frame: int, rate: float) -> bool:
        """Whether it has faded out."""
        return self.weight_to <= 0 and frame >= self.fade_start + self.fade * rate


@dataclass(frozen=True, eq=False)
class Blend:
    """The decaying difference to the motion before a switch."""

    decay: springs.Decay
    start: int  # frame


@dataclass(frozen=True, eq=False)
class LiveSettings:
    """Liveliness and stillness, and the values that they are changing to."""

    liveliness: float = 1.0
    stillness: float = 0.0
    liveliness_to: float = 1.0
    stillness_to: float = 0.0

    def step_to_targets(self, dt: float) -> LiveSettings:
        """The settings `dt` seconds later."""
        if self.liveliness == self.liveliness_to and self.stillness == self.stillness_to:
            return self
        most = dt / SETTING_CHANGE_SECONDS
        lively = self.liveliness + min(max(self.liveliness_to - self.liveliness, -most), most)
        still = self.stillness + min(max(self.stillness_to - self.stillness, -most), most)
        return replace(self, liveliness=lively, stillness=still)


@dataclass(frozen=True, eq=False)
class PerformanceEvent:
    """An event between two frames: a command, a bridge crossed, a clip begun."""

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
    features: Array  # (E,) before the soft clamp to the clips' range (`label_runtime.PoseRange`)
    rate: Array  # (E,) how fast that changes, per second
    live_settings: LiveSettings
    ground: GroundFrame
    travel: tuple[float, ...] = (0.0, 0.0, 0.0)  # velocity of the ground beside that of the features
    blend: Blend | None = None
    before: tuple[Array, ...] = ()  # the last two rows (C,), without layers
    alone: int = 0  # frames for which one source has been shown without a blend
    look: Any = None  # target of the last `LookAt`
    look_until: int | None = None  # frame
    until: int | None = None  # frame at which the command ends; None where its segments decide
    choices: int = 0  # number of random choices so far
    layers: tuple[Any, ...] = ()
    event: tuple[PerformanceEvent, ...] = ()  # events of this frame

    @property
    def main_source(self) -> BlendSource:
        """The source that commands act on."""
        return self.sources[0]

    @property
    def blending(self) -> bool:
        """Whether the motion before the last switch is still visible."""
        return self.blend is not None or len(self.sources) > 1

    @property
    def label(self) -> str:
        """The label of the main source."""
        return self.main_source.label

    def generator(self) -> np.random.Generator:
        """A random generator that depends on this state alone."""
        return np.random.default_rng([self.seed, self.choices])


def replace_state(record: Record, **changes: Any) -> Record:
    """`dataclasses.replace`, ten times as fast, for the changes of every frame.

    It copies the dictionary of fields instead of calling `__init__`.
    """
    result: Record = object.__new__(type(record))
    result.__dict__.update(record.__dict__, **changes)
    return result


def mix_sources(sources: tuple[BlendSource, ...], frame: int, rate: float) -> tuple[Array, Array]:
    """Features (E,) and their rates (E,): the mean of the sources by their weights, which change as well."""
    if len(sources) == 1:
        return sources[0].features, sources[0].rate
    features, rates = np.stack([s.features for s in sources]), np.stack([s.rate for s in sources])
    weights, speeds = np.array([(s.weight(frame, rate), s.weight_speed(frame, rate)) for s in sources]).T
    total = max(weights.sum(), 1e-12)
    weights = weights / total
    speeds = (speeds - weights * speeds.sum()) / total
    return weights @ features, weights @ rates + speeds @ features

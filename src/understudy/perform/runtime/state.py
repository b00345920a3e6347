"""State of a performance: everything that changes while a character performs.

It is passed in and returned, so a performance replays exactly. A command is planned into segments; each frame follows
the first. `FollowPath` and `HoldSegment` take time and are led by the particle, `RideCycle` shows a cycle with its
variation, `ReplayClip` training frames, `StillPose` one pose, and a `SelfSteppingSegment` what it computes itself.
`EnterMotion`, `ReturnMotion`, `CrossBridge`, `ChooseBranch` and `JoinSource` happen between two frames.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
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
    leave: int = 0  # the frame from which it may be left for a `ReturnMotion` that follows
    loop: bool = False  # play it again at its end
    as_made: bool = True  # with its own eyes, blinks and breath


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


class SelfSteppingSegment(ABC):
    """Base of segments that compute the frames of their source themselves, until the next command.

    A segment is frozen data; what changes from frame to frame is kept in the `memory` of its source.
    """

    @abstractmethod
    def enter(self, planner: Planner, source: BlendSource, state: PerformerState) -> BlendSource:
        """The source before its first frame in this segment: features, the rate that they will have, and memory."""

    @abstractmethod
    def step(self, planner: Planner, source: BlendSource, state: PerformerState) -> BlendSource:
        """The source one frame of `planner.rate` later: features, rate, cursor and memory."""


SteadySegment = HoldSegment | RideCycle | StillPose | SelfSteppingSegment


@dataclass(frozen=True, eq=False)
class ChooseBranch:
    """Go to another of several points, stay near it for a while, and choose again."""

    points: Array  # (P, Q)
    radius: float
    hover: float  # seconds


@dataclass(frozen=True, eq=False)
class JoinSource:
    """Fade in a second source of another label, or change its weight where it is there already."""

    label: str
    segment: SteadySegment
    weight: float


@dataclass(frozen=True, eq=False)
class EnterMotion:
    """Leave the motion before it and begin with the next segment at once; the difference is blended away."""

    label: str
    seconds: float | None  # of the blend; None chooses by the difference
    frame: int = 0  # at which it happens; the motion before goes on until then
    phase: float = 0.0  # of a cycle, where it is entered


@dataclass(frozen=True, eq=False)
class ReturnMotion:
    """After an act: change to the steady motion that follows, from the frame on at which the act may be left."""

    label: str


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
    | EnterMotion
    | ReturnMotion
)


@dataclass(frozen=True, eq=False)
class BlendSource:
    """A particle in the space of one label, and the segments that it still has to do.

    A performance has one source; while labels are mixed it has one for each, with a weight that may be fading from one
    value to another. A source with a mask is laid over the others, in the features of its mask.
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
    mask: Array | None = None  # (E,) 1 for the features that it shows, else 0; None: all

    @property
    def current_segment(self) -> PlanSegment:
        """The segment that it follows now."""
        return self.plan[0]

    @property
    def is_replaying(self) -> bool:
        """Whether it shows training frames."""
        return isinstance(self.current_segment, ReplayClip)

    @property
    def plays_as_made(self) -> bool:
        """Whether it shows a clip with the clip's own eyes, blinks and breath."""
        segment = self.current_segment
        return isinstance(segment, ReplayClip) and segment.as_made

    @property
    def is_steady(self) -> bool:
        """Whether it goes on until the next command. A motion that is about to be left does not."""
        segment = self.plan[0]
        if len(self.plan) > 1:
            return False
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


# Events besides the words of commands.
BRIDGE_EVENT, ENTER_EVENT, ACT_END_EVENT, CYCLE_EVENT, FOOT_EVENT = "bridge", "enter", "act_end", "cycle", "foot"


@dataclass(frozen=True, eq=False)
class PerformanceEvent:
    """An event between two frames: a command, a motion entered, an act that ends, a cycle that begins again, a foot."""

    frame: int
    what: str  # the word of a command, or one of the names above
    label: str
    gap: float = 0.0  # metres that had to be blended away
    clip: str = ""  # that is entered, ends, or begins again
    joint: str = ""  # of the foot that lands


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
    """Features (E,) and their rates (E,): the mean of the sources by their weights, which change as well.

    Sources with a mask are then laid over the mean, in their order.
    """
    if len(sources) == 1:
        return sources[0].features, sources[0].rate
    mixed = [source for source in sources if source.mask is None]
    weights, speeds = np.array([(s.weight(frame, rate), s.weight_speed(frame, rate)) for s in mixed]).T
    total = max(weights.sum(), 1e-12)
    weights = weights / total
    speeds = (speeds - weights * speeds.sum()) / total
    every = np.stack([source.features for source in mixed])
    features, rates = weights @ every, weights @ np.stack([source.rate for source in mixed]) + speeds @ every
    for source in sources:
        if source.mask is not None:
            share, speed = source.mask * source.weight(frame, rate), source.mask * source.weight_speed(frame, rate)
            away = source.features - features
            features, rates = features + share * away, rates + share * (source.rate - rates) + speed * away
    return features, rates

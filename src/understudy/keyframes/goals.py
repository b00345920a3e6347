"""What an edit asks for: plain data, which a file, a wire or a person can give.

A point of the character is moved, turned or both at a time between keys (`Move`); others keep their path (`Pin`), stand
still for a while (`Contact`) or pass where they passed at one moment (`Hold`); columns stay within `Limit`s. All times
are seconds of the animation's own clock, positions metres in the world, orientations quaternions x, y, z, w.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.errors import InvalidInput

if TYPE_CHECKING:
    from understudy.rig import PosedRig

Triple = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

EDGES = ("smooth", "broken")


@dataclass(frozen=True)
class Point:
    """A point of the character: fixed to a joint at `offset` metres in the joint's frame, or a vertex of the mesh.

    `vertex` counts over all parts of the character, as `Rig.vertices` does; skin and shapes move it. Its orientation is
    that of the joint that moves it most.
    """

    joint: str = ""
    offset: Triple = (0.0, 0.0, 0.0)
    vertex: int | None = None

    def __post_init__(self) -> None:
        if bool(self.joint) == (self.vertex is not None):
            raise InvalidInput(f"a point should name a joint or a vertex, and not both: {self.name}")
        object.__setattr__(self, "offset", _numbers(self.offset, f"offset of point {self.name}", 3))

    @property
    def name(self) -> str:
        """For sentences."""
        return repr(self.joint) if self.vertex is None else f"vertex {self.vertex}"


@dataclass(frozen=True)
class Move:
    """At `time`, bring the point `to` a place or `by` an offset, or turn it; None leaves that part free."""

    point: Point
    time: float
    to: Triple | None = None
    by: Triple | None = None
    turn_to: Quaternion | None = None

    def __post_init__(self) -> None:
        what = f"move of {self.point.name} at {self.time} s"
        _finite(self.time, f"time of the {what}")
        if self.to is None and self.by is None and self.turn_to is None:
            raise InvalidInput(f"the {what} should say where to (`to`, `by` or `turn_to`), but says nothing")
        if self.to is not None and self.by is not None:
            raise InvalidInput(f"the {what} should say `to` or `by`, but says both")
        for name in ("to", "by"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _numbers(getattr(self, name), f"`{name}` of the {what}", 3))
        if self.turn_to is not None:
            q = np.array(_numbers(self.turn_to, f"`turn_to` of the {what}", 4))
            if not np.linalg.norm(q) > 1e-6:
                raise InvalidInput(f"`turn_to` of the {what} should be a quaternion, but has no length")
            object.__setattr__(self, "turn_to", tuple((q / np.linalg.norm(q)).tolist()))


@dataclass(frozen=True)
class Pin:
    """The path (and the orientation along it) is not altered, from `start` to `stop` or wherever the edit reaches."""

    point: Point
    start: float | None = None
    stop: float | None = None
    position: bool = True
    orientation: bool = True

    def __post_init__(self) -> None:
        _span(self.start, self.stop, f"pin of {self.point.name}")
        _something(self.position, self.orientation, f"pin of {self.point.name}")


@dataclass(frozen=True)
class Contact:
    """From `start` to `stop` the point stays where it is at `start`."""

    point: Point
    start: float
    stop: float
    position: bool = True
    orientation: bool = False

    def __post_init__(self) -> None:
        _span(self.start, self.stop, f"contact of {self.point.name}")
        _something(self.position, self.orientation, f"contact of {self.point.name}")


@dataclass(frozen=True)
class Hold:
    """At `time` the point is where it was."""

    point: Point
    time: float
    position: bool = True
    orientation: bool = False

    def __post_init__(self) -> None:
        _finite(self.time, f"time of the hold of {self.point.name}")
        _something(self.position, self.orientation, f"hold of {self.point.name}")


@dataclass(frozen=True)
class Limit:
    """`column` of `target` stays between `low` and `high` at all times: radians, metres, or a weight.

    `target` is a joint or a part, `column` x, y or z of its Euler angles, "translation.x", or the name of a shape.
    """

    target: str
    column: str
    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        if np.isnan(self.low) or np.isnan(self.high) or self.low > self.high:
            raise InvalidInput(
                f"limit of {self.target}.{self.column} should rise from low to high, "
                f"but goes from {self.low} to {self.high}"
            )


class Answer(NamedTuple):
    """What a wish makes of a path; all in sizes of the character."""

    residual: Array  # (Q,)
    slopes: Array  # (Q, T, P, 3): S
    gap: Array  # (K, 3) the way to go, where the wish is a goal


Term = Callable[[Array], Answer]
"""A wish that knows the path before the gesture: of a path (T, P, 3), in sizes of the character, what it answers."""


class Wish(ABC):
    """Something asked of points from `start` to `stop`. Plain data."""

    start: float
    stop: float
    soft: bool
    weight: float  # of soft wishes

    @abstractmethod
    def points(self, rig: PosedRig) -> tuple[Point, ...]:
        """The P points it looks at."""

    @abstractmethod
    def times(self, rate: float) -> Array:
        """(T,) when it looks at them, for an animation with this many frames a second."""

    @abstractmethod
    def term(self, rig: PosedRig, path: Array, times: Array, size: float) -> Term:
        """What it asks for, given the path (T, P, 3) before the gesture, in sizes of `size` metres."""


@dataclass(frozen=True)
class Edit:
    """One gesture: what moves, what must not, and which tangents may change.

    `start` and `stop` bound the segments whose tangents may change; by default they are those that hold the moves.
    `stiffness` of a joint or of one column ("Spine.euler.x") multiplies what its tangents cost [eq. 4]; 0 frees them.
    `edges` says what happens to an unbroken tangent at the two ends: "smooth" turns both of its sides, so that the
    neighbouring segments follow; "broken" leaves the neighbours alone, and pulls the sides together [eq. 5].
    `wishes` are about paths, such as a stroke, an arc or a flight; the segments that they span may change too.
    """

    moves: tuple[Move, ...]
    pins: tuple[Pin, ...] = ()
    contacts: tuple[Contact, ...] = ()
    holds: tuple[Hold, ...] = ()
    limits: tuple[Limit, ...] = ()
    stiffness: Mapping[str, float] = field(default_factory=dict)
    start: float | None = None
    stop: float | None = None
    edges: str = "smooth"
    wishes: tuple[Wish, ...] = ()

    def __post_init__(self) -> None:
        for name in ("moves", "pins", "contacts", "holds", "limits", "wishes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not (self.moves or self.contacts or self.wishes):
            raise InvalidInput("an edit should have at least one move, contact or wish, but has none")
        _span(self.start, self.stop, "the edit's range")
        checks.one_of(self.edges, "edges", EDGES)
        for name, factor in self.stiffness.items():
            if not (np.isfinite(factor) and factor >= 0):
                raise InvalidInput(f"stiffness of {name!r} should be zero or more, but is {factor}")


def _numbers(values: Any, name: str, count: int) -> tuple[float, ...]:
    return tuple(checks.array(values, name, (count,)).tolist())


def _finite(time: float, name: str) -> None:
    if not np.isfinite(time):
        raise InvalidInput(f"{name} should be a number of seconds, but is {time}")


def _span(start: float | None, stop: float | None, what: str) -> None:
    for time in (start, stop):
        if time is not None:
            _finite(time, f"time of {what}")
    if start is not None and stop is not None and not start < stop:
        raise InvalidInput(f"{what} should last some time, but goes from {start} s to {stop} s")


def _something(position: bool, orientation: bool, what: str) -> None:
    if not (position or orientation):
        raise InvalidInput(f"{what} should keep the position, the orientation or both, but keeps neither")

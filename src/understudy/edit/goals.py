"""The goals and constraints of an edit as plain data, and the points of a character by name.

An edit moves or turns points of the character at times between keys (`MovePoint`). Other points keep their path
(`Pin`), stay in place for a while (`Contact`) or keep their position at one time (`Hold`); columns stay within a
`Limit`. An `ObjectiveTerm` asks something of a whole path. All times are seconds of the animation, positions metres in
the world, orientations quaternions x, y, z, w.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from understudy import checks
from understudy.character import Character
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names

if TYPE_CHECKING:
    from understudy.character.rig import PosedRig

Triple = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

EDGES = ("smooth", "broken")  # see `Edit`


@dataclass(frozen=True)
class Point:
    """A point of the character: fixed to a joint at `offset` metres in the joint's frame, or a vertex of the mesh.

    `vertex` counts over all parts of the character, as `PosedRig.vertices` does; skin and shapes move it. Its
    orientation is that of the joint with the largest weight.
    """

    joint: str = ""
    offset: Triple = (0.0, 0.0, 0.0)
    vertex: int | None = None

    def __post_init__(self) -> None:
        if bool(self.joint) == (self.vertex is not None):
            raise InvalidInput(f"a point should name a joint or a vertex, and not both: {self.name}")
        object.__setattr__(self, "offset", _read_numbers(self.offset, f"offset of point {self.name}", 3))

    @property
    def name(self) -> str:
        """The point in messages."""
        return repr(self.joint) if self.vertex is None else f"vertex {self.vertex}"


@dataclass(frozen=True)
class MovePoint:
    """At `time`, bring the point `to` a position or `by` an offset, or turn it; None leaves that part free."""

    point: Point
    time: float
    to: Triple | None = None
    by: Triple | None = None
    turn_to: Quaternion | None = None

    def __post_init__(self) -> None:
        what = f"move of {self.point.name} at {self.time} s"
        _check_finite(self.time, f"time of the {what}")
        if self.to is None and self.by is None and self.turn_to is None:
            raise InvalidInput(f"the {what} should say where to (`to`, `by` or `turn_to`), but says nothing")
        if self.to is not None and self.by is not None:
            raise InvalidInput(f"the {what} should say `to` or `by`, but says both")
        for name in ("to", "by"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _read_numbers(getattr(self, name), f"`{name}` of the {what}", 3))
        if self.turn_to is not None:
            q = np.array(_read_numbers(self.turn_to, f"`turn_to` of the {what}", 4))
            if not np.linalg.norm(q) > 1e-6:
                raise InvalidInput(f"`turn_to` of the {what} should be a quaternion, but has no length")
            object.__setattr__(self, "turn_to", tuple((q / np.linalg.norm(q)).tolist()))


@dataclass(frozen=True)
class Pin:
    """The point keeps its path and its orientation along it, from `start` to `stop` or wherever the edit reaches."""

    point: Point
    start: float | None = None
    stop: float | None = None
    position: bool = True
    orientation: bool = True

    def __post_init__(self) -> None:
        _check_span(self.start, self.stop, f"pin of {self.point.name}")
        _check_parts(self.position, self.orientation, f"pin of {self.point.name}")


@dataclass(frozen=True)
class Contact:
    """From `start` to `stop` the point keeps the position that it has at `start`."""

    point: Point
    start: float
    stop: float
    position: bool = True
    orientation: bool = False

    def __post_init__(self) -> None:
        _check_span(self.start, self.stop, f"contact of {self.point.name}")
        _check_parts(self.position, self.orientation, f"contact of {self.point.name}")


@dataclass(frozen=True)
class Hold:
    """At `time` the point keeps the position that it had before the edit."""

    point: Point
    time: float
    position: bool = True
    orientation: bool = False

    def __post_init__(self) -> None:
        _check_finite(self.time, f"time of the hold of {self.point.name}")
        _check_parts(self.position, self.orientation, f"hold of {self.point.name}")


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


class TermResponse(NamedTuple):
    """An objective term evaluated on a path, in sizes of the character."""

    residual: Array  # (Q,)
    slopes: Array  # (Q, T, P, 3): S = -d residual / d path, see `solver.objective_terms`
    gap: Array  # (K, 3) the remaining distances, where the term is a goal


TermFunction = Callable[[Array], TermResponse]
"""The response of an objective term to a path (T, P, 3), in sizes of the character."""


class ObjectiveTerm(ABC):
    """An objective about the path of points from `start` to `stop` (seconds), as plain data.

    A term that is not `soft` is a goal like a move; a soft one is weighed against the change of the tangents.
    """

    start: float
    stop: float
    soft: bool
    weight: float  # of a soft term

    @abstractmethod
    def points(self, rig: PosedRig) -> tuple[Point, ...]:
        """The P points whose path it measures."""

    @abstractmethod
    def times(self, rate: float) -> Array:
        """(T,) the sample times, for an animation with `rate` frames a second."""

    @abstractmethod
    def term_function(self, rig: PosedRig, path: Array, times: Array, size: float) -> TermFunction:
        """The function to evaluate, given the path (T, P, 3) before the edit, in sizes of `size` metres."""


@dataclass(frozen=True)
class Edit:
    """One edit: goals, constraints, and the tangents that may change [Ciccone 2019].

    `start` and `stop` bound the segments whose tangents may change; by default these are the segments of the moves.
    `stiffness` of a joint or of one column ("Spine.euler.x") multiplies the cost of its tangents [eq. 4]; 0 frees them.
    `edges` controls an unbroken tangent at the two ends: "smooth" turns both of its sides, so that the neighbouring
    segments follow; "broken" leaves the neighbours alone, and pulls the sides together [eq. 5].
    `terms` are objectives about paths, such as a stroke, an arc or a flight; the segments that they span may change
    too.
    """

    moves: tuple[MovePoint, ...]
    pins: tuple[Pin, ...] = ()
    contacts: tuple[Contact, ...] = ()
    holds: tuple[Hold, ...] = ()
    limits: tuple[Limit, ...] = ()
    stiffness: Mapping[str, float] = field(default_factory=dict)
    start: float | None = None
    stop: float | None = None
    edges: str = "smooth"
    terms: tuple[ObjectiveTerm, ...] = ()

    def __post_init__(self) -> None:
        for name in ("moves", "pins", "contacts", "holds", "limits", "terms"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not (self.moves or self.contacts or self.terms):
            raise InvalidInput("an edit should have at least one move, contact or objective term, but has none")
        _check_span(self.start, self.stop, "the edit's range")
        checks.one_of(self.edges, "edges", EDGES)
        for name, factor in self.stiffness.items():
            if not (np.isfinite(factor) and factor >= 0):
                raise InvalidInput(f"stiffness of {name!r} should be zero or more, but is {factor}")


def point_by_name(character: Character, name: str) -> Point:
    """The point with a `name`: a joint, or a named point of the mesh (`nose_tip` of the dragon).

    A joint is also found without its prefix, as `LeftHand` for `mixamorig:LeftHand`, where that is unambiguous.
    """
    joints = character.skeleton.names
    if name in joints:
        return Point(name)
    points = {} if character.layers is None else character.layers.points
    if name in points:
        return Point(vertex=int(points[name]))
    short = [joint.replace("|", ":").rpartition(":")[2] for joint in joints]
    if short.count(name) == 1:
        return Point(joints[short.index(name)])
    close = get_close_matches(name, [*joints, *points, *short], 1)
    meant = f" (did you mean {close[0]!r}?)" if close else ""
    available = join_names([*joints, *points], 12)
    raise InvalidInput(f"there is no joint or point {name!r}{meant}; character {character.name!r} has {available}")


def check_point(character: Character, point: Point) -> Point:
    """The point with the full name of its joint; refused where the character has no such joint or vertex."""
    if point.vertex is None:
        named = point_by_name(character, point.joint)
        return named if named.vertex is not None else Point(named.joint, point.offset)
    if not 0 <= point.vertex < character.vertex_count:
        count = character.vertex_count
        available = f"vertices 0 to {count - 1}" if count else "no vertices"
        raise InvalidInput(f"there is no {point.name}; character {character.name!r} has {available}")
    return point


def _read_numbers(values: Any, name: str, count: int) -> tuple[float, ...]:
    return tuple(checks.array(values, name, (count,)).tolist())


def _check_finite(time: float, name: str) -> None:
    if not np.isfinite(time):
        raise InvalidInput(f"{name} should be a number of seconds, but is {time}")


def _check_span(start: float | None, stop: float | None, what: str) -> None:
    for time in (start, stop):
        if time is not None:
            _check_finite(time, f"time of {what}")
    if start is not None and stop is not None and not start < stop:
        raise InvalidInput(f"{what} should last some time, but goes from {start} s to {stop} s")


def _check_parts(position: bool, orientation: bool, what: str) -> None:
    if not (position or orientation):
        raise InvalidInput(f"{what} should keep the position, the orientation or both, but keeps neither")

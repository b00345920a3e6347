"""The goals and constraints of an edit as plain data, and the points of a character by name.

An edit moves or turns points of the character at times between keys (`MovePoint`). Other points keep their path
(`Pin`), stay in place for a while (`Contact`) or keep their position at one time (`Hold`); columns stay within a
`Limit`. An `ObjectiveTerm` asks something of a whole path. All times are seconds of the animation, positions metres in
the world, orientations quaternions x, y, z, w.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
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
    """A point of a character: fixed to a joint, or a vertex of its mesh.

    Everything that takes a point also takes its name as a string: a joint (`"Head"`, or `"Hand"` for
    `"mixamorig:Hand"`) or a named point of the mesh (`"nose_tip"` of the dragon).

    Args:
        joint: Name of the joint that the point is fixed to; empty for a vertex.
        offset: Position (3,) in the frame of the joint, in metres.
        vertex: Number of a vertex, counted over all parts of the character as `Rig.vertices` does. Skin and shapes move
            it; its orientation is that of the joint with the largest weight.

    Raises:
        InvalidInput: If neither or both of `joint` and `vertex` are given.

    Example:
        >>> us.Point("Head", offset=(0.0, 0.1, 0.0)).name
        "'Head'"
        >>> us.Point(vertex=12).name
        'vertex 12'
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
        """Name of the point for messages."""
        return repr(self.joint) if self.vertex is None else f"vertex {self.vertex}"


@dataclass(frozen=True, init=False)
class MovePoint:
    """Goal of an edit: a point is somewhere else, or turned, at one time.

    Args:
        point: The point, or its name.
        time: Time of the goal, in seconds of the animation's clock. Poses (`pose_character`) ignore it.
        to: Position (3,) to reach, in metres in the world.
        by: Offset (3,) from where the point is now, in metres in the world. Give `to` or `by`, not both.
        turn_to: Orientation (4,) to reach, a quaternion x, y, z, w in the world. None leaves it free.

    Raises:
        InvalidInput: If none of `to`, `by` and `turn_to` is given, or both `to` and `by` are.

    Example:
        >>> us.MovePoint("Head", 3.7, by=(0, 0.08, 0)).by
        (0.0, 0.08, 0.0)
    """

    point: Point
    time: float
    to: Triple | None = None
    by: Triple | None = None
    turn_to: Quaternion | None = None

    def __init__(
        self,
        point: Point | str,
        time: float,
        to: Triple | None = None,
        by: Triple | None = None,
        turn_to: Quaternion | None = None,
    ) -> None:
        _set_fields(self, point=_read_point(point), time=time, to=to, by=by, turn_to=turn_to)
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


@dataclass(frozen=True, init=False)
class Pin:
    """Constraint of an edit: a point keeps its path, and its orientation along it.

    Args:
        point: The point, or its name.
        start: First time at which the path is kept, in seconds; None: wherever the edit reaches.
        stop: Last time at which the path is kept, in seconds; None: wherever the edit reaches.
        position: Whether the position is kept.
        orientation: Whether the orientation is kept.

    Raises:
        InvalidInput: If the span is empty, or neither position nor orientation is kept.

    Example:
        >>> us.Pin("Base", orientation=False).position
        True
    """

    point: Point
    start: float | None = None
    stop: float | None = None
    position: bool = True
    orientation: bool = True

    def __init__(
        self,
        point: Point | str,
        start: float | None = None,
        stop: float | None = None,
        position: bool = True,
        orientation: bool = True,
    ) -> None:
        _set_fields(self, point=_read_point(point), start=start, stop=stop, position=position, orientation=orientation)
        _check_span(self.start, self.stop, f"pin of {self.point.name}")
        _check_parts(self.position, self.orientation, f"pin of {self.point.name}")


@dataclass(frozen=True, init=False)
class Contact:
    """Constraint of an edit: a point stays where it is at the start of a span.

    Args:
        point: The point, or its name.
        start: Begin of the contact, in seconds; the point stays where it is then.
        stop: End of the contact, in seconds.
        position: Whether the position is kept.
        orientation: Whether the orientation is kept.

    Raises:
        InvalidInput: If the span is empty, or neither position nor orientation is kept.

    Example:
        >>> us.Contact("Base", 1.0, 2.5).stop
        2.5
    """

    point: Point
    start: float
    stop: float
    position: bool = True
    orientation: bool = False

    def __init__(
        self, point: Point | str, start: float, stop: float, position: bool = True, orientation: bool = False
    ) -> None:
        _set_fields(self, point=_read_point(point), start=start, stop=stop, position=position, orientation=orientation)
        _check_span(self.start, self.stop, f"contact of {self.point.name}")
        _check_parts(self.position, self.orientation, f"contact of {self.point.name}")


@dataclass(frozen=True, init=False)
class Hold:
    """Constraint of an edit: at one time a point is where it was before the edit.

    Args:
        point: The point, or its name.
        time: The time, in seconds.
        position: Whether the position is kept.
        orientation: Whether the orientation is kept.

    Raises:
        InvalidInput: If `time` is not finite, or neither position nor orientation is kept.

    Example:
        >>> us.Hold("Head", 3.2).time
        3.2
    """

    point: Point
    time: float
    position: bool = True
    orientation: bool = False

    def __init__(self, point: Point | str, time: float, position: bool = True, orientation: bool = False) -> None:
        _set_fields(self, point=_read_point(point), time=time, position=position, orientation=orientation)
        _check_finite(self.time, f"time of the hold of {self.point.name}")
        _check_parts(self.position, self.orientation, f"hold of {self.point.name}")


@dataclass(frozen=True)
class Limit:
    """Constraint of an edit: one column of a joint or part stays in a range at all times.

    Args:
        target: Name of the joint or part.
        column: `x`, `y` or `z` of its Euler angles, `translation.x`, or the name of a shape.
        low: Lowest value, in radians, metres or as a weight.
        high: Highest value, in the same unit.

    Raises:
        InvalidInput: If `low` is above `high`, or one of them is not a number.

    Example:
        >>> us.Limit("Head", "x", low=-0.5, high=0.5).high
        0.5
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


Goal = MovePoint | Pin | Contact | Hold | Limit


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
    too. `falloff` (seconds) is the radius around the moments within which keys of a fitter and dense frames may move;
    None takes it from the spacing of keys.
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
    falloff: float | None = None

    def __post_init__(self) -> None:
        if self.falloff is not None:
            checks.positive(self.falloff, "falloff")
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


def sort_goals(character: Character, goals: Iterable[Goal]) -> dict[str, Any]:
    """The goals by the field of `Edit` that holds their kind; points are looked up in the character by name."""
    kinds: dict[type, str] = {MovePoint: "moves", Pin: "pins", Contact: "contacts", Hold: "holds", Limit: "limits"}
    result: dict[str, list[Any]] = {name: [] for name in kinds.values()}
    for goal in goals:
        if type(goal) not in kinds:
            known = ", ".join(kind.__name__ for kind in kinds)
            raise InvalidInput(f"a goal should be one of {known}, but is {type(goal).__name__}")
        if not isinstance(goal, Limit):
            goal = replace(goal, point=check_point(character, goal.point))
        result[kinds[type(goal)]].append(goal)
    return {name: tuple(found) for name, found in result.items()}


def _read_point(point: Point | str) -> Point:
    if isinstance(point, Point):
        return point
    if not isinstance(point, str):
        raise InvalidInput(f"a point should be a Point or the name of a joint, but is {type(point).__name__}")
    return Point(point)


def _set_fields(goal: object, **fields: Any) -> None:
    for name, value in fields.items():
        object.__setattr__(goal, name, value)


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

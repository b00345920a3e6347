"""A list of edits as plain data: what EDITS.toml says, before anybody looks at a character.

One step, one gesture: each begins with what the one before left behind. `place` is where the file says it, for errors
and reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from understudy.edit.goals import Contact, Edit, Hold, Limit, MovePoint, Pin, Point, Triple

TANGENT_METHODS = ("smooth", "clamped", "flat", "linear")


@dataclass(frozen=True)
class EditStep:
    """kind = "move": points are moved or turned between keys, and the tangents give way.

    `turns` are rotation vectors (radians, about the world's axes) by the number of the move: its `turn_to` is then
    found when it is applied, from where the point is turned to at that moment. Where it is blocked, the first of the
    kinds of offers that it would `accept` and that reaches the goal is taken.
    """

    edit: Edit
    turns: Mapping[int, Triple] = field(default_factory=dict)
    accept: tuple[str, ...] = ()
    kind = "move"


@dataclass(frozen=True)
class PoseStep:
    """kind = "pose": points are dragged at a key; the key's values give way. `values` sets columns first, by name.

    Where a channel has no key at that time, `insert` asks for one.
    """

    time: float
    moves: tuple[MovePoint, ...] = ()
    turns: Mapping[int, Triple] = field(default_factory=dict)
    pins: tuple[Pin, ...] = ()
    limits: tuple[Limit, ...] = ()
    stiffness: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    insert: bool = False
    kind = "pose"


@dataclass(frozen=True)
class TimingStep:
    """kind = "timing": faster (factor above 1) or slower around a time, between the keys around it.

    Of all curves, or of `targets`, directly. With a `point`, its speed there is a goal like any other: it stays where
    it is at that time, and what is held stays held.
    """

    time: float
    factor: float
    targets: tuple[str, ...] | None = None
    point: Point | None = None
    pins: tuple[Pin, ...] = ()
    contacts: tuple[Contact, ...] = ()
    holds: tuple[Hold, ...] = ()
    limits: tuple[Limit, ...] = ()
    stiffness: Mapping[str, float] = field(default_factory=dict)
    edges: str = "smooth"
    kind = "timing"


@dataclass(frozen=True)
class KeyStep:
    """kind = "key": a key where there was none, which leaves the motion as it is; or one taken away, or moved."""

    time: float
    targets: tuple[str, ...] | None = None
    remove: bool = False
    to_time: float | None = None
    kind = "key"


@dataclass(frozen=True)
class TangentStep:
    """kind = "tangents": automatic tangents by a `method` of METHODS, at the keys from `start` to `stop`."""

    method: str
    targets: tuple[str, ...] | None = None
    start: float | None = None
    stop: float | None = None
    kind = "tangents"


@dataclass(frozen=True)
class SketchStep:
    """kind = "sketch": the path of a point follows a stroke: `times` (N,) seconds, `path` (N, 3) metres in the world.

    Without times, `times` is empty, and the stroke is drawn from `start` to `stop` as the point goes.
    """

    point: Point
    path: tuple[Triple, ...]
    times: tuple[float, ...] = ()
    start: float | None = None
    stop: float | None = None
    pins: tuple[Pin, ...] = ()
    contacts: tuple[Contact, ...] = ()
    holds: tuple[Hold, ...] = ()
    limits: tuple[Limit, ...] = ()
    stiffness: Mapping[str, float] = field(default_factory=dict)
    edges: str = "smooth"
    kind = "sketch"


Action = EditStep | PoseStep | TimingStep | KeyStep | TangentStep | SketchStep
STEP_KINDS = ("move", "pose", "timing", "key", "tangents", "sketch")


@dataclass(frozen=True)
class EditListStep:
    """One table [[edit]] of the file."""

    place: str  # "edit 3"
    action: Action
    name: str = ""


@dataclass(frozen=True)
class ReduceStep:
    """How a dense animation becomes keys: within metres and radians of itself."""

    tolerance: float
    angle: float | None = None
    keys: str = "free"


@dataclass(frozen=True)
class Preparation:
    """What is done before the first step. At most one of `keys` (seconds) and `reduce`.

    `keys` takes the poses at these times, with automatic `tangents` between them. `orders` turns quaternion channels
    into Euler ones, one order for all ("") or by joint.
    """

    keys: tuple[float, ...] = ()
    tangents: str = "smooth"
    reduce: ReduceStep | None = None
    orders: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class EditList:
    """A whole file. `clip` and `character` are the first where they are not said.

    With `name`, the result is a new animation of that name beside the old one, else it takes its place.
    """

    path: str
    steps: tuple[EditListStep, ...]
    clip: str | None = None
    character: str | None = None
    name: str | None = None
    preparation: Preparation = field(default_factory=Preparation)

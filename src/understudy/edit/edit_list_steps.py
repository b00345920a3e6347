"""EDITS.toml as plain data, before it is compared with a character.

Each step starts from the curves that the step before it left. `place` is the position of a step in the file ("edit 3"),
for errors and reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from understudy.edit.goals import Contact, Edit, Hold, Limit, MovePoint, Pin, Point, Triple

TANGENT_METHODS = ("smooth", "clamped", "flat", "linear")
STEP_KINDS = ("move", "pose", "timing", "key", "tangents", "sketch")


@dataclass(frozen=True)
class EditStep:
    """kind = "move": move or turn points at a time between keys.

    `turns` are rotation vectors (radians, about the world's axes) by the number of the move; the `turn_to` of that move
    is computed when the step is applied, from the orientation of the point at that time. Where the step is blocked, the
    first suggestion of the kinds in `accept` that reaches the goal is taken. `weight` (0 to 1) is the share of the
    change that is kept. `hold_feet` pins the feet that stand; None does where keys come from a fitter, and in a dense
    clip.
    """

    edit: Edit
    turns: Mapping[int, Triple] = field(default_factory=dict)
    accept: tuple[str, ...] = ()
    weight: float = 1.0
    hold_feet: bool | None = None
    kind = "move"


@dataclass(frozen=True)
class PoseStep:
    """kind = "pose": move points at a key by changing the values of the key. `values` sets columns first, by name.

    With `insert`, channels without a key at `time` (seconds) get one.
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
    """kind = "timing": faster (`factor` above 1) or slower around `time` (seconds), between the keys around it.

    Without a `point` the time handles of all curves, or of those of `targets`, are scaled. With a `point` its speed is
    a goal of the solver: the point keeps its position at that time, and the constraints hold. `hold_feet` is as in
    `EditStep`.
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
    hold_feet: bool | None = None
    kind = "timing"


@dataclass(frozen=True)
class KeyStep:
    """kind = "key": insert a key that keeps the shape of the curves, or remove or move one (seconds)."""

    time: float
    targets: tuple[str, ...] | None = None
    remove: bool = False
    to_time: float | None = None
    kind = "key"


@dataclass(frozen=True)
class TangentStep:
    """kind = "tangents": automatic tangents by a `method` of TANGENT_METHODS, at the keys from `start` to `stop`."""

    method: str
    targets: tuple[str, ...] | None = None
    start: float | None = None
    stop: float | None = None
    kind = "tangents"


@dataclass(frozen=True)
class SketchStep:
    """kind = "sketch": the path of a point follows a stroke, `path` (N, 3) metres in the world.

    `times` (N,) seconds are those of the stroke's points. Where they are empty, the point follows the stroke from
    `start` to `stop` with its own timing. `falloff` (seconds) is the room before and after the stroke; `weight` and
    `hold_feet` are as in `EditStep`.
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
    falloff: float | None = None
    weight: float = 1.0
    hold_feet: bool | None = None
    kind = "sketch"


Action = EditStep | PoseStep | TimingStep | KeyStep | TangentStep | SketchStep


@dataclass(frozen=True)
class EditListStep:
    """One table [[edit]] of the file."""

    place: str  # "edit 3"
    action: Action
    name: str = ""


@dataclass(frozen=True)
class ReduceStep:
    """Reduce a dense animation to keys within a tolerance."""

    tolerance: float  # metres
    angle: float | None = None  # radians
    keys: str = "poses"  # or another of `reduce_keys`


@dataclass(frozen=True)
class Preparation:
    """How the curves are prepared before the first step. At most one of `keys` (seconds) and `reduce` is given; without
    either, an animation is edited as it is, also where it has a key on every frame.

    `keys` are the times of poses that become keys, with automatic `tangents` between them. `orders` converts
    quaternion channels to Euler angles, with one order for all (under the name "") or one for each joint.
    """

    keys: tuple[float, ...] = ()
    tangents: str = "smooth"
    reduce: ReduceStep | None = None
    orders: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class EditList:
    """A whole file. `clip` and `character` default to the first ones.

    With `name`, the result is a new animation of that name beside the old one; without, it replaces the old one.
    """

    path: str
    steps: tuple[EditListStep, ...]
    clip: str | None = None
    character: str | None = None
    name: str | None = None
    preparation: Preparation = field(default_factory=Preparation)

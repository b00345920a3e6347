"""The messages of the edit mode: the open edit, motion curves, drags and their outcome, strokes, reduction.

Constraints, keys and poses are in `edit_keys`. All times are seconds from the beginning of the clip, as on the stage;
positions are metres in the world, orientations quaternions x, y, z, w. Drags are sent without an id, and the newest
wins: each `EditOutcome` says by `number` which one it answers, and which frames belong to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from understudy.edit.outcome import MotionChange
from understudy.studio.document import ContactEntry, HoldEntry, LimitEntry, PinEntry, PointRef
from understudy.studio.messages.message import Event, Range, Request
from understudy.studio.messages.shell import Id, Name, Seconds

Triple = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Number = Annotated[int, Range(least=0, most=2**32 - 1)]
Factor = Annotated[float, Range(least=0.05, most=20.0)]
Metres = Annotated[float, Range(least=1e-6, most=1e3)]
Falloff = Annotated[float, Range(least=0.02, most=60.0)]
DragKind = Literal["move", "turn", "time"]
KeyMode = Literal["poses", "fewest", "shared"]


@dataclass(frozen=True)
class EditChannel:
    """One keyed channel. `times` are its keys, none where the clip is baked."""

    target: str
    channel: str  # rotation, euler, translation, scale, weights, control
    columns: tuple[str, ...]
    times: tuple[float, ...]
    keys: int
    beyond: tuple[str, str] = ("hold", "hold")  # before the first key, after the last; also linear, cycle, cycle_offset


@dataclass(frozen=True)
class MotionCurveEntry:
    """A motion curve on stage: `curve` is its number in the frames of stream 2."""

    curve: int
    point: PointRef
    name: str
    camera: bool


@dataclass(frozen=True)
class StanceEntry:
    """A foot that stands from `start` to `stop`; `held` unless it was let go or feet are not held."""

    joint: str
    start: float
    stop: float
    held: bool


@dataclass(frozen=True)
class EditState:
    """The open edit. It changes with keys and constraints, not during a drag."""

    edit: str  # its id in the document
    character: str
    clip: str
    name: str
    seconds: float
    rate: float
    frames: int
    size: float  # of the character, m
    baked: bool  # a key on about every frame: drags are offsets over its frames, and keys are not shown
    windowed: bool  # keys come from a fitter, or the clip is baked: drags have a falloff
    estimate: float  # seconds that a reduction takes, roughly; 0 if it is not baked
    keys: int  # of all channels; no drag changes it
    source_keys: int  # of the clip itself
    channels: tuple[EditChannel, ...]
    pins: tuple[PinEntry, ...]
    contacts: tuple[ContactEntry, ...]
    holds: tuple[HoldEntry, ...]
    limits: tuple[LimitEntry, ...]
    stiffness: dict[str, float]
    hold_feet: bool
    feet: tuple[StanceEntry, ...]  # all stances of the clip
    curves: tuple[MotionCurveEntry, ...]
    copied: bool  # whether a pose can be pasted
    pairs: bool  # whether the joints have a left and a right, so that poses can be mirrored
    revision: int  # of the curves; it increases with every committed change


@dataclass(frozen=True)
class EditChanged(Event):
    """The state of the edit on stage."""

    kind: ClassVar[str] = "edit"
    state: EditState


@dataclass(frozen=True)
class EditOpened:
    """The opened edit."""

    edit: EditState


@dataclass(frozen=True)
class EditOpen(Request):
    """Edit a clip: its own keys, or its earlier edit."""

    kind: ClassVar[str] = "editOpen"
    result: ClassVar[Any] = EditOpened
    character: Id
    clip: Name


@dataclass(frozen=True)
class EditReduced:
    """The result of a reduction: keys of all channels, and the largest error of any joint."""

    keys: int
    source_keys: int
    error: float  # m
    angle: float  # radians
    seconds: float
    replaced: bool  # by a newer preview before it was done; the numbers are then invalid


@dataclass(frozen=True)
class EditReduce(Request):
    """Reduce the clip to few keys. A preview only returns the result; a newer one replaces it.

    `keys` says where they are: at poses and where channels need more, at times of each channel, or at common times.
    """

    kind: ClassVar[str] = "editReduce"
    result: ClassVar[Any] = EditReduced
    tolerance: Metres
    angle: Annotated[float, Range(least=1e-4, most=3.15)] | None = None
    preview: bool = False
    keys: KeyMode = "poses"


@dataclass(frozen=True)
class EditCurveShown:
    """The number of a motion curve."""

    curve: int


@dataclass(frozen=True)
class EditCurve(Request):
    """Show the motion curve of a point, or hide one: by its number, or by its point."""

    kind: ClassVar[str] = "editCurve"
    result: ClassVar[Any] = EditCurveShown
    shown: bool
    point: PointRef | None = None
    curve: Number | None = None
    camera: bool = False


@dataclass(frozen=True)
class EditGhosts(Request):
    """Ghosts: poses that are shown besides the stage's, sent as frames of stream 4. An empty list hides them."""

    kind: ClassVar[str] = "editGhosts"
    times: Annotated[tuple[Seconds, ...], Range(longest=24)]


@dataclass(frozen=True)
class EditBegun:
    """A drag has begun, with the position and orientation of its point, and the feet that it holds."""

    gesture: int
    place: Triple
    turn: Quaternion
    feet: tuple[StanceEntry, ...] = ()


@dataclass(frozen=True)
class EditBegin(Request):
    """Begin to drag a point at a time between keys; the stage goes to that time."""

    kind: ClassVar[str] = "editBegin"
    result: ClassVar[Any] = EditBegun
    operation: DragKind
    point: PointRef
    time: Seconds
    edges: Literal["smooth", "broken"] = "smooth"
    falloff: Falloff | None = None  # seconds, the radius of the window; None takes it from the spacing of keys


@dataclass(frozen=True)
class EditDrag(Request):
    """The goal of the drag: a move has `to`, a rotation `turn`, timing `factor` (2 is twice as fast).

    Another `falloff` than before prepares the drag again, from the curves before it.
    """

    kind: ClassVar[str] = "editDrag"
    gesture: Number
    number: Number
    to: Triple | None = None
    turn: Quaternion | None = None
    factor: Factor | None = None
    falloff: Falloff | None = None


@dataclass(frozen=True)
class EditEnded:
    """The result of a change: the number of keys, and whether anything changed."""

    keys: int
    changed: bool


@dataclass(frozen=True)
class EditEnd(Request):
    """End the drag: commit it as one undo step, or cancel it."""

    kind: ClassVar[str] = "editEnd"
    result: ClassVar[Any] = EditEnded
    gesture: Number
    commit: bool


@dataclass(frozen=True)
class EditWeigh(Request):
    """Keep a share of the last drag, 0 to 1, as one undo step; it is refused once the clip has changed otherwise."""

    kind: ClassVar[str] = "editWeigh"
    result: ClassVar[Any] = EditEnded
    weight: Annotated[float, Range(least=0.0, most=1.0)]


@dataclass(frozen=True)
class EditAcceptSuggestion(Request):
    """Accept a suggestion of the last outcome, by its number, as one undo step."""

    kind: ClassVar[str] = "editOffer"
    result: ClassVar[Any] = EditEnded
    which: Number


@dataclass(frozen=True)
class EditPoseBegin(Request):
    """Begin to drag a point of the pose at a time. Without `key` only channels with a key there move."""

    kind: ClassVar[str] = "editPoseBegin"
    result: ClassVar[Any] = EditBegun
    point: PointRef
    time: Seconds
    operation: Literal["move", "turn"] = "move"
    pins: Annotated[tuple[PointRef, ...], Range(longest=64)] = ()
    key: bool = True


@dataclass(frozen=True)
class EditPoseDrag(Request):
    """The goal of the pose drag."""

    kind: ClassVar[str] = "editPoseDrag"
    gesture: Number
    number: Number
    to: Triple | None = None
    turn: Quaternion | None = None


@dataclass(frozen=True)
class EditPoseEnd(Request):
    """End the pose drag: write the pose into keys, or cancel it."""

    kind: ClassVar[str] = "editPoseEnd"
    result: ClassVar[Any] = EditEnded
    gesture: Number
    commit: bool


@dataclass(frozen=True)
class EditSketched:
    """How well the point follows the stroke. A preview that a newer one replaced has `replaced` and no figures."""

    reached: bool
    distance: float
    sentence: str
    notes: tuple[str, ...]
    change: MotionChange | None = None
    replaced: bool = False


@dataclass(frozen=True)
class EditSketch(Request):
    """Let a point follow a stroke from one time to another, as one undo step. It takes a second or two.

    A preview shows the result without keeping it (`EditAbandon` ends it); of waiting previews only the newest runs.
    """

    kind: ClassVar[str] = "editSketch"
    result: ClassVar[Any] = EditSketched
    point: PointRef
    stroke: Annotated[tuple[Triple, ...], Range(longest=4000)]
    start: Seconds
    stop: Seconds
    falloff: Falloff | None = None  # seconds before and after the stroke
    preview: bool = False


@dataclass(frozen=True)
class EditObstacle:
    """One thing that keeps an edit from its goal. The distances are those of the edit, not of this obstacle alone."""

    kind: str  # pin, contact, hold, limit, handle, reach, path
    target: str  # the point, column or joint, as sentences name it
    reached_m: float  # metres of the way to the goal that the point has come nearer
    required_m: float  # metres of the whole way; 0 for a rotation
    share: float  # of the whole resistance, 0 to 1
    sentence: str


@dataclass(frozen=True)
class SuggestionEntry:
    """A change that gets a blocked edit further; the numbers are those of a solve with this change."""

    which: int
    way: Literal["release", "widen", "insert"]
    what: tuple[str, ...]  # the released point; "falloff", "range", "edges" or columns; the channels with a key
    constraint: Literal["", "pin", "contact", "hold", "foot"]  # that is released
    start: float | None  # seconds, of the released constraint
    stop: float | None
    falloff: float | None  # seconds, the wider radius
    sentence: str
    reached: bool
    keys: int  # how many keys it adds
    reached_m: float  # metres of the way to the goal that the point comes nearer
    required_m: float  # metres of the whole way; 0 for a rotation
    reached_rad: float  # radians, likewise
    required_rad: float
    slip_m: float  # metres, the largest error of a pin, contact or hold


@dataclass(frozen=True)
class EditOutcome(Event):
    """The result of one drag goal. `frame` and `paths` are the numbers of its frames (streams 0 and 2).

    A blocked result is sent again with suggestions (`offers`), after the pointer has rested or was released. At the
    release a patient search finishes the drag: its result is `released`, with the `change` of the motion.
    """

    kind: ClassVar[str] = "editOutcome"
    gesture: int
    number: int
    reached: bool
    distance: float  # m that remain
    angle: float  # radians that remain
    drift: float  # m, the largest error of a constraint
    ms: float  # milliseconds that the server took
    place: Triple | None  # position of the point
    turn: Quaternion | None
    ghost: Triple | None  # the nearest reachable position, if the goal is not reached
    sentence: str  # why it is blocked; empty if it is reached
    blocks: tuple[EditObstacle, ...]
    offers: tuple[SuggestionEntry, ...]
    pending: bool  # suggestions are being computed
    frame: int
    paths: int
    radius: float | None = None  # seconds, of the window; None where only tangents change
    released: bool = False
    change: MotionChange | None = None
    feet: tuple[StanceEntry, ...] = ()  # that were held, at the release

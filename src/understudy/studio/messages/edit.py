"""The messages of the edit mode: what is open, motion curves, gestures and what came of them, strokes, reduction.

What is held is in `edit_held`, keys and poses in `edit_keys`.

All times are seconds from the beginning of the clip, as the stage counts them; positions metres in the world,
orientations quaternions x, y, z, w. Gestures are told without an id, and the newest wins: each `EditOutcome` says by
`number` which one it answers, and which frames belong to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from understudy.studio.document import ContactEntry, HoldEntry, LimitEntry, PinEntry, PointRef
from understudy.studio.messages.message import Event, Range, Request
from understudy.studio.messages.shell import Id, Name, Seconds

Triple = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Number = Annotated[int, Range(least=0, most=2**32 - 1)]
Factor = Annotated[float, Range(least=0.05, most=20.0)]
Metres = Annotated[float, Range(least=1e-6, most=1e3)]
DragKind = Literal["move", "turn", "time"]


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
class EditState:
    """What is being edited. It changes with keys and with what is held, not while something is dragged."""

    edit: str  # its id in the document
    character: str
    clip: str
    name: str
    seconds: float
    rate: float
    frames: int
    size: float  # of the character, m
    baked: bool  # a key on about every frame: to be reduced before it can be edited
    estimate: float  # seconds that reducing it will take, roughly; 0 where it is not baked
    keys: int  # of all channels; no gesture changes it
    source_keys: int  # of the clip itself
    channels: tuple[EditChannel, ...]
    pins: tuple[PinEntry, ...]
    contacts: tuple[ContactEntry, ...]
    holds: tuple[HoldEntry, ...]
    limits: tuple[LimitEntry, ...]
    stiffness: dict[str, float]
    curves: tuple[MotionCurveEntry, ...]
    copied: bool  # a pose is there to be pasted
    pairs: bool  # left and right are told apart, so that poses can be mirrored
    revision: int  # of the curves; another after every change that stays


@dataclass(frozen=True)
class EditChanged(Event):
    """The state of the edit on stage; a stage whose driver is no edit has none."""

    kind: ClassVar[str] = "edit"
    state: EditState


@dataclass(frozen=True)
class EditOpened:
    """What was opened."""

    edit: EditState


@dataclass(frozen=True)
class EditOpen(Request):
    """Edit a clip: its own keys, or what was made of them before."""

    kind: ClassVar[str] = "editOpen"
    result: ClassVar[Any] = EditOpened
    character: Id
    clip: Name


@dataclass(frozen=True)
class EditReduced:
    """What a reduction gives: keys are counted for each channel, the error is the farthest that any joint is off."""

    keys: int
    source_keys: int
    error: float  # m
    angle: float  # radians
    seconds: float
    replaced: bool  # by a newer preview, before it was done; the numbers mean nothing then


@dataclass(frozen=True)
class EditReduce(Request):
    """Turn the clip into few keys. A preview only tells what that gives; a newer one replaces it.

    With `shared` keys all channels have theirs at the same times, as poses.
    """

    kind: ClassVar[str] = "editReduce"
    result: ClassVar[Any] = EditReduced
    tolerance: Metres
    angle: Annotated[float, Range(least=1e-4, most=3.15)] | None = None
    preview: bool = False
    shared: bool = False


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
    """Poses that are shown besides the one on stage; none takes them off. They follow as frames of stream 4."""

    kind: ClassVar[str] = "editGhosts"
    times: Annotated[tuple[Seconds, ...], Range(longest=24)]


@dataclass(frozen=True)
class EditBegun:
    """A gesture, and where its point is before it."""

    gesture: int
    place: Triple
    turn: Quaternion


@dataclass(frozen=True)
class EditBegin(Request):
    """Take hold of a point at a time between keys; the stage goes to that time."""

    kind: ClassVar[str] = "editBegin"
    result: ClassVar[Any] = EditBegun
    operation: DragKind
    point: PointRef
    time: Seconds
    edges: Literal["smooth", "broken"] = "smooth"


@dataclass(frozen=True)
class EditDrag(Request):
    """Where the point should be now: a move has `to`, a turn has `turn`, timing has `factor` (2 is twice as fast)."""

    kind: ClassVar[str] = "editDrag"
    gesture: Number
    number: Number
    to: Triple | None = None
    turn: Quaternion | None = None
    factor: Factor | None = None


@dataclass(frozen=True)
class EditEnded:
    """What a gesture left: the keys as before, and whether anything changed."""

    keys: int
    changed: bool


@dataclass(frozen=True)
class EditEnd(Request):
    """End the gesture: keep it as one undo step, or go back to before it."""

    kind: ClassVar[str] = "editEnd"
    result: ClassVar[Any] = EditEnded
    gesture: Number
    commit: bool


@dataclass(frozen=True)
class EditAcceptSuggestion(Request):
    """Accept one of the offers of the last outcome, by its number, as one undo step."""

    kind: ClassVar[str] = "editOffer"
    result: ClassVar[Any] = EditEnded
    which: Number


@dataclass(frozen=True)
class EditPoseBegin(Request):
    """Take hold of a point of the pose at a time. Without `key` only channels with a key there move."""

    kind: ClassVar[str] = "editPoseBegin"
    result: ClassVar[Any] = EditBegun
    point: PointRef
    time: Seconds
    operation: Literal["move", "turn"] = "move"
    pins: Annotated[tuple[PointRef, ...], Range(longest=64)] = ()
    key: bool = True


@dataclass(frozen=True)
class EditPoseDrag(Request):
    """Where the point of the pose should be now."""

    kind: ClassVar[str] = "editPoseDrag"
    gesture: Number
    number: Number
    to: Triple | None = None
    turn: Quaternion | None = None


@dataclass(frozen=True)
class EditPoseEnd(Request):
    """End it: write the pose into keys, or go back to before it."""

    kind: ClassVar[str] = "editPoseEnd"
    result: ClassVar[Any] = EditEnded
    gesture: Number
    commit: bool


@dataclass(frozen=True)
class EditSketched:
    """How well the stroke is met."""

    reached: bool
    distance: float
    sentence: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class EditSketch(Request):
    """Let a point follow a stroke from one time to another, as one undo step. It takes a second or two."""

    kind: ClassVar[str] = "editSketch"
    result: ClassVar[Any] = EditSketched
    point: PointRef
    stroke: Annotated[tuple[Triple, ...], Range(longest=4000)]
    start: Seconds
    stop: Seconds


@dataclass(frozen=True)
class EditObstacle:
    """One thing that keeps an edit from its goal, with its share of the resistance."""

    cause: str  # pin, contact, hold, limit, handle, reach
    what: str
    share: float
    sentence: str


@dataclass(frozen=True)
class SuggestionEntry:
    """A way on for a blocked edit, already tried out."""

    which: int
    way: Literal["release", "widen", "insert"]
    sentence: str
    reached: bool
    keys: int  # how many keys it adds


@dataclass(frozen=True)
class EditOutcome(Event):
    """What one drag came to. `frame` and `paths` are the numbers of the frames (streams 0 and 2) that belong to it.

    It comes again, with offers, once they are worked out: when the pointer rests on a blocked edit, or when it is let
    go.
    """

    kind: ClassVar[str] = "editOutcome"
    gesture: int
    number: int
    reached: bool
    distance: float  # m that remain
    angle: float  # radians that remain
    drift: float  # m, the most that anything held is off
    ms: float  # that the server took
    place: Triple | None  # where the point is now
    turn: Quaternion | None
    ghost: Triple | None  # the nearest place within reach, where the goal is not
    sentence: str  # why it is blocked; empty where it is reached
    blocks: tuple[EditObstacle, ...]
    offers: tuple[SuggestionEntry, ...]
    pending: bool  # offers are being worked out
    frame: int
    paths: int

"""The messages of the edit mode: motion curves, gestures, what is held, poses, keys, strokes, reduction.

All times are seconds from the beginning of the clip, as the stage counts them; positions metres in the world,
orientations quaternions x, y, z, w. Gestures are told without an id, and the newest wins: each `EditOutcome` says by
`number` which one it answers, and which frames belong to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from understudy.studio.document import ContactEntry, HoldEntry, LimitEntry, PinEntry, PointRef
from understudy.studio.messages.message import Bound, Event, Request
from understudy.studio.messages.shell import Id, Name, Seconds

Triple = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Number = Annotated[int, Bound(least=0, most=2**32 - 1)]
Factor = Annotated[float, Bound(least=0.05, most=20.0)]
Share = Annotated[float, Bound(least=-1.0, most=2.0)]
Metres = Annotated[float, Bound(least=1e-6, most=1e3)]
Handle = tuple[float, float]
GestureKind = Literal["move", "turn", "time"]
Interpolation = Literal["stepped", "linear", "bezier"]
Automatic = Literal["auto", "smooth", "flat", "linear", "stepped"]


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
class ShownCurve:
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
    curves: tuple[ShownCurve, ...]
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
    angle: Annotated[float, Bound(least=1e-4, most=3.15)] | None = None
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
    times: Annotated[tuple[Seconds, ...], Bound(longest=24)]


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
    operation: GestureKind
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
class EditHeld:
    """The id under which something is held."""

    held: str


@dataclass(frozen=True)
class EditPin(Request):
    """Keep the path of a point while others are moved; `held` changes a pin that there is."""

    kind: ClassVar[str] = "editPin"
    result: ClassVar[Any] = EditHeld
    point: PointRef
    orientation: bool = True
    start: Seconds | None = None
    stop: Seconds | None = None
    held: Id | None = None


@dataclass(frozen=True)
class EditContact(Request):
    """Let a point stand still for a while: the curves are solved for it at once, as one undo step."""

    kind: ClassVar[str] = "editContact"
    result: ClassVar[Any] = EditHeld
    point: PointRef
    start: Seconds
    stop: Seconds
    orientation: bool = False
    held: Id | None = None


@dataclass(frozen=True)
class EditHold(Request):
    """Let a point pass where it passes, at one moment."""

    kind: ClassVar[str] = "editHold"
    result: ClassVar[Any] = EditHeld
    point: PointRef
    time: Seconds
    orientation: bool = False
    held: Id | None = None


@dataclass(frozen=True)
class EditRelease(Request):
    """Let go of a pin, a contact or a hold."""

    kind: ClassVar[str] = "editRelease"
    held: Id


@dataclass(frozen=True)
class EditLimit(Request):
    """Keep a column within a range, radians or metres; without low and high the limit is lifted."""

    kind: ClassVar[str] = "editLimit"
    target: Name
    column: Name
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class EditStiffness(Request):
    """How unwillingly a joint takes part: 1 is usual, 0 costs nothing, None is usual again."""

    kind: ClassVar[str] = "editStiffness"
    target: Name
    value: Annotated[float, Bound(least=0.0, most=1e6)] | None = None


@dataclass(frozen=True)
class EditOffer(Request):
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
    pins: Annotated[tuple[PointRef, ...], Bound(longest=64)] = ()
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
class ChannelRef:
    """A channel by name; an empty `channel` is all channels of the target."""

    target: Name
    channel: Annotated[str, Bound(longest=32)] = ""


Channels = Annotated[tuple[ChannelRef, ...], Bound(longest=4000)]


@dataclass(frozen=True)
class EditKey(Request):
    """Set keys at a time, of all channels or of some; the motion stays as it is."""

    kind: ClassVar[str] = "editKey"
    result: ClassVar[Any] = EditEnded
    time: Seconds
    channels: Channels | None = None


@dataclass(frozen=True)
class EditUnkey(Request):
    """Remove the keys at a time, of all channels or of some."""

    kind: ClassVar[str] = "editUnkey"
    result: ClassVar[Any] = EditEnded
    time: Seconds
    channels: Channels | None = None


@dataclass(frozen=True)
class EditCopyPose(Request):
    """Copy the pose at a time."""

    kind: ClassVar[str] = "editCopyPose"
    time: Seconds


@dataclass(frozen=True)
class EditPastePose(Request):
    """Set the copied pose as keys at a time, left and right exchanged if asked; of all channels or of some."""

    kind: ClassVar[str] = "editPastePose"
    result: ClassVar[Any] = EditEnded
    time: Seconds
    mirror: bool = False
    channels: Channels | None = None


@dataclass(frozen=True)
class EditTween(Request):
    """A pose between the neighbouring keys, as keys at a time: 0 is the one before, 1 the one after, beyond overshoots.

    It is one undo step when `final`, and only shown before.
    """

    kind: ClassVar[str] = "editTween"
    result: ClassVar[Any] = EditEnded
    time: Seconds
    share: Share
    channels: Channels | None = None
    final: bool = True
    number: Number = 0


@dataclass(frozen=True)
class KeyRef:
    """A key of a channel by its place, as the curves had it before the gesture; `column` None is all columns."""

    target: Name
    channel: Annotated[str, Bound(longest=32)]
    key: Number
    column: Number | None = None


@dataclass(frozen=True)
class KeyChange:
    """What becomes of a key; what is None stays. Handles are (dt, dv), both forward in time, and final where given.

    The other handle of a key that is not broken turns along, and handles of segments whose length changes keep their
    share of it, unless they are given too.
    """

    target: Name
    channel: Annotated[str, Bound(longest=32)]
    key: Number
    column: Number | None = None  # for value and handles; None only where the channel has one column
    time: float | None = None
    value: float | None = None
    before: Handle | None = None
    after: Handle | None = None
    interpolation: Interpolation | None = None  # of the segment that leaves the key


@dataclass(frozen=True)
class KeyInsert:
    """A new key on the curve as it is, or with another value in one column."""

    target: Name
    channel: Annotated[str, Bound(longest=32)]
    time: Seconds
    column: Number | None = None
    value: float | None = None


@dataclass(frozen=True)
class KeyRuns:
    """Many keys of a channel by their places, as runs from the first to before the last; `columns` None is all."""

    target: Name
    channel: Annotated[str, Bound(longest=32)]
    columns: Annotated[tuple[Number, ...], Bound(longest=1000)] | None
    runs: Annotated[tuple[tuple[Number, Number], ...], Bound(longest=10_000)]


@dataclass(frozen=True)
class KeyTransform:
    """Keys moved and scaled at once: t' = s t + o, v' = r v + p, with (s, o) of `time` and (r, p) of `value`.

    A handle keeps its share of its segment and follows the scale: dt' = q dt, dv' = q f dv, with q the new length of
    the segment over the old, and f = r / s at a chosen key and column, 1 / s in its other columns, 1 at other keys.
    """

    keys: Annotated[tuple[KeyRuns, ...], Bound(longest=4000)]
    time: tuple[Annotated[float, Bound(least=1e-6, most=1e6)], float]
    value: tuple[float, float]


@dataclass(frozen=True)
class EditKeys(Request):
    """Keys as the graph editor and the dope sheet change them: shown while not `final`, then one undo step.

    Keys are numbered as they were before the gesture, all the while. First `transform`, then `changes`, then `broken`
    and `automatic` of `keys` and `runs`, then what is to be deleted and inserted. Where several channels have one
    target and one kind, `weights:3` is the channel with the number 3 in the state.
    """

    kind: ClassVar[str] = "editKeys"
    result: ClassVar[Any] = EditEnded
    transform: KeyTransform | None = None
    changes: Annotated[tuple[KeyChange, ...], Bound(longest=10_000)] = ()
    keys: Annotated[tuple[KeyRef, ...], Bound(longest=10_000)] = ()
    runs: Annotated[tuple[KeyRuns, ...], Bound(longest=4000)] = ()
    broken: bool | None = None
    automatic: Automatic | None = None
    delete: Annotated[tuple[KeyRef, ...], Bound(longest=10_000)] = ()
    delete_runs: Annotated[tuple[KeyRuns, ...], Bound(longest=4000)] = ()
    insert: Annotated[tuple[KeyInsert, ...], Bound(longest=1_000)] = ()
    final: bool = True
    number: Number = 0


@dataclass(frozen=True)
class EditAbandon(Request):
    """Go back to the curves before keys or a tween were shown that are not final."""

    kind: ClassVar[str] = "editAbandon"


@dataclass(frozen=True)
class EditGraph(Request):
    """Which channels the graph editor shows, and over which range; they follow as frames of stream 3 ever after."""

    kind: ClassVar[str] = "editGraph"
    channels: Annotated[tuple[ChannelRef, ...], Bound(longest=400)]
    start: Seconds | None = None
    stop: Seconds | None = None
    samples: Annotated[int, Bound(least=2, most=4096)] = 512


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
    stroke: Annotated[tuple[Triple, ...], Bound(longest=4000)]
    start: Seconds
    stop: Seconds


@dataclass(frozen=True)
class EditBlock:
    """One thing that keeps an edit from its goal, with its share of the resistance."""

    cause: str  # pin, contact, hold, limit, handle, reach
    what: str
    share: float
    sentence: str


@dataclass(frozen=True)
class OfferEntry:
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
    blocks: tuple[EditBlock, ...]
    offers: tuple[OfferEntry, ...]
    pending: bool  # offers are being worked out
    frame: int
    paths: int

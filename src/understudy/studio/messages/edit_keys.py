"""The messages of the edit mode about constraints (pins, contacts, holds, limits, stiffness), keys and poses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from understudy.studio.document import PointRef
from understudy.studio.messages.edit import EditEnded, Number
from understudy.studio.messages.message import Range, Request
from understudy.studio.messages.shell import Id, Name, Seconds

Share = Annotated[float, Range(least=-1.0, most=2.0)]
Handle = tuple[float, float]
Interpolation = Literal["stepped", "linear", "bezier"]
Automatic = Literal["auto", "smooth", "flat", "linear", "stepped"]


@dataclass(frozen=True)
class EditConstraintId:
    """The id of a constraint."""

    held: str


@dataclass(frozen=True)
class EditPin(Request):
    """Pin the path of a point; `held` is the id of an existing pin to change."""

    kind: ClassVar[str] = "editPin"
    result: ClassVar[Any] = EditConstraintId
    point: PointRef
    orientation: bool = True
    start: Seconds | None = None
    stop: Seconds | None = None
    held: Id | None = None


@dataclass(frozen=True)
class EditContact(Request):
    """Keep a point in place over a range of time: the curves are solved for it at once, as one undo step."""

    kind: ClassVar[str] = "editContact"
    result: ClassVar[Any] = EditConstraintId
    point: PointRef
    start: Seconds
    stop: Seconds
    orientation: bool = False
    held: Id | None = None


@dataclass(frozen=True)
class EditHold(Request):
    """Hold the position of a point at one time."""

    kind: ClassVar[str] = "editHold"
    result: ClassVar[Any] = EditConstraintId
    point: PointRef
    time: Seconds
    orientation: bool = False
    held: Id | None = None


@dataclass(frozen=True)
class EditRelease(Request):
    """Remove a pin, a contact or a hold."""

    kind: ClassVar[str] = "editRelease"
    held: Id


@dataclass(frozen=True)
class EditHoldFeet(Request):
    """Hold the feet that stand while something else is dragged, or do not; None: as the clip's keys suggest."""

    kind: ClassVar[str] = "editHoldFeet"
    hold: bool | None


@dataclass(frozen=True)
class EditHoldFoot(Request):
    """Let go the foot that stands at a time, or hold it again. A drag that was just released is solved again."""

    kind: ClassVar[str] = "editHoldFoot"
    joint: Name
    time: Seconds
    hold: bool


@dataclass(frozen=True)
class EditLimit(Request):
    """Keep a column within a range, radians or metres; without low and high the limit is removed.

    The request is refused if keys lie outside; with `fit` the range is widened to include them.
    """

    kind: ClassVar[str] = "editLimit"
    target: Name
    column: Name
    low: float | None = None
    high: float | None = None
    fit: bool = False


@dataclass(frozen=True)
class EditStiffness(Request):
    """The cost of moving a joint: 1 is the default, 0 is free, None resets it."""

    kind: ClassVar[str] = "editStiffness"
    target: Name
    value: Annotated[float, Range(least=0.0, most=1e6)] | None = None


@dataclass(frozen=True)
class ChannelRef:
    """A channel by name; an empty `channel` is all channels of the target."""

    target: Name
    channel: Annotated[str, Range(longest=32)] = ""


Channels = Annotated[tuple[ChannelRef, ...], Range(longest=4000)]


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
    """A key of a channel by its index in the curves before the drag; `column` None is all columns."""

    target: Name
    channel: Annotated[str, Range(longest=32)]
    key: Number
    column: Number | None = None


@dataclass(frozen=True)
class KeyChange:
    """A change of a key; None leaves a value as it is. Handles are (dt, dv), both forward in time, and final if given.

    The other handle of a key that is not broken turns along, and handles of segments whose length changes keep their
    share of it, unless they are given too.
    """

    target: Name
    channel: Annotated[str, Range(longest=32)]
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
    channel: Annotated[str, Range(longest=32)]
    time: Seconds
    column: Number | None = None
    value: float | None = None


@dataclass(frozen=True)
class KeyRuns:
    """Many keys of a channel by index, as half-open runs; `columns` None is all."""

    target: Name
    channel: Annotated[str, Range(longest=32)]
    columns: Annotated[tuple[Number, ...], Range(longest=1000)] | None
    runs: Annotated[tuple[tuple[Number, Number], ...], Range(longest=10_000)]


@dataclass(frozen=True)
class KeyTransform:
    """Keys moved and scaled at once: t' = s t + o, v' = r v + p, with (s, o) of `time` and (r, p) of `value`.

    A handle keeps its share of its segment and follows the scale: dt' = q dt, dv' = q f dv, with q the new length of
    the segment over the old, and f = r / s at a chosen key and column, 1 / s in its other columns, 1 at other keys.
    """

    keys: Annotated[tuple[KeyRuns, ...], Range(longest=4000)]
    time: tuple[Annotated[float, Range(least=1e-6, most=1e6)], float]
    value: tuple[float, float]


@dataclass(frozen=True)
class EditKeys(Request):
    """Keys as the graph editor and the dope sheet change them: shown while not `final`, then one undo step.

    Keys are numbered as they were before the drag. First `transform`, then `changes`, then `broken`
    and `automatic` of `keys` and `runs`, then deletions and insertions. Where several channels have one
    target and one kind, `weights:3` is the channel with the number 3 in the state.
    """

    kind: ClassVar[str] = "editKeys"
    result: ClassVar[Any] = EditEnded
    transform: KeyTransform | None = None
    changes: Annotated[tuple[KeyChange, ...], Range(longest=10_000)] = ()
    keys: Annotated[tuple[KeyRef, ...], Range(longest=10_000)] = ()
    runs: Annotated[tuple[KeyRuns, ...], Range(longest=4000)] = ()
    broken: bool | None = None
    automatic: Automatic | None = None
    delete: Annotated[tuple[KeyRef, ...], Range(longest=10_000)] = ()
    delete_runs: Annotated[tuple[KeyRuns, ...], Range(longest=4000)] = ()
    insert: Annotated[tuple[KeyInsert, ...], Range(longest=1_000)] = ()
    final: bool = True
    number: Number = 0


@dataclass(frozen=True)
class EditAbandon(Request):
    """Go back to the committed curves from a preview of keys or of a tween."""

    kind: ClassVar[str] = "editAbandon"


@dataclass(frozen=True)
class EditGraph(Request):
    """The channels and the range of the graph editor, which are sent as frames of stream 3 from now on."""

    kind: ClassVar[str] = "editGraph"
    channels: Annotated[tuple[ChannelRef, ...], Range(longest=400)]
    start: Seconds | None = None
    stop: Seconds | None = None
    samples: Annotated[int, Range(least=2, most=4096)] = 512

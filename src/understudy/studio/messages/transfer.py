"""The messages of the transfer mode: a motion onto another body, and the bones that it was carried over by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from understudy.studio.messages.message import Range, Request
from understudy.studio.messages.shell import Id, Name


@dataclass(frozen=True)
class BoneMatch:
    """A bone, in Unity's names, with the joint of the source and that of the target; an empty name is none."""

    bone: str
    source: str
    target: str
    found_by: str  # of the target's joint: avatar, name, shape, mirror or file
    certainty: float  # 0 to 1


@dataclass(frozen=True)
class ContactSpan:
    """A part of the body that is in contact with the floor from `start` to `stop`, seconds."""

    part: str
    start: float
    stop: float


@dataclass(frozen=True)
class TransferOutcome:
    """The take with the motion, the bones, the contacts, and the ratio of the sizes, target over source."""

    take: str  # id
    bones: tuple[BoneMatch, ...]
    contacts: tuple[ContactSpan, ...]
    size: float | None  # None where pose pairs say it


@dataclass(frozen=True)
class Transfer(Request):
    """Put a clip of one character onto another, and show it.

    It goes by the bones of both; onto a built-in character without arms and legs, by the pose pairs that it has.
    `bones` corrects the joints of the target by bone; an empty joint takes a bone away. With `replaces`, the motion
    takes the place of that take.
    """

    kind: ClassVar[str] = "transfer"
    result: ClassVar[Any] = TransferOutcome
    source: Id
    clip: Name
    target: Id
    bones: Annotated[dict[str, Name], Range(longest=200)] = field(default_factory=dict)
    size: Annotated[float, Range(least=0.001, most=1000.0)] | None = None  # None: by the lengths of the legs
    physics: bool = True
    springs: bool = True
    replaces: Id | None = None

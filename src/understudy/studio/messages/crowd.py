"""The messages of the crowd: how many, who, and where they look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from understudy.studio.messages.message import Event, Range, Request

MAX_CROWD_SIZE = 400


@dataclass(frozen=True)
class CrowdStarted:
    """Where the page fetches what it draws (`address`, then `/texture/N` below it), and how many it will be."""

    address: str
    count: int
    vertices: int  # of one character
    low: tuple[float, ...]  # the corners of the room that they take, metres
    high: tuple[float, ...]


@dataclass(frozen=True)
class StartCrowd(Request):
    """Put many characters of a model on stage; asked again, the same crowd grows or shrinks.

    Another seed makes other characters of them. `vertices` is how fine each should be, where a page cannot draw all.
    """

    kind: ClassVar[str] = "crowd"
    result: ClassVar[Any] = CrowdStarted
    model: Annotated[str, Range(longest=64)]
    count: Annotated[int, Range(least=1, most=MAX_CROWD_SIZE)] = 100
    seed: Annotated[int, Range(least=0, most=2**31)] = 1
    vertices: Annotated[int, Range(least=300, most=100_000)] = 2500


@dataclass(frozen=True)
class CrowdLook(Request):
    """All look at a point of the world, metres; None lets them look ahead."""

    kind: ClassVar[str] = "crowdLook"
    point: tuple[float, float, float] | None


@dataclass(frozen=True)
class EndCrowd(Request):
    """The crowd goes."""

    kind: ClassVar[str] = "endCrowd"


@dataclass(frozen=True)
class CrowdStats(Event):
    """Once a second: what the crowd costs."""

    kind: ClassVar[str] = "crowdStats"
    count: int
    fps: float  # frames made in the last second
    ms: float  # processor time of one of them
    share: float  # of a core
    bytes: int  # of one frame

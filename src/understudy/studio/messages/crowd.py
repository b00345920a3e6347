"""The messages of the crowd mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from understudy.studio.messages.message import Event, Range, Request

MAX_CROWD_SIZE = 400


@dataclass(frozen=True)
class CrowdStarted:
    """Where the page fetches the description (`address`, then `/texture/N` below it), and the size of the crowd."""

    address: str
    count: int
    vertices: int  # of one character
    low: tuple[float, ...]  # corners of the bounding box of the crowd, metres
    high: tuple[float, ...]


@dataclass(frozen=True)
class StartCrowd(Request):
    """Put many characters of a model on stage; a second request resizes the same crowd.

    Another seed gives other performances. `vertices` is the number of vertices of each character.
    """

    kind: ClassVar[str] = "crowd"
    result: ClassVar[Any] = CrowdStarted
    model: Annotated[str, Range(longest=64)]
    count: Annotated[int, Range(least=1, most=MAX_CROWD_SIZE)] = 100
    seed: Annotated[int, Range(least=0, most=2**31)] = 1
    vertices: Annotated[int, Range(least=300, most=100_000)] = 2500


@dataclass(frozen=True)
class CrowdLook(Request):
    """All characters look at a point of the world, metres; None is straight ahead."""

    kind: ClassVar[str] = "crowdLook"
    point: tuple[float, float, float] | None


@dataclass(frozen=True)
class EndCrowd(Request):
    """Remove the crowd."""

    kind: ClassVar[str] = "endCrowd"


@dataclass(frozen=True)
class CrowdStats(Event):
    """The cost of the crowd, once a second."""

    kind: ClassVar[str] = "crowdStats"
    count: int
    fps: float  # frames made in the last second
    ms: float  # processor time of one frame, milliseconds
    share: float  # of a core
    bytes: int  # of one frame

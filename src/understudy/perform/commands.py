"""Commands of a performer: move, idle, transition, play, mix, look.

A command is plain data, checked once when it is made: it needs no model, so a script can be read before one is loaded.
Times are seconds. A pose is written `"name"` (a pose of the model's library) or `"clip@seconds"` (a moment of a clip).
Every command may set liveliness and stillness; None keeps the present value.

Reference: [Bailey 2016, section 5.3] has MOVE, IDLE, TRANSITION and PLAY SEGMENT. `Mix`, `LookAt`, liveliness and
stillness are ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from understudy.errors import InvalidInput

PATH_KINDS = ("graph", "straight")

# Targets of `LookAt` by name. Any other name is that of a point that the performer's layers know.
CAMERA, FORWARD = "camera", "forward"

# 1 is as lively as the clips; at 0 there is no random force, and the particle follows its path alone. Four times the
# clips' own energy is already a fidget; beyond it the particle leaves the training poses.
MAX_LIVELINESS = 4.0


@dataclass(frozen=True)
class ClipTime:
    """A moment of a clip: seconds from its first frame."""

    clip: str
    seconds: float


def clip_time(pose: str) -> ClipTime | None:
    """The moment that `"clip@seconds"` means; None where the text is a pose's name.

    The last `@` counts and must be followed by a number, so a name may hold an `@` of its own (`"idle@home"`).
    """
    clip, mark, text = pose.rpartition("@")
    if not mark or not clip:
        return None
    try:
        seconds = float(text)
    except ValueError:
        return None
    return ClipTime(clip, seconds) if math.isfinite(seconds) else None


@dataclass(frozen=True, kw_only=True)
class Command:
    """Base of every command.

    `liveliness` scales the random force (0 none, 1 as the clips). `stillness` calms the held pose (0 not, 1 holds
    still).
    """

    word: ClassVar[str] = ""

    liveliness: float | None = None
    stillness: float | None = None

    def __post_init__(self) -> None:
        self._number("liveliness", 0.0, MAX_LIVELINESS)
        self._number("stillness", 0.0, 1.0)
        self._check()

    def _check(self) -> None:
        """Raise where a field of this command has no meaning."""

    def _number(self, field: str, least: float, most: float = math.inf, above: bool = False) -> None:
        """Field `field` becomes a finite float in [least, most], or (least, most] with `above`; None stays None."""
        given = getattr(self, field)
        if given is None:
            return
        value = float(given) if isinstance(given, (int, float)) and not isinstance(given, bool) else math.nan
        if not math.isfinite(value) or not least <= value <= most or (above and value == least):
            if math.isfinite(most):
                expected = f"a number from {least:g} to {most:g}"
            else:
                expected = f"a number {'above' if above else 'of at least'} {least:g}"
            raise InvalidInput(f"{field} should be {expected}, but is {given!r}")
        object.__setattr__(self, field, value)

    def _name(self, field: str, optional: bool = True) -> None:
        given = getattr(self, field)
        if given is None and optional:
            return
        if not isinstance(given, str) or not given.strip():
            raise InvalidInput(f"{field} should be a name, but is {given!r}")

    def _pose(self, field: str, optional: bool = False) -> None:
        self._name(field, optional)
        given = getattr(self, field)
        if given is not None:
            _check_pose(given, field)

    def _names(self, field: str) -> tuple[str, ...]:
        """Field `field` becomes a tuple of names: one name alone is taken as a list of one."""
        given: Any = getattr(self, field)
        listed = (given,) if isinstance(given, str) else given
        if not isinstance(listed, Iterable):
            raise InvalidInput(f"{field} should be a list of names, but is {given!r}")
        names = tuple(listed)
        for name in names:
            if not isinstance(name, str) or not name.strip():
                raise InvalidInput(f"{field} should be a list of names, but holds {name!r}")
        object.__setattr__(self, field, names)
        return names


@dataclass(frozen=True)
class GoTo(Command):
    """MOVE: go to `pose` within one label. `label` None keeps the label; `seconds` None keeps the clips' own pace."""

    word: ClassVar[str] = "move"

    pose: str
    label: str | None = None
    seconds: float | None = None
    path: str = "graph"

    def _check(self) -> None:
        self._pose("pose")
        self._name("label")
        self._number("seconds", 0.0, above=True)
        if self.path not in PATH_KINDS:
            raise InvalidInput(f"path should be 'graph' or 'straight', but is {self.path!r}")


@dataclass(frozen=True)
class Idle(Command):
    """IDLE: stay near one pose, or wander between several, resting about `hover` seconds near each.

    No poses: near the pose that is held now. `radius` is how far the particle may stray, in units of the latent
    space; None takes the label's own. `seconds` None idles until the next command.
    """

    word: ClassVar[str] = "idle"

    poses: tuple[str, ...] = ()
    label: str | None = None
    seconds: float | None = None
    hover: float = 2.0
    radius: float | None = None

    def _check(self) -> None:
        for pose in self._names("poses"):
            _check_pose(pose, "poses")
        self._name("label")
        self._number("seconds", 0.0, above=True)
        if self.hover is None:
            raise InvalidInput("hover should be a number of at least 0, but is None")
        self._number("hover", 0.0)
        self._number("radius", 0.0)


@dataclass(frozen=True)
class Transition(Command):
    """TRANSITION: change to `label`, and there to `pose` (None: where the bridge arrives)."""

    word: ClassVar[str] = "transition"

    label: str
    pose: str | None = None
    seconds: float | None = None

    def _check(self) -> None:
        self._name("label", optional=False)
        self._pose("pose", optional=True)
        self._number("seconds", 0.0, above=True)


@dataclass(frozen=True)
class PlayClip(Command):
    """PLAY SEGMENT: a clip as it was made, from `start` to `stop` seconds (None: its first and its last frame)."""

    word: ClassVar[str] = "play"

    clip: str
    start: float | None = None
    stop: float | None = None

    def _check(self) -> None:
        self._name("clip", optional=False)
        self._number("start", 0.0)
        self._number("stop", 0.0)
        if self.stop is not None and self.stop <= (self.start or 0.0):
            raise InvalidInput(f"stop should be after start, but stop is {self.stop:g} and start {self.start or 0.0:g}")


@dataclass(frozen=True)
class Mix(Command):
    """MIX: two labels at once. `weight` 0 is all the first, 1 all the second; `poses` none, or one for each label."""

    word: ClassVar[str] = "mix"

    labels: tuple[str, str]
    weight: float
    poses: tuple[str, ...] = ()
    seconds: float | None = None

    def _check(self) -> None:
        labels = self._names("labels")
        if len(labels) != 2 or labels[0] == labels[1]:
            raise InvalidInput(f"labels should be two different labels to mix, but is {list(labels)}")
        if self.weight is None:
            raise InvalidInput("weight should be a number from 0 to 1, but is None")
        self._number("weight", 0.0, 1.0)
        poses = self._names("poses")
        for pose in poses:
            _check_pose(pose, "poses")
        if len(poses) not in (0, 2):
            raise InvalidInput(f"poses should be none or two, one for each label, but there are {len(poses)}")
        self._number("seconds", 0.0, above=True)


@dataclass(frozen=True)
class LookAt(Command):
    """LOOK: look at a point (x, y, z) in metres of the world, at the `"camera"`, `"forward"`, or at a point by name.

    It runs beside the other commands. `seconds` None looks there until the next look.
    """

    word: ClassVar[str] = "look"

    at: str | tuple[float, float, float]
    seconds: float | None = None

    def _check(self) -> None:
        at: Any = self.at
        if isinstance(at, str):
            if not at.strip():
                raise InvalidInput("at should be a place (x, y, z) or a name, but is empty")
        else:
            object.__setattr__(self, "at", _place(at))
        self._number("seconds", 0.0, above=True)


COMMAND_KINDS: dict[str, type[Command]] = {kind.word: kind for kind in (GoTo, Idle, Transition, PlayClip, Mix, LookAt)}


def _check_pose(pose: str, field: str) -> None:
    moment = clip_time(pose)
    if moment is not None and moment.seconds < 0:
        raise InvalidInput(f"{field} {pose!r} should name a moment of at least 0 s, but has {moment.seconds:g} s")


def _place(at: Any) -> tuple[float, float, float]:
    try:
        x, y, z = (float(value) for value in at)
    except (TypeError, ValueError):
        raise InvalidInput(f"at should be a place (x, y, z) in metres or a name, but is {at!r}") from None
    if not all(math.isfinite(value) for value in (x, y, z)):
        raise InvalidInput(f"at should be a place of finite numbers, but is {at!r}")
    return x, y, z

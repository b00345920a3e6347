"""Commands of a performer: move, idle, transition, play, mix, look, go, turn.

A command is plain data, checked once when it is made: it needs no model, so a script can be read before one is loaded.
Times are seconds. A pose is written `"name"` (a pose of the model's library) or `"clip@seconds"` (a moment of a clip).
Every command may set liveliness and stillness; None keeps the present value.

What a label does depends on its behaviour (`behaviours`): a cycle goes on, an act plays once and returns, a pose is
held, and the label of a face is a space to hover in.

Reference: [Bailey 2016, section 5.3] has MOVE, IDLE, TRANSITION and PLAY SEGMENT. `Mix`, `LookAt`, `Go`, `TurnTo`,
masks, urgency, liveliness and stillness are ours.
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

# Urgency of a change: 0 is calm, 1 at once. In between the blend has the time of a usual change of mood.
DEFAULT_URGENCY = 0.5
# Limits of the speed at which a clip is played, over its own.
MIN_SPEED, MAX_SPEED = 0.05, 20.0

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
    """Base of every command: the two live settings.

    Args:
        liveliness: Scale of the random force, 0 (none) to 4; 1 is as lively as the clips. None leaves it as it is.
        stillness: How calm a held pose is, 0 (as it is) to 1 (it holds still). None leaves it as it is.
    """

    word: ClassVar[str] = ""

    liveliness: float | None = None
    stillness: float | None = None

    def __post_init__(self) -> None:
        self._number("liveliness", 0.0, MAX_LIVELINESS)
        self._number("stillness", 0.0, 1.0)
        self._check()

    @property
    def is_endless(self) -> bool:
        """Whether it goes on until the next command."""
        return False

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

    def _required(self, field: str, least: float, most: float) -> None:
        """`_number` of a field that may not be None."""
        if getattr(self, field) is None:
            raise InvalidInput(f"{field} should be a number from {least:g} to {most:g}, but is None")
        self._number(field, least, most)

    def _mask(self) -> None:
        """Field `mask` becomes a tuple of names, or stays None."""
        if getattr(self, "mask", None) is not None and not self._names("mask"):
            raise InvalidInput("mask should name at least one joint, but is empty")

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
    """Command: go to a pose within one label.

    Args:
        pose: The pose: `"name"` of the model's library, or `"clip@seconds"`, a moment of a clip.
        label: The label to go to it in; None keeps the label.
        seconds: Duration, in seconds; None takes the pace of the clips.
        path: `"graph"` follows the poses of the clips, `"straight"` goes there directly.
        liveliness: Scale of the random force, 0 (none) to 4; 1 is as lively as the clips. None leaves it as it is.
        stillness: How calm a held pose is, 0 (as it is) to 1 (it holds still). None leaves it as it is.

    Raises:
        InvalidInput: If a field has no meaning, as a negative duration.

    Example:
        >>> us.GoTo("happy@2.0", seconds=1.5).seconds
        1.5

    Notes:
        MOVE of [Bailey 2016, section 5.3].
    """

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
    """Command: stay near one pose, or wander between several.

    Args:
        poses: The poses, as in `GoTo`; none: near the pose that is held now.
        label: The label of the poses; None keeps the label.
        seconds: Duration, in seconds; None idles until the next command.
        hover: Mean rest near each of several poses, in seconds.
        radius: How far to stray from a pose, in units of the latent space; None takes the label's own.
        liveliness: Scale of the random force, 0 (none) to 4; 1 is as lively as the clips. None leaves it as it is.
        stillness: How calm a held pose is, 0 (as it is) to 1 (it holds still). None leaves it as it is.

    Raises:
        InvalidInput: If a field has no meaning, as a negative duration.

    Example:
        >>> us.Idle(["happy@1.0", "happy@2.0"], seconds=4, hover=1).poses
        ('happy@1.0', 'happy@2.0')

    Notes:
        IDLE of [Bailey 2016, section 5.3].
    """

    word: ClassVar[str] = "idle"

    poses: tuple[str, ...] = ()
    label: str | None = None
    seconds: float | None = None
    hover: float = 2.0
    radius: float | None = None

    @property
    def is_endless(self) -> bool:
        """Whether it has no duration."""
        return self.seconds is None

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
    """Command: change to another label. A cycle goes on, an act plays once and returns, a pose is held.

    Args:
        label: The label to change to.
        pose: A pose to hold there, as in `GoTo`; None: what the label does.
        seconds: Duration of the change, in seconds; None chooses it by the two motions and the urgency.
        urgency: How soon the label must show, 0 (calm) to 1 (at once).
        mask: Joints that change, each with all that hangs on it, or `"upper"` for everything above the legs; the rest
            of the body goes on. None: the whole body.
        liveliness: Scale of the random force, 0 (none) to 4; 1 is as lively as the clips. None leaves it as it is.
        stillness: How calm a held pose is, 0 (as it is) to 1 (it holds still). None leaves it as it is.

    Raises:
        InvalidInput: If a field has no meaning, as a negative duration.

    Example:
        >>> us.Transition("sad", urgency=1).label
        'sad'

    Notes:
        TRANSITION of [Bailey 2016, section 5.3].
    """

    word: ClassVar[str] = "transition"

    label: str
    pose: str | None = None
    seconds: float | None = None
    urgency: float = DEFAULT_URGENCY
    mask: tuple[str, ...] | None = None

    def _check(self) -> None:
        self._name("label", optional=False)
        self._pose("pose", optional=True)
        self._number("seconds", 0.0, above=True)
        self._required("urgency", 0.0, 1.0)
        self._mask()


@dataclass(frozen=True)
class PlayClip(Command):
    """Command: play a piece of a clip as it was made, then return to the motion before it.

    Args:
        clip: Name of the clip.
        start: First moment, in seconds from the first frame of the clip; None: its beginning.
        stop: Last moment, in seconds; None: its end.
        loop: Whether to play it again and again.
        speed: Playing speed, 1 as it was made.
        seconds: Duration of a loop, in seconds; None: until the next command.
        urgency: How soon the clip must begin, 0 (calm) to 1 (at once).
        mask: Joints that play it, each with all that hangs on it, or `"upper"` for everything above the legs; the rest
            of the body goes on. None: the whole body.
        liveliness: Scale of the random force, 0 (none) to 4; 1 is as lively as the clips. None leaves it as it is.
        stillness: How calm a held pose is, 0 (as it is) to 1 (it holds still). None leaves it as it is.

    Raises:
        InvalidInput: If `stop` is not after `start`, or a number is out of its range.

    Example:
        >>> us.PlayClip("hop", 3, 5).stop
        5.0

    Notes:
        PLAY SEGMENT of [Bailey 2016, section 5.3].
    """

    word: ClassVar[str] = "play"

    clip: str
    start: float | None = None
    stop: float | None = None
    loop: bool = False
    speed: float = 1.0
    seconds: float | None = None
    urgency: float = DEFAULT_URGENCY
    mask: tuple[str, ...] | None = None

    @property
    def is_endless(self) -> bool:
        """Whether it is a loop without a duration."""
        return self.loop and self.seconds is None

    def _check(self) -> None:
        self._name("clip", optional=False)
        self._number("start", 0.0)
        self._number("stop", 0.0)
        if not isinstance(self.loop, bool):
            raise InvalidInput(f"loop should be true or false, but is {self.loop!r}")
        self._required("speed", MIN_SPEED, MAX_SPEED)
        self._number("seconds", 0.0, above=True)
        if self.seconds is not None and not self.loop:
            raise InvalidInput("seconds is the duration of a loop; give loop = true, or `stop` for a piece of the clip")
        self._required("urgency", 0.0, 1.0)
        self._mask()
        if self.stop is not None and self.stop <= (self.start or 0.0):
            raise InvalidInput(f"stop should be after start, but stop is {self.stop:g} and start {self.start or 0.0:g}")


@dataclass(frozen=True)
class Mix(Command):
    """Command: act several labels at once. Cycles are mixed at equal phase.

    Args:
        labels: Two labels or more.
        weight: Share of the second of two labels: 0 is all the first, 1 all the second. Of more labels the shares of
            all, in their order; they are divided by their sum.
        poses: A pose of each label, as in `GoTo`; none: what each of them does.
        seconds: Duration, in seconds; None until the next command.
        liveliness: Scale of the random force, 0 (none) to 4; 1 is as lively as the clips. None leaves it as it is.
        stillness: How calm a held pose is, 0 (as it is) to 1 (it holds still). None leaves it as it is.

    Raises:
        InvalidInput: If there are not two or more different labels, or a number is out of its range.

    Example:
        >>> us.Mix(("happy", "sad"), 0.3, seconds=2).shares
        (0.7, 0.3)
        >>> us.Mix(("happy", "sad", "hop"), (2, 1, 1)).shares
        (0.5, 0.25, 0.25)
    """

    word: ClassVar[str] = "mix"

    labels: tuple[str, ...]
    weight: float | tuple[float, ...]
    poses: tuple[str, ...] = ()
    seconds: float | None = None

    @property
    def is_endless(self) -> bool:
        """Whether it has no duration."""
        return self.seconds is None

    def _check(self) -> None:
        labels = self._names("labels")
        if len(labels) < 2 or len(set(labels)) != len(labels):
            raise InvalidInput(f"labels should be two different labels to mix, or more, but is {list(labels)}")
        if len(labels) == 2 and not isinstance(self.weight, Iterable):
            self._required("weight", 0.0, 1.0)
        else:
            object.__setattr__(self, "weight", self._weights(len(labels)))
        poses = self._names("poses")
        for pose in poses:
            _check_pose(pose, "poses")
        if len(poses) not in (0, len(labels)):
            raise InvalidInput(f"poses should be none or {len(labels)}, one for each label, but there are {len(poses)}")
        self._number("seconds", 0.0, above=True)

    def _weights(self, count: int) -> tuple[float, ...]:
        given: Any = self.weight
        values = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
        good = all(isinstance(x, (int, float)) and not isinstance(x, bool) and 0 <= x < math.inf for x in values)
        if len(values) != count or not good or sum(values) <= 0:
            raise InvalidInput(
                f"weight should be {count} numbers of at least 0, one for each label, but is {self.weight!r}"
            )
        return tuple(map(float, values))

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of each label; their sum is 1."""
        if isinstance(self.weight, tuple):
            return tuple(value / sum(self.weight) for value in self.weight)
        return 1.0 - self.weight, self.weight


@dataclass(frozen=True)
class LookAt(Command):
    """Command: turn the gaze; it runs beside the other commands.

    Args:
        at: Position (3,) in metres in the world, `"camera"`, `"forward"`, or the name of a point of the script.
        seconds: Duration, in seconds; None until the next `LookAt`.
        liveliness: Scale of the random force, 0 (none) to 4; 1 is as lively as the clips. None leaves it as it is.
        stillness: How calm a held pose is, 0 (as it is) to 1 (it holds still). None leaves it as it is.

    Raises:
        InvalidInput: If `at` is neither a finite position nor a name.

    Example:
        >>> us.LookAt((0, 1, 2), seconds=1.5).at
        (0.0, 1.0, 2.0)
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


@dataclass(frozen=True)
class Go(Command):
    """Command: walk or run over the ground, on the gaits of the clips; a speed of 0 stops and stands.

    Args:
        speed: Metres a second, at most 1.3 times that of the fastest gait.
        heading: Direction in the world in degrees about +Y: 0 goes along +Z, 90 along +X. None keeps the direction.
        seconds: Duration, in seconds; None until the next command.
        liveliness: Scale of the random force, 0 (none) to 4; 1 is as lively as the clips. None leaves it as it is.
        stillness: How calm a held pose is, 0 (as it is) to 1 (it holds still). None leaves it as it is.

    Raises:
        InvalidInput: If the speed is negative, or a number is not finite.

    Example:
        >>> us.Go(1.4, heading=90, seconds=3).speed
        1.4
    """

    word: ClassVar[str] = "go"

    speed: float
    heading: float | None = None
    seconds: float | None = None

    @property
    def is_endless(self) -> bool:
        """Whether it has no duration."""
        return self.seconds is None

    def _check(self) -> None:
        if self.speed is None:
            raise InvalidInput("speed should be a number of at least 0, but is None")
        self._number("speed", 0.0)
        self._number("heading", -math.inf)
        self._number("seconds", 0.0, above=True)


@dataclass(frozen=True)
class TurnTo(Command):
    """Command: turn on the spot, or in the course of a walk, until a direction or a point is ahead.

    Args:
        heading: Direction in the world in degrees about +Y: 0 faces +Z, 90 faces +X.
        point: Position (3,) in metres in the world to face, instead of a heading.
        seconds: Duration, in seconds; None as long as the turn takes.
        liveliness: Scale of the random force, 0 (none) to 4; 1 is as lively as the clips. None leaves it as it is.
        stillness: How calm a held pose is, 0 (as it is) to 1 (it holds still). None leaves it as it is.

    Raises:
        InvalidInput: If there is neither a heading nor a point, or both.

    Example:
        >>> us.TurnTo(point=(2, 0, 1)).point
        (2.0, 0.0, 1.0)
    """

    word: ClassVar[str] = "turn"

    heading: float | None = None
    point: tuple[float, float, float] | None = None
    seconds: float | None = None

    def _check(self) -> None:
        if (self.heading is None) == (self.point is None):
            raise InvalidInput("a turn should have either a heading or a point, but has both or neither")
        self._number("heading", -math.inf)
        if self.point is not None:
            object.__setattr__(self, "point", _place(self.point, "point"))
        self._number("seconds", 0.0, above=True)


COMMAND_KINDS: dict[str, type[Command]] = {
    kind.word: kind for kind in (GoTo, Idle, Transition, PlayClip, Mix, LookAt, Go, TurnTo)
}


def _check_pose(pose: str, field: str) -> None:
    moment = clip_time(pose)
    if moment is not None and moment.seconds < 0:
        raise InvalidInput(f"{field} {pose!r} should name a moment of at least 0 s, but has {moment.seconds:g} s")


def _place(at: Any, field: str = "at") -> tuple[float, float, float]:
    try:
        x, y, z = (float(value) for value in at)
    except (TypeError, ValueError):
        raise InvalidInput(f"{field} should be a place (x, y, z) in metres or a name, but is {at!r}") from None
    if not all(math.isfinite(value) for value in (x, y, z)):
        raise InvalidInput(f"{field} should be a place of finite numbers, but is {at!r}")
    return x, y, z

"""A script against what a model can do: each label, pose and clip that it names exists, each moment lies in its clip.

All of it is checked before the first frame, so a long performance does not fail in its last minute.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from understudy.errors import BadFile, nearest
from understudy.live.commands import ClipTime, Command, Play, clip_time
from understudy.live.script_steps import OneOf, Script, Step

if TYPE_CHECKING:
    from understudy.posespace.model import Model

Name = TypeVar("Name", bound=str | None)

SLACK = 1e-3  # seconds: a moment read off a timeline, "2.417" for frame 58 of 24 a second, is rounded
MOST_LISTED = 12


@dataclass(frozen=True)
class Repertoire:
    """What can be named: labels, poses, and clips with their seconds from the first frame to the last."""

    labels: tuple[str, ...]
    poses: tuple[str, ...]
    clips: Mapping[str, float]

    @classmethod
    def of(cls, model: Model) -> Repertoire:
        """That of a model."""
        clips = {s.clip: (len(s) - 1) / space.rate for space in model.spaces.values() for s in space.segments}
        return cls(tuple(model.spaces), tuple(model.poses), clips)


def checked(script: Script, model: Model | Repertoire) -> Script:
    """The script with names as the model writes them; `BadFile` for the first that it lacks."""
    known = model if isinstance(model, Repertoire) else Repertoire.of(model)

    def step(each: Step) -> Step:
        if isinstance(each.action, OneOf):
            return each
        return replace(each, action=_Checker(script.path, each.place, known).command(each.action))

    top = _Checker(script.path, "", known)
    result = replace(script, label=top.label(script.label), pose=top.pose(script.pose))
    sets = {
        name: tuple(replace(variant, steps=tuple(map(step, variant.steps))) for variant in variants)
        for name, variants in script.sets.items()
    }
    return result.with_steps(tuple(map(step, script.steps)), sets)


@dataclass(frozen=True)
class _Checker:
    """Names at one place of a script."""

    path: str
    place: str
    known: Repertoire

    def fail(self, reason: str) -> NoReturn:
        raise BadFile(self.path, reason, self.place)

    def command(self, command: Command) -> Command:
        """The command with its names as the model writes them."""
        change: dict[str, Any] = {}
        fields: dict[str, Callable[[Any], Any]] = {
            "label": self.label,
            "labels": lambda names: tuple(map(self.label, names)),
            "pose": self.pose,
            "poses": lambda names: tuple(map(self.pose, names)),
            "clip": self.clip,
        }
        for field, check in fields.items():
            given = getattr(command, field, None)
            if given is not None:
                change[field] = check(given)
        result = replace(command, **change)
        if isinstance(result, Play):
            for field in ("start", "stop"):
                seconds = getattr(result, field)
                if seconds is not None:
                    change[field] = self.within(result.clip, seconds, field)
            result = replace(command, **change)
        return result

    def label(self, name: Name) -> Name:
        if name is not None and name not in self.known.labels:
            self.fail(f"there is no label {name!r} in the model{_nearest(name, self.known.labels)}")
        return name

    def clip(self, name: str) -> str:
        if name in self.known.clips:
            return name
        ends = [clip for clip in self.known.clips if clip.rpartition("|")[2] == name]
        if len(ends) == 1:
            return ends[0]
        self.fail(f"there is no clip {name!r} in the model{_nearest(name, self.known.clips)}")

    def pose(self, name: Name) -> Name:
        """A name of the library, or a moment whose clip exists and reaches so far."""
        if name is None or name in self.known.poses:
            return name
        moment = clip_time(name)
        if moment is None:
            poses = self.known.poses
            hint = _nearest(name, poses) if poses else "; it has no named poses"
            if name in self.known.clips:
                hint = f'; it is a clip, of which a moment would be "{name}@{self.known.clips[name] / 2:.2g}"'
            self.fail(f"there is no pose {name!r} in the model{hint}")
        clip = self.clip(moment.clip)
        seconds = self.within(clip, moment.seconds, f"pose {name!r}")
        return _written(ClipTime(clip, seconds), name)

    def within(self, clip: str, seconds: float, what: str) -> float:
        """The moment itself; the last frame where rounding has put it just behind."""
        length = self.known.clips[clip]
        if seconds > length + SLACK:
            self.fail(f"{what} should lie in clip {clip!r}, which is {length:.3f} s long, but is at {seconds:g} s")
        return min(seconds, length)


def _written(moment: ClipTime, name: Any) -> Any:
    """The moment as text; as it was given where nothing had to change."""
    return name if clip_time(name) == moment else f"{moment.clip}@{moment.seconds!r}"


def _nearest(name: str, known: Collection[str]) -> str:
    shown = sorted(known)
    more = f" and {len(shown) - MOST_LISTED} more" if len(shown) > MOST_LISTED else ""
    return f"{nearest(name, known)}; it has {', '.join(map(repr, shown[:MOST_LISTED])) or 'none'}{more}"

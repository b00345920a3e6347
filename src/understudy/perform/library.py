"""The training data of a pose model: clips of one character under labels, laid over its rig and brought to one rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property

import numpy as np

from understudy import checks
from understudy.character import Asset, Character, Clip, Curves
from understudy.character.rig import PosedRig, rig_of
from understudy.checks import Array
from understudy.errors import InvalidInput, join_names
from understudy.maths import quaternion, resample
from understudy.perform.behaviours import IGNORE, POSE, Behaviour, BehaviourRule, find_behaviours
from understudy.perform.features.encoder import check_excluded
from understudy.perform.features.root_motion import RootJoint, find_root

MAX_DEFAULT_RATE = 30.0  # frames a second without an explicit rate: more frames cost time and add no poses
# The first frame is an inserted pose if its joints turn, on average and counted up to a radian each, this many times
# further than in any other step. Inserted T-poses of 24 CMU files were 4 to 30 times as far; one flipping joint is not.
INSERTED_STEP_RATIO = 3.0
MIN_CLIP_FRAMES = 10  # frames of a clip that tell its usual step
MAX_ROW_BYTES = 1 << 30  # of all rows: 180,000 frames of 742 controls, two hours

Animation = Clip | Curves


@dataclass(frozen=True, eq=False)
class TrainingClip:
    """One clip under one label: rows (F, C) of the rig at `rate`, the first at `begin` seconds of the clip."""

    clip: str
    label: str
    rows: Array
    rate: float
    begin: float = 0.0

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"TrainingClip({self.clip!r}, {self.label!r}, {len(self)} frames at {self.rate:g} fps)"

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (len(self) - 1) / self.rate


@dataclass(frozen=True)
class LabelledClip:
    """An animation under a label, and its name in the library."""

    label: str
    name: str
    animation: Animation


@dataclass(frozen=True, eq=False)
class ClipLibrary:
    """One character, its rig, and training clips of it at one rate.

    `behaviours` say what each clip does; clips without motion are among the poses and not among the takes. `poses` are
    rows (C,) by name; `excluded_columns` are patterns of channels that are not learned (`eyes.*`); `source` is the file
    of the clips and `origin` that of the character; `notes` has a line for everything changed or left out.
    """

    character: Character
    rig: PosedRig
    takes: tuple[TrainingClip, ...]
    rate: float
    poses: Mapping[str, Array] = field(default_factory=dict)
    excluded_columns: tuple[str, ...] = ()
    source: str = ""
    notes: tuple[str, ...] = ()
    origin: str = ""
    behaviours: Mapping[str, Behaviour] = field(default_factory=dict)  # by clip

    @classmethod
    def from_asset(
        cls,
        asset: Asset,
        rate: float | None = None,
        labels: Mapping[str, Sequence[str]] | None = None,
        apart: Collection[str] = (),
        poses: Mapping[str, Array] | None = None,
        source: str = "",
        character: str | None = None,
    ) -> ClipLibrary:
        """The library of all clips of one file.

        `labels` gives clip names, or patterns such as `happy_*`, for each label; without it the clips' own labels hold,
        and a clip that has none is a label of its own. `rate` is frames a second; without it that of most clips, at
        most 30. Clips without motion become poses; clips that cannot be used are left out with a note. `apart` are
        patterns of channels that are not learned.
        """
        if not asset.characters:
            raise InvalidInput(f"{source or 'this'} has no character; a library file can give one to its clips")
        rig = rig_of(asset.character(character))
        notes: list[str] = []
        if not asset.animations:
            raise InvalidInput(f"{source or 'this'} has no clips, but learning needs at least one")
        if labels is None:
            entries = entries_by_own_label(asset, rig, notes)
        else:
            entries = [
                LabelledClip(label, animation.name, animation)
                for label, names in labels.items()
                for animation in _select_animations(asset, label, names)
            ]
        return build_library(rig, entries, rate, apart, poses, source, notes)

    def __repr__(self) -> str:
        frames = sum(map(len, self.takes))
        return f"ClipLibrary({self.character.name!r}, {len(self.labels)} labels, {frames} frames at {self.rate:g} fps)"

    @property
    def labels(self) -> tuple[str, ...]:
        """In the order of their first clips."""
        return tuple(dict.fromkeys(take.label for take in self.takes))

    def of_label(self, label: str) -> tuple[TrainingClip, ...]:
        """The clips of a label; `InvalidInput` lists the known labels."""
        checks.one_of(label, "label", self.labels)
        return tuple(take for take in self.takes if take.label == label)

    @cached_property
    def root(self) -> RootJoint | None:
        """The joint that carries the character over the ground, None where no clip leaves its place."""
        rows = [take.rows for take in self.takes]
        return find_root(self.character.skeleton, self.rig.channels, rows, self.rig.rest)


def build_library(
    rig: PosedRig,
    entries: Sequence[LabelledClip],
    rate: float | None,
    apart: Collection[str],
    poses: Mapping[str, Array] | None,
    source: str,
    notes: list[str],
    rules: Mapping[str, BehaviourRule] | None = None,
) -> ClipLibrary:
    """The library of chosen animations; `rules` tell what clips do, by name.

    A clip that cannot be used is left out, and one without motion is a pose; `InvalidInput` if no clip is left.
    """
    width = rig.channels.width
    check_excluded(rig.channels, apart)
    known = {str(name): checks.array(row, f"pose {name!r}", (width,)) for name, row in (poses or {}).items()}
    rules = rules or {}
    entries = [entry for entry in entries if rules.get(entry.name, BehaviourRule()).kind != IGNORE]
    animations = {entry.name: entry.animation for entry in entries}
    rate = common_rate(animations.values()) if rate is None else checks.positive(rate, "rate")
    times = {name: times_of(animation, rate) for name, animation in animations.items()}
    _check_size(sum(map(len, times.values())), width)
    rows, refused = _rows_by_name(rig, animations, times)
    labels = {entry.name: entry.label for entry in reversed(entries)}
    behaviours = find_behaviours(rig, rows, labels, rate, rules)
    still = [name for name, behaviour in behaviours.items() if behaviour.kind == POSE]
    takes = tuple(
        TrainingClip(entry.name, entry.label, rows[entry.name], rate, float(times[entry.name][0]))
        for entry in entries
        if entry.name in rows and entry.name not in still
    )
    if not takes:
        reason = f": {join_names(still)} stand{'s' * (len(still) == 1)} still" if still else ""
        reason = f": {next(iter(refused.values()))}" if refused and not still else reason
        raise InvalidInput(f"{source or 'a library'} should have a clip that moves, but has none{reason}")
    moving = {take.label for take in takes}
    for name in still:
        known.setdefault(labels[name] if labels[name] not in moving else name, rows[name][0])
    animations = {name: animation for name, animation in animations.items() if name in rows}
    notes = [*notes, *refused.values(), *_notes(rig, animations, rate, still)]
    return ClipLibrary(rig.character, rig, takes, rate, known, tuple(apart), source, tuple(notes), source, behaviours)


def _rows_by_name(
    rig: PosedRig, animations: Mapping[str, Animation], times: Mapping[str, Array]
) -> tuple[dict[str, Array], dict[str, str]]:
    """Rows (F, C) of each animation that can be used, and a note for each that cannot."""
    rows, refused = {}, {}
    for name, animation in animations.items():
        try:
            rows[name] = rows_of(rig, animation, times[name], name)
        except InvalidInput as error:
            refused[name] = f"clip {name!r} was left out: {error}"
    return rows, refused


def entries_by_own_label(asset: Asset, rig: PosedRig, notes: list[str]) -> list[LabelledClip]:
    """Entries of every animation that moves the character, under its own labels or its own name."""
    animations = [animation for animation in asset.animations if rig.is_moved_by(animation)]
    others = [animation.name for animation in asset.animations if animation not in animations]
    if not animations:
        rig.pose(asset.animations[0])  # raises with the reason
    if others:
        notes.append(f"clips that move nothing of {rig.character.name!r} were left out: {join_names(others)}")
    short = [animation.name.rpartition("|")[2] for animation in animations]
    names = short if len(set(short)) == len(short) and all(short) else [animation.name for animation in animations]
    return [
        LabelledClip(label, animation.name, animation)
        for animation, name in zip(animations, names)
        for label in (dict.fromkeys(animation.labels) or (name,))
    ]


def _select_animations(asset: Asset, label: str, names: Sequence[str]) -> list[Animation]:
    """The animations that names or patterns choose, each once."""
    chosen: dict[str, Animation] = {}
    for name in names:
        chosen |= {animation.name: animation for animation in match_animations(asset, name)}
    if not chosen:
        raise InvalidInput(f"label {label!r} should have at least one clip, but has none")
    return list(chosen.values())


def match_animations(asset: Asset, name: str) -> list[Animation]:
    """The animations of a name, or of a pattern such as `happy_*`; `InvalidInput` lists those that exist."""
    exact = [animation for animation in asset.animations if animation.name == name]
    if exact:
        return exact
    matching = [animation for animation in asset.animations if fnmatchcase(animation.name, name)]
    return matching or [asset.animation(name)]


def _check_size(frames: int, width: int) -> None:
    size = frames * width * 8
    if size > MAX_ROW_BYTES:
        raise InvalidInput(
            f"{frames:,} frames of {width} columns would take {size / 1e9:.1f} GB, "
            f"more than the {MAX_ROW_BYTES / 1e9:.1f} GB allowed; choose a lower rate or fewer clips"
        )


def _notes(rig: PosedRig, animations: Mapping[str, Animation], rate: float, still: Sequence[str]) -> list[str]:
    """A line for everything that was resampled, left out or unmatched."""
    notes = []
    other = {name: a.rate for name, a in animations.items() if abs(a.rate - rate) > 1e-9 and name not in still}
    if other:
        rates = ", ".join(f"{value:g}" for value in sorted(set(other.values())))
        notes.append(f"clips of {rates} frames a second were sampled at {rate:g}: {join_names(other)}")
    inserted = [name for name, animation in animations.items() if has_inserted_frame(animation)]
    if inserted:
        notes.append(f"the first frame, an inserted pose far from the rest, was left out of {join_names(inserted)}")
    if still:
        notes.append(f"clips without motion are poses, not labels: {join_names(still)}")
    for name, animation in animations.items():
        lost = rig.unmatched_channels(animation.channels)
        if lost:
            targets = join_names(channel.target for channel in lost)
            notes.append(f"clip {name!r} also moves what {rig.character.name!r} has not: {targets}")
    return notes


def common_rate(animations: Iterable[Animation]) -> float:
    """The most frequent rate, the highest of equals; at most 30."""
    counts = Counter(animation.rate for animation in animations)
    most = max(counts.values(), default=0)
    return min(
        max((rate for rate, count in counts.items() if count == most), default=MAX_DEFAULT_RATE), MAX_DEFAULT_RATE
    )


def has_inserted_frame(animation: Animation) -> bool:
    """Whether a dense clip begins with a pose that is not part of the motion, such as the T-pose of CMU files."""
    if isinstance(animation, Curves) or len(animation) < MIN_CLIP_FRAMES:
        return False
    columns = animation.channels.columns_of("rotation").reshape(-1, 4)
    if not len(columns):
        return False
    rotations = animation.values[:, columns]
    steps = np.minimum(quaternion.angle_between(rotations[1:], rotations[:-1]), 1.0).mean(axis=1)
    return bool(steps[0] > INSERTED_STEP_RATIO * steps[1:].max())


def times_of(animation: Animation, rate: float) -> Array:
    """(F,) seconds of the frames of a training clip, in the animation's time; without an inserted first frame."""
    start = animation.start + (1 / animation.rate if has_inserted_frame(animation) else 0.0)
    if rate == animation.rate and isinstance(animation, Clip):
        return animation.times[1:] if start > animation.start else animation.times
    end = animation.start + animation.duration
    return resample.frame_times(start, end, rate)


def rows_of(rig: PosedRig, animation: Animation, times: Array, name: str) -> Array:
    """(F, C) frozen rows of an animation; `InvalidInput` for another character's animation, or NaN."""
    rows = rig.pose(animation, times)
    if not np.isfinite(rows).all():
        frame, column = (int(i) for i in np.argwhere(~np.isfinite(rows))[0])
        value = f"{rig.channels.names[column]} is {rows[frame, column]} at frame {frame}"
        raise InvalidInput(f"clip {name!r} should be finite, but {value}")
    columns = rig.channels.columns_of("rotation").reshape(-1, 4)
    if len(columns):  # unit length, so that logarithms lose nothing, and continuous in time
        rows[:, columns] = quaternion.unroll(quaternion.normalise(rows[:, columns]))
    return checks.freeze(rows)

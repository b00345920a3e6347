"""Library: what there is to learn from, clips of one character under labels, at one rate."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property

from understudy import checks
from understudy.character import Asset, Character, Clip, Curves
from understudy.checks import Array
from understudy.errors import InvalidInput, listed
from understudy.features.encoder import check_apart
from understudy.features.root import Root, find_root
from understudy.posespace import takes as taken
from understudy.posespace.takes import Animation, Take
from understudy.rig import PosedRig, of

LARGEST = 1 << 30  # bytes of rows: 180,000 frames of 742 controls, two hours


@dataclass(frozen=True)
class Entry:
    """An animation under a label, and the name by which the library knows it."""

    label: str
    name: str
    animation: Animation


@dataclass(frozen=True, eq=False)
class Library:
    """One character, its rig, and takes of it at one rate.

    `poses` are rows (C,) by name; `apart` are patterns of channels that are not learned (`eyes.*`); `source` says where
    it came from and `origin` where the character did; `notes` have a line for each thing that was changed or left out.
    """

    character: Character
    rig: PosedRig
    takes: tuple[Take, ...]
    rate: float
    poses: Mapping[str, Array] = field(default_factory=dict)
    apart: tuple[str, ...] = ()
    source: str = ""
    notes: tuple[str, ...] = ()
    origin: str = ""

    @classmethod
    def of(
        cls,
        asset: Asset,
        rate: float | None = None,
        labels: Mapping[str, Sequence[str]] | None = None,
        apart: Collection[str] = (),
        poses: Mapping[str, Array] | None = None,
        source: str = "",
        character: str | None = None,
    ) -> Library:
        """The library of what one file holds.

        `labels` gives clip names, or patterns such as `happy_*`, for each label; without it the clips' own labels hold,
        and a clip that has none is a label of its own. `rate` is frames a second; without it that of most clips, at
        most 30. Without `labels`, clips of one frame become poses and clips of other characters are left out.
        """
        if not asset.characters:
            raise InvalidInput(f"{source or 'this'} has no character; a library file can give one to its clips")
        rig = of(asset.character(character))
        notes: list[str] = []
        if not asset.animations:
            raise InvalidInput(f"{source or 'this'} has no clips, but learning needs at least one")
        if labels is None:
            entries = _own_labels(asset, rig, notes)
        else:
            entries = [
                Entry(label, animation.name, animation)
                for label, names in labels.items()
                for animation in _named(asset, label, names)
            ]
        return build(rig, entries, rate, apart, poses, source, notes, strict=labels is not None)

    def __repr__(self) -> str:
        frames = sum(map(len, self.takes))
        return f"Library({self.character.name!r}, {len(self.labels)} labels, {frames} frames at {self.rate:g} fps)"

    @property
    def labels(self) -> tuple[str, ...]:
        """In the order of their first takes."""
        return tuple(dict.fromkeys(take.label for take in self.takes))

    def of_label(self, label: str) -> tuple[Take, ...]:
        """The takes of a label; an unknown one is refused with the list of those known."""
        checks.one_of(label, "label", self.labels)
        return tuple(take for take in self.takes if take.label == label)

    @cached_property
    def root(self) -> Root | None:
        """The joint that carries the character over the ground, None where no take leaves its place."""
        rows = [take.rows for take in self.takes]
        return find_root(self.character.skeleton, self.rig.channels, rows, self.rig.rest)


def build(
    rig: PosedRig,
    entries: Sequence[Entry],
    rate: float | None,
    apart: Collection[str],
    poses: Mapping[str, Array] | None,
    source: str,
    notes: list[str],
    strict: bool,
) -> Library:
    """The library of chosen animations; where `strict`, a label that is left without a take is refused."""
    width = rig.channels.width
    check_apart(rig.channels, apart)
    known = {str(name): checks.array(row, f"pose {name!r}", (width,)) for name, row in (poses or {}).items()}
    animations = {entry.name: entry.animation for entry in entries}
    rate = taken.common_rate(animations.values()) if rate is None else checks.positive(rate, "rate")
    times = {name: taken.times_of(animation, rate) for name, animation in animations.items()}
    _refuse_too_large(sum(map(len, times.values())), width)
    rows = {name: taken.rows_of(rig, animation, times[name], name) for name, animation in animations.items()}
    short = [name for name in rows if len(rows[name]) < 2]
    found = tuple(
        Take(entry.name, entry.label, rows[entry.name], rate, float(times[entry.name][0]))
        for entry in entries
        if entry.name not in short
    )
    labels = dict.fromkeys(entry.label for entry in entries)
    for label in labels if strict else ():
        if all(take.label != label for take in found):
            names = listed(entry.name for entry in entries if entry.label == label)
            raise InvalidInput(f"label {label!r} should have a clip of two frames or more, but {names} has only one")
    if not found:
        of_one_frame = f", but {listed(short)} has only one" if short else ""
        raise InvalidInput(f"{source or 'a library'} should have a clip of two frames or more{of_one_frame}")
    for name in short:
        known.setdefault(name, rows[name][0])
    notes = [*notes, *_notes(rig, animations, rate, short)]
    return Library(rig.character, rig, found, rate, known, tuple(apart), source, tuple(notes), source)


def _own_labels(asset: Asset, rig: PosedRig, notes: list[str]) -> list[Entry]:
    """Entries of every animation that moves the character, under its own labels or its own name."""
    mine = [animation for animation in asset.animations if rig.is_moved_by(animation)]
    others = [animation.name for animation in asset.animations if animation not in mine]
    if not mine:
        rig.pose(asset.animations[0])  # says why it cannot
    if others:
        notes.append(f"clips that move nothing of {rig.character.name!r} were left out: {listed(others)}")
    short = [animation.name.rpartition("|")[2] for animation in mine]
    names = short if len(set(short)) == len(short) and all(short) else [animation.name for animation in mine]
    return [
        Entry(label, animation.name, animation)
        for animation, name in zip(mine, names)
        for label in (dict.fromkeys(animation.labels) or (name,))
    ]


def _named(asset: Asset, label: str, names: Sequence[str]) -> list[Animation]:
    """The animations that names or patterns choose, each once."""
    found: dict[str, Animation] = {}
    for name in names:
        chosen = matching(asset, name)
        found |= {animation.name: animation for animation in chosen}
    if not found:
        raise InvalidInput(f"label {label!r} should have at least one clip, but has none")
    return list(found.values())


def matching(asset: Asset, name: str) -> list[Animation]:
    """The animations of a name, or of a pattern such as `happy_*`; where there is none, those that exist are told."""
    exact = [animation for animation in asset.animations if animation.name == name]
    if exact:
        return exact
    found = [animation for animation in asset.animations if fnmatchcase(animation.name, name)]
    return found or [asset.animation(name)]


def _refuse_too_large(frames: int, width: int) -> None:
    size = frames * width * 8
    if size > LARGEST:
        raise InvalidInput(
            f"{frames:,} frames of {width} columns would take {size / 1e9:.1f} GB, "
            f"more than the {LARGEST / 1e9:.1f} GB allowed; choose a lower rate or fewer clips"
        )


def _notes(rig: PosedRig, animations: Mapping[str, Clip | Curves], rate: float, short: Sequence[str]) -> list[str]:
    notes = []
    other = {name: a.rate for name, a in animations.items() if abs(a.rate - rate) > 1e-9 and name not in short}
    if other:
        rates = ", ".join(f"{found:g}" for found in sorted(set(other.values())))
        notes.append(f"clips of {rates} frames a second were sampled at {rate:g}: {listed(other)}")
    inserted = [name for name, animation in animations.items() if taken.has_inserted_frame(animation)]
    if inserted:
        notes.append(f"the first frame, an inserted pose far from the rest, was left out of {listed(inserted)}")
    if short:
        notes.append(f"clips of one frame are poses, not motion: {listed(short)}")
    for name, animation in animations.items():
        lost = rig.unmatched(animation.channels)
        if lost:
            targets = listed(channel.target for channel in lost)
            notes.append(f"clip {name!r} also moves what {rig.character.name!r} has not: {targets}")
    return notes

"""Pairs: what the animator gives, source frames and the target poses that belong to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from understudy import checks
from understudy.character import Asset, Character
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput
from understudy.maths import transform
from understudy.retarget.markers import Markers, markers_of
from understudy.retarget.pair_file import Entry, read_entries
from understudy.retarget.poses import Poses, joined
from understudy.retarget.source import Source

FEWEST = 2


@dataclass(frozen=True, eq=False)
class Pairs:
    """N pose pairs of one source body and one target body."""

    source: Array  # (N, P, 3) the source's points in its local frame
    target: Array  # (N, Q, 3) the target's markers in its local frame
    poses: Poses  # N rows of the target, its local frame that of the world: over the origin, facing +Z
    names: tuple[str, ...]  # (N,)
    motions: tuple[str, ...]  # (N,) where each came from
    times: Array  # (N,) seconds
    markers: Markers  # of the target

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        return f"Pairs({len(self)} pairs, {self.source.shape[1]} to {self.target.shape[1]} points)"

    def without(self, number: int) -> Pairs:
        """All but one, for leaving one out."""
        return self.some([i for i in range(len(self)) if i != number])

    def some(self, numbers: Sequence[int]) -> Pairs:
        """Only those."""
        numbers = list(numbers)
        names = tuple(self.names[i] for i in numbers)
        motions = tuple(self.motions[i] for i in numbers)
        rows = self.poses.rows(numbers)
        return Pairs(
            self.source[numbers], self.target[numbers], rows, names, motions, self.times[numbers], self.markers
        )


def read_pairs(
    path: str | Path,
    sources: Mapping[str, Source],
    target: Character,
    *,
    markers: Markers | None = None,
    own: Asset | None = None,
) -> Pairs:
    """The pairs of a PAIRS.toml (see `pair_file`); `own` holds the clips that poses without a file are taken from."""
    path = Path(path)
    entries = read_entries(path, sources, target, own)
    try:
        return pairs_of(sources, entries, target, markers)
    except InvalidInput as error:
        raise BadFile(path, str(error)) from None


def pairs_of(
    sources: Mapping[str, Source], entries: Sequence[Entry], target: Character, markers: Markers | None = None
) -> Pairs:
    """Pairs from Python; too few, of other characters or outside the motion are refused with the reason."""
    markers = markers_of(target) if markers is None else markers
    if len(entries) < FEWEST:
        found = "there is one" if entries else "there are none"
        raise InvalidInput(f"transfer learns from pose pairs and needs at least {FEWEST}, but {found}")
    points = []
    for number, entry in enumerate(entries, 1):
        place = f"pair {number}" + (f" ({entry.name})" if entry.name else "")
        checks.one_of(entry.motion, f"motion for {place}:", sources)
        source = sources[entry.motion]
        if not 0 <= entry.frame < len(source):
            raise InvalidInput(
                f"{place} should name a frame of motion {entry.motion!r} from 0 to {len(source) - 1}, "
                f"but names {entry.frame}"
            )
        if entry.pose.skeleton.names != target.skeleton.names:
            raise InvalidInput(
                f"{place} should have a pose of {target.name!r}, but its pose is of another character: it has "
                f"{len(entry.pose.skeleton)} joints (first {entry.pose.skeleton.names[0]!r}), "
                f"{target.name!r} has {len(target.skeleton)} (first {target.skeleton.names[0]!r})"
            )
        points.append(source.local[entry.frame])
    _refuse_other_bodies(sources, entries)
    poses = joined([entry.pose for entry in entries])
    poses = poses.moved(transform.invert_rigid(markers.frames(poses.world)))
    return Pairs(
        checks.freeze(np.array(points)),
        checks.freeze(markers.local(poses.world)),
        poses,
        tuple(entry.name or f"{entry.motion} {entry.frame}" for entry in entries),
        tuple(entry.motion for entry in entries),
        checks.freeze(np.array([sources[e.motion].start + e.frame / sources[e.motion].rate for e in entries])),
        markers,
    )


def _refuse_other_bodies(sources: Mapping[str, Source], entries: Sequence[Entry]) -> None:
    """All sources of the pairs should have the same points."""
    first = entries[0].motion
    for entry in entries[1:]:
        if sources[entry.motion].names != sources[first].names:
            raise InvalidInput(
                f"all motions of the pairs should be of one character, but {first!r} has "
                f"{len(sources[first].names)} points ({sources[first].names[0]!r}, ...) and {entry.motion!r} has "
                f"{len(sources[entry.motion].names)} ({sources[entry.motion].names[0]!r}, ...)"
            )

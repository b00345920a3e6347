"""Pose pairs: source frames and the target poses that belong to them, from Python or from a PAIRS.toml.

The file, as a user writes it:

    [[pair]]
    motion = "happiness"                 # the file's stem or the clip's name; left out where there is one motion only
    frame = 41                           # or time = 1.7, seconds
    pose = {file = "poses.glb", clip = "keys", time = 2.0}   # file beside this one; without it the target's own clips

    [[pair]]
    motion = "anger"
    time = 3.25
    [pair.pose]                          # or channel values; channels that are not named rest
    "Head.rotation" = [0.0, 0.1, 0.0, 0.995]     # quaternion x, y, z, w, in place of the rest rotation
    "Neck.rotate" = [20, 0, 0]           # degrees about x, y, z (Rz Ry Rx) added to the rest rotation
    "Root.translation" = [0, 0.1, 0]     # metres, in place of the rest translation
    "Lift.translate" = [0, 0.05, 0]      # metres added to the rest translation

Pairs name their motions. `sources_of` and `find_sources` give the motions of an asset, or of files in folders, by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from understudy import cast, checks, files, formats, schema
from understudy.character import Asset, Character, Clip, Curves
from understudy.character.body.markers import Markers, markers_of
from understudy.character.body.poses import PoseSequence, concatenate_poses, sample_poses
from understudy.character.rig import rig_of
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput, join_names
from understudy.maths import euler, quaternion, transform
from understudy.transfer.actor import Actor, perform_as
from understudy.transfer.source import SourceMotion, metres_per_unit, source_of

MAX_PAIR_FILE_CHARACTERS = 4 << 20  # a pair of two hundred channels has ten thousand characters
# Numbers of a value, by its kind.
CHANNEL_WIDTHS = {"rotation": 4, "rotate": 3, "translation": 3, "translate": 3}


@dataclass(frozen=True, eq=False)
class PosePairs:
    """Pose pairs: frames of an actor's motions, and the poses of another character that belong to them.

    `PosePairs.read` reads a PAIRS.toml, `PosePairs.from_poses` takes poses from Python.

    Args:
        source: Points (N, P, 3) of the actor in its local frame, in metres.
        target: Markers (N, Q, 3) of the character in its local frame, in metres.
        poses: The N poses of the character, over the origin and facing +Z.
        names: Names of the N pairs.
        motions: Names of the motions that the N frames are of.
        times: Times (N,) of the frames in their motions, in seconds.
        markers: Where the markers of the character are on its joints.
        actor: The body that the frames are of; None for bare markers.
        performed: The N poses of the actor; None for bare markers.

    Example:
        >>> actor, lamp = us.load("actor"), us.load("lamp")
        >>> pairs = us.PosePairs.read("lamp", actor, lamp)
        >>> len(pairs.leave_out(0)) == len(pairs) - 1
        True
    """

    source: Array  # (N, P, 3) the source's points in its local frame
    target: Array  # (N, Q, 3) the target's markers in its local frame
    poses: PoseSequence  # N rows of the target, its local frame that of the world: over the origin, facing +Z
    names: tuple[str, ...]  # (N,)
    motions: tuple[str, ...]  # (N,) where each came from
    times: Array  # (N,) seconds
    markers: Markers  # of the target
    actor: Actor | None = None
    performed: PoseSequence | None = None  # N rows of the actor

    @classmethod
    def read(
        cls,
        path: str | Path,
        source: Asset | Mapping[str, SourceMotion],
        target: Asset,
        *,
        springs: Sequence[str] | None = None,
    ) -> PosePairs:
        """Read the pairs of a PAIRS.toml.

        Args:
            path: The file, or the name of a member of the cast that has pairs of its own with the built-in actor.
            source: The actor with its motions, or `SourceMotion`s by name. Motions that the file names and the actor
                does not have are looked for beside the file.
            target: The character, with the clips that the file takes poses from.
            springs: First joints of the limbs that swing on springs and have no markers; None finds tails and ears by
                their names.

        Returns:
            The pairs.

        Raises:
            BadFile: If the file is damaged, or names a motion, a frame or a joint that is not there.
        """
        place = cast.pairs(str(path)) if str(path) in cast.names() and not Path(path).exists() else Path(path)
        sources = dict(sources_of(source, "motion") if isinstance(source, Asset) else source)
        missing = [name for name in list_motion_names(place) if name not in sources]
        sources |= find_sources(missing, (place.parent,))
        return read_pairs(place, sources, target.character(), markers=_body_markers(target, springs), own=target)

    @classmethod
    def from_poses(
        cls,
        entries: Iterable[tuple[str, float, ArrayLike]],
        source: Asset | Mapping[str, SourceMotion],
        target: Asset,
        *,
        springs: Sequence[str] | None = None,
    ) -> PosePairs:
        """Make pairs from poses of the character's rig.

        Args:
            entries: The pairs: the name of a motion, the time in it in seconds, and the pose, a row (C,) of
                `rig_of(target.character())`.
            source: The actor with its motions, or `SourceMotion`s by name.
            target: The character.
            springs: First joints of the limbs that swing on springs, as in `read`.

        Returns:
            The pairs.

        Raises:
            InvalidInput: If there are no pairs, a motion is unknown, or a time lies outside of it.
        """
        sources = sources_of(source, "motion") if isinstance(source, Asset) else source
        character = target.character()
        rig = rig_of(character)
        found = []
        for motion, time, row in entries:
            checks.one_of(motion, "motion", sources)
            pose = Clip("pose", rig.channels, [checks.array(row, "pose", (rig.channels.width,))], rate=1.0)
            frame = sources[motion].frame_at(float(time))
            found.append(PairEntry(motion, frame, sample_poses(character, pose, np.zeros(1))))
        return pairs_of(sources, found, character, _body_markers(target, springs))

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        return f"PosePairs({len(self)} pairs, {self.source.shape[1]} to {self.target.shape[1]} points)"

    def leave_out(self, number: int) -> PosePairs:
        """All pairs but one.

        Args:
            number: Number of the pair to leave out.

        Returns:
            The other pairs.
        """
        return self.subset([i for i in range(len(self)) if i != number])

    def subset(self, numbers: Sequence[int]) -> PosePairs:
        """Some of the pairs.

        Args:
            numbers: Numbers of the pairs to keep.

        Returns:
            These pairs, in the order of the numbers.
        """
        numbers = list(numbers)
        names = tuple(self.names[i] for i in numbers)
        motions = tuple(self.motions[i] for i in numbers)
        rows = self.poses.rows(numbers)
        performed = None if self.performed is None else self.performed.rows(numbers)
        source, target, times = self.source[numbers], self.target[numbers], self.times[numbers]
        return PosePairs(source, target, rows, names, motions, times, self.markers, self.actor, performed)


@dataclass(frozen=True, eq=False)
class PairEntry:
    """One pair as given: a motion, a frame of it, and a pose of the target (one row, anywhere in the world)."""

    motion: str
    frame: int
    pose: PoseSequence
    name: str = ""


def _body_markers(target: Asset, springs: Sequence[str] | None) -> Markers:
    """The markers of a character without its limbs on springs."""
    from understudy.transfer.physics.spring_limbs import limbs_by_name

    character = target.character()
    limbs = [limb.joints[0] for limb in limbs_by_name(character.skeleton)] if springs is None else list(springs)
    return markers_of(character, skip=limbs)


def read_pairs(
    path: str | Path,
    sources: Mapping[str, SourceMotion],
    target: Character,
    *,
    markers: Markers | None = None,
    own: Asset | None = None,
) -> PosePairs:
    """The pairs of a PAIRS.toml ; poses without a file are taken from the clips of `own`."""
    path = Path(path)
    entries = read_entries(path, sources, target, own)
    try:
        return pairs_of(sources, entries, target, markers)
    except InvalidInput as error:
        raise BadFile(path, str(error)) from None


def pairs_of(
    sources: Mapping[str, SourceMotion], entries: Sequence[PairEntry], target: Character, markers: Markers | None = None
) -> PosePairs:
    """Pairs from entries. Too few entries, poses of other characters and frames outside a motion are refused."""
    markers = markers_of(target) if markers is None else markers
    if not entries:
        raise InvalidInput("a set of pose pairs should have at least one, but there are none")
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
    actor, frames = _play_by_one_actor(sources, entries)
    poses = concatenate_poses([entry.pose for entry in entries])
    poses = poses.apply_transform(transform.invert_rigid(markers.frames(poses.world)))
    performed = [frame.poses for frame in frames if frame.poses is not None]
    return PosePairs(
        checks.freeze(np.array([frame.local[0] for frame in frames])),
        checks.freeze(markers.local(poses.world)),
        poses,
        tuple(entry.name or f"{entry.motion} {entry.frame}" for entry in entries),
        tuple(entry.motion for entry in entries),
        checks.freeze(np.array([sources[e.motion].start + e.frame / sources[e.motion].rate for e in entries])),
        markers,
        actor,
        concatenate_poses(performed) if actor is not None else None,
    )


def _play_by_one_actor(
    sources: Mapping[str, SourceMotion], entries: Sequence[PairEntry]
) -> tuple[Actor | None, list[SourceMotion]]:
    """The performer of the first motion, and the frame of each entry as one of that performer."""
    first = sources[entries[0].motion]
    actor = Actor.from_motion(first)
    played: dict[str, SourceMotion] = {}
    for entry in entries:
        if entry.motion in played:
            continue
        source = sources[entry.motion]
        if actor is None and source.names != first.names:
            raise InvalidInput(
                f"motions of bare markers should have the same markers in all pairs, but {first.name!r} has "
                f"{len(first.names)} ({first.names[0]!r}, ...) and {entry.motion!r} has {len(source.names)} "
                f"({source.names[0]!r}, ...)"
            )
        try:
            played[entry.motion] = perform_as(actor, source)[0]
        except InvalidInput as error:
            raise InvalidInput(
                f"all motions of the pairs should be of one character, or of bodies with the same bones, but those of "
                f"{entries[0].motion!r} and {entry.motion!r} differ: {error}"
            ) from None
    return actor, [played[entry.motion].rows([entry.frame]) for entry in entries]


def marker_name(motion: str, frame: int) -> str:
    """The name of a marker that says which frame a pose is for."""
    return f"{motion} frame {frame}"


def read_pose_markers(path: Path) -> tuple[Asset, list[tuple[str, int, str, float]]] | None:
    """A file of poses with markers, as `transfer pose --suggested` writes it: motion, frame, clip and time of each.

    A program that drops markers (Blender's exporter does without "custom properties") leaves none in the file; then the
    PAIRS.toml of the same name beside it says which pose is which (None).

    Raises:
        BadFile: If there is neither.
    """
    asset = formats.read(path)
    found = []
    for animation in asset.animations:
        for name, time in animation.moments.items():
            match = re.fullmatch(r"(.+) frame (\d+)", name)
            if match:
                found.append((match.group(1), int(match.group(2)), animation.name, time))
    if found:
        return asset, found
    if path.with_suffix(".toml").is_file():
        return None
    raise BadFile(
        path, "should have markers that say which frame each pose is for, or a PAIRS.toml of the same name beside it"
    )


def is_pose_file(path: Path) -> bool:
    """Whether pairs come from a file of poses instead of a PAIRS.toml."""
    return path.suffix.lower() != ".toml" and path.is_file() and formats.readable(path)


def read_entries(
    path: Path, sources: Mapping[str, SourceMotion], target: Character, own: Asset | None = None
) -> list[PairEntry]:
    """The entries of a PAIRS.toml; poses without a file are taken from the clips of `own`."""
    if is_pose_file(path):
        marked = read_pose_markers(path)
        if marked is not None:
            reader = _PairFileReader(path, sources, target, marked[0])
            return [reader.entry_of_marker(*moment) for moment in marked[1]]
        path = path.with_suffix(".toml")
    table = schema.parse_toml(files.read_text(path), str(path), MAX_PAIR_FILE_CHARACTERS)
    parser = _PairFileReader(path, sources, target, own)
    parser.reader.keys(table, ("pair",), "", "a file of pairs")
    entries = parser.reader.entries(table.get("pair", []), "pair", "")
    return [parser.entry(value, f"pair {number}") for number, value in enumerate(entries, 1)]


class _PairFileReader:
    """Reads the entries of one PAIRS.toml."""

    def __init__(self, path: Path, sources: Mapping[str, SourceMotion], target: Character, own: Asset | None) -> None:
        self.reader = schema.TableReader(str(path))
        self.path, self.sources, self.target, self.own = path, sources, target, own
        self.assets: dict[str, Asset] = {}

    def entry(self, value: Any, place: str) -> PairEntry:
        reader = self.reader
        table = reader.table(value, "a pair", place)
        reader.keys(table, ("motion", "frame", "time", "pose", "name"), place, "a pair")
        motion = self._motion(table, place)
        if "pose" not in table:
            reader.fail("should have a pose", place)
        name = reader.word(table["name"], "name", place) if "name" in table else ""
        frame = self._frame(table, self.sources[motion], place)
        return PairEntry(motion, frame, self._pose(reader.table(table["pose"], "pose", place), place), name)

    def entry_of_marker(self, motion: str, frame: int, clip: str, time: float) -> PairEntry:
        """The pair of a pose with a marker."""
        place = f"marker {marker_name(motion, frame)!r}"
        motion = self._motion({"motion": motion}, place)
        return PairEntry(motion, frame, self._pose_of_clip({"clip": clip, "time": time}, place))

    def _motion(self, table: dict[str, Any], place: str) -> str:
        known = tuple(self.sources)
        if not known:
            reader, named = self.reader, table.get("motion")
            missing = f"there is no file {named!r} beside this one" if named else "should name the file of its motion"
            reader.fail(f"{missing}: a frame needs a recorded motion", place)
        if "motion" not in table and len(known) != 1:
            self.reader.fail(f"should name its motion, one of {schema.join_words(known)}", place)
        return self.reader.word(table.get("motion", known[0]), "motion", place, known)

    def _frame(self, table: dict[str, Any], source: SourceMotion, place: str) -> int:
        reader = self.reader
        if ("frame" in table) == ("time" in table):
            reader.fail("should have either a frame or a time (seconds)", place)
        if "frame" in table:
            frame = reader.number(table["frame"], "frame", place)
            if frame != int(frame):
                reader.fail(f"frame should be a whole number, but is {frame:g}", place)
            return int(frame)
        try:
            return source.frame_at(reader.number(table["time"], "time", place))
        except InvalidInput as error:
            reader.fail(str(error), place)

    def _pose(self, table: dict[str, Any], place: str) -> PoseSequence:
        if "clip" in table or "file" in table:
            return self._pose_of_clip(table, place)
        return self._pose_of_values(table, place)

    def _pose_of_clip(self, table: dict[str, Any], place: str) -> PoseSequence:
        reader = self.reader
        reader.keys(table, ("file", "clip", "time"), place, "a pose from a clip")
        clip = reader.word(table["clip"], "clip", place) if "clip" in table else None
        time = reader.number(table.get("time", 0.0), "time", place)
        asset = self._asset(reader.word(table["file"], "file", place), place) if "file" in table else self.own
        if asset is None:
            reader.fail("a pose from a clip should name its file", place)
        try:
            animation = asset.animation(clip)
            start, end = animation.start, animation.start + animation.duration
            if not start - 1e-6 <= time <= end + 1e-6:
                reader.fail(
                    f"the time of a pose should lie in clip {animation.name!r}, {start:g} to {end:g} s, "
                    f"but is {time:g} s",
                    place,
                )
            self._check_channels(animation, place)
            return sample_poses(self.target, animation, np.array([time]))
        except InvalidInput as error:
            reader.fail(str(error), place)

    def _check_channels(self, animation: Clip | Curves, place: str) -> None:
        """Refuse a clip of another character: at least half of its joints are not joints of the target."""
        joints = [c.target for c in animation.channels if c.kind in ("translation", "rotation", "euler")]
        unknown = [joint for joint in joints if joint not in self.target.skeleton]
        if unknown and len(unknown) >= 0.5 * len(joints):
            self.reader.fail(
                f"clip {animation.name!r} is of another character than {self.target.name!r}, which has no joints "
                f"{join_names(unknown, 3)}",
                place,
            )

    def _asset(self, name: str, place: str) -> Asset:
        if name not in self.assets:
            path = self.path.parent / name
            if not path.exists():
                self.reader.fail(f"there is no file {name!r} beside this one", place)
            self.assets[name] = formats.read(path)
        return self.assets[name]

    def _pose_of_values(self, table: dict[str, Any], place: str) -> PoseSequence:
        reader, skeleton = self.reader, self.target.skeleton
        translations, rotations = np.array(skeleton.translations), np.array(skeleton.rotations)
        if not table:
            reader.fail("a pose should name a clip, or values of channels", place)
        for key, value in table.items():
            joint, _, kind = key.rpartition(".")
            if kind not in CHANNEL_WIDTHS:
                reader.fail(
                    f"a value of a pose should be named joint.kind, kind one of {schema.join_words(CHANNEL_WIDTHS)}, "
                    f"but is {key!r}",
                    place,
                )
            if joint not in skeleton:
                hint = schema.spelling_hint(joint, skeleton.names)
                reader.fail(f"{self.target.name!r} has no joint {joint!r}{hint}", place)
            numbers = np.array(
                reader.numbers(value, key, place, CHANNEL_WIDTHS[kind], f"{CHANNEL_WIDTHS[kind]} numbers")
            )
            j = skeleton.index(joint)
            if kind == "rotation":
                if np.linalg.norm(numbers) < 1e-6:
                    reader.fail(f"{key} should be a quaternion x, y, z, w, but is zero", place)
                rotations[j] = quaternion.normalise(numbers)
            elif kind == "rotate":
                turn = euler.from_euler(np.radians(numbers[::-1]), "zyx")
                rotations[j] = quaternion.multiply(skeleton.rotations[j], turn)
            elif kind == "translation":
                translations[j] = numbers
            else:
                translations[j] = skeleton.translations[j] + numbers
        return PoseSequence(skeleton, translations[None], rotations[None], 30.0)


def sources_of(
    asset: Asset,
    stem: str,
    clips: Iterable[str] = (),
    *,
    rate: float | None = None,
    units: str | float | None = None,
) -> dict[str, SourceMotion]:
    """The motions of an asset by name: a single animation by the stem of its file, several by their own names."""
    chosen = [asset.animation(clip) for clip in clips] or list(asset.animations)
    if not chosen:
        raise InvalidInput(f"{stem} should hold a motion, but it has no animation")
    alone = len(asset.animations) == 1
    motions = {}
    for animation in chosen:
        short = animation.name.rpartition("|")[2]
        motions[stem if alone else short] = source_of(asset, animation, rate=rate, units=units)
    return motions


def find_sources(
    names: Iterable[str], folders: Iterable[Path], *, rate: float | None = None, units: str | float | None = None
) -> dict[str, SourceMotion]:
    """The motions of these names, each from a file of that stem in the first folder that has one."""
    motions: dict[str, SourceMotion] = {}
    unique = list(dict.fromkeys(folders))
    for name in names:
        paths = [p for folder in unique for p in sorted(folder.glob(f"{_escape_glob(name)}.*")) if formats.readable(p)]
        if paths:
            try:
                options, left = reader_options(paths[0], units)
                motions |= sources_of(formats.read(paths[0], **options), name, rate=rate, units=left)
            except InvalidInput as error:
                raise BadFile(paths[0], str(error)) from None
    return motions


def _escape_glob(name: str) -> str:
    """A name as a glob pattern that matches only itself."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name if c not in "/\\")


def list_motion_names(path: str | Path) -> list[str]:
    """The motions that a PAIRS.toml names, each once; mistakes in the file are reported by `read_pairs`."""
    path = Path(path)
    if is_pose_file(path):
        marked = read_pose_markers(path)
        if marked is not None:
            return list(dict.fromkeys(motion for motion, *_ in marked[1]))
        path = path.with_suffix(".toml")
    table = schema.parse_toml(files.read_text(path), str(path), MAX_PAIR_FILE_CHARACTERS)
    entries = table.get("pair", [])
    names = [entry.get("motion") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def reader_options(path: str | Path, units: str | float | None) -> tuple[dict[str, Any], str | float | None]:
    """Options of the reader of a file with lengths in `units`, and the units of the asset that it returns.

    Readers that guess units by themselves, as that of BVH, take the unit as an option and return metres.
    """
    factor = metres_per_unit(units)
    if factor is None or not formats.readable(path) or "scale" not in formats.format_of(path).options:
        return {}, units
    return {"scale": factor}, 1.0

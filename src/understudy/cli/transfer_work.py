"""The work of `understudy transfer`: prepare the character once, then transfer each motion, in parallel processes or
live.

`transfer --live`: the actor's frames come in, the character's go out at once.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.cli.edit import write_report
from understudy.cli.options import write_asset
from understudy.cli.perform import parse_address
from understudy.errors import BadFile, FileError, InvalidInput, UnderstudyError

if TYPE_CHECKING:
    from understudy.character import Asset, Clip, Curves
    from understudy.character.body.mass import Body
    from understudy.character.body.poses import PoseSequence
    from understudy.transfer.actor import Actor
    from understudy.transfer.bone_map import BoneMap
    from understudy.transfer.corrections import PoseCorrections
    from understudy.transfer.live import LiveFrame
    from understudy.transfer.pairs import PosePairs
    from understudy.transfer.physics.spring_limbs import SpringLimb
    from understudy.transfer.pipeline import TransferTarget
    from understudy.transfer.source import SourceMotion

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TransferRequest:
    """The options of the command, the same for all motions."""

    clips: tuple[str, ...] = ()
    rate: float | None = None
    units: str | None = None
    physics: bool = True
    collisions: bool = True
    springs: bool = True
    limbs: tuple[str, ...] = ()  # first joints of limbs on springs; by default found by name
    dimension: int | str = 30
    contacts: str | None = None  # path of a file of contact phases
    bone_map: str | None = None  # path of a file of bones
    size: float | None = None  # ratio of the sizes, the character's over the actor's
    contact_points: tuple[str, ...] = ()  # joints that stand on the floor
    limb_keys: str | None = None  # path of an animation of the limbs
    ending: str | None = None
    report: str | None = None
    many: bool = False
    seed: int = 0
    placing: Mapping[str, Any] = field(default_factory=dict)  # up, facing and scale of the character


@dataclass(frozen=True, eq=False)
class OutputTarget:
    """The character of --to with its file; a member of the cast also has pairs, limits and a body."""

    name: str
    asset: Asset
    cast: bool

    @classmethod
    def open(cls, name: str, placing: Mapping[str, Any] | None = None) -> OutputTarget:
        """A file or a name of the cast."""
        from understudy import cast

        return cls(name, options.open_input(name, **(placing or {})), not Path(name).exists() and name in cast.names())

    def keys(self, given: str | None) -> Path | None:
        """The file of pairs: the one given, or that of the cast."""
        from understudy import cast

        if given is not None:
            return Path(given)
        return Path(cast.pairs(self.name)) if self.cast else None

    def owns(self, keys: Path) -> bool:
        """Whether a file of pairs is the cast's own."""
        from understudy import cast

        return self.cast and keys == Path(cast.pairs(self.name))

    def limits(self) -> Any:
        """The limits of its joints; None if unknown."""
        from understudy import cast

        return cast.limits(self.name) if self.cast else None

    def body(self, contact_points: tuple[str, ...] = ()) -> Body | None:
        """The mass distribution of a member of the cast, or one with the given contact points; None: by the skin."""
        from understudy import cast
        from understudy.character.body.feet import find_contacts
        from understudy.character.body.mass import ContactPoint, body_of

        if contact_points:
            character = self.asset.character()
            joints = [character.skeleton.index(name) for name in contact_points]
            return body_of(character, contacts=[ContactPoint(*found) for found in find_contacts(character, joints)])
        return cast.body(self.name) if self.cast else None


def open_motions(name: str, request: TransferRequest) -> tuple[Asset, dict[str, SourceMotion]]:
    """The asset of MOTION and its motions by name."""
    from understudy.transfer.pairs import reader_options, sources_of

    try:
        how, units = reader_options(name, request.units)
        asset = options.open_input(name, **how)
        return asset, sources_of(asset, Path(name).stem, request.clips, rate=request.rate, units=units)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from None


def limbs_of(target: OutputTarget, request: TransferRequest) -> tuple[SpringLimb, ...]:
    """The limbs on springs: the given ones, else those found by joint names; none without springs."""
    from understudy.transfer.physics.spring_limbs import limbs_by_name, limbs_from_joints

    if not request.springs:
        return ()
    skeleton = target.asset.character().skeleton
    return limbs_from_joints(skeleton, request.limbs) if request.limbs else limbs_by_name(skeleton)


def open_pairs(
    keys: Path, motions: Mapping[str, SourceMotion], folder: Path, target: OutputTarget, request: TransferRequest
) -> PosePairs:
    """The pairs of a file; other motions that it names are searched in `folder` and beside the file.

    Frames are counted at the motions' own rates.
    """
    from understudy.character.body.markers import markers_of
    from understudy.transfer.pairs import find_sources, list_motion_names, read_pairs

    missing = [name for name in list_motion_names(keys) if name not in motions]
    if target.owns(keys):  # the pairs of the cast are of its actor, whatever the motion
        known = {**motions, **{name: source for name, source in _actor().items() if name in missing}}
    else:
        known = {**motions, **find_sources(missing, (folder, keys.parent), units=request.units)}
    character = target.asset.character()
    skip = [limb.joints[0] for limb in limbs_of(target, request)]
    return read_pairs(keys, known, character, markers=markers_of(character, skip=skip), own=target.asset)


def _actor() -> dict[str, SourceMotion]:
    from understudy import cast
    from understudy.transfer.pairs import sources_of

    return sources_of(cast.load("actor"), "actor")


def prepare_transfer_target(target: OutputTarget, pairs: PosePairs, request: TransferRequest) -> TransferTarget:
    """Fit the mapping and prepare the character."""
    from understudy.transfer.mapping import fit_mapping
    from understudy.transfer.physics.spring_limbs import drag_limbs
    from understudy.transfer.pipeline import prepare_target

    mapping = fit_mapping(pairs, dimension=request.dimension, seed=request.seed)
    character = target.asset.character()
    limbs = limbs_of(target, request) + (drag_limbs(character) if request.springs else ())
    return prepare_target(
        character,
        pairs,
        mapping,
        body=target.body(request.contact_points),
        limits=target.limits(),
        springs=limbs,
        collisions=request.collisions,
    )


def pairs_beside(keys: Path | None, name: str) -> Path:
    """The file of pairs; raises if there is none."""
    if keys is None:
        raise InvalidInput(
            f"{name!r} has no pose pairs of its own: give --keys PAIRS.toml; `transfer suggest` says which frames to "
            "pose, `transfer pose` writes poses to start from"
        )
    if not keys.is_file():
        raise BadFile(keys, "there is no such file of pose pairs")
    return keys


def find_target_bones(target: OutputTarget, request: TransferRequest) -> BoneMap:
    """The bones of the character, for transfers without pairs."""
    from understudy.transfer.bone_map import bone_map
    from understudy.transfer.by_bones import BoneOverrides, read_bone_overrides

    given = BoneOverrides() if request.bone_map is None else read_bone_overrides(request.bone_map)
    return bone_map(target.asset.character(), given.target).require()


def find_corrections(target: OutputTarget, pairs: PosePairs, request: TransferRequest) -> PoseCorrections | None:
    """Pairs as corrections of what the bones say; None where the pairs alone are better, as on the cast."""
    from understudy.transfer.bone_map import bone_map
    from understudy.transfer.by_bones import read_bone_overrides
    from understudy.transfer.corrections import fit_corrections

    if target.cast:
        return None
    given = {} if request.bone_map is None else read_bone_overrides(request.bone_map).target
    return fit_corrections(pairs, bone_map(target.asset.character(), given))


def transfer_input_by_bones(
    target: BoneMap,
    request: TransferRequest,
    job: tuple[str, str],
    progress: Progress | None = None,
    corrections: PoseCorrections | None = None,
) -> dict[str, Any]:
    """Transfer all clips of one input by bones; with many inputs an error becomes a row."""
    try:
        return _transfer_clips_by_bones(target, request, *job, progress, corrections)
    except UnderstudyError as error:
        if not request.many:
            raise
        return {"input": job[0], "error": str(error)}


def _transfer_clips_by_bones(
    target: BoneMap,
    request: TransferRequest,
    path: str,
    output: str,
    progress: Progress | None,
    corrections: PoseCorrections | None,
) -> dict[str, Any]:
    from understudy.character import Asset
    from understudy.transfer.bone_map import bone_map
    from understudy.transfer.by_bones import (
        BoneOverrides,
        performer_of,
        read_bone_overrides,
        transfer_by_bones,
        with_bones,
    )

    motions = {name: with_bones(source) for name, source in open_motions(path, request)[1].items()}
    given = BoneOverrides() if request.bone_map is None else read_bone_overrides(request.bone_map)
    performer = bone_map(performer_of(next(iter(motions.values()))), given.source).require()
    clips, reports, errors = [], [], []
    for number, (name, source) in enumerate(motions.items()):
        if progress is not None:
            progress(number, len(motions))
        try:
            done = transfer_by_bones(
                source,
                performer,
                target,
                size=request.size,
                physics=request.physics,
                springs=request.springs,
                contact_points=request.contact_points,
                contacts=request.contacts,
                corrections=corrections,
            )
        except UnderstudyError as error:  # one bad clip does not refuse a file
            errors.append(f"clip {name!r} was left out: {error}")
            continue
        clips.append(done.clip)
        reports.append(done.report)
    if not clips:
        raise InvalidInput(f"{path}: {errors[0]}")
    notes = list(dict.fromkeys(note for source in motions.values() for note in source.notes)) + errors
    notes += write_asset(Asset([target.character], clips), output, request.ending)
    facts: dict[str, Any] = {
        "input": path,
        "output": output,
        "character": target.character.name,
        "motions": reports,
        "map": [f"{part:<10} {source} -> {own}" for part, source, own in _map_rows(performer, target)],
        "notes": notes,
    }
    if request.report is not None:
        write_report(facts, request.report, request.many, path)
    return facts


def _map_rows(source: BoneMap, target: BoneMap) -> list[tuple[str, str, str]]:
    """Part of the body, the joints of the source and those of the target."""
    own = target.rows
    return [(part, ", ".join(names) or "-", ", ".join(own[part]) or "-") for part, names in source.rows.items()]


def transfer_input(
    stage: TransferTarget, request: TransferRequest, job: tuple[str, str], progress: Progress | None = None
) -> dict[str, Any]:
    """Transfer all clips of one input and write its target; with many inputs an error becomes a row."""
    path, target = job
    try:
        return _transfer_clips(stage, request, path, target, progress)
    except UnderstudyError as error:
        if not request.many:
            raise
        return {"input": path, "error": str(error)}


def _transfer_clips(
    stage: TransferTarget, request: TransferRequest, path: str, target: str, progress: Progress | None
) -> dict[str, Any]:
    from understudy.character import Asset
    from understudy.transfer.actor import perform_as
    from understudy.transfer.pairs import reader_options, sources_of
    from understudy.transfer.pipeline import report_of, transfer
    from understudy.transfer.retargeter import source_body

    asset, motions = open_motions(path, request)
    performer = source_body(asset, next(iter(motions.values())))
    keys = None if request.limb_keys is None else _limb_keys(request.limb_keys)
    clips, reports, notes = [], [], []
    for number, source in enumerate(motions.values()):
        if progress is not None:
            progress(number, len(motions))
        source, body = perform_as(stage.pairs.actor, source, performer)
        phases = None if request.contacts is None else _phases(request.contacts, stage, source)
        done = transfer(source, stage, source_body=body, phases=phases, physics=request.physics, keys=keys)
        clips.append(done.clip)
        notes += [note for note in source.notes if note not in notes]
        reports.append(report_of(source, stage, done, body))
    if request.rate is not None:
        own = sources_of(asset, Path(path).stem, request.clips, units=reader_options(path, request.units)[1])
        for report, source in zip(reports, own.values()):
            _report_at_source_rate(report, source)
    notes += write_asset(Asset([stage.target], clips), target, request.ending)
    facts: dict[str, Any] = {
        "input": path,
        "output": target,
        "character": stage.target.name,
        "motions": reports,
        "notes": notes,
    }
    if request.report is not None:
        write_report(facts, request.report, request.many, path)
    return facts


def _report_at_source_rate(report: dict[str, Any], source: SourceMotion) -> None:
    """Change the frames of a report to the motion's own rate, at which pairs count."""
    for moment in (*report["least_certain"], *report["suggested"]):
        moment["frame"] = min(round((moment["time"] - source.start) * source.rate), len(source) - 1)


def _phases(path: str, stage: TransferTarget, source: SourceMotion) -> Any:
    from understudy.character.body.contacts import read_phases

    return read_phases(path, stage.body.names, len(source), source.rate, source.start)


def _limb_keys(path: str) -> Clip | Curves:
    asset = options.open_input(path)
    if not asset.animations:
        raise FileError(path, "should hold an animation of the limbs, but has none")
    return asset.animations[0]


def summary(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each motion."""
    lines = []
    for row in rows:
        for each in row.get("motions", []):
            seconds = sum(each["seconds"].values())
            if not each["pairs"]:
                lines.append(f"  {each['motion']}: {each['frames']} frames in {seconds:.2f} s, size {each['size']:.3g}")
                continue
            lines.append(
                f"  {each['motion']}: {each['frames']} frames in {seconds:.2f} s, uncertain by "
                f"{each['uncertainty_mm']['mean']:.3g} mm ({each['uncertainty_mm']['at_key_poses']:.3g} at key poses)"
            )
    return lines


def live_command(
    motion: str, character: str, keys: str | None, where: str, request: TransferRequest, quiet: bool
) -> None:
    """Transfer MOTION live: standard input (`-`) as its lines arrive, or a file, played at its own speed."""
    from understudy.transfer.live import LiveRetargeter, read_live_frames

    target = OutputTarget.open(character, request.placing)
    place = pairs_beside(target.keys(keys), character)
    folder = Path() if motion == "-" else Path(motion).parent
    known = {} if motion == "-" else open_motions(motion, TransferRequest(units=request.units))[1]
    pairs = open_pairs(place, known, folder, target, request)
    stage = prepare_transfer_target(target, pairs, request)
    live = LiveRetargeter.from_target(stage)
    frames = (
        read_live_frames(sys.stdin, pairs.actor) if motion == "-" else _play_in_real_time(motion, request, pairs.actor)
    )
    state, took, count = live.init(), 0.0, 0
    with _output(where, stage) as out:
        for frame in frames:
            if len(frame.points) != pairs.source.shape[1]:
                raise BadFile(
                    "live input",
                    f"should have the {pairs.source.shape[1]} points of the actor of the pairs, "
                    f"but has {len(frame.points)}",
                )
            began = time.perf_counter()
            state, pose = live.step(state, frame.time, frame.points, frame.frame)
            took, count = took + time.perf_counter() - began, count + 1
            out.send(pose, frame.time)
    if not count:
        raise BadFile("live input", "holds no frame")
    if not quiet:
        click.echo(f"{count} frames, {1e3 * took / count:.2f} ms each ({count / took:.0f} a second)", err=True)


def _play_in_real_time(motion: str, request: TransferRequest, actor: Actor | None) -> Iterator[LiveFrame]:
    """The frames of a file, each at its time."""
    from understudy.transfer.actor import perform_as
    from understudy.transfer.live import LiveFrame

    _, motions = open_motions(motion, request)
    source, _ = perform_as(actor, next(iter(motions.values())))
    began = time.perf_counter()
    for number in range(len(source)):
        due = number / source.rate
        time.sleep(max(0.0, began + due - time.perf_counter()))
        yield LiveFrame(due, source.points[number], source.frames[number])


class _Lines:
    """A JSON line for each frame on standard output: time, and x, y, z and quaternion of each moving joint."""

    def __init__(self, stage: TransferTarget) -> None:
        moves = stage.freedom.turning | stage.freedom.moving
        moves[stage.target.skeleton.roots] = True
        self.joints = [j for j in range(len(moves)) if moves[j]]

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()

    def send(self, pose: PoseSequence, moment: float) -> None:
        """Send one frame."""
        names = pose.skeleton.names
        joints = {
            names[j]: [round(float(v), 6) for v in (*pose.translations[0, j], *pose.rotations[0, j])]
            for j in self.joints
        }
        sys.stdout.write(json.dumps({"time": round(moment, 6), "joints": joints}, separators=(",", ":")) + "\n")
        sys.stdout.flush()


class _Vmc:
    """Sends bones over UDP (VMC protocol)."""

    def __init__(self, stage: TransferTarget, where: str) -> None:
        from understudy.character import rig
        from understudy.perform.vmc import VmcStream

        self.rig = rig.rig_of(stage.target)
        host, port = parse_address(where)
        self.stream = VmcStream(host, port, self.rig, paced=False)

    def __enter__(self) -> _Vmc:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def send(self, pose: PoseSequence, moment: float) -> None:
        """Send one frame."""
        from understudy.character.body.poses import clip_of

        row = self.rig.pose(clip_of(pose, "live"), [0.0])[0]
        self.stream.send(row, moment)


def _output(where: str, stage: TransferTarget) -> _Lines | _Vmc:
    return _Lines(stage) if where == "-" else _Vmc(stage, where)

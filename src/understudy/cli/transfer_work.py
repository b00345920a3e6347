"""The work of `understudy transfer`: the character made ready once, then each motion on it, in processes of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.cli import options
from understudy.cli.convert import written
from understudy.cli.edit import write_report
from understudy.errors import BadFile, FileError, InvalidInput, UnderstudyError

if TYPE_CHECKING:
    from understudy.character import Asset, Clip, Curves
    from understudy.retarget.body import Body
    from understudy.retarget.pairs import Pairs
    from understudy.retarget.source import Source
    from understudy.retarget.spring_limbs import SpringLimb
    from understudy.retarget.transfer import Stage

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Wish:
    """What was asked for, the same for all motions."""

    clips: tuple[str, ...] = ()
    rate: float | None = None
    units: str | None = None
    physics: bool = True
    collisions: bool = True
    springs: bool = True
    limbs: tuple[str, ...] = ()  # first joints of limbs on springs; found by name without
    dimension: int | str = 30
    contacts: str | None = None  # a file of contact phases
    limb_keys: str | None = None  # a file with an animation of the limbs
    ending: str | None = None
    report: str | None = None
    many: bool = False
    seed: int = 0
    compared: dict[str, float] | None = None  # millimetres by method, for the reports


@dataclass(frozen=True, eq=False)
class Target:
    """The character of --to, its own clips, and what its file or the cast says of it."""

    name: str
    asset: Asset
    cast: bool

    @classmethod
    def open(cls, name: str) -> Target:
        """A file or a name of the cast."""
        from understudy import cast

        return cls(name, options.open_input(name), not Path(name).exists() and name in cast.names())

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
        """How far its joints turn; None where nobody says."""
        from understudy import cast

        return cast.limits(self.name) if self.cast else None

    def body(self) -> Body | None:
        """Its weight, where the cast knows it; otherwise found from its skin."""
        from understudy import cast

        return cast.body(self.name) if self.cast else None


def open_motions(name: str, wish: Wish) -> tuple[Asset, dict[str, Source]]:
    """The asset of MOTION and its motions by name."""
    from understudy.retarget.motions import reading, sources_of

    try:
        how, units = reading(name, wish.units)
        asset = options.open_input(name, **how)
        return asset, sources_of(asset, Path(name).stem, wish.clips, rate=wish.rate, units=units)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from None


def limbs_of(target: Target, wish: Wish) -> tuple[SpringLimb, ...]:
    """The limbs on springs: those named, those that names tell, or none."""
    from understudy.retarget.spring_limbs import limbs_by_name, limbs_from

    if not wish.springs:
        return ()
    skeleton = target.asset.character().skeleton
    return limbs_from(skeleton, wish.limbs) if wish.limbs else limbs_by_name(skeleton)


def open_pairs(keys: Path, motions: Mapping[str, Source], folder: Path, target: Target, wish: Wish) -> Pairs:
    """The pairs of a file; motions that it names beyond those given are looked for beside them, and beside the file.

    Frames are counted at the motions' own rates.
    """
    from understudy.retarget.markers import markers_of
    from understudy.retarget.motions import beside, named_motions
    from understudy.retarget.pairs import read_pairs

    missing = [name for name in named_motions(keys) if name not in motions]
    if target.owns(keys):  # the cast's own pairs are of its actor, whoever moves
        known = {**motions, **{name: source for name, source in _actor().items() if name in missing}}
    else:
        known = {**motions, **beside(missing, (folder, keys.parent), units=wish.units)}
    character = target.asset.character()
    skip = [limb.joints[0] for limb in limbs_of(target, wish)]
    return read_pairs(keys, known, character, markers=markers_of(character, skip=skip), own=target.asset)


def _actor() -> dict[str, Source]:
    from understudy import cast
    from understudy.retarget.motions import sources_of

    return sources_of(cast.load("actor"), "actor")


def open_stage(target: Target, pairs: Pairs, wish: Wish) -> Stage:
    """The character made ready."""
    from understudy.retarget.mapping import learn
    from understudy.retarget.transfer import stage_of

    mapping = learn(pairs, dimension=wish.dimension, seed=wish.seed)
    limbs = limbs_of(target, wish)
    return stage_of(
        target.asset.character(),
        pairs,
        mapping,
        body=target.body(),
        limits=target.limits(),
        springs=limbs,
        collisions=wish.collisions,
    )


def pairs_beside(keys: Path | None, name: str) -> Path:
    """The file of pairs, or a sentence that says that one is needed."""
    if keys is None:
        raise InvalidInput(
            f"{name!r} has no pose pairs of its own: give --keys PAIRS.toml; `transfer suggest` says which frames to "
            "pose, `transfer pose` writes poses to start from"
        )
    if not keys.is_file():
        raise BadFile(keys, "there is no such file of pose pairs")
    return keys


def body_of_source(name: str, asset: Asset, source: Source) -> Body | None:
    """The weight of the actor: the cast's, or that of round bones, in metres; None for bare markers."""
    from understudy import cast
    from understudy.character import Character
    from understudy.retarget.body import body_of

    if source.poses is None:
        return None
    if name in cast.names() and not Path(name).exists():
        return cast.body(name)
    actor, skeleton = asset.character(), source.poses.skeleton
    if (actor.skeleton.translations == skeleton.translations).all():
        return body_of(actor)
    return body_of(Character(actor.name, skeleton, bones=actor.joints))  # its file counts in other units


def work(stage: Stage, wish: Wish, job: tuple[str, str], progress: Progress | None = None) -> dict[str, Any]:
    """One input with all its clips, written to its target; what fails is said in the row where there are many."""
    path, target = job
    try:
        return _work(stage, wish, path, target, progress)
    except UnderstudyError as error:
        if not wish.many:
            raise
        return {"input": path, "error": str(error)}


def _work(stage: Stage, wish: Wish, path: str, target: str, progress: Progress | None) -> dict[str, Any]:
    from understudy.character import Asset
    from understudy.retarget.motions import reading, sources_of
    from understudy.retarget.report import report_of
    from understudy.retarget.transfer import transfer

    asset, motions = open_motions(path, wish)
    body = body_of_source(path, asset, next(iter(motions.values())))
    keys = None if wish.limb_keys is None else _limb_keys(wish.limb_keys)
    clips, reports, notes = [], [], list(dict.fromkeys(note for source in motions.values() for note in source.notes))
    for number, source in enumerate(motions.values()):
        if progress is not None:
            progress(number, len(motions))
        phases = None if wish.contacts is None else _phases(wish.contacts, stage, source)
        done = transfer(source, stage, source_body=body, phases=phases, physics=wish.physics, keys=keys)
        clips.append(done.clip)
        reports.append(report_of(source, stage, done, body))
    if wish.rate is not None:
        own = sources_of(asset, Path(path).stem, wish.clips, units=reading(path, wish.units)[1])
        for report, source in zip(reports, own.values()):
            _counted(report, source)
    notes += written(Asset([stage.target], clips), target, wish.ending)
    told: dict[str, Any] = {
        "input": path,
        "output": target,
        "character": stage.target.name,
        "motions": reports,
        "notes": notes,
    }
    if wish.compared:
        told["leave_one_out_mm"] = wish.compared
    if wish.report is not None:
        write_report(told, wish.report, wish.many, path)
    return told


def _counted(report: dict[str, Any], source: Source) -> None:
    """Frames of moments in a report as pairs count them, at the motion's own rate."""
    for moment in (*report["least_certain"], *report["suggested"]):
        moment["frame"] = min(round((moment["time"] - source.start) * source.rate), len(source) - 1)


def _phases(path: str, stage: Stage, source: Source) -> Any:
    from understudy.retarget.contacts import read_phases

    return read_phases(path, stage.body.names, len(source), source.rate, source.start)


def _limb_keys(path: str) -> Clip | Curves:
    asset = options.open_input(path)
    if not asset.animations:
        raise FileError(path, "should hold an animation of the limbs, but nothing moves in it")
    return asset.animations[0]


def summary(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What was done, a line a motion."""
    lines = []
    for row in rows:
        for each in row.get("motions", []):
            seconds = sum(each["seconds"].values())
            lines.append(
                f"  {each['motion']}: {each['frames']} frames in {seconds:.2f} s, uncertain by "
                f"{each['uncertainty_mm']['mean']:.3g} mm ({each['uncertainty_mm']['at_key_poses']:.3g} at key poses)"
            )
    return lines

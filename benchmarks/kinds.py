"""Kinds of clips: cycle, act or pose, on every real file, and how long a character of 76 clips takes to learn.

The truth is the name of a clip, where it has a clear meaning: `Walk` is a cycle, `Attack` an act, `T-Pose` a pose.
Names that tell two things (`Run_Shoot`) or a motion that may be either (`Eating`, `Dance`, `Yes`, `Shooting`) are not
counted. As names are the truth, the score without their vote is the honest one. The coefficients were fitted on the
files of the folder `data` only; of the folder `field`, files of the same clips as fitted ones are also counted apart.
Beside it stands the simplest rule: a clip is a cycle if its ends meet.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.measure import Row
from benchmarks.real.characters import DATA, FIELD

from understudy.character.rig import rig_of
from understudy.checks import Array
from understudy.errors import UnderstudyError
from understudy.formats import registry
from understudy.perform import behaviours
from understudy.perform.behaviours import ACT, CYCLE, MIN_SURE, POSE, Behaviour
from understudy.perform.library import ClipLibrary, common_rate, rows_of, times_of
from understudy.perform.pose_model import fit_model, prepare_library

PEERS = False  # nothing here needs the peers' environment
ENDINGS = (".glb", ".gltf", ".fbx")  # with names that an animator gave; those of captures are numbers
MIN_RIGHT = 0.95
MAX_WRONG_WHILE_SURE = 0.02
MAX_LEARNING_SECONDS = 60.0
LARGE = "glb/Barbarian.glb"  # of the folder `field`: 76 clips
# Files of the folder `field` with the clips of a file that was fitted on.
COPIES = ("Barbarian", "Frog", "Rat", "Robot", "Snake", "Spider", "Stegosaurus", "Trex")

POSES = r"\bt ?pose\b|\bpose\b|\bstatic\b"
EITHER = (
    r"aiming|shooting|blocking|spinning|spellcasting|waving|cheering|crouch|duck|sitting|standing|eating|dance|survey"
    r"|\byes\b|\bno\b|agree|shake|push|ups\b|spin\b"
)
CYCLES = r"idle|walk|\brun|gallop|swim|\bfly|sneak|crawl|strafe"
ACTS = (
    r"attack|death|punch|kick|bite|dodge|jump|land|throw|pick|shoot|stab|chop|slash|slice|stand up|sit .*down|lie down"
    r"|spawn|wave|hello|thumbs|interact|use item|reload|cast|block|cheer"
)


@dataclass(frozen=True, eq=False)
class NamedClip:
    """A clip of a real file, its points (F, P, 3), and the kind that its name tells."""

    file: Path
    name: str
    points: Array
    rate: float
    kind: str

    @property
    def fitted(self) -> bool:
        """Whether the coefficients were fitted on it."""
        return DATA in self.file.parents

    @property
    def copied(self) -> bool:
        """Whether the coefficients were fitted on another file of the same clips."""
        return not self.fitted and self.file.stem in COPIES


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    clips = named_clips()
    sets = {
        "fitted": [clip for clip in clips if clip.fitted],
        "field": [clip for clip in clips if not clip.fitted],
        "field, no copies": [clip for clip in clips if not clip.fitted and not clip.copied],
        "all": clips,
    }
    for word, chosen in sets.items():
        yield from judged(f"{word}, motion", chosen, named=False)
        yield from judged(f"{word}, with names", chosen, named=True)
    yield from learnable()
    yield learning_time()


def judged(word: str, clips: list[NamedClip], named: bool) -> Iterator[Row]:
    """How many kinds are right, how many wrong ones are sure, and which are not sure."""
    found = [behaviours.clip_behaviour(clip.points, clip.rate, clip.name if named else "") for clip in clips]
    right = sum(_agree(behaviour, clip.kind) for behaviour, clip in zip(found, clips)) / len(clips)
    simple = sum(closing(clip.points) == clip.kind for clip in clips) / len(clips)
    about = f"{len(clips)} clips; ends that meet: {100 * simple:.1f}"
    yield Row(f"{word}: right", 100 * right, "%", about, right / MIN_RIGHT, 1.0)
    wrong = [
        f"{clip.file.stem} {clip.name.rpartition('|')[2]}"
        for behaviour, clip in zip(found, clips)
        if not _agree(behaviour, clip.kind) and behaviour.certainty >= MIN_SURE
    ]
    share = len(wrong) / len(clips)
    ratio = MAX_WRONG_WHILE_SURE / max(share, 1e-4)
    yield Row(f"{word}: wrong while sure", 100 * share, "%", ", ".join(wrong) or "none", ratio, 1.0)
    unsure = [
        f"{clip.file.stem} {clip.name.rpartition('|')[2]} ({'right' if _agree(behaviour, clip.kind) else 'wrong'})"
        for behaviour, clip in zip(found, clips)
        if behaviour.certainty < MIN_SURE
    ]
    yield Row(f"{word}: not sure", float(len(unsure)), "n", ", ".join(unsure), None, None)


def _agree(behaviour: Behaviour, kind: str) -> bool:
    """Whether a behaviour is of a kind; a long act that is hovered in is no cycle, and so right."""
    return behaviour.kind == kind or (behaviour.kind == "hover" and kind == ACT)


def closing(points: Array) -> str:
    """The kind by the simplest rule: a cycle if its ends meet."""
    kind = behaviours.clip_behaviour(points, 1e-9).kind
    if kind == POSE:
        return POSE
    return ACT if behaviours.cycle_score(points, 1.0) == behaviours.SCORE_OF_OPEN_CLIP else CYCLE


@cache
def named_clips() -> list[NamedClip]:
    """Every clip of the real files whose name has a clear meaning."""
    clips = []
    for file in real_files():
        asset = registry.read(file)
        rig = rig_of(asset.character())
        rate = common_rate(asset.animations)
        animations = {animation.name: animation for animation in asset.animations if rig.is_moved_by(animation)}
        posed = {name: rows_of(rig, a, times_of(a, rate), name) for name, a in animations.items()}
        for name, points in zip(posed, behaviours.sample_motions(rig, posed.values())):
            kind = named_kind(name)
            if kind:
                clips.append(NamedClip(file, name, points, rate, kind))
    return clips


@cache
def real_files() -> list[Path]:
    """Every real file with a character and clips that can be read."""
    files = []
    for folder in (DATA, FIELD):
        for path in sorted(folder.rglob("*")):
            if path.suffix.lower() not in ENDINGS or not registry.readable(path.name):
                continue
            try:
                asset = registry.read(path)
            except UnderstudyError:
                continue  # a matter of the reader, which has rows of its own
            if asset.characters and any(rig_of(asset.character()).is_moved_by(a) for a in asset.animations):
                files.append(path)
    return files


def named_kind(name: str) -> str:
    """The kind that a name tells, "" where it is not clear."""
    text = re.sub(r"_?to_?idle", "", name.rpartition("|")[2], flags=re.IGNORECASE)
    words = re.sub(r"[^a-z0-9]+", " ", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())
    if re.search(POSES, words):
        return POSE
    if re.search(r"\bhit|react", words):
        return ACT
    if re.search(r"jump idle", words):
        return CYCLE
    if re.search(EITHER, words):
        return ""
    cycle, act = (bool(re.search(pattern, words)) for pattern in (CYCLES, ACTS))
    return "" if cycle == act else CYCLE if cycle else ACT


def learnable() -> Iterator[Row]:
    """The share of files that are not refused."""
    refused = []
    for file in real_files():
        try:
            ClipLibrary.from_asset(registry.read(file), source=file.name)
        except UnderstudyError as error:
            refused.append(f"{file.name}: {error}")
    share = 1 - len(refused) / len(real_files())
    about = "; ".join(refused) or f"of {len(real_files())} files"
    yield Row("files that can be learned", 100 * share, "%", about, share, 1.0)


def learning_time() -> Row:
    """Processor seconds to learn the character with the most clips; two cores take about half as long."""
    file = FIELD / LARGE
    began, wall = time.process_time(), time.perf_counter()
    library = prepare_library(ClipLibrary.from_asset(registry.read(file), source=file.name))
    model = fit_model(library)
    seconds = time.process_time() - began
    about = f"{file.stem}: {len(model.labels)} labels, {len(model.poses)} poses; {time.perf_counter() - wall:.0f} s"
    return Row("learning 76 clips, processor", seconds, "s", about, MAX_LEARNING_SECONDS / seconds, 1.0)

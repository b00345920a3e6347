"""Behaviours: what a label does while it is shown, found from the motion of its clips.

A label of a game character is a motion, not a pose to hover near. Each clip is one of four kinds:

    cycle   goes on for ever: walk, run, swim, a body's idle
    act     plays once, then returns to where it came from, or stays where it ends: attack, jump, death
    pose    has no motion: a T-pose, a still
    hover   material for a pose space, in which a particle idles [Bailey 2016]: the takes of a face, a long capture

**Kinds** are found from points of the visible surface, without their travel over the ground, in lengths of the
character. A clip without motion is a pose. A clip whose ends are apart is an act. Where they meet, a loop is scored:

    score = 1.9 - 3.3 burst (1 - 1.9 calm) - 4.6 odd + 4.1 low

    burst   log of the highest over the root mean square speed: an act has one blow, a gait goes evenly
    calm    log of 0.15 lengths a second over the mean speed, at least 0: what is calm may twitch and be an idle
    odd     share of the speed's variation in odd harmonics: a gait beats twice in a cycle, once for each leg
    low     10th percentile of the speed over its root mean square: an act rests, a gait does not

All four are the same for a loop that is cut at another phase or played backwards, in another size and at another rate.
The five coefficients are those of a logistic regression on 170 closed clips of 23 files whose names tell their kind,
rounded; `benchmarks/kinds.py` measures them on other files. Closing alone does not tell: the attacks of games close as
exactly as their gaits. The name of a clip votes with three units of the score, where it has words of one kind only.
Where it is outvoted the kind is not sure.

A long clip that is no cycle is hovered in, unless its last frame repeats its first, and so is a label of several clips
that are no cycles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from understudy import checks
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.perform.features.weights import points_of

CYCLE, ACT, POSE, HOVER = "cycle", "act", "pose", "hover"
KINDS = (CYCLE, ACT, POSE, HOVER)
IGNORE = "ignore"  # what a library file calls a clip that is left out

MAX_POINTS = 200  # of the mesh, spread evenly over its vertices
MIN_FRAMES = 3  # of motion: fewer are a pose
MIN_RANGE_LENGTHS = 0.002  # between the furthest poses of a clip: less is not seen, and idles move five times as far
STILL_STEP_RATIO = 0.01  # of the root mean square step: frames at the ends that move less are no part of a loop
# The ends are apart beyond both. Clips that are looped end within 0.2 of their range and at most a step before the
# first pose; of the acts whose ends are apart, the nearest end at 0.4 of their range.
MAX_GAP_RANGE_RATIO = 0.3
MAX_GAP_STEPS = 2.0
REPEATED_GAP_STEPS = 0.25  # a last frame nearer to the first than this repeats it, and is no frame of the loop
SCORE_OF_OPEN_CLIP = -4.0  # of an act whose ends are apart: sure, unless the name says otherwise
CALM_SPEED = 0.15  # lengths a second
NAME_VOTE = 3.0  # units of the score: 95 % where nothing else is known
MIN_SURE = 0.8  # a certainty below it is worth a look
OUTVOTED_CERTAINTY = 0.75  # at most, where the name says otherwise
LONG_SECONDS = 4.0  # the longest acts of the files that were fitted last 3 s; captures and takes of a mood last longer
SAME_POSE_RANGE_RATIO = 0.05  # of an act's range: a cycle with a pose so near to the act's end goes on from there
NEAR_POSE_RANGE_RATIO = 0.15  # an act that ends so near to a cycle does not stay there
# An act stays where it ends, if its last pose is further from all cycles or lower than its first one by these lengths.
# Deaths end 0.15 to 0.6 away and all but one of those below 0.2 sink by 0.06; dodges end 0.07 to 0.15 away and rise.
MIN_FAR_LENGTHS = 0.2
MIN_SINK_LENGTHS = 0.03

# fmt: off
CYCLE_WORDS = frozenset((
    "idle", "walk", "walking", "run", "running", "jog", "jogging", "sprint", "sprinting", "trot", "trotting", "gallop",
    "galloping", "canter", "swim", "swimming", "fly", "flying", "hover", "hovering", "crawl", "crawling", "sneak",
    "sneaking", "strafe", "strafing", "climb", "climbing", "dance", "dancing", "loop", "cycle", "breathe", "breathing",
))
ACT_WORDS = frozenset((
    "attack", "death", "die", "dying", "hit", "react", "reaction", "punch", "kick", "bite", "slash", "slice", "stab",
    "chop", "swing", "shoot", "throw", "dodge", "roll", "jump", "land", "pickup", "grab", "block", "reload", "interact",
    "use", "cast", "wave", "hello", "cheer", "nod", "yes", "no", "agree", "shake", "thumbs", "spawn", "despawn", "sit",
    "stand", "getup", "start", "stop", "turn", "drink", "open", "close",
))
# fmt: on


@dataclass(frozen=True)
class Behaviour:
    """What one clip does. Seconds count from the first frame of the clip."""

    kind: str  # of `KINDS`
    certainty: float = 1.0  # 0.5 to 1; 1 where the library file tells the kind
    start: float = 0.0  # first moment that is used
    stop: float | None = None  # last moment that is used; None: the last frame
    period: float = 0.0  # of a cycle: seconds until the pose of `start` comes again, at speed 1
    speed: float = 1.0  # at which it is played
    returns: str = ""  # of an act: the label that follows; "" for the one before it
    stays: bool = False  # of an act: its last pose is held

    def __post_init__(self) -> None:
        checks.one_of(self.kind, "kind", KINDS)

    def header(self) -> dict[str, Any]:
        """Plain values for a file."""
        return asdict(self)


@dataclass(frozen=True)
class BehaviourRule:
    """What a library file tells of the clips that match a pattern; None where it tells nothing."""

    kind: str | None = None
    start: float | None = None  # seconds
    stop: float | None = None
    speed: float | None = None
    returns: str | None = None
    stays: bool | None = None


def label_behaviour(clips: Sequence[str], behaviours: Mapping[str, Behaviour]) -> tuple[int, Behaviour]:
    """The number of the clip that a label plays, and what it does.

    A label whose clips are mostly cycles plays the most certain of them, the longest of equals. A label of a single act
    plays it. Several acts are takes of one mood, so the label is hovered in; so is a label of whose clips nothing is
    known.
    """
    known = [behaviours.get(clip, Behaviour(HOVER)) for clip in clips]
    cycles = [number for number, behaviour in enumerate(known) if behaviour.kind == CYCLE]
    if 2 * len(cycles) > len(known):
        best = max(cycles, key=lambda number: (known[number].certainty, known[number].period))
        return best, known[best]
    return (0, known[0]) if len(known) == 1 else (0, Behaviour(HOVER))


def find_behaviours(
    rig: PosedRig,
    clips: Mapping[str, Array],
    labels: Mapping[str, str],
    rate: float,
    rules: Mapping[str, BehaviourRule] | None = None,
) -> dict[str, Behaviour]:
    """What each clip does, by name.

    Args:
        rig: Of the character.
        clips: Rows (F, C) of each clip, at `rate` frames a second.
        labels: The label of each clip.
        rate: Frames a second.
        rules: What a library file tells, by clip; it holds whatever the motion looks like.
    """
    motions = dict(zip(clips, sample_motions(rig, clips.values())))
    behaviours = {}
    for name, motion in motions.items():
        rule = (rules or {}).get(name, BehaviourRule())
        behaviours[name] = _obey(clip_behaviour(motion, rate, name, rule.kind), rule)
    starts = [motion[0] for name, motion in motions.items() if behaviours[name].kind != POSE]
    stops = [motion[-1] for name, motion in motions.items() if behaviours[name].kind != POSE]
    hub = medoid(np.array([*starts, *stops])) if starts else None
    for name, behaviour in behaviours.items():
        rule = (rules or {}).get(name, BehaviourRule())
        if behaviour.kind == ACT and hub is not None and rule.returns is None and rule.stays is None:
            behaviours[name] = _find_end(name, behaviours, motions, labels, hub)
    return behaviours


def sample_motions(rig: PosedRig, clips: Iterable[Array]) -> list[Array]:
    """(F, P, 3) points of each clip: vertices, without their travel over the ground, in lengths of the character."""
    count = rig.character.vertex_count
    chosen = range(0, count, max(1, count // MAX_POINTS))
    motions = [np.asarray(rig.points(rows, chosen) if count else points_of(rig)(rows), np.float64) for rows in clips]
    length = float(np.median([np.ptp(points, axis=1).max() for points in motions])) if motions else 1.0
    for points in motions:
        points -= points.mean(axis=1, keepdims=True) * [1.0, 0.0, 1.0]
        points /= max(length, np.finfo(float).tiny)
    return motions


def clip_behaviour(motion: Array, rate: float, name: str = "", kind: str | None = None) -> Behaviour:
    """The behaviour of a motion (F, P, 3) in lengths of the character; `kind` where it is known.

    A name such as `Walk` votes; "" does not.
    """
    reach = _reach(motion)
    if kind == POSE or (kind is None and (len(motion) < MIN_FRAMES or reach < MIN_RANGE_LENGTHS)):
        return Behaviour(POSE)
    if len(motion) < MIN_FRAMES or reach <= 0:
        return Behaviour(kind or POSE, period=max(len(motion) - 1, 1) / rate)
    first, last = moving_range(motion)
    loop = motion[first : last + 1]
    vote = name_vote(name)
    score = cycle_score(loop, rate) + NAME_VOTE * vote
    certainty = round(float(1 / (1 + np.exp(-abs(score)))), 3)
    if kind is not None:
        certainty = 1.0
    elif vote * score < 0:
        certainty = min(certainty, OUTVOTED_CERTAINTY)
    if kind == CYCLE or (kind is None and score > 0):
        return Behaviour(CYCLE, certainty, first / rate, last / rate, period=loop_frames(loop) / rate)
    if kind is None and len(motion) > LONG_SECONDS * rate:
        if loop_frames(loop) == len(loop) - 1:  # the last frame repeats the first: a long clip that was made to loop
            certainty = min(certainty, OUTVOTED_CERTAINTY)
            return Behaviour(CYCLE, certainty, first / rate, last / rate, period=(len(loop) - 1) / rate)
        kind = HOVER
    return Behaviour(kind or ACT, certainty)


def moving_range(motion: Array) -> tuple[int, int]:
    """The first and the last frame of a motion (F, P, 3) without the frames at its ends that stand still."""
    steps = _spread(np.diff(motion, axis=0))
    moving = np.flatnonzero(steps > STILL_STEP_RATIO * np.sqrt(np.square(steps).mean()))
    return int(moving[0]), int(moving[-1]) + 1


def loop_frames(loop: Array) -> float:
    """Frames until a loop (F, P, 3) is at its first pose again.

    A last frame that repeats the first is that moment. Otherwise the way from the last to the first pose takes as long
    as at the pace of the steps beside it.
    """
    gap, pace = _gap_and_pace(loop)
    return len(loop) - 1 + (0.0 if gap < REPEATED_GAP_STEPS * pace else gap / pace)


def cycle_score(loop: Array, rate: float) -> float:
    """Log of how much more likely a cycle is than an act, for a motion (F, P, 3); see the module."""
    gap, _ = _gap_and_pace(loop)
    steps = _spread(np.diff(loop, axis=0))
    if gap > MAX_GAP_RANGE_RATIO * _reach(loop) and gap > MAX_GAP_STEPS * np.sqrt(np.square(steps).mean()):
        return SCORE_OF_OPEN_CLIP
    burst, calm, odd, low = loop_measures(loop, rate)
    return 1.9 - 3.3 * burst * (1 - 1.9 * calm) - 4.6 * odd + 4.1 * low


def loop_measures(loop: Array, rate: float) -> tuple[float, float, float, float]:
    """The measures `burst`, `calm`, `odd` and `low` of a closed motion (F, P, 3); see the module."""
    steps = _spread(np.diff(loop, axis=0))
    gap, pace = _gap_and_pace(loop)
    if gap >= REPEATED_GAP_STEPS * pace:  # the step from the last pose to the first is one of the loop
        steps = np.append(steps, pace)
    usual = float(np.sqrt(np.square(steps).mean()))
    spectrum = np.square(np.abs(np.fft.rfft(steps - steps.mean())))
    burst = float(np.log(steps.max() / usual))
    calm = max(float(np.log(CALM_SPEED / (rate * steps.mean()))), 0.0)
    odd = float(spectrum[1::2].sum() / max(spectrum.sum(), np.finfo(float).tiny))
    return burst, calm, odd, float(np.percentile(steps, 10)) / usual


def name_vote(name: str) -> int:
    """1 if a clip's name has words of cycles, -1 of acts, 0 of both or none: `Run_Shoot` tells nothing.

    2 for an idle: no act bears that name alone, and some idles have a sudden gesture.
    """
    text = re.sub(r"to_?idle", "", name.rpartition("|")[2], flags=re.IGNORECASE)
    words = set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower()))
    if words & ACT_WORDS:
        return 0 if words & CYCLE_WORDS else -1
    return 2 if "idle" in words else int(bool(words & CYCLE_WORDS))


def medoid(poses: Array) -> Array:
    """(P, 3) of poses (N, P, 3) the one that is nearest to most others: where most clips begin and end."""
    rows = poses.reshape(len(poses), -1)
    squares = np.square(rows).sum(axis=1)
    apart = np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0.0)
    result: Array = poses[int(np.median(np.sqrt(apart), axis=1).argmin())]
    return result


def _obey(behaviour: Behaviour, rule: BehaviourRule) -> Behaviour:
    """A behaviour with what a rule tells."""
    told = {name: value for name, value in asdict(rule).items() if value is not None}
    if behaviour.kind == CYCLE and ("start" in told or "stop" in told):
        start = told.get("start", behaviour.start)
        stop = told.get("stop", behaviour.start + behaviour.period)
        told |= {"start": start, "stop": stop, "period": stop - start}
    return replace(behaviour, **told)


def _find_end(
    name: str, behaviours: Mapping[str, Behaviour], motions: Mapping[str, Array], labels: Mapping[str, str], hub: Array
) -> Behaviour:
    """An act with what follows it.

    An act that ends near its own start, or near the pose where most clips begin and end, returns to where it came from.
    One that ends elsewhere goes on in the cycle that has that pose, as sitting down does in sitting. Where there is
    none it stays if it ends far from all cycles or lower than it began, as a death does.
    """
    motion, behaviour = motions[name], behaviours[name]
    end, reach = motion[-1], _reach(motion)
    if min(_spread(end - motion[0]), _spread(end - hub)) <= MAX_GAP_RANGE_RATIO * reach:
        return behaviour
    cycles = [cycle for cycle, other in behaviours.items() if other.kind == CYCLE]
    apart = {labels[cycle]: float(_spread(motions[cycle] - end).min()) for cycle in cycles}
    nearest = min(apart.values(), default=np.inf)
    if nearest <= SAME_POSE_RANGE_RATIO * reach:
        return replace(behaviour, returns=min(apart, key=apart.__getitem__))
    if nearest <= NEAR_POSE_RANGE_RATIO * reach:
        return behaviour
    sink = float((motion[0] - end)[:, 1].mean())
    return replace(behaviour, stays=nearest > MIN_FAR_LENGTHS or sink > MIN_SINK_LENGTHS)


def _spread(offsets: Array) -> Array:
    """(...) root mean square length of offsets (..., P, 3)."""
    return np.asarray(np.sqrt(np.square(offsets).sum(axis=-1).mean(axis=-1)))


def _reach(motion: Array) -> float:
    """Twice the furthest distance of a pose from the mean pose."""
    return 2 * float(_spread(motion - motion.mean(axis=0)).max())


def _gap_and_pace(loop: Array) -> tuple[float, float]:
    """The distance from the last pose to the first, and the usual step beside them, at least half that of the loop."""
    steps = _spread(np.diff(loop, axis=0))
    usual = float(np.sqrt(np.square(steps).mean()))
    return float(_spread(loop[0] - loop[-1])), max(float(steps[0] + steps[-1]) / 2, 0.5 * usual)

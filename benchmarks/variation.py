"""Idling: never twice the same, never far, never away [Bailey 2016, section 5.3].

Each label idles near its most typical pose 50 times, differently seeded, for ten seconds. Measured on every 29th
vertex, in millimetres of root mean square: how fast the surface is, beside the slowest quarter of the label's clips and
with every layer on; how far two takes are from each other; for how long the eyes are shut. Wandering between poses is
measured by its distance to the clips, beside that of each clip to the others of its label. Then one take a label goes
on for ten minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.measure import Row
from benchmarks.measures.smoothness import gap, mean_pairwise, nearest, speed
from benchmarks.transitions import POINTS, learned

from understudy import cast
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.perform.commands import Command, Idle
from understudy.perform.layers.eye_drives import CLOSED_EYE_RATIO, lids_of
from understudy.perform.library import ClipLibrary
from understudy.perform.runtime.label_runtime import calm_speed
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import HoldSegment, PerformerState

PEERS = False  # nothing here needs the peers' environment
TAKES = 50
SECONDS = 10.0
SETTLED = 2.0  # seconds at the start that are not measured: all takes begin in the same pose
EVERY = 12  # frames: half a second between two that are measured
LONG = 600.0  # seconds
MINUTE = 60.0
PLACES = 6  # poses to wander between
SEEDS = 4  # idles of each label whose speed is measured
CALM_RANGE = (0.7, 1.4)  # speed of an idle over the clips' calm quarter
MAX_SHUT_SHARE = 0.1  # of the frames of an idle: people's eyes are shut for a twentieth of the time
STILL_MM = 0.01  # a second: a hundredth of what is seen at arm's length


@dataclass(frozen=True, eq=False)
class Take:
    """One character's performance, at the frames that are measured."""

    rows: Array  # (n, C)
    away: Array  # (F,) latent distance from the point that is idled at, over the radius; every frame


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    library = ClipLibrary.from_asset(cast.load("dragon"))
    performer, whole = (Performer(learned(), library.rig, layers=layers) for layers in (False, True))
    seen = {take.clip: points(library.rig, take.rows) for take in library.takes}
    for label in library.labels:
        yield from speeds(label, library, performer, whole, seen)
        yield from idles(label, library, performer, seen)
    yield from long_idles(library, performer)
    yield from held_still(library, performer)


def points(rig: PosedRig, poses: Array) -> Array:
    """(F, V', 3) millimetres, some vertices of each pose; a second of frames at a time."""
    parts = [rig.vertices(poses[start : start + 24])[:, ::POINTS] * 1e3 for start in range(0, len(poses), 24)]
    return np.concatenate(parts).astype(np.float64)


def performed(
    performer: Performer, labels: Sequence[str], command: Command, seconds: float, every: int = EVERY
) -> list[Take]:
    """Characters side by side, one for each entry of `labels`, all told the same at the start."""
    states = [performer.init(label, seed=number) for number, label in enumerate(labels)]
    commands: list[Command | None] = [command] * len(states)
    kept, away = [], []
    for frame in range(round(seconds * performer.rate)):
        states, poses = performer.step_all(states, commands if frame == 0 else None)
        away.append([_away(state) for state in states])
        if frame % every == 0:
            kept.append(poses)
    return [Take(np.array([p[n] for p in kept]), np.array(away)[:, n]) for n in range(len(states))]


def _away(state: PerformerState) -> float:
    """Latent distance from the point that is held, in radii; NaN on the way to it."""
    source = state.main_source
    held = source.current_segment
    return float(np.linalg.norm(source.x - held.point) / held.radius) if isinstance(held, HoldSegment) else np.nan


def speeds(
    label: str, library: ClipLibrary, performer: Performer, whole: Performer, seen: dict[str, Array]
) -> Iterator[Row]:
    """Speed of the surface of idles beside the calm quarter of the clips, without layers and with all; shut eyes."""
    calm = calm_speed(np.concatenate([speed(seen[take.clip], take.rate) for take in library.of_label(label)]))
    first, lids = round(SETTLED * performer.rate), lids_of(library.rig)
    for words, shown in (("", performer), (" with layers", whole)):
        takes = performed(shown, [label] * SEEDS, Idle(label=label), SECONDS, every=1)
        ratios = [speed(points(library.rig, take.rows[first:]), shown.rate).mean() / calm for take in takes]
        mean, about = float(np.mean(ratios)), f"calm quarter {calm:.0f} mm/s; seeds {min(ratios):.2f}-{max(ratios):.2f}"
        least, most = CALM_RANGE
        yield Row(
            f"{label}: idle speed{words}", mean, "n", about, min(mean / least, most / mean), 1.0 if not words else None
        )
    closed = [np.min([lid.closures(take.rows) for lid in lids], axis=0) > CLOSED_EYE_RATIO for take in takes]
    shut = float(np.mean(closed))
    yield Row(
        f"{label}: eyes shut",
        shut,
        "n",
        f"of the time; at most {MAX_SHUT_SHARE}",
        MAX_SHUT_SHARE / max(shut, 1e-3),
        1.0,
    )


def idles(label: str, library: ClipLibrary, performer: Performer, seen: dict[str, Array]) -> Iterator[Row]:
    """Variation and radius of one label's idles, and how like the clips its wandering is."""
    first = round(SETTLED * performer.rate / EVERY)
    takes = performed(performer, [label] * TAKES, Idle(label=label), SECONDS)
    shown = np.array([points(library.rig, take.rows[first:]) for take in takes])
    apart = mean_pairwise(shown)
    training = [seen[take.clip] for take in library.of_label(label)]
    own = np.sqrt(np.square(gap(np.concatenate(training), np.concatenate(training).mean(axis=0))).mean())
    yield Row(f"{label}: two idles apart", apart, "mm", f"the label's frames from their mean: {own:.1f}", None, None)
    furthest = float(np.nanmax([take.away for take in takes]))
    yield Row(f"{label}: furthest, radius = 1", furthest, "n", "the radius", 1 / furthest, 0.99)
    unseen = held_out(training)
    rng = np.random.default_rng(0)
    poses = []
    for number in rng.integers(len(library.of_label(label)), size=PLACES):
        take = library.of_label(label)[number]
        poses.append(f"{take.clip}@{rng.integers(len(take)) / take.rate}")
    wander = performed(performer, [label] * 10, Idle(tuple(poses), label, hover=1.0), 2 * SECONDS)
    roamed = np.concatenate([points(library.rig, take.rows[first:]) for take in wander])
    yield from likeness(f"{label}: wander to clips", roamed, training, unseen)


def held_out(training: Sequence[Array]) -> Array:
    """(N,) distance of every frame to the nearest of the label's other clips."""
    found = []
    for number, clip in enumerate(training):
        others = [other for n, other in enumerate(training) if n != number]
        found.append(nearest(clip, np.concatenate(others))[0])
    return np.concatenate(found)


def likeness(name: str, shown: Array, training: Sequence[Array], unseen: Array) -> Iterator[Row]:
    """Nearest training frame, beside that of clips that were left out; at most as far is what is asked for."""
    distance, _ = nearest(shown, np.concatenate(training))
    for word, percent in (("median", 50), ("95th", 95)):
        mine, theirs = float(np.percentile(distance, percent)), float(np.percentile(unseen, percent))
        yield Row(f"{name}, {word}", mine, "mm", f"held-out clips: {theirs:.1f}", theirs / max(mine, 1e-9), 1.0)


def long_idles(library: ClipLibrary, performer: Performer) -> Iterator[Row]:
    """Ten minutes of each label: the mean pose of the last minute against that of the second one.

    The yardstick is how far the means of single minutes are from each other: a drift would grow beyond it.
    """
    takes = performed(performer, library.labels, Idle(), LONG, every=round(performer.rate))
    minute = round(MINUTE)
    for label, take in zip(library.labels, takes):
        shown = points(library.rig, take.rows)
        means = np.array([shown[start : start + minute].mean(axis=0) for start in range(0, len(shown), minute)])
        drift = float(gap(means[-1:], means[1:2])[0])
        usual = float(np.median(gap(means[2:-1], means[1:-2])))
        spread = float(np.sqrt(np.square(gap(shown, shown.mean(axis=0))).mean()))
        about = f"neighbouring minutes: {usual:.2f}; spread of an idle: {spread:.2f}"
        yield Row(f"{label}: drift in ten minutes", drift, "mm", about, spread / max(drift, 1e-9), 1.0)
        yield Row(f"{label}: furthest in ten minutes", float(np.nanmax(take.away)), "n", "the radius", None, None)


def held_still(library: ClipLibrary, performer: Performer) -> Iterator[Row]:
    """Speed of the surface with `stillness` at 1, once the dial is there."""
    takes = performed(performer, library.labels, Idle(stillness=1.0), SECONDS, every=1)
    late = round(SETTLED * performer.rate)
    fastest = max(float(speed(points(library.rig, take.rows[late:]), performer.rate).max()) for take in takes)
    yield Row(
        "stillness 1: fastest",
        fastest,
        "mm",
        f"a second; limit {STILL_MM}",
        STILL_MM / max(fastest, STILL_MM / 100),
        1.0,
    )

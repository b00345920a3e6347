"""Labels as behaviours, on every character of the real data: cycles go on, acts return, changes are soon and smooth.

Each file is learned with few iterations, since this is about motion and not about the space; models are kept in a
temporary folder. What is shown is measured on joints and soles, with the feet layer, 48 frames a second.

- **Cycles**: walks, runs, gallops, swims, flights and idles, four seeds of ten seconds each. Speed, acceleration at the
  seam and anywhere, variation at equal phase over the clip's range, slide of touching soles, and lowest vertex, beside
  those of the clip's own loop. A label that does not move, floats or sinks fails here.
- **Acts** from a cycle, at three phases: back in it, feet as low as in the clips, acceleration over that of the two
  motions.
- **Changes** between labels at random moments, joint by joint against the two motions involved. Beside ours the nearest
  frame by pose and velocity with an inertial blend of half a second, and a cross-fade of half a second.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from benchmarks.measure import Row
from benchmarks.real.characters import DATA, FIELD

import understudy as us
from understudy.character.body.feet import find_feet
from understudy.checks import Array
from understudy.errors import UnderstudyError
from understudy.maths import springs
from understudy.perform.behaviours import ACT, CYCLE
from understudy.perform.commands import Transition
from understudy.perform.layers.feet import Feet
from understudy.perform.library import ClipLibrary
from understudy.perform.model import PerformanceModel
from understudy.perform.pose_model import fit_model, open_model, prepare_library
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import ACT_END_EVENT, CYCLE_EVENT, PerformerState
from understudy.perform.training import FitSettings

PEERS = False  # the simple methods are here
ITERATIONS = 15
RATE, SECONDS, SEEDS = 48.0, 10.0, 4
CYCLE_NAMES = re.compile(r"walk|run|gallop|swim|fly|flying|idle", re.IGNORECASE)
OTHER_NAMES = re.compile(r"jump|attack|hit|react|shoot|death|impulse|bite|land|start|stop|to_?idle", re.IGNORECASE)
FAST_NAMES = re.compile(r"run|gallop", re.IGNORECASE)
TOUCH_RATIO = 0.03  # of the height: a sole point this near its lowest touches
SEAM_FRAMES = 3  # before and after the seam
CHANGES, CHANGE_SEED, BLEND_SECONDS = 30, 5, 0.5
FOLDERS = (
    (FIELD, "glb/*.glb"),
    (DATA, "gltf_threejs/*.glb"),
    (DATA, "gltf_quaternius/*.glb"),
    (DATA, "gltf_kaykit/Knight.glb"),
)
# name of a measure: least and greatest allowed value
CYCLE_BARS = {
    "speed": (0.9, 1.1),
    "acceleration at the seam": (0.0, 1.2),
    "acceleration": (0.0, 1.25),
    "variation": (0.015, 0.10),
    "slide": (0.0, 1.25),
    "lowest": (0.0, 1.0),  # of 1.5 % of the height, 2.5 % for runs
}


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    bodies = [body for path in real_files() if (body := Body.of(path)) is not None]
    yield from cycle_rows(bodies)
    yield from act_rows(bodies)
    yield from change_rows(bodies)


def real_files() -> list[Path]:
    """The characters of both folders of real data."""
    return [path for folder, pattern in FOLDERS for path in sorted(folder.glob(pattern))]


@dataclass(frozen=True, eq=False)
class Body:
    """A character with its model and what its clips do."""

    name: str
    model: PerformanceModel
    performer: Performer

    @classmethod
    def of(cls, path: Path) -> Body | None:
        """The character of a file, learned once; None where it has no clips to learn."""
        kept = Path(tempfile.gettempdir()) / "understudy-behaviours" / f"{path.stem}-{ITERATIONS}.understudy"
        try:
            if not kept.is_file():
                kept.parent.mkdir(exist_ok=True)
                library = prepare_library(ClipLibrary.from_asset(us.load(path)))
                fit_model(library, FitSettings(iterations=ITERATIONS)).save(kept)
            opened = open_model(kept)
        except UnderstudyError as error:
            print(f"{path.name} is left out: {error}", file=sys.stderr)
            return None
        feet = Feet.from_model(opened.rig, opened.model)
        performer = Performer(opened.model, opened.rig, RATE, layers=[] if feet is None else [feet])
        return cls(path.stem, opened.model, performer)

    def labels_of(self, kind: str) -> list[str]:
        """The labels of a kind."""
        return [label for label in self.model.labels if self.model.label_behaviour(label)[1].kind == kind]

    @cached_property
    def height(self) -> float:
        """Metres, of the joints in the first frame of the first clip."""
        places = self.places(next(iter(self.model.spaces.values())).features[:1].astype(float))[0]
        return float(max(np.ptp(places[:, 1]), 0.3 * np.ptp(places, axis=0).max()))

    def rows_of(self, features: Array) -> Array:
        """(F, C) rows of features (F, E) on the spot."""
        return self.model.encoder.place(features, np.zeros((len(features), 3)))

    def places(self, features: Array) -> Array:
        """(F, J, 3) joints of the skin for features (F, E), on the spot."""
        return self.joints(self.rows_of(features))

    def joints(self, rows: Array) -> Array:
        """(F, J, 3) joints of the skin in rows (F, C)."""
        rig = self.performer.rig
        return np.asarray(rig.joints(rows)[..., :3, 3][:, np.asarray(rig.character.joints)])  # type: ignore[attr-defined]

    def lowest(self, rows: Array) -> float:
        """Metres, the lowest vertex of every eighth row (F, C)."""
        return float(self.performer.rig.vertices(rows[::8])[..., 1].min())

    @cached_property
    def soles(self) -> list[tuple[Array, Array]]:
        """Owners (P,) and points (P, 3) of the sole of each foot."""
        rig = self.performer.rig
        worlds = [rig.joints(self.rows_of(s.features.astype(float))) for s in self.model.spaces.values()]  # type: ignore[attr-defined]
        return [(foot.owners, foot.points) for foot in find_feet(rig.character, worlds, self.height)]

    def sole_places(self, rows: Array) -> Array:
        """(F, P, 3) all sole points in rows (F, C)."""
        worlds = self.performer.rig.joints(rows)  # type: ignore[attr-defined]
        parts = []
        for owners, points in self.soles:
            frames = worlds[:, owners, :3, :]
            parts.append((frames[..., :3] @ points[:, :, None])[..., 0] + frames[..., 3])
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(rows), 0, 3))


def perform(
    body: Body, state: PerformerState, frames: int, command: Transition | None = None
) -> tuple[PerformerState, Array, list[PerformerState]]:
    """The state after some frames, the rows (F, C), and the states on the way."""
    shown, states = [], []
    for _ in range(frames):
        state, row = body.performer.step(state, command)
        command = None
        shown.append(row)
        states.append(state)
    return state, np.array(shown), states


def accelerations(places: Array) -> Array:
    """(F - 2, J) of joints (F, J, 3), metres a second squared."""
    return np.asarray(np.linalg.norm(np.diff(places, 2, axis=0), axis=-1) * RATE**2)


def on_the_spot(body: Body, states: Sequence[PerformerState], rows: Array) -> Array:
    """(F, C) rows without their travel, as they are shown otherwise."""
    encoder = body.model.encoder
    return rows if encoder.root is None else body.rows_of(np.array([state.features for state in states]))


def cycle_rows(bodies: Sequence[Body]) -> Iterator[Row]:
    """The share of cycles within each bar, and the worst of them."""
    measures: dict[str, dict[str, float]] = {}
    missed = []
    for body in bodies:
        for label in body.model.labels:
            if not CYCLE_NAMES.search(label) or OTHER_NAMES.search(label):
                continue
            if body.model.label_behaviour(label)[1].kind != CYCLE:
                missed.append(f"{body.name} {label}")
                continue
            takes = [measure_cycle(body, label, seed) for seed in range(SEEDS)]
            worst = {key: max((take[key] for take in takes), key=lambda v, k=key: _beyond(k, v)) for key in takes[0]}
            measures[f"{body.name} {label}"] = worst
            print(f"{body.name + ' ' + label:<40}", *(f"{v:8.3f}" for v in worst.values()), file=sys.stderr, flush=True)
    total = len(measures) + len(missed)
    share = 100 * len(measures) / max(total, 1)
    yield Row("clips named as cycles that are", share, "%", ", ".join(missed)[:80] or "all", share / 95, 1.0)
    for key, (least, most) in CYCLE_BARS.items():
        inside = [least <= m[key] <= most for m in measures.values()]
        worst = max(measures.items(), key=lambda item, k=key: _beyond(k, item[1][k]))
        share = 100 * float(np.mean(inside))
        about = f"asked for: all within {least:g} to {most:g}; worst {worst[1][key]:.2f}, {worst[0]}"
        yield Row(f"cycles, {key}: share within", share, "%", about, share / 100, 1.0)


def _beyond(key: str, value: float) -> float:
    """How far a value is from the middle of its range."""
    least, most = CYCLE_BARS[key]
    return abs(value - (least + most) / 2) / max(most - least, 1e-9)


def measure_cycle(body: Body, label: str, seed: int) -> dict[str, float]:
    """The measures of `CYCLE_BARS` of one take, over those of the clip's own loop."""
    planner, (segment, _) = body.performer.planner, body.model.label_behaviour(label)
    cycle = planner.cycle(segment.clip)
    _, rows, states = perform(body, body.performer.init(label, seed=seed), round(SECONDS * RATE))
    rows = on_the_spot(body, states, rows)
    phases = np.array([state.main_source.memory.phase for state in states])
    wraps = [n for n, state in enumerate(states) if any(event.what == CYCLE_EVENT for event in state.event)]
    loop = body.rows_of(cycle.features_at(np.arange(round(2 * cycle.period * RATE) + 3) / (cycle.period * RATE)))
    same = body.rows_of(cycle.features_at(phases))
    shown, own, there = body.joints(rows), body.joints(loop), body.joints(same)
    most, turns = accelerations(own).max(), accelerations(shown).max(axis=1)
    seam = np.zeros(len(turns), bool)
    for n in wraps:
        seam[max(n - SEAM_FRAMES, 0) : n + SEAM_FRAMES] = True
    span = np.sqrt(np.square(np.ptp(own, axis=0)).sum(axis=-1).mean())
    slide, own_slide = _slide(body, rows, same)
    sunk = abs(body.lowest(rows) - body.lowest(loop)) / body.height
    speed = [np.linalg.norm(np.diff(p, axis=0), axis=-1).mean() for p in (shown, own)]
    return {
        "speed": speed[0] / max(speed[1], 1e-12),
        "acceleration at the seam": float(turns[seam].max(initial=0.0) / max(most, 1e-12)),
        "acceleration": float(turns.max() / max(most, 1e-12)),
        "variation": float(np.sqrt(np.square(shown - there).sum(axis=-1).mean()) / max(span, 1e-12)),
        "slide": slide / own_slide if own_slide > 0.01 * body.height else min(slide / (0.01 * body.height), 1.0),
        "lowest": sunk / (0.025 if FAST_NAMES.search(label) else 0.015),
    }


def _slide(body: Body, rows: Array, same: Array) -> tuple[float, float]:
    """Root mean square speed over the ground of the points that touch in the clip, against their mean; both."""
    points, own = body.sole_places(rows), body.sole_places(same)
    if not points.shape[1]:
        return 0.0, 0.0
    touch = own[..., 1] < own[..., 1].min() + TOUCH_RATIO * body.height
    touch = touch[1:] & touch[:-1]
    result = []
    belt = None
    for places in (own, points):
        speeds = np.diff(places[..., [0, 2]], axis=0)[touch] * RATE
        belt = np.median(speeds, axis=0) if belt is None and len(speeds) else belt
        result.append(float(np.sqrt(np.square(speeds - belt).sum(axis=-1).mean())) if len(speeds) else 0.0)
    return result[1], result[0]


def act_rows(bodies: Sequence[Body]) -> Iterator[Row]:
    """Acts from the first cycle of each body."""
    back, low, peaks = [], [], []
    for body in bodies:
        cycles = [label for label in body.labels_of(CYCLE) if not OTHER_NAMES.search(label)]
        if not cycles:
            continue
        for number, label in enumerate(body.labels_of(ACT)):
            start = cycles[number % len(cycles)]
            segment, behaviour = body.model.label_behaviour(label)
            for phase in range(3):
                state, _, _ = perform(body, body.performer.init(start, seed=phase), 20 + 17 * phase)
                seconds = 2.5 + (segment.stop - segment.start) / body.model.rate
                state, rows, states = perform(body, state, round(seconds * RATE), Transition(label))
                rows = on_the_spot(body, states, rows)
                ended = any(event.what == ACT_END_EVENT for other in states for event in other.event)
                back.append(ended and (state.label == (label if behaviour.stays else behaviour.returns or start)))
                peaks.append(_peak_over(body, rows, [label, start]))
                floor = min(body.lowest(_clip_rows(body, name)) for name in (label, start))
                low.append(abs(min(body.lowest(rows[-24:]) - floor, 0.0)) / body.height)
    share = 100 * float(np.mean(back))
    yield Row("acts that end where they should", share, "%", f"{len(back)} acts", share / 100, 1.0)
    share = 100 * float(np.mean(np.array(peaks) <= 1.25))
    yield Row("acts, acceleration within 1.25 of the two motions", share, "%", "asked for: 95", share / 95, 1.0)
    sunk = 100 * float(np.max(low))
    yield Row(
        "acts, below the floor of the clips, worst",
        sunk,
        "%",
        "of the height; asked for: 1.5",
        1.5 / max(sunk, 1e-9),
        1.0,
    )


def _clip_rows(body: Body, label: str) -> Array:
    """(F, C) rows of a label's clip at `RATE`, on the spot."""
    segment, behaviour = body.model.label_behaviour(label)
    space = body.model.space(label)
    if behaviour.kind == CYCLE:
        cycle = body.performer.planner.cycle(segment.clip)
        return body.rows_of(cycle.features_at(np.arange(round(2 * cycle.period * RATE) + 3) / (cycle.period * RATE)))
    times = np.arange(max(3, round((len(segment) - 1) / space.rate * RATE))) / RATE
    return body.rows_of(us_resample(space.features[segment.start : segment.stop], space.rate, times))


def us_resample(features: Array, rate: float, times: Array) -> Array:
    """(F, E) features of a clip at some times, by cubic interpolation."""
    from understudy.maths import resample

    return np.asarray(resample.sample(features.astype(float), rate, times, "cubic"))


def _peak_over(body: Body, rows: Array, labels: Sequence[str]) -> float:
    """The largest acceleration of any joint over the largest of any joint in the clips of some labels."""
    own = max(accelerations(body.joints(_clip_rows(body, label))).max(initial=0.0) for label in labels)
    return float(accelerations(body.joints(rows)).max() / max(own, 1e-9))


def change_rows(bodies: Sequence[Body]) -> Iterator[Row]:
    """Changes at random moments: ours, the nearest frame, a cross-fade."""
    table: dict[str, list[tuple[float, float, float]]] = {"ours": [], "nearest": [], "cross-fade": []}
    for body in bodies:
        random = np.random.default_rng(CHANGE_SEED)
        labels = [label for label in body.model.labels if body.model.label_behaviour(label)[1].kind in (CYCLE, ACT)]
        steady = body.labels_of(CYCLE)
        if len(labels) < 2 or not steady:
            continue
        for number in range(CHANGES):
            start = str(random.choice(steady))
            goal = str(random.choice([label for label in labels if label != start]))
            state, _, states = perform(body, body.performer.init(start, seed=number), int(random.integers(10, 60)))
            table["ours"].append(_measure_change(body, state, states, start, goal))
            features = np.array([other.features for other in states[-2:]])
            for name in ("nearest", "cross-fade"):
                motion = _simple_change(body, features, start, goal, name)
                table[name].append((*_change_peaks(body, body.rows_of(motion), start, goal), BLEND_SECONDS))
    for column, word in ((0, "acceleration, body"), (1, "acceleration, joint by joint"), (2, "seconds")):
        for percent, name in ((50, "median"), (90, "90th"), (100, "worst")):
            values = {key: float(np.percentile([v[column] for v in taken], percent)) for key, taken in table.items()}
            other = min(values["nearest"], values["cross-fade"])
            about = "; ".join(f"{key}: {value:.2f}" for key, value in values.items() if key != "ours")
            yield Row(f"changes, {word}, {name}", values["ours"], "n", about, other / max(values["ours"], 1e-9), 1.0)


def _measure_change(
    body: Body, state: PerformerState, states: list[PerformerState], start: str, goal: str
) -> tuple[float, float, float]:
    entered, features = None, [other.features for other in states[-2:]]
    command: Transition | None = Transition(goal)
    for number in range(round(3 * RATE)):
        state, _ = body.performer.step(state, command)
        command = None
        features.append(state.features)
        if entered is None and state.label == goal and not state.blending:
            entered = number + 1
            break
    rows = body.rows_of(np.array(features))
    return (*_change_peaks(body, rows, start, goal), (entered or round(3 * RATE)) / RATE)


def _change_peaks(body: Body, rows: Array, start: str, goal: str) -> tuple[float, float]:
    """Acceleration over the two motions': of the fastest joints, and of each joint by itself (90th percentile)."""
    own = np.max([accelerations(body.joints(_clip_rows(body, label))).max(axis=0) for label in (start, goal)], axis=0)
    shown = accelerations(body.joints(rows)).max(axis=0)
    each = shown / np.maximum(own, 0.1 * own.max())
    return float(shown.max() / own.max()), float(np.percentile(each, 90))


def _simple_change(body: Body, source: Array, start: str, goal: str, method: str) -> Array:
    """(F, E) features of a simple change: two frames (2, E) of the source, the blend, and three more."""
    segment, behaviour = body.model.label_behaviour(goal)
    space = body.model.space(goal)
    length = (len(segment) - 1) / space.rate
    clip = us_resample(space.features[segment.start : segment.stop], space.rate, np.arange(round(length * RATE)) / RATE)
    clip = np.tile(clip, (1 + round(2 * RATE) // len(clip), 1)) if behaviour.kind == CYCLE else clip
    count, weights = round(BLEND_SECONDS * RATE), body.model.weights
    velocity, first = (source[1] - source[0]) * RATE, 0
    if method == "nearest":
        speeds = np.gradient(clip, 1 / RATE, axis=0)
        cost = np.square((clip - source[1]) * weights).sum(axis=1)
        cost += 0.2**2 * np.square((speeds - velocity) * weights).sum(axis=1)
        last = round(length * RATE) if behaviour.kind == CYCLE else max(2, len(clip) // 4)
        first = int(cost[:last].argmin())
    target = clip[np.minimum(first + np.arange(count + 4), len(clip) - 1)]
    if method == "nearest":
        decay = springs.init_decay(source[1] - target[0], velocity - (target[1] - target[0]) * RATE, BLEND_SECONDS)
        motion = target[1:] + springs.evaluate(decay, np.arange(1, len(target))[:, None] / RATE)
    else:
        u = np.minimum(np.arange(1, len(target)) / count, 1.0)[:, None]
        held = source[1] + velocity * np.minimum(np.arange(1, len(target)) / RATE, 0.1)[:, None]
        motion = held + u * u * (3 - 2 * u) * (target[1:] - held)
    return np.concatenate([source, motion])

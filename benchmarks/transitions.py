"""Changes of label, from the command on: direct entries by predicted cost against simpler ones and motion graphs.

The same cases for all: the dragon is in the midst of a clip of one label and is told to change to another. Ours plays
the clip and is given `Transition` at that moment. Beside it: `urgent`, the same with urgency 1; `nearest`, the frame of
the label with the nearest pose and velocity and an inertial blend of half a second; `blend`, a plain cross-fade of half
a second into the first frame of a clip of the label; and motion graphs [Bailey 2016, section 6], which play on until
they may leave, and blend for 12 frames as often as their quickest walk asks for.

Measured is the mesh (root mean square over 21,979 vertices), from the frame of the command to the arrival, when the
label is reached and nothing is blended any more: peaks of acceleration and jerk as multiples of the 99th percentile of
all clips, seconds, how far the way leads from the nearest frame of any clip, and when the label shows: the first moment
from which on the pose is nearer to a frame of the label, among those unlike all other labels, than to where it began.

The graph is given its best: it starts wherever the case says, though it may have pruned that frame; it may pass through
pruned frames; its clips of two labels count for both. Three settings: mesh points as KGP02 compares them, and plain rig
parameters as Bailey did, both with the smallest threshold at which every label has a part that can be stayed in and
reached from all others; and mesh points with a loose threshold, for short ways.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from benchmarks.baselines.motion_graph import MotionGraph
from benchmarks.measure import Row
from benchmarks.measures.smoothness import Rates, TypicalRates, nearest, peak, rates

from understudy import cast
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.maths import springs
from understudy.perform.commands import DEFAULT_URGENCY, PlayClip, Transition
from understudy.perform.library import ClipLibrary
from understudy.perform.model import PerformanceModel
from understudy.perform.runtime.entries import MIN_LEFT_SECONDS
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import PerformerState

PEERS = False  # the baseline is in the package
CASES, SEED = 80, 2  # a seed that nothing was tuned on
RUN_UP = 36  # frames of the clip that ours plays before the command: its own blend into the clip is over by then
AFTER = 3  # frames after the arrival, so that every difference that spans its seam is seen
BLEND_SECONDS = 0.5  # of the simple methods
VELOCITY_SECONDS = 0.2  # that a difference of velocity counts as one of pose, for the nearest frame
LONGEST = 20.0  # seconds after which ours has not arrived
POINTS = 29  # every n-th vertex is a point for KGP02's distance: 758 of them


# Bars of ours: median, 90th percentile, worst.
BARS = {
    "acceleration (all clips = 1)": (0.2, 0.4, 0.7),
    "seconds to arrive": (0.35, 0.6, 0.9),
    "jerk (all clips = 1)": (0.27, 0.39, 1.08),
    "off the clips, mm": (25.0, 33.0, 45.0),
}
SHOWS_BAR_SECONDS = 0.4  # within which an urgent change shows its label


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    dragon = Dragon.load()
    drawn = cases(dragon.library, CASES, SEED)
    model = learned()
    columns = {
        "ours": ours(dragon, model, drawn),
        "urgent": ours(dragon, model, drawn, urgency=1.0),
        "nearest": nearest_frames(dragon, drawn),
        "blend": plain_blends(dragon, drawn),
    }
    for name, graph in graphs(dragon).items():
        columns[name] = by_graph(dragon, graph, drawn)
    table = {name: summary(column) for name, column in columns.items()}
    show(table)
    for measure, bars in BARS.items():
        for word, bar in zip(("median", "90th", "worst"), bars):
            value = table["ours"][f"{measure}, {word}"]
            yield Row(f"{measure}, {word}", value, _unit(measure), f"asked for: {bar:g}", bar / max(value, 1e-9), 1.0)
    shows = table["urgent"]["label shows, s, worst"]
    yield Row(
        "urgent: label shows, worst", shows, "s", f"asked for: {SHOWS_BAR_SECONDS}", SHOWS_BAR_SECONDS / shows, 1.0
    )
    for measure in table["ours"]:
        yield from compared(measure, {name: column[measure] for name, column in table.items()})


@dataclass(frozen=True, eq=False)
class Dragon:
    """Its library, rig, and what its clips do: over all, and by label."""

    library: ClipLibrary
    rig: PosedRig
    points: dict[str, Array]  # (F, P) of each clip: some vertices, for KGP02's distance; of norm as the mesh's size
    usual: TypicalRates
    of_label: dict[str, TypicalRates]

    @classmethod
    def load(cls) -> Dragon:
        """Evaluated clip by clip, since all meshes at once would be 1.2 GB."""
        library = ClipLibrary.from_asset(cast.load("dragon"))
        points: dict[str, Array] = {}
        moves: dict[str, Rates] = {}
        for take in library.takes:
            if take.clip not in moves:
                vertices = library.rig.vertices(take.rows)
                chosen = vertices[:, ::POINTS]
                points[take.clip] = chosen.reshape(len(chosen), -1) / np.sqrt(chosen.shape[1])
                moves[take.clip] = rates(vertices, library.rate)
        usual = {
            label: TypicalRates.from_rates(moves[take.clip] for take in library.of_label(label))
            for label in library.labels
        }
        return cls(library, library.rig, points, TypicalRates.from_rates(moves.values()), usual)

    def points_of(self, rows: Array) -> Array:
        """(F, P) the same points of rows (F, C)."""
        chosen = self.rig.vertices(rows)[:, ::POINTS]
        return chosen.reshape(len(chosen), -1) / np.sqrt(chosen.shape[1])

    @cached_property
    def shown(self) -> dict[str, Array]:
        """Label -> (n, P) points of its frames that are unlike all other labels: the further half."""
        every = {
            label: np.concatenate([self.points[take.clip] for take in self.library.of_label(label)])
            for label in self.library.labels
        }
        result = {}
        for label, values in every.items():
            others = np.concatenate([other for name, other in every.items() if name != label])
            alone, _ = nearest(values, others)
            result[label] = values[alone >= np.median(alone)]
        return result

    @cached_property
    def all_points(self) -> Array:
        """(N, P) the points of all frames."""
        return np.concatenate(list(self.points.values()))


@cache
def learned() -> PerformanceModel:
    """The dragon's model as the package ships it: what a user gets."""
    return PerformanceModel.load(cast.model_file("dragon"))


@dataclass(frozen=True)
class Case:
    """In the midst of a clip, at one of its frames; then to another label."""

    clip: str
    frame: int
    label: str
    goal: str


def cases(library: ClipLibrary, count: int = CASES, seed: int = 0) -> list[Case]:
    """Two different labels, a clip of the first alone, a frame of it, all equally likely."""
    rng = np.random.default_rng(seed)
    names = [take.clip for take in library.takes]
    found = []
    for _ in range(count):
        label, goal = rng.choice(library.labels, 2, replace=False)
        take = rng.choice(
            [n for n, own in enumerate(library.takes) if own.label == label and names.count(own.clip) == 1]
        )
        clip, frames = names[take], len(library.takes[take])
        found.append(Case(clip, int(rng.integers(1, frames)), str(label), str(goal)))
    return found


Outcome = dict[str, float]  # what came of one case: the measures of `measured` and "seconds to arrive"
Column = list["Outcome | None"]  # all outcomes of one method; None where there was no way


def measured(dragon: Dragon, case: Case, motion: Array, stop: int) -> Outcome:
    """Measures of rows (F, C): one before the command, that of the command, the way up to row `stop`, `AFTER` more."""
    rate, vertices = dragon.library.rate, dragon.rig.vertices(motion)
    points = vertices[:, ::POINTS].reshape(len(motion), -1) / np.sqrt(len(vertices[0, ::POINTS]))
    outcome = {
        f"{word} (all clips = 1)": peak(vertices, rate, order, 0, stop) / getattr(dragon.usual, word)
        for order, word in ((2, "acceleration"), (3, "jerk"))
    }
    away, _ = nearest(points[: stop + 1], dragon.all_points)
    outcome["off the clips, mm"] = 1e3 * float(away.max())
    to_label, _ = nearest(points, dragon.shown[case.goal])
    from_start = np.linalg.norm(points - points[1], axis=1)
    late = np.flatnonzero(to_label >= from_start)
    outcome["label shows, s"] = max(int(late[-1]) if len(late) else 0, 0) / rate
    outcome["seconds to arrive"] = (stop - 1) / rate
    return outcome


def nearest_frames(dragon: Dragon, drawn: Sequence[Case]) -> Column:
    """The nearest frame of the label by pose and velocity, entered at once with an inertial blend."""
    rate = dragon.library.rate
    outcomes: Column = []
    for case in drawn:
        source, points = _rows_of(dragon, case.clip), dragon.points[case.clip]
        velocity = (points[case.frame] - points[case.frame - 1]) * rate
        best: tuple[float, str, int] = (np.inf, "", 0)
        for take in dragon.library.of_label(case.goal):
            values = dragon.points[take.clip]
            last = max(2, len(values) - round(MIN_LEFT_SECONDS * rate))
            speeds = np.gradient(values, 1 / rate, axis=0)
            cost = np.square(values - points[case.frame]).sum(axis=1)
            cost = (cost + VELOCITY_SECONDS**2 * np.square(speeds - velocity).sum(axis=1))[:last]
            best = min(best, (float(cost.min()), take.clip, int(cost.argmin())))
        target = _rows_of(dragon, best[1])[best[2] :]
        count = round(BLEND_SECONDS * rate)
        target = target[np.minimum(np.arange(count + AFTER + 2), len(target) - 1)]
        offset = source[case.frame] - target[0]
        speed = ((source[case.frame] - source[case.frame - 1]) - (target[1] - target[0])) * rate
        decay = springs.init_decay(offset, speed, BLEND_SECONDS)
        times = np.arange(1, count + AFTER + 1)[:, None] / rate
        motion = target[1 : count + AFTER + 1] + springs.evaluate(decay, times)
        outcomes.append(
            measured(dragon, case, np.concatenate([source[case.frame - 1 : case.frame + 1], motion]), count + 1)
        )
    return outcomes


def plain_blends(dragon: Dragon, drawn: Sequence[Case]) -> Column:
    """A cross-fade into the first frames of the label's first clip."""
    rate = dragon.library.rate
    count = round(BLEND_SECONDS * rate)
    outcomes: Column = []
    for case in drawn:
        source = _rows_of(dragon, case.clip)
        target = _rows_of(dragon, dragon.library.of_label(case.goal)[0].clip)
        old = source[np.minimum(case.frame + np.arange(1, count + AFTER + 1), len(source) - 1)]
        new = target[np.minimum(np.arange(1, count + AFTER + 1), len(target) - 1)]
        u = np.minimum(np.arange(1, count + AFTER + 1) / count, 1.0)[:, None]
        share = u * u * (3 - 2 * u)
        motion = np.concatenate([source[case.frame - 1 : case.frame + 1], old + share * (new - old)])
        outcomes.append(measured(dragon, case, motion, count + 1))
    return outcomes


def _rows_of(dragon: Dragon, clip: str) -> Array:
    return next(take.rows for take in dragon.library.takes if take.clip == clip)


def graphs(dragon: Dragon) -> dict[str, MotionGraph]:
    """The baseline in its settings; takes of two labels are one clip with both."""
    takes = dragon.library.takes
    clips = {take.clip: take for take in takes}
    rows = [take.rows for take in clips.values()]
    points = [dragon.points[clip] * 1e3 for clip in clips]
    labels = [[take.label for take in takes if take.clip == clip] for clip in clips]
    rate = dragon.library.rate
    return {
        "motion graph": MotionGraph.fit(rows, labels, rate, compared=points),
        "on rig parameters": MotionGraph.fit(rows, labels, rate),
        "loose": MotionGraph.fit(rows, labels, rate, compared=points, quantile=0.3),
    }


def by_graph(dragon: Dragon, graph: MotionGraph, drawn: Sequence[Case]) -> Column:
    """The quickest walk of each case."""
    clips = list(dict.fromkeys(take.clip for take in dragon.library.takes))
    outcomes: Column = []
    for case in drawn:
        frame = int(graph.starts[clips.index(case.clip)]) + case.frame
        pieces = graph.walk_to(frame, case.goal)
        blends = [piece for piece in pieces if piece.onto is not None]
        if not blends:
            outcomes.append(None)
            continue
        last = blends[-1]
        after = graph.clips[last.onto or 0][last.onto_start + graph.window :][:AFTER]
        before = graph.clips[pieces[0].clip][: pieces[0].start][-1:]
        motion = np.concatenate([before, graph.synthesise(pieces), after])
        outcomes.append(measured(dragon, case, motion, len(motion) - len(after) - 1))
    return outcomes


def ours(dragon: Dragon, model: PerformanceModel, drawn: Sequence[Case], urgency: float = DEFAULT_URGENCY) -> Column:
    """All cases performed side by side."""
    performer = Performer(model, dragon.rig, layers=False)
    return [_outcome(dragon, case, take) for case, take in zip(drawn, performed(performer, drawn, urgency))]


class Performed:
    """One case on its way: the rows so far, the row of the command, that of the arrival."""

    def __init__(self, case: Case, state: PerformerState, rate: float, urgency: float) -> None:
        self.case, self.state, self.rate, self.urgency = case, state, rate, urgency
        self.first = max(case.frame - RUN_UP, 0)
        self.rows: list[Array] = []
        self.told: int | None = None
        self.arrived: int | None = None

    def command(self) -> PlayClip | Transition | None:
        """What to tell it now."""
        if not self.rows:
            return PlayClip(self.case.clip, self.first / self.rate)
        at = self.state.main_source.is_replaying and self.state.main_source.cursor >= self.case.frame - self.first
        if self.told is None and at:
            self.told = len(self.rows)
            return Transition(self.case.goal, urgency=self.urgency)
        return None

    def note(self, state: PerformerState, row: Array) -> None:
        """A frame on. It has arrived when it is in the label and nothing is blended any more."""
        self.state = state
        self.rows.append(row)
        there = self.told is not None and state.label == self.case.goal and not state.blending
        if there and self.arrived is None:
            self.arrived = len(self.rows)

    @property
    def over(self) -> bool:
        """Nothing more to see."""
        if self.arrived is not None:
            return len(self.rows) >= self.arrived + AFTER
        return self.told is not None and len(self.rows) - self.told > LONGEST * self.rate


def performed(performer: Performer, drawn: Sequence[Case], urgency: float = DEFAULT_URGENCY) -> list[Performed]:
    """Every case, frame by frame, until it has arrived."""
    rate, takes = performer.rate, []
    for number, case in enumerate(drawn):
        first = max(case.frame - RUN_UP, 0)
        state = performer.init(case.label, f"{case.clip}@{first / rate}", seed=number)
        takes.append(Performed(case, state, rate, urgency))
    while going := [take for take in takes if not take.over]:
        states, rows = performer.step_all([take.state for take in going], [take.command() for take in going])
        for take, state, row in zip(going, states, rows):
            take.note(state, row)
        if len(takes[0].rows) > 60 * rate:
            raise RuntimeError("a case of ours never came to its clip")
    return takes


def _outcome(dragon: Dragon, case: Case, take: Performed) -> Outcome | None:
    if take.arrived is None or take.told is None:
        return None
    begin = max(take.told - 2, 0)
    return measured(dragon, case, np.array(take.rows[begin : take.arrived + AFTER]), take.arrived - begin - 1)


def summary(column: Column) -> dict[str, float]:
    """The numbers of one method."""
    known = [outcome for outcome in column if outcome is not None]
    result = {}
    for measure in known[0]:
        numbers = [outcome[measure] for outcome in known]
        for word, percent in (("median", 50), ("90th", 90), ("worst", 100)):
            result[f"{measure}, {word}"] = float(np.percentile(numbers, percent))
    result["cases with a way, %"] = 100 * len(known) / len(column)
    return result


def compared(measure: str, values: dict[str, float]) -> Iterator[Row]:
    """Ours beside each other method: the ratio is how many times better ours is."""
    for other, theirs in values.items():
        if other == "ours":
            continue
        mine, higher = values["ours"], measure.endswith("%")
        better, worse = (mine, theirs) if higher else (theirs, mine)
        ratio = 1.0 if better == worse else better / worse if worse else np.inf
        yield Row(measure, mine, _unit(measure), f"{other}: {theirs:.3g}", float(ratio), None)


def _unit(measure: str) -> str:
    return next(
        (unit for word, unit in (("%", "%"), ("mm", "mm"), ("s,", "s"), ("seconds", "s")) if word in measure), "n"
    )


def show(table: dict[str, dict[str, float]]) -> None:
    """The whole table, for people."""
    print(f"{'':<50}" + "".join(f"{name:>20}" for name in table), file=sys.stderr)
    for measure in table["ours"]:
        print(f"{measure:<50}" + "".join(f"{column[measure]:>20.3f}" for column in table.values()), file=sys.stderr)

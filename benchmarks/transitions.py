"""Transitions between labels: pose spaces and bridges against motion graphs [Bailey 2016, section 6].

The same 200 cases for all: the dragon is in the midst of a clip of one label and is told to change to another. Ours
plays the clip and is given `Transition` at that moment; a motion graph plays on until it may leave, and blends for 12
frames, as often as its quickest walk asks for. Measured is the mesh (root mean square over 21,979 vertices), in the
blends and on the whole way from the command to the arrival, when the label is reached and nothing is blended any more.
Peaks are multiples of the 99th percentile of the training clips, all of them or those of the two labels.

The graph is given its best: it starts wherever the case says, though it may have pruned that frame; it may pass through
pruned frames; its clips of two labels count for both. Three settings: mesh points as KGP02 compares them, and plain rig
parameters as Bailey did, both with the smallest threshold at which every label has a part that can be stayed in and
reached from all others; and mesh points with a loose threshold, for short ways.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from benchmarks.baselines.motion_graph import MotionGraph, seams_of
from benchmarks.measure import Row
from benchmarks.measures.smoothness import Rates, TypicalRates, gap, peak, rates

from understudy import cast
from understudy.character.rig import PosedRig
from understudy.checks import Array
from understudy.perform.commands import PlayClip, Transition
from understudy.perform.library import ClipLibrary
from understudy.perform.model import PerformanceModel
from understudy.perform.runtime import sequencer
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import PerformerState, mix_sources

PEERS = False  # the baseline is in the package
CASES = 200
RUN_UP = 36  # frames of the clip that ours plays before the command: its own blend into the clip is over by then
BESIDE = 3  # frames shown before and after, so that every difference that spans a seam is seen
LONGEST = 20.0  # seconds after which ours has not arrived
POINTS = 29  # every n-th vertex is a point for KGP02's distance: 758 of them


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    dragon = Dragon.load()
    drawn = cases(dragon.library)
    columns = {"ours": ours(dragon, learned(), drawn)}
    for name, graph in graphs(dragon).items():
        columns[name] = by_graph(dragon, graph, drawn)
    table = {name: summary(column) for name, column in columns.items()}
    show(table)
    for measure in table["ours"]:
        yield from compared(measure, {name: column[measure] for name, column in table.items()})


@dataclass(frozen=True, eq=False)
class Dragon:
    """Its library, rig, and what its clips do: over all, and by label."""

    library: ClipLibrary
    rig: PosedRig
    points: dict[str, Array]  # (F, P) of each clip: some vertices, for KGP02's distance
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

    def usual_of(self, first: str, second: str) -> TypicalRates:
        """The mean of what two labels do."""
        a, b = self.of_label[first], self.of_label[second]
        return TypicalRates((a.speed + b.speed) / 2, (a.acceleration + b.acceleration) / 2, (a.jerk + b.jerk) / 2)


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


Outcome = dict[str, float]  # what came of one case: the measures of `measured`, "gap" in metres, "seconds", "blends"


@dataclass(frozen=True)
class Column:
    """All outcomes of one method; None where there was no way. Shares from 0 to 1."""

    outcomes: list[Outcome | None]
    labels: float  # of ordered pairs of labels that have a way
    frames: float  # of the training frames that are in use


def measured(dragon: Dragon, case: Case, motion: Array, blends: Sequence[tuple[int, int]], stop: int) -> Outcome:
    """Peaks of acceleration and jerk of rows (F, C), in the blends (first, stop) and on the whole way, 0 to `stop`.

    `BESIDE` frames at both ends belong to what was before and what comes after.
    """
    rate, usual, both = dragon.library.rate, dragon.usual, dragon.usual_of(case.label, case.goal)
    vertices = dragon.rig.vertices(motion)
    found = {}
    for order, word in ((2, "acceleration"), (3, "jerk")):
        inside = max(peak(vertices, rate, order, *blend) for blend in blends)
        found[f"{word} in blends (all clips = 1)"] = inside / getattr(usual, word)
        found[f"{word} in blends (two labels = 1)"] = inside / getattr(both, word)
        found[f"{word} on the way (all clips = 1)"] = peak(vertices, rate, order, 0, stop) / getattr(usual, word)
    return found


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
    """The quickest walk of each case, measured at its blends."""
    clips = list(dict.fromkeys(take.clip for take in dragon.library.takes))
    reach = graph.reach()
    outcomes: list[Outcome | None] = []
    for case in drawn:
        frame = int(graph.starts[clips.index(case.clip)]) + case.frame
        pieces = graph.walk_to(frame, case.goal)
        blends = [piece for piece in pieces if piece.onto is not None]
        if not blends:
            outcomes.append(None)
            continue
        window = graph.window
        last = blends[-1]
        after = graph.clips[last.onto or 0][last.onto_start + window :][:BESIDE]
        before = graph.clips[pieces[0].clip][: pieces[0].start][-BESIDE:]
        motion = np.concatenate([before, graph.synthesise(pieces), after])
        seams = [(begin + len(before), end + len(before)) for begin, end in seams_of(pieces)]
        outcome = measured(dragon, case, motion, seams, len(motion) - len(after))
        middle = window // 2 - 1  # alpha is one half there
        pairs = [
            np.stack([graph.clips[p.clip][p.start + middle], graph.clips[p.onto or 0][p.onto_start + middle]])
            for p in blends
        ]
        outcome["gap"] = max(mesh_gap(dragon.rig, pair) for pair in pairs)
        outcome["seconds"] = float(graph.time_to(case.goal)[frame])
        outcome["blends"] = len(blends)
        outcomes.append(outcome)
    return Column(outcomes, reach.labels, reach.frames)


def mesh_gap(rig: PosedRig, pair: Array) -> float:
    """Metres between two poses (2, C), root mean square over the vertices."""
    vertices = rig.vertices(pair)
    return float(gap(vertices[:1], vertices[1:])[0])


def ours(dragon: Dragon, model: PerformanceModel, drawn: Sequence[Case]) -> Column:
    """All cases performed side by side, measured from the command to the arrival."""
    performer = Performer(model, dragon.rig, layers=False)
    outcomes = [_outcome(dragon, case, take) for case, take in zip(drawn, performed(performer, drawn))]
    pairs = [(a, b) for a in model.labels for b in model.labels if a != b]
    joined = np.mean([bool(model.route(a, b)) for a, b in pairs])
    learnt = {segment.clip: len(segment) for space in model.spaces.values() for segment in space.segments}
    there = {take.clip: len(take) for take in dragon.library.takes}
    return Column(outcomes, float(joined), sum(learnt.values()) / sum(there.values()))


class Performed:
    """One case on its way: the rows so far, the row of the command, that of the arrival, the gaps crossed."""

    def __init__(self, case: Case, state: PerformerState, rate: float) -> None:
        self.case, self.state, self.rate = case, state, rate
        self.first = max(case.frame - RUN_UP, 0)
        self.rows: list[Array] = []
        self.blended: list[bool] = []  # of each row
        self.gaps: list[Array] = []  # (2, E) shown, and what the new motion says
        self.told: int | None = None
        self.arrived: int | None = None

    def command(self) -> PlayClip | Transition | None:
        """What to tell it now."""
        if not self.rows:
            return PlayClip(self.case.clip, self.first / self.rate)
        at = self.state.main_source.is_replaying and self.state.main_source.cursor >= self.case.frame - self.first
        if self.told is None and at:
            self.told = len(self.rows)
            return Transition(self.case.goal)
        return None

    def note(self, state: PerformerState, row: Array) -> None:
        """A frame on. It has arrived when it is in the label and nothing is blended any more."""
        self.state = state
        self.rows.append(row)
        self.blended.append(state.blending)
        there = self.told is not None and state.label == self.case.goal and not state.blending
        if there and self.arrived is None:
            self.arrived = len(self.rows)

    @property
    def over(self) -> bool:
        """Nothing more to see."""
        if self.arrived is not None:
            return len(self.rows) >= self.arrived + BESIDE
        return self.told is not None and len(self.rows) - self.told > LONGEST * self.rate


def performed(performer: Performer, drawn: Sequence[Case]) -> list[Performed]:
    """Every case, frame by frame, until it has arrived."""
    rate, planner = performer.rate, performer.planner
    takes = []
    for number, case in enumerate(drawn):
        first = max(case.frame - RUN_UP, 0)
        takes.append(Performed(case, performer.init(case.label, f"{case.clip}@{first / rate}", seed=number), rate))
    while going := [take for take in takes if not take.over]:
        settled = []
        for take in going:
            command = take.command()
            state = take.state if command is None else performer.command(take.state, command)
            state = sequencer.resolve_segments(planner, state)
            if take.told is not None and any(event.what == "bridge" for event in state.event):
                take.gaps.append(np.stack([state.features, mix_sources(state.sources, state.frame, rate)[0]]))
            settled.append(state)
        states, rows = performer.step_all(settled)
        for take, state, row in zip(going, states, rows):
            take.note(state, row)
        if len(takes[0].rows) > 60 * rate:
            raise RuntimeError("a case of ours never came to its clip")
    if performer.model.encoder.root is not None:
        raise RuntimeError("pose gaps are measured without travel, but this character travels")
    return takes


def _outcome(dragon: Dragon, case: Case, take: Performed) -> Outcome | None:
    if take.arrived is None or take.told is None:
        return None
    begin = max(take.told - BESIDE, 0)
    motion = np.array(take.rows[begin : take.arrived + BESIDE])
    stop = take.arrived - begin
    edges = np.diff([0, *np.array(take.blended[take.told : take.arrived], int), 0])
    offset = take.told - begin
    blends = [(a + offset, b + offset) for a, b in zip(np.flatnonzero(edges > 0), np.flatnonzero(edges < 0))]
    outcome = measured(dragon, case, motion, blends or [(offset, stop)], stop)
    encoder = learned().encoder
    outcome["gap"] = max((mesh_gap(dragon.rig, encoder.decode(pair)) for pair in take.gaps), default=0.0)
    outcome["seconds"] = (take.arrived - take.told) / take.rate
    outcome["blends"] = len(take.gaps)
    return outcome


def summary(column: Column) -> dict[str, float]:
    """The numbers of one method."""
    found = [outcome for outcome in column.outcomes if outcome is not None]
    result = {}
    for measure in found[0]:
        numbers = [outcome[measure] for outcome in found]
        name, factor = {"gap": ("pose gap, mm", 1e3), "seconds": ("seconds to arrive", 1.0)}.get(
            measure, (measure, 1.0)
        )
        for word, percent in (("median", 50), ("90th", 90), ("worst", 100)):
            result[f"{name}, {word}"] = factor * float(np.percentile(numbers, percent))
    result["cases with a way, %"] = 100 * len(found) / len(column.outcomes)
    result["label pairs with a way, %"] = 100 * column.labels
    result["training frames in use, %"] = 100 * column.frames
    return result


def compared(measure: str, values: dict[str, float]) -> Iterator[Row]:
    """Ours beside each baseline: the ratio is how many times better ours is."""
    unit = next((unit for word, unit in (("%", "%"), ("mm", "mm"), ("seconds", "s")) if word in measure), "n")
    for other, theirs in values.items():
        if other == "ours":
            continue
        mine, higher = values["ours"], measure.endswith("%")
        better, worse = (mine, theirs) if higher else (theirs, mine)
        ratio = 1.0 if better == worse else better / worse if worse else np.inf
        yield Row(measure, mine, unit, f"{other}: {theirs:.3g}", float(ratio), None if "blends" in measure else 1.0)


def show(table: dict[str, dict[str, float]]) -> None:
    """The whole table, for people."""
    print(f"{'':<50}" + "".join(f"{name:>20}" for name in table), file=sys.stderr)
    for measure in table["ours"]:
        print(f"{measure:<50}" + "".join(f"{column[measure]:>20.3f}" for column in table.values()), file=sys.stderr)

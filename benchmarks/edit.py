"""The paper's Table 3 again: one step of an edit, assembled and solved [Ciccone 2019, section 4.5].

24, 72, 120 and 168 degrees of freedom (four for each column, the handles of one segment), segments of 2, 7 and 20
frames, and nothing held, a pin low or high in the hierarchy, two pins, a pin and a contact, all three; on skeletons of
real files with keys from their own clips, turned by Euler angles. The columns of a cell are chosen by going up from the
moved point and the held ones in turn, so that each has some of its own. Pins keep place and turn; a contact's limb is
at rest before. Every cell has random drags of some hundredths of the character. A drag is searched to its end first, so
that the times that adaptive sampling adds are in the step that is timed. One core; times are medians over the drags.

Peers solve the same programs in the same run, in the dense form that they take (OSQP and Clarabel as sparse
matrices), without assembly: once with what is held as rows [eq. 11], and once with it as wishes of great weight, which
is what the search does.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time

import numpy as np
from benchmarks.measure import Row, peer
from benchmarks.real.characters import rig, turned_by_angles
from benchmarks.real.drags import near, planted
from threadpoolctl import threadpool_limits

from understudy.checks import Array
from understudy.edit.goals import Contact, Edit, MovePoint, Pin, Point
from understudy.edit.solver import qp, sqp
from understudy.edit.solver.problem import EditProblem, prepare_problem

FREEDOMS, FRAMES, RATE = (24, 72, 120, 168), (2, 7, 20), 24.0
DRAGS, REPEATS, PROGRAMS = 8, 3, 1  # of a cell and body; programs for the peers likewise
SETTINGS = sqp.SolverSettings()
ASKED_WORST_MS, ASKED_MEDIAN_MS = 8.0, 1.0
BARS = {"piqp": 1.5, "osqp": 8.0, "clarabel": 8.0, "quadprog": None}
AGREE = 1e-5  # of the objective, and of the rows: OSQP's answers are no better than some 1e-6


@dataclass(frozen=True)
class Body:
    """A character, its clip, and its points: what is moved, and what is held low and high in the hierarchy."""

    file: str
    clip: str
    moved: str
    low: str
    high: str
    foot: str


BODIES = (
    Body("gltf_quaternius/animals_pack_Horse.glb", "Gallop", "Ear4.L", "FrontLowerLeg.R", "Tail2", "BackLowerLeg.L"),
    Body("bvh_cmu/05_02.bvh", "05_02", "LeftHandIndex1", "RightHand", "Neck1", "LeftFoot"),
    Body("gltf_threejs/RobotExpressive.glb", "Dance", "Middle2.L", "Middle2.R", "Neck", "LowerLeg.R"),
    Body("gltf_quaternius/dinosaurs_pack_Trex.glb", "TRex_Attack", "FrontLowLeg.L", "Tail5", "Hips", "BackLowLeg.R"),
)
SET_UPS = {
    "nothing held": (),
    "a pin low": ("low",),
    "a pin high": ("high",),
    "two pins": ("low", "high"),
    "a pin and a contact": ("low", "foot"),
    "all three": ("low", "high", "foot"),
}


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    with threadpool_limits(1):
        yield from _rows()


def _rows() -> Iterator[Row]:
    cells, programs = [], []
    for set_up in SET_UPS:
        for freedom in FREEDOMS:
            for frames in FRAMES:
                drags = [drag for body in BODIES for drag in drags_of(body, set_up, freedom, frames)]
                found = [timed(*drag) for drag in drags]
                programs += [each[3] for each in found[:: max(1, len(found) // (PROGRAMS * len(BODIES)))]]
                assemble, solving, whole = np.median([each[:3] for each in found], axis=0)
                cells.append((assemble, solving))
                name = f"{set_up}, {freedom} dof, {frames} frames"
                yield Row(
                    name, assemble + solving, "ms", f"{solving:.2f} of it solving; a drag {whole:.1f}", None, None
                )
    both = np.sum(cells, axis=1)
    worst, median = float(both.max()), float(np.median(both))
    yield Row("a step, worst cell", worst, "ms", "asked for: 8 ms", ASKED_WORST_MS / worst, 1.0)
    yield Row("a step, median cell", median, "ms", "asked for: 1 ms", ASKED_MEDIAN_MS / median, 1.0)
    share = float(np.mean([assemble / (assemble + solving) for assemble, solving in cells]))
    yield Row("share of measuring", 100 * share, "%", "derivatives; paper: 20 to 38 %", None, None)
    yield from peers(programs)


def drags_of(body: Body, set_up: str, freedom: int, frames: int) -> list[tuple[EditProblem, tuple[MovePoint, ...]]]:
    """Random drags of one body in one cell; none where its limbs do not have so many joints."""
    own = rig(body.file)
    held = [getattr(body, place) for place in SET_UPS[set_up]]
    joints = chosen(own.character.skeleton, [body.moved, *held], freedom // 12)
    if len(joints) < freedom // 12:
        return []
    length = frames / RATE
    times = 0.2 + length * np.arange(-1, 3)
    span = float(times[1]), float(times[2])
    curves = turned_by_angles(body.file, body.clip, joints, times, RATE)
    contacts = [Contact(Point(body.foot), *span, orientation=True)] if body.foot in held else []
    if contacts:
        curves = planted(own, curves, body.foot, span)
    pins = [Pin(Point(name), *span) for name in held if name != body.foot]
    move = MovePoint(Point(body.moved, near(own, body.moved, (0.03, 0.01, 0.02))), sum(span) / 2, by=(0.0, 0.0, 0.0))
    problem = prepare_problem(own, curves, Edit((move,), tuple(pins), tuple(contacts)))
    assert problem.tangents.count == freedom
    rng = np.random.default_rng([freedom, frames])
    ways = rng.normal(size=(DRAGS, 3)) * 0.03 * problem.size
    return [(problem, (replace(move, by=(x, y, z)),)) for x, y, z in ways.tolist()]


def chosen(skeleton, points: list[str], count: int) -> list[str]:
    """So many joints above points, from each point's own up, one of each in turn."""
    chains = [
        sorted(skeleton.ancestors(skeleton.index(point)), key=lambda j: -len(skeleton.ancestors(j))) for point in points
    ]
    found: list[int] = []
    while len(found) < count and any(chains):
        for chain in chains:
            while chain and chain[0] in found:
                chain.pop(0)
            if chain and len(found) < count:
                found.append(chain.pop(0))
    return [skeleton.names[j] for j in found]


def step(problem: EditProblem, moves: tuple[MovePoint, ...]) -> tuple[float, float, qp.Program]:
    """Milliseconds that the first step of a drag takes to measure and to solve, as the search does it, and its program.

    Solving includes the programs with weaker goals that came before. All times that the drag turns out to need are in.
    """
    asked, v = sqp.targets_of_moves(problem, moves), np.zeros(problem.tangents.count)
    found = sqp.search(problem, asked, v, SETTINGS)
    measuring, solving = [], []
    for _ in range(REPEATS):
        start = process_time()
        here = sqp.evaluate(problem, asked, found.held, v)
        between = process_time()
        weight, _, _, _ = sqp.solve_step(problem, here, SETTINGS.stride, 0, SETTINGS, 0.0)
        measuring.append(between - start)
        solving.append(process_time() - between)
    made = sqp.build_program(problem, here, weight, SETTINGS.stride, SETTINGS)
    return 1e3 * float(np.median(measuring)), 1e3 * float(np.median(solving)), made


def timed(problem: EditProblem, moves: tuple[MovePoint, ...]) -> tuple[float, float, float, qp.Program]:
    """Milliseconds: measuring for a step, solving it, and the whole drag; and the step's program."""
    measuring, solving, made = step(problem, moves)
    start = process_time()
    sqp.search(problem, sqp.targets_of_moves(problem, moves), np.zeros(problem.tangents.count), SETTINGS)
    return measuring, solving, 1e3 * (process_time() - start), made


def solved_ms(made: qp.Program, soft: bool = True) -> float:
    spent = []
    for _ in range(REPEATS):
        start = process_time()
        qp.minimise_soft(made, SETTINGS.hold) if soft else qp.minimise(made)
        spent.append(process_time() - start)
    return 1e3 * float(np.median(spent))


def peers(programs: list[qp.Program]) -> Iterator[Row]:
    """The same programs by other solvers: geometric means over all of them."""
    met = [each for each in programs if (found := qp.minimise(each)) is not None and found.exact]
    yield Row(
        "programs for the peers", len(met), "n", f"of {len(programs)}; DAQP finds the rest infeasible", None, None
    )
    for soft, name in ((False, "held as rows"), (True, "held as wishes")):
        forms = [dense(each, soft) for each in met]
        ours = np.array([solved_ms(each, soft) for each in met])
        points = [(qp.minimise_soft(each, SETTINGS.hold) if soft else qp.minimise(each)).x for each in met]  # type: ignore[union-attr]
        values = np.array([objective(form, x) for form, x in zip(forms, points)])
        yield Row(f"{name}, ours", geometric(ours), "ms", f"worst {ours.max():.2f}", None, None)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "programs.npz"
            np.savez(
                path, count=len(forms), **{f"{key}{i}": a for i, form in enumerate(forms) for key, a in form.items()}
            )
            told = peer("quadratic_programs.py", path)
        for solver, bar in BARS.items():
            ms, theirs, off = (np.array(told[solver][key]) for key in ("ms", "objective", "violation"))
            right = (off < AGREE) & (np.abs(theirs - values) < AGREE * np.maximum(1.0, np.abs(values)))
            note = f"{solver}: {geometric(ms):.2f} ms, worst {ms.max():.1f}, same answer in {100 * right.mean():.0f} %"
            yield Row(f"{name}, {solver}", geometric(ours), "ms", note, geometric(ms / ours), bar)


def dense(made: qp.Program, soft: bool) -> dict[str, Array]:
    """H, f of 1/2 x' H x + f' x with bounds and rows; `soft` has the rows in H."""
    if soft:
        middle = (made.floor + made.ceiling) / 2
        weights = np.concatenate([made.w, np.full(len(middle), SETTINGS.hold)])
        made = made._replace(a=np.concatenate([made.a, made.c]), b=np.concatenate([made.b, middle]), w=weights)
        made = made._replace(c=made.c[:0], floor=made.floor[:0], ceiling=made.ceiling[:0])
    h, f = qp.dense_form(made)
    return {
        "h": h,
        "f": f,
        "c": made.c,
        "floor": made.floor,
        "ceiling": made.ceiling,
        "low": made.low,
        "high": made.high,
    }


def objective(form: dict[str, Array], x: Array) -> float:
    return float(0.5 * x @ form["h"] @ x + form["f"] @ x)


def geometric(values: Array) -> float:
    return float(np.exp(np.log(values).mean()))

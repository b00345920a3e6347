"""Random drags on real characters: ones that can be met, since their goals were made by moving tangents, and others.

A feasible drag takes keys out of a real clip, moves the tangents that the edit may move at random within their bounds,
brings whatever is held back to where it was (Gauss-Newton on the same tangents, on the dense grid of times), and asks
for the place and the turn that the point has then. So a solution exists, whatever is held and limited.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from benchmarks.real.characters import animation, asset, rig

from understudy.character import Curve, Curves
from understudy.character.rig import DirectRig
from understudy.checks import Array
from understudy.edit.edit_list_actions import key_at_times
from understudy.edit.goals import Contact, Edit, Hold, Limit, MovePoint, Pin, Point
from understudy.edit.handles import clamp_tangents, smooth_tangents
from understudy.edit.rotation_curves import to_euler
from understudy.edit.solver.problem import EditProblem, prepare_problem
from understudy.edit.solver.targets import measure_targets
from understudy.maths import quaternion

CHARACTERS = (
    "gltf_kaykit/Knight.glb",
    "gltf_quaternius/animals_pack_Fox.glb",
    "gltf_quaternius/animals_pack_Horse.glb",
    "gltf_quaternius/dinosaurs_pack_Trex.glb",
    "gltf_quaternius/easy_enemies_pack_Rat.glb",
    "gltf_quaternius/easy_enemies_pack_Spider.glb",
    "gltf_quaternius/platformer_game_pack_Character.glb",
    "gltf_threejs/RobotExpressive.glb",
    "bvh_cmu/05_02.bvh",
    "bvh_cmu/79_56.bvh",
)
RATE = 24.0
MET = 1e-5  # sizes and radians: what is held in the solution that is known to exist drifts less


@dataclass(frozen=True)
class Drag:
    """An edit of curves, and what it is for the tables."""

    file: str
    rig: DirectRig
    curves: Curves
    edit: Edit
    problem: EditProblem
    kind: str  # what is held


def feasible(file: str, rng: np.random.Generator) -> Drag:
    """A drag on a character for which a solution exists.

    What is held is drawn once and stays, so that goals with pins, for which a solution is harder to come by, have their
    share.
    """
    kind = str(rng.choice(KINDS, p=SHARES))
    while True:
        found = _feasible(file, kind, rng)
        if found is not None:
            return found


def _feasible(file: str, kind: str, rng: np.random.Generator) -> Drag | None:
    curves = keys_of_a_clip(file, rng)
    own = rig(file)
    times = curves.curves[int(np.argmax([len(c) for c in curves.curves]))].times
    k = int(rng.integers(0, len(times) - 1))
    span = float(times[k]), float(times[k + 1])
    at = float(span[0] + rng.uniform(0.25, 0.75) * (span[1] - span[0]))
    point = random_point(own, curves, rng)
    held = random_held(own, curves, point, kind, span, rng)
    if point is None or held is None:
        return None
    if kind == "contact":
        curves = planted(own, curves, held["contacts"][0].point.joint, span)
    elif rng.random() < 0.5:
        curves = own_keys(curves, rng)
    limits = random_limits(curves, rng) if rng.random() < 0.5 else ()
    way = str(rng.choice(["move", "turn", "both"], p=[0.6, 0.2, 0.2]))
    moves = _moves(own, curves, point, at, way)
    wide = {"start": span[0] - 0.01, "stop": span[1] + 0.01} if rng.random() < 0.2 and kind != "contact" else {}
    wide = {key: float(np.clip(value, curves.start, curves.end)) for key, value in wide.items()}
    edit = Edit(moves, **held, limits=limits, edges=str(rng.choice(["smooth", "broken"])), **wide)
    problem = prepare_problem(own, curves, edit)
    solution = _solution(own, problem, way, rng)
    if solution is None:
        return None
    return Drag(file, own, curves, replace(edit, moves=_moves(own, solution, point, at, way)), problem, kind)


def infeasible(file: str, rng: np.random.Generator) -> Drag:
    """A drag that cannot be met: out of reach, held back on the same limb, within tight limits, or at a key."""
    while True:
        drag = feasible(file, rng)
        move, t = drag.edit.moves[0], drag.problem.tangents
        why = str(rng.choice(["far", "same limb", "tight limits", "at a key"]))
        far = tuple(
            (np.array(move.to or (0, 0, 0)) + direction(rng) * rng.uniform(2.0, 5.0) * drag.problem.size).tolist()
        )
        away = replace(move, to=far, by=None)
        if why in ("far", "tight limits") and travels(drag):
            continue
        if why == "far":
            edit = replace(drag.edit, moves=(away,))
        elif why == "same limb" and move.point.joint:
            # the joint itself, place and turn: whatever is fixed to it cannot move
            pin = Pin(Point(move.point.joint), float(t.pieces.t0.min()), float((t.pieces.t0 + t.pieces.d).max()))
            edit = replace(drag.edit, pins=(pin,), contacts=(), holds=())
        elif why == "tight limits" and any(c.channel.kind == "euler" for c in drag.curves.curves):
            edit = replace(drag.edit, moves=(away,), limits=tight(drag.curves))
        elif why == "at a key":
            first = replace(away, time=drag.curves.start)  # where every channel has a key
            edit = replace(drag.edit, moves=(first,), start=None, stop=None, contacts=(), holds=())
        else:
            continue
        return replace(drag, edit=edit, kind=why)


def travels(drag: Drag) -> bool:
    """Whether any column that may change is a translation, with which a character gets anywhere."""
    t = drag.problem.tangents
    names = [drag.curves.channels.names[c] for c in t.columns[np.unique(t.column)]]
    return any(".translation." in name for name in names)


def direction(rng: np.random.Generator) -> Array:
    """(3,) of length one."""
    v = rng.normal(size=3)
    return np.asarray(v / np.linalg.norm(v))


def tight(curves: Curves) -> tuple[Limit, ...]:
    """Limits at the very values of the keys: handles have no room."""
    limits = []
    for curve in curves.curves:
        if curve.channel.kind == "euler" and len(curve) > 1:
            low, high = curve.values.min(axis=0) - 1e-3, curve.values.max(axis=0) + 1e-3
            limits += [Limit(curve.channel.target, c, low[i], high[i]) for i, c in enumerate(curve.channel.columns)]
    return tuple(limits)


KINDS = ("free", "pin", "place pinned", "two pins", "contact", "hold")
SHARES = (0.35, 0.2, 0.1, 0.1, 0.15, 0.1)


def keys_of_a_clip(file: str, rng: np.random.Generator) -> Curves:
    """Three to five poses of a clip as keys, 4 to 14 frames apart, with automatic tangents, quaternions or angles."""
    names = [each.name for each in (*asset(file).clips, *asset(file).curves) if each.duration > 0.6]
    source = animation(file, str(rng.choice(names)))
    gaps = rng.integers(4, 15, int(rng.integers(2, 5))) / RATE
    gaps *= min(1.0, 0.95 * source.duration / gaps.sum())
    first = source.start + rng.uniform(0, source.duration - gaps.sum())
    curves = key_at_times(source, np.concatenate([[first], first + np.cumsum(gaps)]).tolist(), "smooth")
    curves = replace(curves, rate=RATE)
    if rng.random() < 0.3:
        curves = clamp_tangents(curves)
    return to_euler(curves, str(rng.choice(["xyz", "zyx", "yxz"]))) if rng.random() < 0.5 else curves


def own_keys(curves: Curves, rng: np.random.Generator) -> Curves:
    """Each channel with keys of its own: about half of them lose one between the first and the last."""
    changed = []
    for curve in curves.curves:
        if len(curve) > 2 and rng.random() < 0.5:
            keep = np.arange(len(curve)) != rng.integers(1, len(curve) - 1)
            curve = Curve(curve.channel, curve.times[keep], curve.values[keep])
        changed.append(curve)
    return smooth_tangents(replace(curves, curves=tuple(changed)))


def planted(own: DirectRig, curves: Curves, joint: str, span: tuple[float, float]) -> Curves:
    """The curves with everything that moves a joint at rest within a segment, so that a contact there holds."""
    skeleton = own.character.skeleton
    above = {skeleton.names[j] for j in skeleton.ancestors(skeleton.index(joint))}
    changed = []
    for curve in curves.curves:
        if curve.channel.target in above and len(curve) > 1:
            values, before, after = (np.array(a) for a in (curve.values, curve.before, curve.after))
            k = int(np.argmin(np.abs(curve.times - span[0])))
            values[k + 1] = values[k]
            before[k : k + 2, :, 1], after[k : k + 2, :, 1] = 0.0, 0.0
            curve = replace(curve, values=values, before=before, after=after)
        changed.append(curve)
    return replace(curves, curves=tuple(changed))


def turning(own: DirectRig, curves: Curves) -> dict[str, int]:
    """Joints that at least two curves with several keys turn, and how many do."""
    skeleton = own.character.skeleton
    animated = {c.channel.target for c in curves.curves if c.channel.kind in ("rotation", "euler") and len(c) > 1}
    counts = {
        n: len(animated & {skeleton.names[a] for a in skeleton.ancestors(j)}) for j, n in enumerate(skeleton.names)
    }
    return {name: count for name, count in counts.items() if count >= 2}


def random_point(own: DirectRig, curves: Curves, rng: np.random.Generator) -> Point | None:
    """A point near a joint that several others turn, or a vertex of such a joint."""
    names = sorted(turning(own, curves))
    if not names:
        return None
    joint = str(rng.choice(names))
    if own.character.parts and rng.random() < 0.3:
        vertex = _vertex_of(own, joint, rng)
        if vertex is not None:
            return Point(vertex=vertex)
    return Point(joint, near(own, joint, rng.normal(size=3) * 0.03))


def near(own: DirectRig, joint: str, way: Array) -> tuple[float, float, float]:
    """An offset in the frame of a joint, as long as `way` (3,) in sizes of the character, whatever its scale."""
    joints = own.joints(own.rest[None])[0]
    size = float(np.ptp(joints[:, :3, 3], axis=0).max())
    scale = np.linalg.norm(joints[own.character.skeleton.index(joint), :3, :3], axis=0)
    x, y, z = (np.asarray(way) * size / scale).tolist()
    return x, y, z


def _vertex_of(own: DirectRig, joint: str, rng: np.random.Generator) -> int | None:
    number, start, found = own.character.skeleton.index(joint), 0, []
    for part in own.character.parts:
        strongest = part.skin.influences[np.arange(len(part.mesh.vertices)), np.argmax(part.skin.weights, axis=1)]
        found += (start + np.flatnonzero(part.skin.joints[strongest] == number)).tolist()
        start += len(part.mesh.vertices)
    return int(rng.choice(found)) if found else None


def random_held(
    own: DirectRig, curves: Curves, point: Point | None, kind: str, span: tuple[float, float], rng: np.random.Generator
) -> dict[str, tuple[Pin | Contact | Hold, ...]] | None:
    """What is held: joints elsewhere on the body."""
    skeleton = own.character.skeleton
    names = sorted(turning(own, curves))
    if point is not None and point.joint:
        near = skeleton.ancestors(skeleton.index(point.joint))
        names = [
            n
            for n in names
            if skeleton.index(n) not in near
            and skeleton.index(point.joint) not in skeleton.ancestors(skeleton.index(n))
        ]
    if len(names) < 2:
        return None
    first, second = (Point(str(n)) for n in rng.choice(names, 2, replace=False))
    match kind:
        case "pin":
            return {"pins": (Pin(first),)}
        case "place pinned":
            return {"pins": (Pin(first, orientation=False),)}
        case "two pins":
            return {"pins": (Pin(first, orientation=False), Pin(second, *span, orientation=bool(rng.random() < 0.5)))}
        case "contact":
            return {"contacts": (Contact(first, *span, orientation=bool(rng.random() < 0.5)),)}
        case "hold":
            return {"holds": (Hold(first, float(rng.uniform(*span)), orientation=bool(rng.random() < 0.5)),)}
    return {}


def random_limits(curves: Curves, rng: np.random.Generator) -> tuple[Limit, ...]:
    """Limits of angles that the curves as they are keep, and some room beyond."""
    limits = []
    for curve in curves.curves:
        if curve.channel.kind != "euler" or len(curve) < 2:
            continue
        rise = np.maximum(np.abs(curve.before[..., 1]), np.abs(curve.after[..., 1])).max(axis=0)
        room = 0.75 * rise + rng.uniform(0.02, 0.4, 3)
        low, high = curve.values.min(axis=0) - room, curve.values.max(axis=0) + room
        limits += [Limit(curve.channel.target, c, low[i], high[i]) for i, c in enumerate(curve.channel.columns)]
    return tuple(limits)


def _solution(own: DirectRig, problem: EditProblem, way: str, rng: np.random.Generator) -> Curves | None:
    """The curves with tangents that move the point noticeably and keep what is held; None where none was found."""
    t = problem.tangents
    if not t.count:
        return None
    direction, scale = rng.normal(size=t.count) * np.where(t.cost > 1.0, 0.2, 1.0), 0.2
    wanted = rng.uniform(0.02, 0.15) if way != "turn" else rng.uniform(0.05, 0.6)
    for _ in range(8):
        v = brought_back(problem, np.clip(scale * direction, t.low, t.high))
        if v is None:
            scale *= 0.5
            continue
        moved = measure_targets(problem.states, t, problem.moves, v, problem.size, slopes=False)
        went = moved.angle if way == "turn" else moved.distance
        if 0.5 * wanted < went < 2 * wanted and moved.angle < 1.0:
            return t.apply_to_curves(v)
        scale *= float(np.clip(wanted / max(went, 1e-9), 0.2, 4.0))
    return None


def brought_back(problem: EditProblem, v: Array) -> Array | None:
    """The nearest tangents to v, within their bounds, that keep what is held at all times; None where not found."""
    t, before = problem.tangents, np.inf
    for _ in range(12):
        held = measure_targets(problem.states, t, problem.dense, v, problem.size)
        off = float(np.abs(held.residual).max(initial=0.0))
        if off < MET:
            return v
        if off > 0.7 * before:
            return None
        before = off
        # damped: rows of neighbouring times nearly repeat each other
        square = held.matrix.T @ held.matrix + 1e-7 * np.eye(t.count)
        v = np.clip(v + np.linalg.solve(square, held.matrix.T @ held.residual), t.low, t.high)
    return None


def _moves(own: DirectRig, curves: Curves, point: Point, at: float, way: str) -> tuple[MovePoint, ...]:
    place, turn = state(own, curves, point, np.array([at]))
    x, y, z = place[0].tolist()
    qx, qy, qz, qw = quaternion.from_matrix(turn[0]).tolist()
    to = None if way == "turn" else (x, y, z)
    return (MovePoint(point, at, to=to, turn_to=None if way == "move" else (qx, qy, qz, qw)),)


def state(own: DirectRig, curves: Curves, point: Point, times: Array) -> tuple[Array, Array]:
    """Position (M, 3) and orientation (M, 3, 3) of a point by the rig itself, without the solver's code."""
    rows = own.pose(curves, times)
    joint = point.joint or own.character.skeleton.names[_main(own, point.vertex or 0)]
    world = own.joints(rows)[:, own.character.skeleton.index(joint)]
    u, _, vt = np.linalg.svd(world[:, :3, :3])
    if point.vertex is None:
        return world[:, :3, :3] @ np.array(point.offset) + world[:, :3, 3], u @ vt
    return own.vertices(rows)[:, point.vertex].astype(float), u @ vt


def _main(own: DirectRig, vertex: int) -> int:
    for part in own.character.parts:
        if vertex < len(part.mesh.vertices):
            best = int(np.argmax(part.skin.weights[vertex]))
            return int(part.skin.joints[part.skin.influences[vertex, best]])
        vertex -= len(part.mesh.vertices)
    raise IndexError(vertex)

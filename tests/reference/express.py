"""Slow oracles of the kernels of `understudy.express`: fits of sigmoids, graphs of expressions, acted paths."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from tests.reference.maths import fit_rigid

from understudy.checks import Array
from understudy.express import preprocessing as sigmoid
from understudy.express.acting.graph_paths import GraphActor, RegionRoutes
from understudy.express.acting.timing import (
    DRAWS_PER_PATH,
    GAUSS_NEWTON_STEPS,
    MAX_DETOUR_RATIO,
    MAX_STEEPNESS,
    MIN_STEEPNESS,
    PathNoise,
    expand_path,
    length_by_share,
    nearest_to_neutral,
    sample_poses,
    savitzky_golay,
    window_frames,
)
from understudy.express.acting.transition import LabelTransition, RegionPath
from understudy.express.graph import sample_graph
from understudy.express.graph.coupling import APEX_ACTIVATION_RATIO, START_ACTIVATION_RATIO, crossing
from understudy.express.graph.region_builder import PEAK_THRESHOLD_RATIO, GraphSnapshot, NodeMatch
from understudy.express.graph.sample_graph import SampleGraph, velocity_influence
from understudy.express.preprocessing import sigmoids


def _starts(curves: Array, pairs: Array, table: Array, squares: Array) -> Array:
    """(M, 3) the best sigmoid of the table for each of the curves (M, F)."""
    along = curves @ table.T
    best = np.argmax(along**2 / squares, axis=1)
    b_1 = along[np.arange(len(curves)), best] / squares[best]
    return np.concatenate([b_1[:, None], pairs[best]], axis=1)


def _refine_sigmoids(curves: Array, parameters: Array, bounds: tuple[float, float, float, float]) -> Array:
    """(M, 3) parameters refined by Levenberg-Marquardt, all curves in step."""
    b, frames = parameters.copy(), curves.shape[1]
    damping = np.full(len(b), 1e-3)
    cost = ((curves - sigmoids(b, frames)) ** 2).sum(axis=1)
    enough = sigmoid.EXACT_COST_RATIO * (curves**2).sum(axis=1)
    active = (cost > enough) & (b[:, 0] != 0)
    for _ in range(sigmoid.MAX_LEVENBERG_STEPS):
        rows = np.flatnonzero(active)
        if not rows.size:
            break
        tried = _clamp_parameters(b[rows] + _steps(curves[rows], b[rows], damping[rows]), b[rows], bounds)
        s = sigmoids(np.concatenate([np.ones((len(tried), 1)), tried[:, 1:]], axis=1), frames)
        square = np.einsum("mf,mf->m", s, s)
        level = np.einsum("mf,mf->m", curves[rows], s) / np.maximum(square, sigmoid.MIN_SIGMOID_ENERGY)
        tried[:, 0] = np.where(square > sigmoid.MIN_SIGMOID_ENERGY, level, 0.0)
        lower = ((curves[rows] - tried[:, :1] * s) ** 2).sum(axis=1)
        better = lower < cost[rows]
        settled = better & (
            (cost[rows] - lower <= sigmoid.CONVERGENCE_COST_RATIO * cost[rows]) | (lower <= enough[rows])
        )
        b[rows[better]], cost[rows[better]] = tried[better], lower[better]
        damping[rows] = np.where(better, damping[rows] * 0.1, damping[rows] * 10)
        active[rows[settled | (damping[rows] > 1e4)]] = False
    return b


def _steps(curves: Array, b: Array, damping: Array) -> Array:
    """(M, 3) (J'J (1 + damping on its diagonal))^-1 J'(y - g).

    J is for b_1, b_1 b_2 and b_1 b_3, which makes it free of the curve's scale.
    """
    s = sigmoids(np.concatenate([np.ones((len(b), 1)), b[:, 1:]], axis=1), curves.shape[1])
    along = s * (1 - s)
    jacobian = np.stack([s, along * (np.arange(curves.shape[1]) - b[:, 2:]), -along * b[:, 1:2]], axis=2)  # (M, F, 3)
    normal = np.einsum("mfi,mfj->mij", jacobian, jacobian)
    right = np.einsum("mfi,mf->mi", jacobian, curves - b[:, :1] * s)
    diagonal = np.einsum("mii->mi", normal)
    diagonal += damping[:, None] * diagonal + 1e-12 * (diagonal.max(axis=1, keepdims=True) + 1e-300)
    steps = np.linalg.solve(normal, right[..., None])[..., 0]
    steps[:, 1:] /= b[:, :1]
    return steps


def _clamp_parameters(b: Array, before: Array, bounds: tuple[float, float, float, float]) -> Array:
    """The parameters clamped to their limits; b_2 keeps its sign, since the cost is flat about 0."""
    flattest, steepest, first, last = bounds
    sign = np.where(before[:, 1] < 0, -1.0, 1.0)
    b_2 = sign * np.clip(sign * b[:, 1], flattest, steepest)
    return np.stack([b[:, 0], b_2, np.clip(b[:, 2], first, last)], axis=1)


def similarity(a: Array, u: Array, b: Array, w: Array, influence: float = sample_graph.VELOCITY_INFLUENCE) -> Array:
    """(...,) eq. 3 of poses a and b (..., L, D) with unit velocities u and w (..., L, D); lower is more alike."""
    distance = np.linalg.norm(a - b, axis=-1)
    return np.asarray((distance * (1.0 + influence * velocity_influence(u, w))).sum(axis=-1))


def node_similarities(pose: Array, incoming: Array, nodes: Array, starts: Array, units: Array) -> Array:
    """(N,) the lowest eq. 3 of a pose (L, D) to each of the nodes (N, L, D), over the edges into both.

    `incoming` (A, L, D) are the pose's own unit velocities, `units` (E, L, D) those of the edges sorted by target, of
    which `starts[n]` to `starts[n + 1]` (N + 1,) lead into node n.
    """
    still = np.zeros((1, *pose.shape))
    velocities = incoming if len(incoming) else still
    count = np.diff(starts)
    owner = np.concatenate([np.repeat(np.arange(len(nodes)), count), np.flatnonzero(count == 0)])
    others = np.concatenate(
        [units[starts[0] : starts[-1]], np.broadcast_to(still, (int((count == 0).sum()), *pose.shape))]
    )
    values = similarity(pose, velocities[None], nodes[owner][:, None], others[:, None])  # (E', A)
    lowest = np.full(len(nodes), np.inf)
    np.minimum.at(lowest, owner, values.min(axis=1))
    return lowest


def merge_nodes(
    sample: SampleGraph, label: int, standing: GraphSnapshot, threshold: float, align: bool = False
) -> NodeMatch:
    """`region_builder.merge_nodes`."""
    count, dimensions = len(sample.displacements), standing.base.shape[1]
    chosen = np.zeros(count, np.int64)
    placed, turned = np.zeros_like(sample.displacements), np.array(sample.velocities)
    nodes, starts, units = standing.displacements, standing.starts, standing.units
    peaks = list(standing.peaks)
    r, t = np.eye(dimensions), np.zeros(dimensions)
    for k in range(1, count):
        pose = (standing.base + sample.displacements[k]) @ r.T + t - standing.base
        incoming = sample.units[sample.starts[k] : sample.starts[k + 1]] @ r.T
        values = node_similarities(pose, incoming, nodes, starts, units)
        if k == sample.peak:
            taken = np.array(peaks)
            values[(taken >= 0) & (taken != label)] = np.inf
            values[0] = np.inf
        best = int(np.argmin(values))
        if values[best] < threshold * (PEAK_THRESHOLD_RATIO if k == sample.peak else 1.0):
            if align:
                turn, shift = fit_rigid(standing.base + pose, standing.base + nodes[best])
                r, t = turn @ r, turn @ t + shift
                pose = (standing.base + pose) @ turn.T + shift - standing.base
            peaks[best] = label if k == sample.peak else peaks[best]
        else:
            best = len(nodes)
            nodes = np.concatenate([nodes, pose[None]])
            starts = np.append(starts, starts[-1] + len(incoming))
            units = np.concatenate([units, incoming])
            peaks.append(label if k == sample.peak else -1)
        chosen[k], placed[k], turned[k] = best, pose, sample.velocities[k] @ r.T
    return NodeMatch(chosen, placed, turned)


def vary_path(routes: RegionRoutes, path: Array, noise: PathNoise, draws: Array) -> Array:
    """(n,) the path with about `share` of its nodes replaced by neighbours that share a label with source or sink.

    Source and sink stay. No substitute is a peak, neutral, or on the path already, and none makes the path between the
    nodes before and after it longer than `MAX_DETOUR_RATIO` times: a face that moves back and forth trembles.
    `draws` (DRAWS_PER_PATH,) are uniform.
    """
    inner = len(path) - 2
    count = min(int(noise.share * len(path) + draws[0]), inner, (DRAWS_PER_PATH - 1) // 2)
    if noise.share == 0.0 or count < 1:
        return path
    labels, result = routes.region.labels, path.copy()
    poses = routes.region.displacements.reshape(routes.region.nodes, -1)

    def detour(over: int, before: int, after: int) -> float:
        return float(np.linalg.norm(poses[over] - poses[before]) + np.linalg.norm(poses[over] - poses[after]))

    known = labels[path[0]] | labels[path[-1]]
    starts, others = routes.substitutes(noise.hops)
    left = list(range(1, inner + 1))
    for number in range(count):
        place = left.pop(int(draws[2 * number + 1] * len(left)))
        neighbours = others[starts[path[place]] : starts[path[place] + 1]].tolist()
        most = MAX_DETOUR_RATIO * detour(path[place], result[place - 1], result[place + 1])
        options = [
            node
            for node in neighbours
            if (labels[node] & known).any()
            and node not in result
            and detour(node, result[place - 1], result[place + 1]) <= most
        ]
        if options:
            result[place] = options[int(draws[2 * number + 2] * len(options))]
    return result


def straighten_path(poses: Array, direct: float) -> Array:
    """(m, n) poses from peak to peak, blended by `direct` with the straight line between them.

    Takes meet in neutral, and so do paths; a face that changes its expression does not pass through neutral.
    """
    if direct == 0.0 or len(poses) < 3:
        return poses
    u = np.linspace(0.0, 1.0, len(poses))[:, None]
    line = poses[0] + (u * u * (3.0 - 2.0 * u)) * (poses[-1] - poses[0])
    straight: Array = (1.0 - direct) * poses + direct * line
    return straight


def _crossings(poses: Array) -> tuple[float, float]:
    far = np.sqrt(((poses - poses[0]) ** 2).sum(axis=1))
    last = len(far) - 1
    if last < 1 or far[-1] <= 0.0:
        return START_ACTIVATION_RATIO, APEX_ACTIVATION_RATIO
    first, second = (
        crossing(far, START_ACTIVATION_RATIO * far[-1]) / last,
        crossing(far, APEX_ACTIVATION_RATIO * far[-1]) / last,
    )
    return (first, second) if second > first else (START_ACTIVATION_RATIO, APEX_ACTIVATION_RATIO)


def nearest_sigmoids(leg: Array) -> tuple[Array, Array]:
    """(F, C) the sigmoids nearest to the columns of a leg (F, C), and (C,) how well they follow: 1 fully, 0 not at all.

    Gauss-Newton on (b_2, b_3) from where each column passes a quarter and three quarters of its rise.
    """
    u = np.linspace(0.0, 1.0, len(leg))[:, None]
    reach = leg[-1] - leg[0]
    moving = np.abs(reach) > 1e-12
    rise = np.where(moving, (leg - leg[0]) / np.where(moving, reach, 1.0), 0.0)
    early, late = _first_at(rise, 0.25), _first_at(rise, 0.75)
    steep = np.clip(2 * np.log(3.0) / np.maximum(late - early, 1e-3), MIN_STEEPNESS, MAX_STEEPNESS)
    middle = np.clip(0.5 * (early + late), 0.0, 1.0)
    for _ in range(GAUSS_NEWTON_STEPS):
        g, by_steep, by_middle = _sigmoid_derivatives(u, steep, middle)
        r = rise - g
        a, b, d = (by_steep**2).sum(0) + 1e-12, (by_steep * by_middle).sum(0), (by_middle**2).sum(0) + 1e-12
        p, q = (by_steep * r).sum(0), (by_middle * r).sum(0)
        size = a * d - b * b + 1e-15
        steep = np.clip(
            steep + (d * p - b * q) / size, np.maximum(0.5 * steep, MIN_STEEPNESS), np.minimum(2 * steep, MAX_STEEPNESS)
        )
        middle = np.clip(middle + np.clip((a * q - b * p) / size, -0.2, 0.2), 0.0, 1.0)
    g = _sigmoid_derivatives(u, steep, middle)[0]
    left = ((rise - g) ** 2).sum(0) / np.maximum(((rise - rise.mean(0)) ** 2).sum(0), 1e-15)
    return leg[0] + reach * g, np.where(moving, np.clip(1.0 - 10.0 * left, 0.0, 1.0), 0.0)


def _first_at(rise: Array, level: float) -> Array:
    """(C,) time at which each column first reaches a level, as a share of the leg."""
    return np.argmax(rise >= level, axis=0) / (len(rise) - 1)


def _sigmoid_derivatives(u: Array, steep: Array, middle: Array) -> tuple[Array, Array, Array]:
    """(F, C) g and its derivatives by b_2 and b_3."""

    def s(x: Array) -> Array:
        return 1.0 / (1.0 + np.exp(-x))

    start, end, value = s(-steep * middle), s(steep * (1.0 - middle)), s(steep * (u - middle))
    slope = [f * (1.0 - f) for f in (start, end, value)]
    span = end - start
    g = (value - start) / span
    steeps = [-middle * slope[0], (1.0 - middle) * slope[1], (u - middle) * slope[2]]
    middles = [-steep * f for f in slope]
    by_steep = (steeps[2] - steeps[0] - g * (steeps[1] - steeps[0])) / span
    by_middle = (middles[2] - middles[0] - g * (middles[1] - middles[0])) / span
    return g, by_steep, by_middle


def fit_sigmoids(curves: Array) -> tuple[Array, Array]:
    """`sigmoid.fit_sigmoids`."""
    frames = curves.shape[1]
    starts = _starts(curves, *sigmoid._sigmoid_table(frames))
    parameters = _refine_sigmoids(curves, starts, sigmoid.parameter_limits(frames))
    return parameters, sigmoids(parameters, frames)


def edge_costs(edges: Array, standing: GraphSnapshot) -> Array:
    """`region_builder.edge_costs`."""
    costs = np.empty(len(edges))
    for number, (source, target) in enumerate(edges):
        incoming = standing.units[standing.starts[source] : standing.starts[source + 1]]
        others = standing.units[standing.starts[target] : standing.starts[target + 1]]
        one = standing.displacements[target][None]
        starts = np.array([0, len(others)])
        costs[number] = node_similarities(standing.displacements[source], incoming, one, starts, others)[0]
    return costs


def region_path(
    actor: GraphActor, r: int, source: int, sink: int, noise: PathNoise, direct: float, draws: Array
) -> RegionPath:
    """`transition.region_path`."""
    routes = actor.routes[r]
    region = routes.region
    path = vary_path(routes, routes.path(source, sink), noise, draws)
    moved = region.displacements[path]
    poses = expand_path(moved, region.velocities[path], region.runs[path])
    poses = poses.reshape(len(poses), -1)
    poses = straighten_path(poses, direct) if source and sink else poses
    share = (1 + nearest_to_neutral(moved)) / len(path)
    return RegionPath(path, poses, _crossings(poses), share, length_by_share(region, path, share))


def smooth_curves(points: Array, bounds: Array, rate: float, smoothing: float) -> Array:
    """`smoothing.smooth_curves`."""
    if smoothing <= 0.0 or len(points) < 3:
        return points
    filtered = savitzky_golay(points, window_frames(rate, smoothing))
    result = filtered.copy()
    for first, last in pairwise(bounds):
        if last - first >= 3:
            leg = filtered[first : last + 1]
            fitted, fits = nearest_sigmoids(leg)
            result[first : last + 1] = leg + smoothing**2 * fits * (fitted - leg)
    return result


def add_transition(actor: GraphActor, transition: LabelTransition, times: Array, weights: Array, out: Array) -> None:
    """`synthesis._add_transition`."""
    for r, poses in enumerate(transition.poses):
        members = actor.flat[r][3]
        seconds = max(transition.ends[r] - transition.begins[r], 1e-9)
        at = (times - transition.begins[r]) * ((len(poses) - 1) / seconds)
        out[:, members] += weights[:, None, None] * sample_poses(poses, at).reshape(len(at), len(members), -1)

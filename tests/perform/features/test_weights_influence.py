"""Laws of the influence of controls on the mesh."""

from __future__ import annotations

import numpy as np
from tests.perform.features import walkers

from understudy.perform.features import influence
from understudy.perform.features.encoder import TRAVEL_FEATURE_NAMES, PoseEncoder
from understudy.perform.features.root_motion import find_root
from understudy.perform.features.weights import TRAVEL_SECONDS, feature_influence, points_of


def linear_rig(rng: np.random.Generator, controls: int = 5, vertices: int = 7):
    directions = rng.normal(size=(controls, vertices, 3))
    return directions, lambda rows: np.einsum("fc,cvi->fvi", rows, directions)


def test_of_a_linear_rig_is_the_norm_of_its_derivative():
    rng = np.random.default_rng(1)
    directions, rig = linear_rig(rng)
    found = influence(rig, rng.normal(size=5), rng.uniform(0.1, 3.0, 5))
    np.testing.assert_allclose(found, np.sqrt(np.square(directions).sum(axis=(1, 2))), rtol=1e-12)


def test_solves_the_least_squares_problem_of_a_bent_rig():
    rng = np.random.default_rng(2)
    directions, _ = linear_rig(rng, 3)

    def rig(rows):
        return np.einsum("fc,cvi->fvi", np.sin(rows) + 0.3 * rows**2, directions)

    mean, deviation = rng.normal(size=3), rng.uniform(0.2, 1.0, 3)
    found = influence(rig, mean, deviation)
    for i in range(3):
        steps = np.arange(-2, 3)
        rows = mean + steps[:, None] * np.where(np.arange(3) == i, deviation, 0.0)
        distance = np.sqrt(np.square(rig(rows) - rig(mean[None])).sum(axis=(1, 2)))
        weight, *_ = np.linalg.lstsq((np.abs(steps) * deviation[i])[:, None], distance, rcond=None)
        np.testing.assert_allclose(found[i], weight[0], rtol=1e-10)


def test_is_zero_where_a_control_never_moves():
    rng = np.random.default_rng(3)
    _, rig = linear_rig(rng)
    deviation = np.array([1.0, 0.0, 0.5, 0.0, 2.0])
    found = influence(rig, np.zeros(5), deviation)
    assert ((found > 0) == (deviation > 0)).all()


def test_makes_units_irrelevant():
    """The same rig in degrees and in radians: scaled by their influence, both give the same features."""
    rng = np.random.default_rng(4)
    _, rig = linear_rig(rng)
    rows = rng.normal(size=(50, 5))
    unit = np.array([1.0, 180 / np.pi, 1000.0, 0.01, 3.0])
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    plain = influence(rig, mean, deviation) * (rows - mean)
    other = influence(lambda q: rig(q / unit), mean * unit, deviation * unit) * (rows - mean) * unit
    np.testing.assert_allclose(plain, other, rtol=1e-9)


def walking():
    rig = walkers.rig()
    takes = [walkers.take(rig, 60, 1, 1.2, 0.5), walkers.take(rig, 40, 2)]
    root = find_root(rig.character.skeleton, rig.channels, takes, rig.rest)
    encoder = PoseEncoder.fit(rig.channels, takes, walkers.RATE, rig.rest, root, ["Chest"])
    return rig, encoder, np.concatenate([encoder.encode(take) for take in takes])


def test_of_features_is_the_slope_of_what_is_seen():
    """Small deviations make eq. 3 a derivative."""
    rig, encoder, features = walking()
    mean = features.mean(axis=0)
    near = mean + 1e-4 * (features - mean)
    found, points = feature_influence(encoder, rig, near)
    assert points == 4 * len(rig.character.skeleton)
    still, seen = np.zeros((1, 3)), points_of(rig)
    for i, name in enumerate(encoder.names):
        if name in TRAVEL_FEATURE_NAMES or not encoder.learned[i]:
            continue
        step = np.where(np.arange(len(mean)) == i, 1e-6, 0.0)
        ends = [seen(encoder.place((mean + s * step)[None], still))[0] for s in (-1, 1)]
        np.testing.assert_allclose(found[i], np.linalg.norm(ends[1] - ends[0]) / 2e-6, rtol=1e-3, atol=1e-9)


def test_of_a_speed_is_how_far_it_carries_the_joints():
    rig, encoder, features = walking()
    found = dict(zip(encoder.names, feature_influence(encoder, rig, features)[0]))
    carried = 4 * (len(rig.character.skeleton) - 1)  # all but the scene's own node
    for name in ("root.side", "root.forward"):
        np.testing.assert_allclose(found[name], TRAVEL_SECONDS * np.sqrt(carried), rtol=1e-6)
    assert 0 < found["root.turn"] < TRAVEL_SECONDS * np.sqrt(carried) * 0.5, "nothing is half a metre off the axis"


def test_of_what_is_kept_apart_is_nothing():
    rig, encoder, features = walking()
    found, _ = feature_influence(encoder, rig, features)
    assert (found[~encoder.learned] == 0).all()
    assert (found[encoder.learned] > 0).all()


def test_skeletons_are_seen_by_the_places_of_joints_and_by_how_they_turn():
    rig = walkers.rig()
    seen = points_of(rig)(rig.rest[None])[0].reshape(-1, 4, 3)
    np.testing.assert_allclose(seen[:, 0], rig.joints(rig.rest[None])[0, :, :3, 3])
    reach = np.linalg.norm(seen[:, 1:] - seen[:, :1], axis=-1)
    np.testing.assert_allclose(reach, reach[0, 0])
    turned = rig.rest.copy()
    turned[rig.channels.slice("Left", "rotation")] = [0, 1, 0, 0]  # a leaf, about its own bone
    moved = np.abs(points_of(rig)(turned[None])[0].reshape(-1, 4, 3) - seen).max(axis=(1, 2)) > 0.01
    assert [name for name, it in zip(rig.character.skeleton.names, moved) if it] == ["Left"]

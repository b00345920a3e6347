"""Procrustes: transforms that were put in come out, heads vanish, proportions vanish, expressions stay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.express.takes import neutral_face, smile, turned

from understudy.errors import InvalidInput
from understudy.express.landmark_filters import (
    ANCHORS,
    alignment_groups,
    apply_transform,
    match_proportions,
    mean_shape,
    procrustes_transforms,
    remove_head_motion,
)
from understudy.express.sequence import landmark_names


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 3), st.floats(-3.1, 3.1), st.floats(0.2, 5), st.integers(3, 9), st.integers(0, 1000))
def test_what_was_put_in_comes_out(dimensions: int, angle: float, scale: float, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(4, count + 1, dimensions))
    rotation, shift = turned(angle, dimensions, seed % 3), rng.normal(size=dimensions)
    onto = scale * points[2] @ rotation.T + shift
    s, r, t = procrustes_transforms(points, onto, scaled=True)
    np.testing.assert_allclose(apply_transform(points, s, r, t)[2], onto, atol=1e-9)
    np.testing.assert_allclose([s[2]], [scale], atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(r), 1, atol=1e-9)
    np.testing.assert_allclose(r @ r.transpose(0, 2, 1), np.broadcast_to(np.eye(dimensions), r.shape), atol=1e-9)


def test_no_rigid_transform_does_better() -> None:
    rng = np.random.default_rng(3)
    points, onto = rng.normal(size=(2, 7, 3))
    s, r, t = procrustes_transforms(points, onto)
    least = ((apply_transform(points, s, r, t) - onto) ** 2).sum()
    for axis in range(3):
        for angle in (-1e-3, 1e-3):
            other = turned(angle, 3, axis) @ r
            shift = onto.mean(axis=0) - other @ points.mean(axis=0)
            assert ((apply_transform(points, s, other, shift) - onto) ** 2).sum() > least
    mirror = points * [1, 1, -1]
    assert np.linalg.det(procrustes_transforms(mirror, points)[1]) > 0, "a mirrored face is not turned inside out"


def test_a_restraint_leaves_what_nothing_tells_unturned() -> None:
    line = np.array([[0.0, 0, 0], [1, 0, 0], [3, 0, 0]])
    r = procrustes_transforms(line, line @ turned(0.3, 3, 2).T, restraint=1e-3)[1]
    np.testing.assert_allclose(r, turned(0.3, 3, 2), atol=2e-3)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_the_head_is_removed_and_the_expression_stays(dimensions: int) -> None:
    take = smile(dimensions)
    nod = np.linspace(0, 1, len(take))
    growth = 1 + 0.2 * nod if dimensions == 2 else np.ones(len(take))
    head = [
        g * p @ turned(0.4 * a, dimensions, i % 3).T + 30 * a
        for i, (a, g, p) in enumerate(zip(nod, growth, take.points))
    ]
    steady = remove_head_motion(take.with_fields(points=np.array(head)))
    np.testing.assert_allclose(steady.displacements, take.displacements, atol=1e-6)
    np.testing.assert_allclose(remove_head_motion(steady).points, steady.points, atol=1e-6)


def test_people_become_alike_and_keep_their_timing() -> None:
    face = neutral_face()
    takes = []
    for number, (angle, size, wide) in enumerate([(0, 1, 1), (0.3, 1.4, 1.1), (-0.2, 0.8, 0.9), (0.1, 1.1, 1.2)]):
        take = smile(name=str(number))
        person = take.points * [wide, 1, 1]
        takes.append(take.with_fields(points=size * person @ turned(angle, 3, number % 3).T + 100 * number))
    before = np.stack([take.points[0] for take in takes])
    result = match_proportions(takes)
    mean = np.mean([take.points[0] for take in result], axis=0)
    apart = [np.linalg.norm(take.points[0] - mean, axis=1).mean() for take in result]
    assert max(apart) < 2.5, "millimetres"
    assert np.linalg.norm(before - before.mean(axis=0), axis=2).mean() > 50
    heights = np.array([np.linalg.norm(take.displacements[:, 48], axis=1) for take in result])
    np.testing.assert_allclose(
        heights / heights[:, take.peak : take.peak + 1],
        np.broadcast_to(heights[0] / heights[0, take.peak], heights.shape),
        atol=1e-9,
    )
    np.testing.assert_allclose(heights[:, take.peak], heights[:, take.peak].mean(), rtol=0.12)
    size = np.linalg.norm(mean - mean.mean(axis=0)) / np.linalg.norm(face - face.mean(axis=0))
    assert 0.9 < size < 1.3, "a mean is as large as people are"


def test_the_mean_does_not_depend_on_who_comes_when() -> None:
    rng = np.random.default_rng(0)
    shapes = neutral_face() + rng.normal(size=(6, 68, 3))
    forwards, backwards = mean_shape(shapes), mean_shape(shapes[::-1])
    s, r, t = procrustes_transforms(forwards, backwards)
    np.testing.assert_allclose(apply_transform(forwards, s, r, t), backwards, atol=1e-4)
    np.testing.assert_allclose(mean_shape(shapes[:1]), shapes[0], atol=1e-9)


def test_each_eye_is_aligned_by_itself() -> None:
    groups = alignment_groups(landmark_names())
    assert list(groups["eye_right"]) == [*range(36, 42)] and list(groups["eye_left"]) == [*range(42, 48)]
    assert sum(map(len, groups.values())) == 68
    assert list(alignment_groups(("a", "b"), {"all": ["*"]})) == ["all"]


def test_what_is_refused() -> None:
    take = smile()
    with pytest.raises(InvalidInput, match="lacks the anchors 'tip'; there are 'lm00', 'lm01'"):
        remove_head_motion(take, ["lm27", "tip"])
    strange = take.with_fields(names=[f"p{i}" for i in range(68)])
    with pytest.raises(InvalidInput, match=r"has none of the landmarks that hold still \('lm27'"):
        remove_head_motion(strange)
    with pytest.raises(InvalidInput, match="should not all lie in one place"):
        mean_shape(np.zeros((2, 5, 3)))
    assert set(ANCHORS) <= set(take.names)
    weights = take.with_fields(points=take.points[:, :, :1])
    assert remove_head_motion(weights) is weights and match_proportions([weights]) == [weights]

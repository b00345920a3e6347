"""Learned controls: they add up to the shapes, stay where they belong, and reach faces that the shapes cannot."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.data_folder import data_file

from understudy.deform.local_controls import learn_controls
from understudy.errors import InvalidInput


@pytest.fixture(scope="module")
def sheet():
    """A sheet with a bump on the left, one on the right, and a shape that raises both."""
    u, v = np.meshgrid(np.linspace(-2, 2, 25), np.linspace(-1, 1, 13), indexing="ij")
    rest = np.stack([u, v, 0 * u], axis=-1).reshape(-1, 3)
    index = np.arange(len(rest)).reshape(u.shape)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    triangles = np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])

    def bump(x):
        return np.exp(-8 * ((rest[:, 0] - x) ** 2 + rest[:, 1] ** 2))[:, None] * [0.0, 0.0, 1.0]

    return rest, triangles, np.stack([bump(-1), bump(1), 0.8 * bump(-1) + 0.6 * bump(1)]), ("left", "right", "both")


@pytest.fixture(scope="module")
def learned(sheet):
    return learn_controls(*sheet)


def test_controls_add_up_to_the_shapes(sheet, learned):
    rest, _, deltas, _ = sheet
    weights = np.random.default_rng(0).random((5, 3))
    whole = rest + np.einsum("fs,svc->fvc", weights, deltas)
    np.testing.assert_allclose(learned.blend(rest, learned.spread_weights(weights)), whole, atol=1e-6)


def test_masks_are_a_partition(learned):
    np.testing.assert_allclose(learned.masks.sum(axis=0), 1.0, atol=1e-12)
    assert learned.masks.min() >= 0
    assert (learned.masks.argmax(axis=0) == learned.regions).mean() > 0.9


def test_two_bumps_are_two_regions(sheet, learned):
    rest = sheet[0]
    left, right = (int(learned.regions[np.argmin(np.linalg.norm(rest - [x, 0, 0], axis=1))]) for x in (-1, 1))
    assert left != right
    assert {f"both.{left}", f"both.{right}"} <= set(learned.names)
    assert f"left.{right}" not in learned.names and f"right.{left}" not in learned.names


def test_local_controls_reach_a_face_that_the_shapes_cannot(sheet, learned):
    """From the shape with both bumps alone, only local controls raise one of them."""
    rest, triangles, deltas, _ = sheet
    alone = learn_controls(rest, triangles, np.concatenate([deltas[2:], deltas[:1] * [0, 0, 0.3]]), ("both", "left"))
    wanted = (rest + deltas[1])[None]
    found = alone.follow(rest, wanted)
    assert (found >= 0).all()
    near = np.square(alone.blend(rest, found) - wanted).sum()
    whole = dataclasses.replace(alone, deltas=np.float32([deltas[2], 0.3 * deltas[0]]), names=("both", "left"))
    assert near < 0.2 * np.square(whole.blend(rest, whole.follow(rest, wanted)) - wanted).sum()


def test_asked_number_of_regions(sheet):
    assert len(learn_controls(*sheet, {"regions": 4}).masks) == 4


@pytest.mark.parametrize(
    ("deltas", "words"), [(np.zeros((2, 325, 3)), "moves something"), (np.ones((2, 5, 3)), "shape")]
)
def test_bad_shapes_are_refused(sheet, deltas, words):
    with pytest.raises(InvalidInput, match=words):
        learn_controls(sheet[0], sheet[1], deltas)


def test_a_real_face_falls_into_brows_eyes_and_mouth():
    with np.load(data_file("face_ict/ict_expressions.npz")) as data:
        count = int(data["n_face"])
        rest, names = data["neutral"][:count].astype(float), [str(n) for n in data["names"]]
        deltas = data["delta_q"][:, :count] * float(data["scale"])
    faces = []
    for line in data_file("face_ict/generic_neutral_mesh.obj").read_text().splitlines():
        if line.startswith("f "):
            corner = [int(c.split("/")[0]) - 1 for c in line.split()[1:]]
            if max(corner) < count:
                faces += [(corner[0], corner[i], corner[i + 1]) for i in range(1, len(corner) - 1)]
    few = [names.index(n) for n in names if n.startswith(("eyeBlink", "mouthSmile", "browOuterUp", "jawOpen"))]
    learned = learn_controls(rest, np.array(faces), deltas[few], [names[i] for i in few])
    main = {}
    for s, i in enumerate(few):
        own = learned.shape == s
        size = np.square(learned.deltas[own]).sum(axis=(1, 2))
        main[names[i]] = int(learned.region[own][size.argmax()])
    apart = ["eyeBlink_L", "eyeBlink_R", "mouthSmile_L", "mouthSmile_R", "jawOpen"]
    assert len({main[n] for n in apart}) == len(apart)
    whole = np.einsum("nvc->vc", learned.deltas[learned.shape == 0].astype(float))
    np.testing.assert_allclose(whole, deltas[few[0]], atol=1e-5)


def test_local_controls_come_nearer_to_a_real_expression_left_out():
    """MakeHuman's expressions: one that is not in the set is met better by local controls than by whole shapes."""
    base = data_file("makehuman/3dobjs/base.obj")
    files = sorted(data_file("makehuman/targets/caucasian").glob("*.target"))
    lines = [line.split() for line in base.read_text().splitlines()]
    points = np.array([[float(x) for x in line[1:4]] for line in lines if line[:1] == ["v"]])
    quads = [[int(c.split("/")[0]) - 1 for c in line[1:5]] for line in lines if line[:1] == ["f"]]
    deltas = np.zeros((len(files), *points.shape))
    for delta, path in zip(deltas, files):
        rows = np.array([line.split() for line in path.read_text().splitlines() if line and line[0] != "#"], float)
        delta[rows[:, 0].astype(int)] = rows[:, 1:4]
    moved = np.flatnonzero(np.abs(deltas).max(axis=(0, 2)) > 0)
    place = np.full(len(points), -1)
    place[moved] = np.arange(len(moved))
    corners = place[np.array([q for q in quads if len(q) == 4])]
    corners = corners[(corners >= 0).all(axis=1)]
    triangles = np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])
    rest, deltas = points[moved], deltas[:, moved]
    kept = np.arange(len(deltas)) != 10
    local = learn_controls(rest, triangles, deltas[kept])
    np.testing.assert_allclose(
        local.blend(rest, local.spread_weights(np.eye(kept.sum()))), rest + deltas[kept], atol=1e-6
    )
    names = tuple(f"shape{i}" for i in range(kept.sum()))
    whole = dataclasses.replace(local, names=names, deltas=deltas[kept].astype(np.float32))
    wanted = (rest + deltas[10])[None]
    near, far = (np.square(c.blend(rest, c.follow(rest, wanted)) - wanted).sum() for c in (local, whole))
    assert near < far

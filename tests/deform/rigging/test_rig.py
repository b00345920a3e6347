from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.deform.rigging.shapes import box, joined

from understudy.checks import Array
from understudy.deform.rigging import TEMPLATES, automatic_rig, automatic_weights
from understudy.deform.rigging.embedding import MedialSpheres, ShortestPaths, _sphere_costs, embed, fit_to_box
from understudy.deform.rigging.refine import RefinementCost, unfold_skeleton
from understudy.deform.rigging.rig import distinctness, pairs_of_feet, quarter_turn_matrix, stance
from understudy.deform.rigging.surface import VoxelSolid
from understudy.errors import InvalidInput

ARMS_OUT = (box([0.1, 1.3, -0.06], [0.85, 1.42, 0.06]), box([-0.85, 1.3, -0.06], [-0.1, 1.42, 0.06]))
ARMS_DOWN = (
    box([-0.3, 1.3, -0.06], [0.3, 1.42, 0.06]),
    box([0.26, 0.72, -0.06], [0.37, 1.42, 0.06]),
    box([-0.37, 0.72, -0.06], [-0.26, 1.42, 0.06]),
)


def person(arms: tuple[tuple[Array, Array], ...] = ARMS_OUT) -> tuple[Array, Array]:
    """A figure of boxes that overlap: 1.8 m high, facing +z."""
    return joined(
        box([-0.18, 0.85, -0.1], [0.18, 1.45, 0.1]),
        box([-0.1, 1.4, -0.1], [0.1, 1.8, 0.12]),
        *arms,
        box([0.04, 0.0, -0.07], [0.17, 0.95, 0.07]),
        box([-0.17, 0.0, -0.07], [-0.04, 0.95, 0.07]),
        box([0.04, 0.0, -0.07], [0.17, 0.08, 0.2]),
        box([-0.17, 0.0, -0.07], [-0.04, 0.08, 0.2]),
    )


@pytest.fixture(scope="module")
def rig():
    return automatic_rig(*person(), "biped", "+z")


def test_the_joints_of_a_person_are_where_they_should_be(rig) -> None:
    place = dict(zip(rig.names, rig.places))
    assert 0.7 < place["Hips"][1] < 1.1 and abs(place["Hips"][0]) < 0.05
    assert 1.1 < place["Chest"][1] < 1.5
    assert place["Head"][1] > 1.4
    for side, sign in (("Left", 1), ("Right", -1)):
        assert sign * place[side + "Hand"][0] > 0.5 and 1.25 < place[side + "Hand"][1] < 1.47
        assert place[side + "Foot"][1] < 0.35 and 0.03 < sign * place[side + "Foot"][0] < 0.2
    assert rig.confidence.overall > 0.6 and rig.confidence.inside > 0.97
    assert not any(name.endswith("Tip") for name in rig.names)


def test_arms_that_hang_are_found() -> None:
    rig = automatic_rig(*person(ARMS_DOWN), "biped", "+z")
    place = dict(zip(rig.names, rig.places))
    for side, sign in (("Left", 1), ("Right", -1)):
        assert 0.2 < sign * place[side + "Hand"][0] < 0.4 and 0.7 < place[side + "Hand"][1] < 1.0
        assert place[side + "Arm"][1] > 1.1


def test_two_legs_in_one_are_not_believed() -> None:
    """A biped has no four legs, so a quadruped's go where there are others already, or not down to the ground."""
    vertices, triangles = person()
    medial = MedialSpheres.from_solid(VoxelSolid.from_surface(vertices, triangles, 32))
    biped, quadruped = TEMPLATES["biped"], TEMPLATES["quadruped"]
    own, other = (
        unfold_skeleton(t, embed(t, medial, vertices), medial, fit_to_box(t, vertices)) for t in (biped, quadruped)
    )
    assert distinctness(biped, own, medial) == 1.0 and stance(biped, own, medial) == 1.0
    assert distinctness(quadruped, other, medial) * stance(quadruped, other, medial) < 0.75


def sauropod() -> tuple[Array, Array]:
    """A body of boxes on four legs in the middle third of a long neck and tail, facing +z."""
    legs = [box([x, 0, z], [x + 0.12, 0.6, z + 0.12]) for x in (-0.22, 0.1) for z in (-0.4, 0.3)]
    return joined(
        *legs,
        box([-0.22, 0.5, -0.45], [0.22, 0.85, 0.45]),
        box([-0.06, 0.7, 0.4], [0.06, 0.85, 1.5]),
        box([-0.1, 0.68, 1.45], [0.1, 0.9, 1.7]),
        box([-0.05, 0.65, -1.9], [0.05, 0.75, -0.4]),
    )


def test_feet_are_counted_in_pairs() -> None:
    """Four legs are two pairs at their places in the box, two are one; a ball on the ground has none."""
    for mesh, count in ((sauropod(), 2), (person(), 1), (box([-1, 0, -1], [1, 1, 1]), 0)):
        solid = VoxelSolid.from_surface(*mesh, 100)
        assert len(pairs_of_feet(solid, mesh[0])) == count
    low, high = sauropod()[0].min(axis=0), sauropod()[0].max(axis=0)
    pairs = pairs_of_feet(VoxelSolid.from_surface(*sauropod(), 90), sauropod()[0])
    places = 0.5 * (low + high)[2] + 0.5 * (high - low)[2] * pairs[:, 1]
    np.testing.assert_allclose(places, [-0.34, 0.36], atol=0.06)


def test_four_legs_between_a_long_neck_and_tail_are_two_pairs() -> None:
    found = automatic_rig(*sauropod(), facing="+z")
    assert found.template == "quadruped"
    place = dict(zip(found.names, found.places))
    for side, sign in (("Left", 1), ("Right", -1)):
        for joint, z in (("Hand", 0.36), ("Foot", -0.34)):
            at = place[side + joint]
            assert abs(at[2] - z) < 0.15 and abs(at[0] - sign * 0.16) < 0.08 and at[1] < 0.3, side + joint


def test_the_sides_are_mirror_images(rig) -> None:
    place = dict(zip(rig.names, rig.places))
    for name, where in place.items():
        other = place[name.replace("Left", "Right")] if name.startswith("Left") else None
        if other is not None:
            np.testing.assert_allclose(where * [-1, 1, 1], other, atol=0.02)


def test_a_person_who_looks_elsewhere_is_turned_back(rig) -> None:
    vertices, triangles = person()
    side = automatic_rig(vertices @ quarter_turn_matrix(1), triangles, "biped", "+x")
    np.testing.assert_allclose(side.places, rig.places @ quarter_turn_matrix(1), atol=0.05)


def test_the_skeleton_and_its_weights_fit_together(rig) -> None:
    vertices, triangles = person()
    dense = automatic_weights(vertices, triangles, rig.binds, rig.parents, rig.names).dense(len(rig.names))
    hand = rig.names.index("LeftHand")
    assert dense[vertices[:, 0] > 0.8, hand].min() > 0.5
    assert dense[vertices[:, 1] < 0.05].argmax(axis=1).tolist().count(hand) == 0


def test_the_embedding_is_the_best_of_all() -> None:
    """Against every embedding of a template with four key joints, in few spheres."""
    vertices, triangles = person()
    medial = MedialSpheres.from_solid(VoxelSolid.from_surface(vertices, triangles, 24), most=6)
    template = TEMPLATES["fish"]
    wanted = fit_to_box(template, vertices)
    size = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    keys = [int(key) for key in template.keys]
    places = {key: _sphere_costs(template, medial, vertices, wanted, key, size) for key in keys}
    every = ShortestPaths.from_medial(medial, size)
    ways = {key: every.cost(wanted, template.key_ancestor(key), key) for key in keys if template.key_ancestor(key) >= 0}
    best = np.inf
    for spheres in itertools.product(range(len(medial.centres)), repeat=len(keys)):
        at = dict(zip(keys, spheres))
        cost = sum(places[key][at[key]] for key in keys)
        cost += sum(way[at[template.key_ancestor(key)], at[key]] for key, way in ways.items())
        best = min(best, cost)
    assert embed(template, medial, vertices).cost * len(keys) == pytest.approx(best)


def test_the_gradient_of_the_refinement() -> None:
    vertices, triangles = person()
    medial = MedialSpheres.from_solid(VoxelSolid.from_surface(vertices, triangles, 32))
    template = TEMPLATES["biped"]
    wanted = fit_to_box(template, vertices)
    start = unfold_skeleton(template, embed(template, medial, vertices), medial, wanted)
    cost = RefinementCost(template, start, medial, 0.0)
    random = np.random.default_rng(1)
    x = (start + random.normal(scale=0.02, size=start.shape)).ravel()
    value, gradient = cost(x)
    way = random.normal(size=x.shape)
    step = 1e-7
    slope = (cost(x + step * way)[0] - cost(x - step * way)[0]) / (2 * step)
    assert slope == pytest.approx(gradient @ way, rel=1e-3) and value > 0


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_are_trees_with_two_equal_sides(name: str) -> None:
    template = TEMPLATES[name]
    assert (template.parents < np.arange(len(template))).all() and (template.parents < 0).sum() == 1
    np.testing.assert_allclose(template.places[template.mirror], template.places * [-1, 1, 1])
    assert (
        template.parents[template.mirror] == np.where(template.parents < 0, -1, template.mirror[template.parents])
    ).all()
    for variant in template.variants:
        assert variant.places[:, 1].min() >= 0 and variant.places[:, 1].max() <= 1


@pytest.mark.parametrize(
    ("vertices", "triangles", "words"),
    [
        (np.zeros((3, 3)), [[0, 1, 2]], "inside"),
        (np.eye(3), [[0, 1, 2]], "inside"),
        (np.eye(3), [[0, 1, 7]], "7"),
        ([[0, 0, np.inf]], np.zeros((0, 3)), "finite"),
    ],
)
def test_a_mesh_without_an_inside_is_refused(vertices, triangles, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        automatic_rig(vertices, triangles)


def test_names_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InvalidInput, match="there is no template 'dog'; available: 'biped'"):
        automatic_rig(*person(), "dog")
    with pytest.raises(InvalidInput, match="facing"):
        automatic_rig(*person(), "biped", "north")

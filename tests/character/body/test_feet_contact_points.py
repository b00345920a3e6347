"""Contact points found: toes and heels of what stands, four around a base, and no tails."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.transfer import small

from understudy import cast
from understudy.character import Character
from understudy.character.body.limbs import limbs_of
from understudy.character.body.mass import body_of
from understudy.character.body.poses import PoseSequence
from understudy.formats import registry


def placed(character: Character) -> dict[str, np.ndarray]:
    body = body_of(character)
    points = body.contact_positions(PoseSequence.rest(character.skeleton).world)[0]
    return dict(zip(body.names, points))


def test_the_lamp_stands_on_its_rim_and_not_on_its_cord() -> None:
    found = placed(cast.load("lamp").character())
    assert set(found) == {"Base.front", "Base.back", "Base.left", "Base.right"}
    np.testing.assert_allclose(found["Base.front"], [0.0, 0.0, 0.24], atol=0.01)
    np.testing.assert_allclose(found["Base.left"], [0.24, 0.0, 0.0], atol=0.01)


def test_a_box_stands_on_its_edges() -> None:
    found = placed(small.hopper().character())
    assert set(found) == {"Base.front", "Base.back", "Base.left", "Base.right"}
    assert all(point[1] == pytest.approx(0.0, abs=1e-6) for point in found.values())


def test_a_bare_actor_has_feet_and_hands() -> None:
    character = registry.read(data_file("bvh_cmu/02_01.bvh")).character()
    found = placed(character)
    assert [name.split(".")[1] for name in found] == ["toe", "heel", "toe", "heel", "hand", "hand"]
    assert found["LeftToeBase.toe"][0] > 0 > found["RightToeBase.toe"][0]
    assert found["LeftToeBase.toe"][2] > found["LeftFoot.heel"][2]


@pytest.mark.parametrize(("name", "feet"), [("animals_pack_Husky", 4), ("easy_enemies_pack_Spider", 8)])
def test_animals_stand_on_all_their_feet(name: str, feet: int) -> None:
    character = registry.read(data_file(f"gltf_quaternius/{name}.glb")).character()
    found = placed(character)
    limbs = limbs_of(character.skeleton)
    body = body_of(character)
    assert len({int(limbs.top[contact.joint]) for contact in body.contacts}) == feet
    height = np.ptp(PoseSequence.rest(character.skeleton).world[0, :, 1, 3])
    assert all(point[1] < 0.06 * height for point in found.values())


def test_limbs_leave_the_trunk() -> None:
    skeleton = small.actor().character().skeleton
    limbs = limbs_of(skeleton)
    assert {skeleton.names[j] for j in np.flatnonzero(limbs.trunk)} == {"Hips", "Spine"}
    assert limbs.top[skeleton.index("LeftFoot")] == skeleton.index("LeftUpLeg")
    np.testing.assert_allclose(limbs.front, [0.0, 0.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(limbs.left, [1.0, 0.0, 0.0], atol=1e-9)
    places = limbs.world[[skeleton.index(n) for n in ("LeftFoot", "RightFoot", "Head")], :3, 3]
    np.testing.assert_array_equal(limbs.sides(places), [1, -1, 0])

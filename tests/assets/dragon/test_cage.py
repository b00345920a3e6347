"""The lattice: a hundred points over the head, each with skin in reach, pairs that mirror each other."""

from __future__ import annotations

import numpy as np
from tests.cast.dragon import shipped

from assets.dragon.controls import LATTICE_GAIN, dragon_controls, lattice
from assets.dragon.measures import JOINTS, SCALE
from understudy.character.skinning import layered as deform


def test_three_controls_a_point() -> None:
    cage = lattice(dragon_controls())
    assert cage.counts == (5, 5, 4) and cage.joint == "Head"
    pairs = set(zip(cage.point.tolist(), cage.axis.tolist()))
    assert len(pairs) == len(cage.point) == 300
    assert set(np.abs(cage.gain)) == {LATTICE_GAIN}


def test_points_stand_where_their_names_say() -> None:
    controls = dragon_controls()
    cage = lattice(controls)
    places = deform.lattice_points(cage.low, cage.high, cage.counts).reshape(-1, 3) / SCALE + JOINTS["Head"][1]
    at = {controls.names[c]: places[p] for c, p in zip(cage.control, cage.point)}
    assert abs(at["lattice.nose_tip_mid_x"][0]) < 1e-9
    assert at["lattice.chin_mid_in_y.L"][0] > 0 > at["lattice.chin_mid_in_y.R"][0]
    assert at["lattice.crown_mid_mid_y"][1] > at["lattice.brow_mid_mid_y"][1] > at["lattice.chin_mid_mid_y"][1]
    assert at["lattice.nose_tip_mid_z"][2] > at["lattice.nose_back_mid_z"][2]
    np.testing.assert_allclose(at["lattice.brow_front_out_x.L"], at["lattice.brow_front_out_x.R"] * [-1, 1, 1])


def test_outwards_is_outwards_on_both_sides() -> None:
    rest = shipped.posed()
    wide = shipped.posed(lattice__mouth_mid_out_x__L=1.0, lattice__mouth_mid_out_x__R=1.0)
    corner = [shipped.point("mouth_corner.L"), shipped.point("mouth_corner.R")]
    moved = (wide - rest)[corner]
    assert moved[0, 0] > 0.005 and moved[1, 0] < -0.005


def test_it_turns_with_the_head() -> None:
    plain, turned = (shipped.posed(head__turn=turn) for turn in (0.0, 40.0))
    pushed, both = (shipped.posed(head__turn=turn, lattice__nose_tip_mid_z=1.0) for turn in (0.0, 40.0))
    nose = shipped.point("nose_tip")
    ahead, aside = (pushed - plain)[nose], (both - turned)[nose]
    assert np.linalg.norm(ahead) > 0.005
    assert (
        np.linalg.norm(aside) == np.linalg.norm(ahead).round(9)
        or abs(np.linalg.norm(aside) - np.linalg.norm(ahead)) < 1e-4
    )
    assert aside[0] > 0.3 * np.linalg.norm(aside)


def test_the_neck_stays_where_it_is() -> None:
    moved = shipped.posed(**{f"lattice__chin_back_{c}_{a}": 1.0 for c in ("mid",) for a in "xyz"}) - shipped.posed()
    assert not np.abs(moved[shipped.point("neck_base")]).any()

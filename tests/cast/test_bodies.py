"""The shipped bodies: closed skins, symmetric weights, eyes that blink, and limbs that bend without collapsing."""

from __future__ import annotations

import zipfile
from functools import cache
from importlib import import_module

import numpy as np
import pytest
from tests.cast.surfaces import is_closed

from assets.sculpting import eyes, geometry
from assets.sculpting.joints import twin
from understudy import cast
from understudy.cast import archive
from understudy.character import Character, Mesh, SkinBinding
from understudy.character.rig import DirectRig
from understudy.maths import euler

BODIES = ("penguin", "squirrel", "actor")
HEIGHTS = {"penguin": (0.96, 1.00), "squirrel": (1.05, 1.15), "actor": (2.08, 2.16)}
LARGEST = 1_000_000  # bytes of a body in its file


@cache
def body(name: str) -> Character:
    return archive.read(cast.arrays_file(name)).character()


@cache
def rig(name: str) -> DirectRig:
    return DirectRig(body(name))


def skin_of(name: str) -> tuple[Mesh, SkinBinding]:
    part = next(part for part in body(name).parts if part.name == "Skin")
    return part.mesh, part.skin


def turned(name: str, **degrees: tuple[float, float, float]) -> np.ndarray:
    """(V, 3) with joints turned by degrees about x, y, z, taken as Ry Rx Rz."""
    row = rig(name).rest.copy()
    for joint, (x, y, z) in degrees.items():
        place = rig(name).channels.slice(joint, "rotation")
        assert place is not None
        row[place] = euler.from_euler(np.radians([y, x, z]), "yxz")
    return rig(name).vertices(row[None])[0]


@pytest.mark.parametrize("name", BODIES)
def test_the_cast_has_it_with_its_limits_in_a_small_file(name: str) -> None:
    assert name in cast.names()
    assert set(cast.limits(name)) == set(body(name).skeleton.names) - {"Hips"}
    with zipfile.ZipFile(cast.arrays_file(name)) as file:
        assert sum(m.compress_size for m in file.infolist() if not m.filename.startswith("clip")) < LARGEST


@pytest.mark.parametrize("name", BODIES)
def test_it_stands_on_the_ground_and_has_its_height(name: str) -> None:
    places = np.concatenate([part.mesh.vertices for part in body(name).parts])
    low, high = HEIGHTS[name]
    assert -1e-4 < places[:, 1].min() < 0.006 and low < places[:, 1].max() < high


@pytest.mark.parametrize("name", BODIES)
def test_no_part_has_the_name_of_a_joint(name: str) -> None:
    assert not {part.name for part in body(name).parts} & set(body(name).skeleton.names)


@pytest.mark.parametrize("name", BODIES)
def test_the_skin_is_closed_and_faces_out(name: str) -> None:
    mesh, _ = skin_of(name)
    assert is_closed(mesh.vertices, mesh.triangles)
    assert geometry.signed_volume(mesh.vertices.astype(float), mesh.triangles) > 0


@pytest.mark.parametrize("name", BODIES)
def test_at_most_four_joints_hold_a_vertex_and_both_sides_alike(name: str) -> None:
    from scipy.spatial import cKDTree

    mesh, skin = skin_of(name)
    assert skin.weights.shape[1] <= 4
    assert np.abs(skin.weights.sum(axis=1, dtype=float) - 1).max() < 1e-6
    names = [body(name).skeleton.names[j] for j in skin.joints]
    dense = np.zeros((len(mesh.vertices), len(names)))
    np.put_along_axis(dense, skin.influences.astype(int), skin.weights, axis=1)
    lefts = {joint: other for joint in names if (other := twin(joint)) != joint}
    swap = lefts | {other: joint for joint, other in lefts.items()}
    other = [names.index(swap.get(joint, joint)) for joint in names]
    away, nearest = cKDTree(mesh.vertices).query(mesh.vertices * np.array([-1, 1, 1]))
    paired = away < 1e-6  # scarf, fringe and hair have no mirror image
    assert paired.mean() > 0.75
    assert np.abs(dense[paired] - dense[nearest][:, other][paired]).max() < 0.006


@pytest.mark.parametrize("name", BODIES)
def test_lids_stay_outside_the_eye_on_their_whole_way(name: str) -> None:
    eye = import_module(f"assets.members.{name}").EYE
    mesh = next(part.mesh for part in body(name).parts if part.mesh.name == "Lids")
    row = np.arange(len(mesh.vertices)) % (eyes.LID_ROWS + len(eyes.LID_MARGIN))
    shapes = mesh.shapes
    assert shapes is not None
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        chosen = (mesh.vertices[:, 0] * sign > 0) & (row >= len(eyes.LID_MARGIN))
        centre = np.array(eye.place) * [sign, 1, 1]
        for shape in ("eyeBlink", "eyeSquint", "eyeWide"):
            delta = shapes.deltas[shapes.names.index(f"{shape}{side}")]
            for weight in np.linspace(0, 1, 9):
                places = mesh.vertices[chosen] + weight * delta[chosen]
                assert np.linalg.norm(places - centre, axis=1).min() > eye.radius, (shape, weight)


@pytest.mark.parametrize("name", BODIES)
def test_every_joint_bends_to_its_limits_without_collapsing(name: str) -> None:
    """The skin keeps its volume within a twentieth, whichever joint goes to an end of its range; measured: 3.7 %."""
    count = len(skin_of(name)[0].vertices)
    triangles = skin_of(name)[0].triangles
    rest = geometry.signed_volume(skin_of(name)[0].vertices.astype(float), triangles)
    for joint, axes in cast.limits(name).items():
        if joint.startswith("R"):
            continue
        for axis, ends in axes.items():
            for end in ends:
                degrees = tuple(end if own == axis else 0.0 for own in "xyz")
                places = turned(name, **{joint: degrees})[:count]
                volume = geometry.signed_volume(places.astype(float), triangles)
                assert abs(volume / rest - 1) < 1 / 20, (joint, axis, end, volume / rest)


def test_a_penguin_s_leg_takes_nothing_of_the_belly_along() -> None:
    mesh, _ = skin_of("penguin")
    moved = np.linalg.norm(turned("penguin", LeftLeg=(-40, 0, 0))[: len(mesh.vertices)] - mesh.vertices, axis=1)
    belly = (mesh.vertices[:, 1] > 0.2) & (np.abs(mesh.vertices[:, 0]) < 0.2)
    assert moved[belly].max() < 0.08 and moved.max() > 0.05
    assert (moved[mesh.vertices[:, 1] > 0.24] < 1e-6).all()


def test_a_twisted_forearm_is_no_candy_wrapper() -> None:
    """A quarter turn at the elbow: linear skinning keeps cos 45 = 0.71 of the radius at least, if it is spread."""
    mesh, _ = skin_of("actor")
    rest, moved = mesh.vertices.astype(float), turned("actor", LeftForeArm=(90, 0, 0))[: len(mesh.vertices)]
    world = rig("actor").joints(rig("actor").rest[None])[0, :, :3, 3]
    names = body("actor").skeleton.names
    arm, hand = world[names.index("LeftArm")], world[names.index("LeftHand")]
    for x in np.linspace(arm[0] + 0.1, hand[0], 12):
        ring = (np.abs(rest[:, 0] - x) < 0.02) & (rest[:, 1] > 1.3)
        before = np.linalg.norm(rest[ring] - rest[ring].mean(axis=0), axis=1).mean()
        after = np.linalg.norm(moved[ring] - moved[ring].mean(axis=0), axis=1).mean()
        assert after > 0.68 * before, x


def test_the_actor_s_joints_of_no_length_carry_nothing() -> None:
    carrying = {body("actor").skeleton.names[j] for j in body("actor").joints}
    assert not carrying & {"LHipJoint", "RHipJoint", "LeftFingerBase", "RightFingerBase"}
    assert {"LeftHandIndex1", "LThumb", "Head", "LeftToeBase"} <= carrying


def test_the_actor_s_face_acts() -> None:
    names = body("actor").shapes["Face"]
    wanted = {"browInnerUp", "browDownLeft", "mouthSmileRight", "mouthFrownLeft", "jawOpen", "eyeBlinkLeft"}
    assert wanted <= set(names)

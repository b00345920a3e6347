"""The shipped body: a sound, symmetric skin, parts that face out, weights that sum to one, a coat that fits."""

from __future__ import annotations

import io

import numpy as np
import pytest
from tests.cast.surfaces import areas, is_closed

from assets.dragon import measures
from assets.sculpting import geometry
from understudy import cast
from understudy.cast import archive
from understudy.character import Character, Part
from understudy.character.kinematics import world_transforms
from understudy.maths import quaternion

PARTS = ("Skin", "Lids", "Eyes", "Highlights", "LidShadow", "Fins", "Horns", "Spikes", "Teeth", "Tongue", "Plinth")


@pytest.fixture(scope="module")
def dragon() -> Character:
    return archive.read(cast.arrays_file("dragon")).character()


def part(dragon: Character, name: str) -> Part:
    return next(part for part in dragon.parts if part.name == name)


def quality(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(T,) 4 sqrt(3) area / (sum of squared edges): 1 for an equilateral triangle, 0 for a sliver."""
    a, b, c = np.moveaxis(vertices[triangles].astype(float), 1, 0)
    squares = ((b - a) ** 2).sum(axis=1) + ((c - b) ** 2).sum(axis=1) + ((a - c) ** 2).sum(axis=1)
    return 4 * np.sqrt(3) * areas(vertices.astype(float), triangles) / squares


def weights_on(dragon: Character, name: str, joint: str) -> np.ndarray:
    """(V,) how much each vertex of a part follows a joint."""
    skin = part(dragon, name).skin
    chosen = skin.joints[skin.influences] == dragon.skeleton.index(joint)
    return np.where(chosen, skin.weights, 0.0).sum(axis=1)


def test_the_skin_is_one_closed_surface_that_faces_out(dragon: Character) -> None:
    mesh = part(dragon, "Skin").mesh
    assert is_closed(mesh.vertices, mesh.triangles)
    assert geometry.signed_volume(mesh.vertices.astype(float), mesh.triangles) > 0
    # Euler: V - E + F = 2 - 2 g of a closed surface with E = 3 F / 2; the mouth and sockets are hollows, not tunnels
    assert len(mesh.vertices) - len(mesh.triangles) // 2 == 2


def test_counts(dragon: Character) -> None:
    assert tuple(p.name for p in dragon.parts) == PARTS
    assert 8_000 <= len(part(dragon, "Skin").mesh.vertices) <= 15_000
    assert dragon.vertex_count <= 24_000
    assert len(dragon.skeleton) == 24


def test_the_skin_has_no_slivers(dragon: Character) -> None:
    mesh = part(dragon, "Skin").mesh
    q = quality(mesh.vertices, mesh.triangles)
    assert q.min() > 0.1 and np.percentile(q, 1) > 0.5 and np.median(q) > 0.9


@pytest.mark.parametrize("name", PARTS)
def test_no_triangle_is_degenerate_and_neighbours_face_the_same_way(dragon: Character, name: str) -> None:
    mesh = part(dragon, name).mesh
    assert areas(mesh.vertices.astype(float), mesh.triangles).min() > 1e-9  # a square of 30 micrometres
    edges = mesh.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    assert len(np.unique(edges, axis=0)) == len(edges)  # no edge is walked twice in the same direction


def test_the_skin_does_not_cut_through_itself(dragon: Character) -> None:
    pymeshlab = pytest.importorskip("pymeshlab", reason="the sculpt extra is not installed")
    mesh = part(dragon, "Skin").mesh
    work = pymeshlab.MeshSet()
    work.add_mesh(pymeshlab.Mesh(mesh.vertices.astype(float), mesh.triangles))
    work.compute_selection_by_self_intersections_per_face()
    assert work.current_mesh().selected_face_number() == 0


@pytest.mark.parametrize("name", [name for name in PARTS if name != "Highlights"])
def test_left_and_right_are_mirror_images_to_the_last_bit(dragon: Character, name: str) -> None:
    mesh = part(dragon, name).mesh
    place = {tuple(v): i for i, v in enumerate((mesh.vertices + np.float32(0)).tolist())}
    mirrored = (mesh.vertices * np.float32([-1, 1, 1]) + np.float32(0)).tolist()
    twin = np.array([place[tuple(v)] for v in mirrored])  # a vertex without its image is a KeyError
    turned = {tuple(sorted(t)) for t in mesh.triangles.tolist()}
    assert {tuple(sorted(t)) for t in twin[mesh.triangles].tolist()} == turned


def test_weights_sum_to_one_over_at_most_four_joints(dragon: Character) -> None:
    for p in dragon.parts:
        assert np.allclose(p.skin.weights.sum(axis=1, dtype=float), 1, atol=1e-5)
        assert p.skin.weights.min() >= 0 and p.skin.weights.shape[1] <= 4


def test_weights_of_left_and_right_are_mirrored(dragon: Character) -> None:
    vertices = part(dragon, "Skin").mesh.vertices
    place = {tuple(v): i for i, v in enumerate((vertices + np.float32(0)).tolist())}
    twin = np.array([place[tuple(v)] for v in (vertices * np.float32([-1, 1, 1]) + np.float32(0)).tolist()])
    for left, right in (("Jaw", "Jaw"), ("Head", "Head"), ("Neck2", "Neck2"), ("Corner.L", "Corner.R")):
        a, b = weights_on(dragon, "Skin", left), weights_on(dragon, "Skin", right)
        assert np.abs(a - b[twin]).max() < 1e-6


def test_the_jaw_takes_the_lower_lip_and_leaves_the_upper_one(dragon: Character) -> None:
    p = measures.head_lengths(part(dragon, "Skin").mesh.vertices)
    front = p[:, 2] > 0.40
    jaw = weights_on(dragon, "Skin", "Jaw")
    assert jaw[front & (p[:, 1] > -0.12)].max() == 0
    assert jaw[front & (p[:, 1] < -0.24)].min() > 0.99
    assert weights_on(dragon, "Skin", "Root")[p[:, 1] < -1.0].min() > 0.5  # the plinth holds the neck's end


def test_the_bind_pose_is_the_rest_pose(dragon: Character) -> None:
    s = dragon.skeleton
    rest = world_transforms(s.parents, s.translations, s.rotations, s.scales)
    for p in dragon.parts:
        assert np.allclose(rest[p.skin.joints] @ p.skin.inverse_binds, np.eye(4), atol=1e-12)


def test_joints_have_the_worlds_axes_but_for_the_lids(dragon: Character) -> None:
    s = dragon.skeleton
    rest = world_transforms(s.parents, s.translations, s.rotations, s.scales)
    for name, matrix in zip(s.names, rest):
        if name.startswith("Lid"):
            assert np.allclose(matrix[:3, :3], measures.lid_axes(name[-1]), atol=1e-9)
            assert matrix[0, 0] > 0.9 and np.isclose(np.linalg.det(matrix[:3, :3]), 1)
        else:
            assert np.allclose(matrix[:3, :3], np.eye(3), atol=1e-12)


@pytest.mark.parametrize("side", "LR")
def test_a_positive_turn_about_x_closes_the_upper_lid(dragon: Character, side: str) -> None:
    s = dragon.skeleton
    rotations = s.rotations.copy()
    joint = s.index(f"LidUpper.{side}")
    rotations[joint] = quaternion.multiply(rotations[joint], quaternion.from_axis_angle([1.0, 0, 0], 0.5))
    bones = world_transforms(s.parents, s.translations, rotations, s.scales)
    lid = part(dragon, "Lids")
    chosen = weights_on(dragon, "Lids", f"LidUpper.{side}") == 1
    points = np.concatenate([lid.mesh.vertices[chosen], np.ones((chosen.sum(), 1))], axis=1)
    column = list(lid.skin.joints).index(joint)
    moved = points @ (bones[joint] @ lid.skin.inverse_binds[column]).T
    front = points[:, 2] > points[:, 2].max() - 0.01
    assert (moved[front, 1] < points[front, 1]).all()


def test_it_stands_on_the_ground_in_metres(dragon: Character) -> None:
    vertices = np.concatenate([p.mesh.vertices for p in dragon.parts])
    assert np.isclose(vertices[:, 1].min(), 0.0, atol=1e-6)
    assert 0.6 < vertices[:, 1].max() < 0.8


def test_skin_and_lids_share_one_coat_with_all_its_maps(dragon: Character) -> None:
    from PIL import Image

    skin, lids = (part(dragon, name).mesh.material() for name in ("Skin", "Lids"))
    assert set(skin.textures) == {"colour", "normal", "occlusion", "metallic_roughness"}
    for slot, texture in skin.textures.items():
        assert lids.textures[slot].image.data == texture.image.data
        size = Image.open(io.BytesIO(texture.image.data)).size
        assert size == ((1024, 1024) if slot in ("colour", "normal") else (512, 512))


@pytest.mark.parametrize("name", ["Skin", "Lids", "Eyes"])
def test_uvs_lie_in_the_picture_and_the_right_side_shows_what_the_left_does(dragon: Character, name: str) -> None:
    mesh = part(dragon, name).mesh
    (uvs,) = mesh.uvs
    assert uvs.min() >= 0 and uvs.max() <= 1
    if name == "Skin":
        half = len(mesh.triangles) // 2
        assert np.array_equal(uvs[half:], uvs[:half, ::-1])
        assert (mesh.vertices[mesh.triangles[:half]][..., 0] >= 0).all()


def test_the_mean_normal_of_the_map_is_the_surfaces_own(dragon: Character) -> None:
    from PIL import Image

    data = part(dragon, "Skin").mesh.material().textures["normal"].image.data
    normals = np.asarray(Image.open(io.BytesIO(data))) / 127.5 - 1
    mean = normals.mean(axis=(0, 1))
    # bumps go up and down alike: a bias would light the whole dragon from one side
    assert np.abs(mean[:2]).max() < 0.02 and mean[2] > 0.9
    assert normals[..., :2].std() > 0.02


def test_shadow_strip_and_highlights_are_marked_for_the_renderer(dragon: Character) -> None:
    for name in ("Highlights", "LidShadow"):
        assert "KHR_materials_unlit" in part(dragon, name).mesh.material().extra["extensions"]
    shadow = part(dragon, "LidShadow").mesh
    assert shadow.material().alpha_mode == "BLEND"
    assert shadow.colours is not None and shadow.colours[:, 3].min() == 0 and shadow.colours[:, 3].max() > 0.5

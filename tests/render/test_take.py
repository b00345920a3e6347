"""Takes: any asset becomes surfaces and drawings, in blocks that give the same as all at once."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cli.conftest import flag

from understudy.character import Asset, Channel, Character, Clip, Material, Mesh, Part, Skeleton, SkinBinding
from understudy.character.rig import DirectRig
from understudy.errors import InvalidInput
from understudy.render import take as takes
from understudy.render.show import ViewSettings, cameras_of
from understudy.render.surfaces import surfaces_of
from understudy.render.take import RenderTake


def test_vertices_are_the_rigs(monkeypatch: pytest.MonkeyPatch) -> None:
    asset = flag()
    rig = DirectRig(asset.character())
    expected = rig.vertices(rig.pose(asset.animation("bend")))
    for block in (1, 7 * 4, 10**6):
        monkeypatch.setattr(takes, "BLOCK_VERTICES", block)
        take = RenderTake.from_asset(asset)
        drawn = [take.draw(f).vertices[0] for f in range(len(take))]
        np.testing.assert_allclose(np.array(drawn), expected, atol=1e-6)


def test_outlines_hold_the_exact_box() -> None:
    take = RenderTake.from_asset(flag())
    outlines = take.outlines()
    for f in (0, 10, 24):
        points = take.draw(f).vertices[0]
        np.testing.assert_allclose(outlines[f].min(axis=0), points.min(axis=0))
        np.testing.assert_allclose(outlines[f].max(axis=0), points.max(axis=0))


def test_motion_without_a_mesh_is_a_stick_figure_and_markers_are_dots() -> None:
    skeleton = Skeleton(["hip", "knee"], [-1, 0], [[0, 1, 0], [0, -0.5, 0]])
    clip = Clip("walk", [Channel("hip", "translation")], [[0, 1, 0], [1, 1, 0]], 24)
    take = RenderTake.from_asset(Asset([Character("legs", skeleton)], [clip]))
    moved = take.draw(1).vertices[0] - take.draw(0).vertices[0]
    np.testing.assert_allclose(moved, np.tile([1, 0, 0], (len(moved), 1)), atol=1e-6)
    seen = Clip(
        "take", [Channel("A", "marker"), Channel("B", "marker")], [[0, 0, 0, 1, 1, 1], [0, 0, 0, *[np.nan] * 3]], 50
    )
    dots = RenderTake.from_asset(Asset(clips=[seen]))
    assert [len(dots.draw(f).dots[0].positions) for f in (0, 1)] == [2, 1]


def test_an_animation_of_someone_else_is_refused() -> None:
    other = Clip("walk", [Channel("Hips", "rotation")], [[0, 0, 0, 1]], 24)
    with pytest.raises(InvalidInput, match="moves nothing of character 'flag'"):
        RenderTake.from_asset(Asset(flag().characters, [other]), "walk")


def test_nothing_to_draw_is_said() -> None:
    face = Clip("take", [Channel("", "weights", ("jawOpen",))], [[0]], 60)
    with pytest.raises(InvalidInput, match="nothing to draw"):
        RenderTake.from_asset(Asset(clips=[face]))


def test_a_surface_for_each_material_and_normals_welded_over_seams() -> None:
    """A strip of two squares: its middle edge is split, smooth (same normals) or hard (different ones)."""
    vertices = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 0], [2, 0, 1], [2, 1, 1], [1, 1, 0]]
    triangles = [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]
    for smooth in (True, False):
        left, right = [0, 0, 1], [0, 0, 1] if smooth else [-0.7, 0, 0.7]
        mesh = Mesh(
            "strip",
            vertices,
            triangles,
            normals=[left] * 4 + [right] * 4,
            materials=[Material("a"), Material("b")],
            material_of=[0, 0, 1, 1],
        )
        skeleton = Skeleton(["root"], [-1], [[0, 0, 0]])
        parts = surfaces_of(Character("strip", skeleton, [Part("strip", mesh, SkinBinding.rigid(0, 8))]))
        assert [len(surface.triangles) for surface in parts[0].surfaces] == [2, 2]
        normals = parts[0].normals(mesh.vertices)
        assert np.allclose(normals[1], normals[4]) == smooth
        assert np.allclose(normals[2], normals[7]) == smooth


@pytest.mark.parametrize(
    ("left", "forward"), [((1, 0, 0), (0, 0, 1)), ((-1, 0, 0), (0, 0, -1)), ((0, 0, 1), (-1, 0, 0))]
)
def test_the_camera_is_in_front_of_the_character(left: tuple[int, ...], forward: tuple[int, ...]) -> None:
    """Whichever way it looks in the file, unless a user said otherwise."""
    skeleton = Skeleton(("root", "hand.L", "hand.R"), [-1, 0, 0], [(0, 1, 0), left, np.negative(left)])
    take = RenderTake.from_asset(Asset([Character("two hands", skeleton)]))
    view = ViewSettings(azimuth=0.0, elevation=0.0)
    camera = cameras_of(take, view)[0][0]
    np.testing.assert_allclose((np.sin(camera.azimuth), np.cos(camera.azimuth)), (forward[0], forward[2]), atol=1e-6)
    told = cameras_of(RenderTake.from_asset(Asset([Character("two hands", skeleton, facing="+x")])), view)[0][0]
    np.testing.assert_allclose(told.azimuth, np.pi / 2, atol=1e-6)


def test_a_character_that_lies_in_the_file_is_stood_up() -> None:
    """Blender's axes: up is +Z, and the character looks along -Y."""
    names = ("hips", "thigh.L", "thigh.R", "foot.L", "foot.R")
    offsets = [(0, 0, 1), (0.1, 0, 0), (-0.1, 0, 0), (0, 0, -1), (0, 0, -1)]
    take = RenderTake.from_asset(Asset([Character("legs", Skeleton(names, [-1, 0, 0, 1, 2], offsets))]))
    camera = cameras_of(take, ViewSettings(azimuth=0.0, elevation=0.0))[0][0]
    np.testing.assert_allclose(camera.azimuth, 0, atol=1e-6)
    extent = np.ptp(take.outlines()[0], axis=0)
    assert extent[1] > 0.9 and extent[2] < 0.2

"""Trails: positions are the rig's, keys those of the joint and what is above it, dots appear where they project."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cli.conftest import flag
from tests.render.shapes import ball

from understudy.character import Asset, Channel, Character, Clip, Curve, Curves, Skeleton
from understudy.character.rig import DirectRig
from understudy.edit.goals import Point
from understudy.errors import InvalidInput
from understudy.maths import quaternion
from understudy.render import Surface, frame_camera, show
from understudy.render import trail as trails
from understudy.render.overlay import Overlay
from understudy.render.take import RenderTake
from understudy.render.trail import Trail
from understudy.render.trail_drawing import TRAIL_COLOURS, TrailStyle, draw_trails, speed_colours

SIZE = (160, 120)


def arm() -> tuple[DirectRig, Curves]:
    """An arm that turns half round about z in a second, between two keys, and a hand with one more key."""
    skeleton = Skeleton(["arm", "hand", "foot"], [-1, 0, -1], [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    turns = quaternion.from_rotation_vector([[0, 0, 0], [0, 0, 1.5]])
    curves = Curves(
        "swing",
        [
            Curve(Channel("arm", "rotation"), [0, 1], turns),
            Curve(Channel("hand", "translation"), [0.5, 1], [[1, 0, 0], [1.5, 0, 0]]),
            Curve(Channel("foot", "translation"), np.arange(25) / 24, np.outer(np.arange(25.0), [0, 0, 0.1])),
        ],
        rate=24,
    )
    return DirectRig(Character("arm", skeleton)), curves


def straight(points: np.ndarray, keys: np.ndarray | None = None) -> Trail:
    times = np.arange(len(points)) / 24
    keys = np.zeros((0, 3)) if keys is None else keys
    axes = np.tile(np.eye(3), (len(points), 1, 1))
    return Trail("p", times, points, axes, times, points, np.zeros(len(keys)), keys)


def test_positions_are_the_rigs() -> None:
    rig, curves = arm()
    found = trails.trail_of_animation(rig, curves, Point("hand", (0.5, 0, 0)))
    world = rig.joints(rig.pose(curves))
    np.testing.assert_allclose(found.positions, world[:, 1, :3, 3] + 0.5 * world[:, 1, :3, 0], atol=1e-12)
    np.testing.assert_allclose(found.axes, world[:, 1, :3, :3], atol=1e-12)
    np.testing.assert_allclose(found.position_at(0.5), found.keys[1], atol=1e-3)
    # a line that is finer than the frames leaves chords: it stays at one distance from the shoulder while the hand does
    early = found.line[found.line_times <= 0.5]
    np.testing.assert_allclose(np.linalg.norm(early - [0, 1, 0], axis=1), 1.5, atol=1e-9)


def test_a_vertex_moves_with_the_mesh() -> None:
    asset = flag()
    rig = DirectRig(asset.character())
    found = trails.trail_of_animation(rig, asset.animation(), Point(vertex=2))
    np.testing.assert_allclose(found.positions, rig.vertices(rig.pose(asset.animation()))[:, 2], atol=1e-6)


def test_speed_is_metres_a_second() -> None:
    rig, curves = arm()
    found = trails.trail_of_animation(rig, curves, Point("hand"))
    slow = found.line_times < 0.45
    np.testing.assert_allclose(found.speed[slow], 1.5, rtol=1e-3)


def test_keys_are_those_that_move_the_point_and_not_a_bake() -> None:
    rig, curves = arm()
    assert trails.key_times(rig, curves, Point("hand")).tolist() == [0, 0.5, 1]
    assert trails.key_times(rig, curves, Point("arm")).tolist() == [0, 1]
    assert trails.key_times(rig, curves, Point("foot")).tolist() == []  # a key a frame
    assert trails.key_times(rig, curves.clip(), Point("hand")).tolist() == []


def test_keys_on_nearly_all_frames_are_not_drawn_though_each_curve_has_few() -> None:
    """As glTF has it: free tangents become more keys, at other times on each joint."""
    rig, curves = arm()
    frames = np.arange(curves.frame_count) / curves.rate
    turns = np.tile([0.0, 0.0, 0.0, 1.0], (len(frames), 1)) + np.linspace(0, 0.1, len(frames))[:, None] * [0, 0, 1, 0]
    upper, lower = (
        Curve(Channel(name, "rotation"), frames[k::2], turns[k::2]) for k, name in ((0, "arm"), (1, "hand"))
    )
    assert len(trails.key_times(rig, Curves("few", [upper], rate=curves.rate), Point("hand"))) == len(upper)
    assert len(trails.key_times(rig, Curves("many", [upper, lower], rate=curves.rate), Point("hand"))) == 0


def test_takes_find_points_by_name() -> None:
    asset = flag()
    take = RenderTake.from_asset(asset)
    np.testing.assert_allclose(trails.trail_of_take(take, "tip").positions, np.tile([0, 1, 0], (25, 1)), atol=1e-9)
    assert len(trails.trail_of_take(take, Point(vertex=3)).positions) == 25
    rows = DirectRig(asset.character()).pose(asset.animation())
    still = trails.trail_of_take(RenderTake.from_rows(DirectRig(asset.character()), rows), Point("tip", (0, 1, 0)))
    moved = trails.trail_of_take(take, Point("tip", (0, 1, 0)))
    np.testing.assert_allclose(still.positions, moved.positions, atol=1e-9)
    with pytest.raises(InvalidInput, match="did you mean 'tip'"):
        trails.trail_of_take(take, "tipp")
    with pytest.raises(InvalidInput, match="vertices 0 to 3"):
        trails.trail_of_take(take, Point(vertex=4))


def test_markers_have_trails_too() -> None:
    seen = Clip("take", [Channel("A", "marker")], [[0, 0, 0], [1, 2, 3], [np.nan] * 3], 50)
    take = RenderTake.from_asset(Asset(clips=[seen]))
    np.testing.assert_allclose(trails.trail_of_take(take, "A").positions, [[0, 0, 0], [1, 2, 3]])
    with pytest.raises(InvalidInput, match="no marker 'B'"):
        trails.trail_of_take(take, "B")
    with pytest.raises(InvalidInput, match="needs a character"):
        trails.trail_of_take(take, Point("A"))


def drawn(renderer, trail: Trail, surfaces=(), vertices=(), **style) -> tuple[np.ndarray, np.ndarray]:
    """Without and with a trail, from the front."""
    camera = frame_camera([[-1, -0.75, 0], [1, 0.75, 0]], 0.0, 0.0, margin=0.0)
    plain = renderer.draw(camera, list(surfaces), list(vertices))
    overlay = Overlay(plain)
    draw_trails(overlay, camera, [trail], 1.5 / 24, TrailStyle(**style), distances=renderer.distances)
    return plain, overlay.picture


def pixel(x: float, y: float) -> tuple[int, int]:
    """Row and column of a place on the plane z = 0."""
    return int((0.75 - y) / 1.5 * SIZE[1]), int((x + 1) / 2 * SIZE[0])


def test_marks_appear_where_they_project(renderer) -> None:
    points = np.array([[-0.7, 0.3, 0], [-0.2, 0.3, 0], [0.2, 0.3, 0], [0.7, 0.3, 0]])
    plain, shown = drawn(renderer, straight(points, np.array([[0.0, -0.4, 0]])), now=False)
    ink = TRAIL_COLOURS["warm"]
    for place, colour in zip(points, (ink.past, ink.past, ink.future, ink.future)):
        np.testing.assert_allclose(shown[pixel(*place[:2])] / 255, colour, atol=0.03)
    np.testing.assert_allclose(shown[pixel(0.0, -0.4)] / 255, ink.key, atol=0.03)
    changed = np.abs(shown.astype(int) - plain.astype(int)).max(axis=2) > 8
    columns = np.nonzero(changed)[1]
    assert columns.min() >= pixel(-0.7, 0)[1] - 5 and columns.max() <= pixel(0.7, 0)[1] + 5
    assert not changed[pixel(0, 0.15)[0] : pixel(0, -0.25)[0]].any()


def test_what_is_behind_the_figure_is_fainter_and_what_is_before_it_is_not(renderer) -> None:
    vertices, triangles = ball(radius=0.5)
    surface = Surface(triangles)
    line = np.array([[-0.9, 0.0, 0], [0.0, 0.0, 0], [0.9, 0.0, 0]])
    change = {}
    for depth in (-1.0, 1.0):
        fine = np.stack(
            [np.interp(np.linspace(0, 2, 41), np.arange(3), c) for c in np.add(line, [0, 0, depth]).T], axis=1
        )
        plain, shown = drawn(renderer, straight(fine), [surface], [vertices], dots=False, now=False, through=0.3)
        middle = np.abs(shown.astype(float) - plain)[:, SIZE[0] // 2].max()
        change[depth] = middle
    assert 0 < change[-1.0] < 0.6 * change[1.0]


def test_distances_are_those_of_the_surface(renderer) -> None:
    vertices, triangles = ball(radius=0.5)
    camera = frame_camera([[-1, -0.75, 0], [1, 0.75, 0]], 0.0, 0.0, margin=0.0)
    renderer.draw(camera, [Surface(triangles)], [vertices])
    found = renderer.distances(np.array([80, 2, 80]), np.array([60, 60, 3]))
    assert found[0] == pytest.approx(camera.eye[2] - 0.5, abs=0.01)
    assert np.isinf(found[1:]).all()
    assert len(renderer.distances(np.zeros(0, int), np.zeros(0, int))) == 0


def test_both_renderers_draw_the_same_trail(gl, software) -> None:
    points = np.stack([np.linspace(-0.8, 0.8, 30), 0.3 * np.sin(np.linspace(0, 6, 30)), np.zeros(30)], axis=1)
    marks = []
    for each in (gl, software):
        plain, shown = drawn(each, straight(points, points[::9]))
        marks.append(np.abs(shown.astype(int) - plain.astype(int)).max(axis=2) > 40)
    assert (marks[0] != marks[1]).mean() < 0.01
    assert marks[0].mean() > 0.02


def test_only_the_time_around_the_moment_is_shown(renderer) -> None:
    points = np.stack([np.linspace(-0.9, 0.9, 49), np.zeros(49), np.zeros(49)], axis=1)
    plain, shown = drawn(renderer, straight(points), around=0.5)
    columns = np.nonzero(np.abs(shown.astype(int) - plain.astype(int)).max(axis=(0, 2)) > 8)[0]
    assert columns.max() < pixel(-0.9 + 1.8 * (1.5 + 12) / 48, 0)[1] + 8


def test_speed_axes_and_names(renderer) -> None:
    points = np.stack([np.linspace(-0.8, 0.8, 9) ** 3, np.zeros(9), np.zeros(9)], axis=1)
    _, by_time = drawn(renderer, straight(points), axes=0)
    plain, by_speed = drawn(renderer, straight(points), colouring="speed", axes=4, reach=0.3)
    assert np.abs(by_time.astype(int) - by_speed.astype(int)).max() > 60
    at = pixel(float(points[4, 0]), 0.15)  # along the green axis of the middle frame
    assert by_speed[at][1] > by_speed[at][0] and np.abs(by_speed[at].astype(int) - plain[at]).max() > 30
    with pytest.raises(InvalidInput, match="speed"):
        TrailStyle(colouring="heat")


def test_slow_is_cold_and_fast_is_warm() -> None:
    colours = speed_colours(np.array([0.0, 0.5, 1.0, 7.0]))
    assert colours[0, 2] > colours[0, 0] and colours[2, 0] > colours[2, 2]
    np.testing.assert_array_equal(colours[2], colours[3])


def test_a_point_behind_the_camera_is_left_out() -> None:
    camera = frame_camera([[-1, -0.75, 0], [1, 0.75, 0]], 0.0, 0.0, margin=0.0)
    overlay = Overlay(np.zeros((SIZE[1], SIZE[0], 3), np.uint8))
    behind = straight(np.array([[0, 0, 50.0], [0.1, 0, 60.0], [0, 0, 70.0]]))
    draw_trails(overlay, camera, [behind], 0.0, TrailStyle())
    assert not overlay.picture.any()


def test_pictures_videos_and_sheets_carry_trails(tmp_path) -> None:
    take = RenderTake.from_asset(flag())
    found = trails.trail_of_take(take, Point("tip", (0.5, 0.5, 0)))
    pictures = []
    for shown in ((), (found,)):
        path = tmp_path / f"{len(shown)}.png"
        show.picture(take, path, show.ViewSettings(size=(96, 72), backend="software", trails=shown), 0.5)
        pictures.append(path.read_bytes())
    assert pictures[0] != pictures[1]

"""Both renderers draw the same scene: the same outline, and nearly the same colours."""

import sys

import numpy as np
import pytest
from tests.render.shapes import ball, box, figure

from understudy.errors import InvalidInput, UnderstudyError
from understudy.render import Dots, Floor, Lines, Surface, SurfaceFinish, frame_camera, linear_from_srgb, open_renderer
from understudy.render.opengl import renderer as gl_module

SIZE = (200, 150)
RIGHT = np.array([1.0, 0.0, 0.0])
AIR = Floor(ground=None)  # no ground, no shadow: what differs from the backdrop is the figure


def red(triangles, **more):
    return Surface(triangles, linear_from_srgb("#c01810"), **more)


def outline(renderer, camera, surfaces, vertices, **more):
    """Where the picture differs from the empty one."""
    empty = renderer.draw(camera, [], [], stage=AIR).astype(int)
    return np.abs(renderer.draw(camera, surfaces, vertices, stage=AIR, **more).astype(int) - empty).max(axis=2) > 24


@pytest.mark.parametrize("shape", [ball, figure, lambda: box((0, 0, 0), (1, 2, 0.4))], ids=["ball", "figure", "box"])
@pytest.mark.usefixtures("gl")
def test_outlines_agree(shape):
    # Large enough that the pixels along the edge, where the two sample differently, are few even on thin bones.
    vertices, triangles = shape()
    camera = frame_camera(vertices, aspect=SIZE[0] / SIZE[1])
    found = []
    for backend in ("gl", "software"):
        with open_renderer(4 * SIZE[0], 4 * SIZE[1], prefer=backend) as large:
            found.append(outline(large, camera, [red(triangles)], [vertices]))
    assert found[0].sum() > 10_000
    assert (found[0] & found[1]).sum() / (found[0] | found[1]).sum() > 0.97


def test_colours_agree(gl, software):
    vertices, triangles = ball((0, 1, 0))
    camera = frame_camera(vertices, aspect=SIZE[0] / SIZE[1], ground=0.0)
    stage = Floor(0.0, 2.0, 1.8)
    for surface in (
        red(triangles),
        Surface(triangles, linear_from_srgb("#d0d0d0"), SurfaceFinish(metallic=1.0, roughness=0.3)),
    ):
        pictures = [r.draw(camera, [surface], [vertices], stage=stage).astype(int) for r in (gl, software)]
        assert np.abs(pictures[0] - pictures[1]).mean() < 2.0


def test_the_outline_is_where_the_camera_says(renderer):
    vertices, triangles = box((-0.5, 0.2, -0.1), (0.7, 1.1, 0.1))
    camera = frame_camera(vertices, azimuth=0.0, elevation=0.0, aspect=SIZE[0] / SIZE[1], margin=0.3)
    rows, columns = np.nonzero(outline(renderer, camera, [red(triangles)], [vertices]))
    x, y, _ = camera.project(vertices).T
    expected = np.array([x.min() * 0.5 + 0.5, x.max() * 0.5 + 0.5, 0.5 - y.max() * 0.5, 0.5 - y.min() * 0.5])
    found = [columns.min(), columns.max() + 1, rows.min(), rows.max() + 1]
    np.testing.assert_allclose(found, expected * [SIZE[0], SIZE[0], SIZE[1], SIZE[1]], atol=1.5)


def test_nearer_hides_further_in_any_order(renderer):
    near, triangles = box((-0.3, -0.3, 0.5), (0.3, 0.3, 0.6))
    far, _ = box((-1, -1, -0.6), (1, 1, -0.5))
    camera = frame_camera(far, azimuth=0.0, elevation=0.0, aspect=SIZE[0] / SIZE[1])
    blue = Surface(triangles, linear_from_srgb("#1030c0"))
    middle = np.s_[SIZE[1] // 2, SIZE[0] // 2]
    for surfaces, vertices in (([red(triangles), blue], [near, far]), ([blue, red(triangles)], [far, near])):
        pixel = renderer.draw(camera, surfaces, vertices, stage=AIR)[middle].astype(int)
        assert pixel[0] > pixel[2] + 50


def test_textures_are_upright(renderer):
    texture = np.zeros((2, 2, 4), dtype=np.uint8)
    texture[..., 3] = 255
    texture[0, :, 0] = 255  # the row at v = 0 is red
    texture[1, :, 2] = 255
    vertices = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    uvs = np.array([[0.0, 1], [1, 1], [1, 0], [0, 0]])  # v grows downwards
    surface = Surface([[0, 1, 2], [0, 2, 3]], np.ones(3), uvs=uvs, texture=np.kron(texture, np.ones((16, 16, 1), "u1")))
    camera = frame_camera(vertices, azimuth=0.0, elevation=0.0, aspect=SIZE[0] / SIZE[1])
    picture = renderer.draw(camera, [surface], [vertices], stage=AIR).astype(int)
    top, bottom = picture[SIZE[1] // 4, SIZE[0] // 2], picture[3 * SIZE[1] // 4, SIZE[0] // 2]
    assert top[0] > top[2] + 60 and bottom[2] > bottom[0] + 60


def test_alpha_masks_cut_and_blends_mix(renderer):
    vertices, triangles = box((-1, -1, -0.1), (1, 1, 0.1))
    camera = frame_camera(vertices, azimuth=0.0, elevation=0.0, aspect=SIZE[0] / SIZE[1])
    middle = np.s_[SIZE[1] // 2, SIZE[0] // 2]

    def drawn(alpha, mode):
        surface = Surface(triangles, [*linear_from_srgb("#c01810"), alpha], alpha_mode=mode, double_sided=False)
        return renderer.draw(camera, [surface], [vertices], stage=AIR)[middle].astype(int)

    empty = renderer.draw(camera, [], [], stage=AIR)[middle].astype(int)
    solid = drawn(0.4, "opaque")
    np.testing.assert_allclose(drawn(0.4, "mask"), empty, atol=1)
    np.testing.assert_allclose(drawn(0.6, "mask"), solid, atol=1)
    np.testing.assert_allclose(drawn(0.4, "blend"), 0.4 * solid + 0.6 * empty, atol=3)


def test_single_sided_surfaces_vanish_from_behind(renderer):
    vertices = np.array([[-1.0, -1, 0], [1, -1, 0], [0, 1, 0]])
    for turned, visible in (([[0, 1, 2]], True), ([[0, 2, 1]], False)):
        camera = frame_camera(vertices, azimuth=0.0, elevation=0.0, aspect=SIZE[0] / SIZE[1])
        assert outline(renderer, camera, [red(turned, double_sided=False)], [vertices]).any() == visible
        assert outline(renderer, camera, [red(turned)], [vertices]).any()


def test_the_figure_throws_a_shadow_on_the_ground_and_the_ground_hides_what_is_below(renderer):
    vertices, triangles = box((-0.3, 0.0, -0.3), (0.3, 1.0, 0.3))
    camera = frame_camera(vertices, azimuth=0.0, elevation=0.4, aspect=SIZE[0] / SIZE[1], margin=0.4)
    stage = Floor(0.0, 1.0, 0.66)
    empty = renderer.draw(camera, [], [], stage=stage).astype(int)
    shown = renderer.draw(camera, [red(triangles)], [vertices], stage=stage).astype(int)
    # The key light stands at the left front: behind the right foot it is darker, before the left one it is not.
    places = camera.project(np.array([[0.55, 0.0, -0.45], [-0.8, 0.0, 0.6]]))
    columns = ((places[:, 0] * 0.5 + 0.5) * SIZE[0]).astype(int)
    rows = ((0.5 - 0.5 * places[:, 1]) * SIZE[1]).astype(int)
    change = (empty - shown).mean(axis=2)[rows, columns]
    assert change[0] > 15 and abs(change[1]) < 3
    sunk = renderer.draw(camera, [red(triangles)], [vertices - [0, 1.5, 0]], stage=stage).astype(int)
    assert (sunk[..., 0] - sunk[..., 2]).max() < 60


def test_lines_and_dots_have_their_width_in_pixels(renderer):
    line = Lines([[[-1.0, 0, 0], [1, 0, 0]]], linear_from_srgb("#000000"), width=6.0)
    camera = frame_camera(np.array([[-1.5, -1, 0], [1.5, 1, 0]]), azimuth=0.0, elevation=0.0, aspect=SIZE[0] / SIZE[1])
    column = outline(renderer, camera, [], [], lines=[line])[:, SIZE[0] // 2]
    assert abs(int(column.sum()) - 6) <= 1
    dot = outline(renderer, camera, [], [], dots=[Dots([[0.0, 0, 0]], linear_from_srgb("#000000"), diameter=20.0)])
    assert dot.sum() == pytest.approx(np.pi * 100, rel=0.12)


def test_marks_in_front_show_through(renderer):
    vertices, triangles = box((-1, -1, -1), (1, 1, 1))
    camera = frame_camera(vertices, azimuth=0.0, elevation=0.0, aspect=SIZE[0] / SIZE[1])
    middle = np.s_[SIZE[1] // 2, SIZE[0] // 2]
    for in_front in (True, False):
        dot = Dots([[0.0, 0, 0]], linear_from_srgb("#00ff00"), diameter=20.0, in_front=in_front)
        pixel = renderer.draw(camera, [red(triangles)], [vertices], dots=[dot], stage=AIR)[middle].astype(int)
        assert (pixel[1] > 200) == in_front


def test_frames_do_not_depend_on_what_was_drawn_before(gl):
    vertices, triangles = ball((0, 1, 0))
    other, other_triangles = box((-2, 0, -2), (2, 3, 2))
    camera = frame_camera(vertices, aspect=SIZE[0] / SIZE[1], ground=0.0)
    surface, wall = red(triangles), Surface(other_triangles, alpha_mode="blend", colours=[1, 1, 1, 0.3])
    first = gl.draw(camera, [surface], [vertices])
    gl.draw(
        frame_camera(other), [wall, surface], [other, vertices], lines=[Lines([[[0, 0, 0], [1, 1, 1]]], np.ones(3))]
    )
    np.testing.assert_array_equal(gl.draw(camera, [surface], [vertices]), first)


def test_the_same_surface_twice_is_drawn_twice(renderer):
    vertices, triangles = ball(radius=0.4)
    surface = red(triangles)
    camera = frame_camera(np.array([[-1.5, -0.5, -0.5], [1.5, 0.5, 0.5]]), 0.0, 0.0, aspect=SIZE[0] / SIZE[1])
    both = outline(renderer, camera, [surface, surface], [vertices - RIGHT, vertices + RIGHT])
    assert both[:, : SIZE[0] // 2].sum() == pytest.approx(both[:, SIZE[0] // 2 :].sum(), rel=0.05)
    assert both[:, : SIZE[0] // 2].sum() > 300


def test_odd_things_are_drawn_or_refused_with_a_reason(renderer):
    vertices, triangles = ball()
    camera = frame_camera(vertices)
    assert renderer.draw(camera, [], []).shape == (SIZE[1], SIZE[0], 3)
    assert renderer.draw(camera, [Surface(np.zeros((0, 3)))], [np.zeros((0, 3))]).dtype == np.uint8
    inside = frame_camera(vertices * 0.01)  # a camera within the ball
    assert renderer.draw(inside, [red(triangles)], [vertices]).shape == (SIZE[1], SIZE[0], 3)
    with pytest.raises(InvalidInput, match="2 surfaces need as many vertex arrays, but 1"):
        renderer.draw(camera, [red(triangles)] * 2, [vertices])
    with pytest.raises(InvalidInput, match=r"vertices\[0\] has 5 vertices"):
        renderer.draw(camera, [red(triangles)], [vertices[:5]])
    with pytest.raises(InvalidInput, match="vertex 3 is not"):
        renderer.draw(camera, [red(triangles)], [np.where(np.arange(len(vertices))[:, None] == 3, np.nan, vertices)])


def test_without_opengl_the_fallback_says_why(monkeypatch):
    def broken():
        raise OSError("libEGL.so.1 is missing")

    monkeypatch.setattr(gl_module, "open_context", broken)
    with open_renderer(*SIZE) as renderer:
        assert renderer.backend == "software"
        assert "libEGL.so.1 is missing" in renderer.reason
    with pytest.raises(UnderstudyError, match="not available"):
        open_renderer(*SIZE, prefer="gl")


def test_a_closed_renderer_says_so_and_settings_are_checked(gl):
    renderer = open_renderer(32, 32, prefer="gl")
    renderer.close()
    renderer.close()
    with pytest.raises(RuntimeError, match="closed"):
        renderer.draw(frame_camera(np.zeros((1, 3))), [], [])
    with pytest.raises(InvalidInput, match="available: 'warm', 'studio'"):
        open_renderer(32, 32, background="beach")
    with pytest.raises(InvalidInput, match="above zero"):
        open_renderer(0, 32)
    with pytest.raises(InvalidInput, match="available: 'gl', 'software'"):
        open_renderer(32, 32, prefer="vulkan")


def test_supersampling_keeps_the_size(renderer):
    vertices, triangles = ball()
    camera = frame_camera(vertices)
    with open_renderer(64, 48, prefer=renderer.backend, supersample=2) as fine:
        picture = fine.draw(camera, [red(triangles)], [vertices])
    assert picture.shape == (48, 64, 3)


def test_importing_the_room_loads_no_heavy_library():
    import subprocess

    heavy = ("moderngl", "av", "PIL", "scipy", "numba")
    code = f"import sys, understudy.render; print([m for m in {heavy} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"

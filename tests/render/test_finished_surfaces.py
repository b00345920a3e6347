"""What finishes and maps do to a picture, in both renderers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.render.shapes import ball, box

from understudy.render import Floor, Surface, SurfaceFinish, frame_camera, linear_from_srgb, open_renderer
from understudy.render.scene import lights_for

SIZE = (160, 120)
AIR = Floor(ground=None)
CORNERS = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
SQUARE = [[0, 1, 2], [0, 2, 3]]
UVS = np.array([[0.0, 1], [1, 1], [1, 0], [0, 0]])  # v grows downwards
FRONT = frame_camera(CORNERS, azimuth=0.0, elevation=0.0, aspect=SIZE[0] / SIZE[1])
MIDDLE = np.s_[SIZE[1] // 2, SIZE[0] // 2]


def square(**more):
    return Surface(SQUARE, more.pop("colours", linear_from_srgb("#c08060")), **more)


def drawn(renderer, *surfaces, vertices=None, camera=FRONT, stage=AIR):
    places = vertices if vertices is not None else [CORNERS] * len(surfaces)
    return renderer.draw(camera, surfaces, places, stage=stage).astype(int)


def plain(red, green, blue, pixels=64):
    """A map of one colour."""
    return np.tile(np.array([red, green, blue, 255], np.uint8), (pixels, pixels, 1))


def hills(pixels=64):
    """A normal map of a smooth uneven relief, without any symmetry."""
    y, x = np.mgrid[0:pixels, 0:pixels] / pixels * 2 * np.pi
    slope = np.stack([0.5 * np.cos(x + 0.4) + 0.2 * np.sin(y), 0.4 * np.sin(2 * y + x)], axis=-1)
    n = np.concatenate([-slope, np.ones((pixels, pixels, 1))], axis=-1)
    n /= np.linalg.norm(n, axis=-1, keepdims=True)
    return np.concatenate([np.round(127.5 * n + 127.5), np.full((pixels, pixels, 1), 255)], axis=-1).astype(np.uint8)


def turned(picture, x, y):
    """A normal map whose vectors' x and y are those of others: +-1 and +-2 stand for +-x and +-y."""
    result = picture.copy()
    for channel, source in enumerate((x, y)):
        value = picture[..., abs(source) - 1]
        result[..., channel] = value if source > 0 else 255 - value
    return result


def test_a_flat_normal_map_changes_nothing(renderer):
    vertices, triangles = ball()
    uvs = vertices[:, :2] * 0.5
    without = Surface(triangles, linear_from_srgb("#c08060"))
    flat = Surface(triangles, linear_from_srgb("#c08060"), uvs=uvs, normal_map=plain(128, 128, 255))
    camera = frame_camera(vertices, aspect=SIZE[0] / SIZE[1])
    pictures = [drawn(renderer, surface, vertices=[vertices], camera=camera) for surface in (without, flat)]
    assert np.abs(pictures[0] - pictures[1]).max() <= 4
    bumped = Surface(triangles, linear_from_srgb("#c08060"), uvs=uvs, normal_map=hills())
    assert np.abs(pictures[0] - drawn(renderer, bumped, vertices=[vertices], camera=camera)).max() > 20
    ironed = Surface(triangles, linear_from_srgb("#c08060"), uvs=uvs, normal_map=hills(), normal_scale=0.0)
    assert np.abs(pictures[0] - drawn(renderer, ironed, vertices=[vertices], camera=camera)).max() <= 4


def test_a_bump_is_lit_from_the_side_it_faces(renderer):
    """The key light stands at the upper left: what leans there is lighter, with y of the map against v."""
    tilt = {"left": (90, 128), "right": (166, 128), "up": (128, 166), "down": (128, 90)}
    light = {
        name: drawn(renderer, square(uvs=UVS, normal_map=plain(x, y, 248)))[MIDDLE].sum()
        for name, (x, y) in tilt.items()
    }
    assert light["left"] > light["right"] + 10 and light["up"] > light["down"] + 10


@pytest.mark.parametrize(
    ("uvs", "change"),
    [
        (UVS * [-1, 1] + [1, 0], lambda m: turned(m[:, ::-1], -1, 2)),
        (UVS * [1, -1] + [0, 1], lambda m: turned(m[::-1], 1, -2)),
        (UVS[:, ::-1], lambda m: turned(m.transpose(1, 0, 2), -2, -1)),
        (UVS * 2.0 - 1.0, lambda m: np.tile(m, (1, 1, 1))[::2, ::2]),
    ],
    ids=["mirrored", "upside down", "swapped", "twice as fine"],
)
def test_the_same_relief_through_other_uvs_is_the_same_picture(renderer, uvs, change):
    relief = hills()
    if np.ptp(uvs) > 1.5:  # two periods of the halved relief: another way to write the relief laid twice
        first = drawn(renderer, square(uvs=UVS, normal_map=np.tile(relief[::2, ::2], (2, 2, 1))))
    else:
        first = drawn(renderer, square(uvs=UVS, normal_map=relief))
    second = drawn(renderer, square(uvs=uvs, normal_map=change(relief)))
    assert np.ptp(first[..., 0]) > 30
    assert np.abs(first - second).mean() < 0.6


def test_both_renderers_agree_on_bumps(gl, software):
    vertices, triangles = ball()
    surface = Surface(triangles, linear_from_srgb("#c08060"), uvs=vertices[:, :2] * 0.5, normal_map=hills())
    camera = frame_camera(vertices, aspect=SIZE[0] / SIZE[1])
    pictures = [drawn(r, surface, vertices=[vertices], camera=camera) for r in (gl, software)]
    assert np.abs(pictures[0] - pictures[1]).mean() < 2.0


def test_fine_bumps_from_afar_are_as_calm_as_none(renderer):
    """Four bumps a pixel: their mean is flat."""
    fine = square(uvs=UVS * 400, normal_map=hills(256))
    picture = drawn(renderer, fine)[20:-20, 40:-40]
    assert picture.std(axis=(0, 1)).max() < 3.0


def test_unlit_colours_are_exact(renderer):
    for colour in ("#ffffff", "#20a0f0", "#000000"):
        pixel = drawn(renderer, square(colours=linear_from_srgb(colour), finish=SurfaceFinish(unlit=True)))[MIDDLE]
        np.testing.assert_allclose(pixel, [int(colour[i : i + 2], 16) for i in (1, 3, 5)], atol=1)


def test_detail_maps_scale_what_they_say(renderer):
    rough = SurfaceFinish(roughness=0.8)
    without = drawn(renderer, square(finish=rough))
    whole = drawn(renderer, square(finish=rough, uvs=UVS, detail_map=plain(255, 255, 255)))
    assert np.abs(without - whole).max() <= 1
    hollow = drawn(renderer, square(finish=rough, uvs=UVS, detail_map=plain(40, 255, 255)))
    assert hollow[MIDDLE].sum() < without[MIDDLE].sum() - 30
    half = drawn(renderer, square(finish=rough, uvs=UVS, detail_map=plain(255, 128, 255)))
    told = drawn(renderer, square(finish=SurfaceFinish(roughness=0.8 * 128 / 255)))
    assert np.abs(half - told).max() <= 2


def test_a_veil_darkens_what_is_behind_it_by_its_alpha(renderer):
    """A dark unlit strip before a wall, its alpha from 0 at the left to 1 at the right, as a lid's shadow is."""
    wall = square(colours=linear_from_srgb("#ffffff"), finish=SurfaceFinish(unlit=True))
    alpha = np.array([0.0, 1.0, 1.0, 0.0])
    veil = square(
        colours=np.column_stack([np.zeros((4, 3)), alpha]), finish=SurfaceFinish(unlit=True), alpha_mode="blend"
    )
    for order in ((wall, veil), (veil, wall)):
        places = [CORNERS if surface is wall else CORNERS * 0.8 + [0, 0, 0.1] for surface in order]
        row = drawn(renderer, *order, vertices=places)[SIZE[1] // 2, :, 0]
        x = FRONT.project(np.array([[-0.8, 0, 0.1], [0.8, 0, 0.1]]))[:, 0]
        left, right = ((x * 0.5 + 0.5) * SIZE[0]).astype(int)
        within = np.arange(left + 3, right - 3)
        expected = 255.0 * (1.0 - (within + 0.5 - left) / (right - left))
        assert np.abs(row[within] - expected).max() < 8


def test_veils_are_hidden_by_what_is_before_them_and_hide_nothing(renderer):
    wall = square(colours=linear_from_srgb("#ffffff"), finish=SurfaceFinish(unlit=True))
    tints = [[1, 0, 0, 0.5], [0, 0, 1, 0.5]]
    veils = [square(colours=np.array(c), finish=SurfaceFinish(unlit=True), alpha_mode="blend") for c in tints]
    near, far = CORNERS * 0.9 + [0, 0, 0.2], CORNERS * 0.9 + [0, 0, 0.1]
    behind = drawn(renderer, wall, veils[0], vertices=[CORNERS, CORNERS - [0, 0, 0.2]])
    assert (behind[MIDDLE] == 255).all()
    # the nearer is given first, so that writing depth would hide the further
    both = drawn(renderer, wall, *veils, vertices=[CORNERS, near, far])[MIDDLE]
    np.testing.assert_allclose(both, [191, 64, 128], atol=3)


@pytest.mark.parametrize(
    "silent",
    [{"casts_shadow": False}, {"finish": SurfaceFinish(unlit=True)}, {"alpha_mode": "blend"}],
    ids=["told", "unlit", "blended"],
)
def test_some_surfaces_cast_no_shadow(renderer, silent):
    vertices, triangles = box((-0.2, 0.3, -0.2), (0.2, 0.7, 0.2))
    stage = Floor(0.0, 1.0, 0.8)
    camera = frame_camera(vertices, azimuth=0.0, elevation=0.4, aspect=SIZE[0] / SIZE[1], margin=0.5, ground=0.0)
    empty = drawn(renderer, camera=camera, stage=stage)
    x, y, _ = camera.project(np.array([[0.4, 0.0, -0.3]]))[0]
    place = int((0.5 - 0.5 * y) * SIZE[1]), int((0.5 * x + 0.5) * SIZE[0])
    darker = {}
    for name, more in (("casting", {}), ("silent", silent)):
        shown = drawn(renderer, Surface(triangles, np.ones(3), **more), vertices=[vertices], camera=camera, stage=stage)
        darker[name] = (empty - shown)[place].sum()
    assert darker["casting"] > 20 and abs(darker["silent"]) <= 3


def test_a_figure_shadows_itself(gl):
    """A plate over a floor: under it, away from the light, the floor is darker than beside it."""
    floor, floor_triangles = box((-1.0, -0.1, -1.0), (1.0, 0.0, 1.0))
    plate, plate_triangles = box((-0.3, 0.5, -0.3), (0.3, 0.55, 0.3))
    camera = frame_camera(floor, azimuth=0.0, elevation=0.7, aspect=SIZE[0] / SIZE[1], margin=0.2)
    surfaces = [Surface(floor_triangles, np.full(3, 0.5)), Surface(plate_triangles, np.full(3, 0.5))]
    without = drawn(gl, surfaces[0], vertices=[floor], camera=camera)
    shown = drawn(gl, *surfaces, vertices=[floor, plate], camera=camera)
    key = lights_for(0.0).key
    places = np.array([[0.22, 0.525, 0.0] - 0.525 * key / key[1], [-0.7, 0.0, 0.5]])
    x, y, _ = camera.project(places).T
    at = ((0.5 - 0.5 * y) * SIZE[1]).astype(int), ((0.5 * x + 0.5) * SIZE[0]).astype(int)
    shadowed, beside = (without - shown)[at].sum(axis=1)
    assert shadowed > 60 and abs(beside) < 6


def test_a_wet_layer_shines_and_soft_things_are_warm_in_the_dusk(renderer):
    vertices, triangles = ball()
    camera = frame_camera(vertices, azimuth=0.0, elevation=0.0, aspect=SIZE[0] / SIZE[1])

    def looks(**settings):
        finish = SurfaceFinish(roughness=0.9, **settings)
        return drawn(renderer, Surface(triangles, np.full(3, 0.2), finish), vertices=[vertices], camera=camera)

    dry, wet = looks(softness=0.0), looks(softness=0.0, clearcoat=1.0, clearcoat_roughness=0.05)
    assert (wet - dry).max() > 40
    soft = looks(softness=1.0)
    redder = (soft - dry)[..., 0] - (soft - dry)[..., 2]
    assert redder.max() > 8
    lit_side, dark_side = redder[:, : SIZE[0] // 2].max(), redder[:, SIZE[0] // 2 :].max()
    assert dark_side > lit_side


def test_light_comes_through_thin_things(renderer):
    """A leaf whose back is to the warm light behind it."""
    plain_leaf, thin_leaf = (
        drawn(renderer, square(finish=SurfaceFinish(translucency=t)))[MIDDLE].sum() for t in (0.0, 0.8)
    )
    assert thin_leaf > plain_leaf + 10


def test_the_same_scene_is_the_same_picture(renderer):
    vertices, triangles = ball()
    surface = Surface(triangles, linear_from_srgb("#c08060"), uvs=vertices[:, :2], normal_map=hills(), texture=hills())
    camera = frame_camera(vertices, aspect=SIZE[0] / SIZE[1])
    first = drawn(renderer, surface, vertices=[vertices], camera=camera)
    with open_renderer(*SIZE, prefer=renderer.backend) as other:
        np.testing.assert_array_equal(drawn(other, surface, vertices=[vertices], camera=camera), first)


def test_more_kinds_of_finish_than_a_byte_counts(gl):
    vertices, triangles = box((-1, -1, -1), (1, 1, 1))
    surfaces = [Surface(triangles, np.full(3, 0.3), SurfaceFinish(softness=k / 400)) for k in range(300)]
    camera = frame_camera(vertices, aspect=SIZE[0] / SIZE[1])
    many = drawn(gl, *surfaces, vertices=[vertices] * 300, camera=camera)
    one = drawn(gl, surfaces[0], vertices=[vertices], camera=camera)
    assert np.abs(many - one).max() < 12

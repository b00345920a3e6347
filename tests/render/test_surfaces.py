"""Materials become finishes and maps, in the words of glTF."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image as Picture
from tests.render.shapes import ball, box

from understudy.character import Character, Image, Material, Mesh, Part, Skeleton, SkinBinding, Texture
from understudy.render.surfaces import MAX_DEFAULT_ALBEDO, finish_of, surfaces_of

CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
UVS = [[0, 0], [1, 0], [0, 1]]


def png(*pixel: int, size: int = 4) -> Image:
    data = io.BytesIO()
    Picture.fromarray(np.full((size, size, len(pixel)), pixel, np.uint8)).save(data, "PNG")
    return Image("map", "image/png", data.getvalue())


def surface(material: Material, **mesh: Any) -> Any:
    part = Mesh("one", CORNERS, [[0, 1, 2]], materials=[material], **mesh)
    character = Character("one", Skeleton(["root"], [-1], [[0, 0, 0]]), [Part("one", part, SkinBinding.rigid(0, 3))])
    return surfaces_of(character)[0].surfaces[0]


def test_extensions_and_extras_are_heard() -> None:
    said = {
        "extensions": {
            "KHR_materials_clearcoat": {"clearcoatFactor": 0.9, "clearcoatRoughnessFactor": 0.05},
            "KHR_materials_specular": {"specularFactor": 0.6},
            "KHR_materials_sheen": {"sheenColorFactor": [0.1, 0.2, 0.3]},
            "KHR_materials_diffuse_transmission": {"diffuseTransmissionFactor": 0.4},
            "KHR_materials_emissive_strength": {"emissiveStrength": 3.0},
        },
        "extras": {"softness": 1.0},
    }
    finish = finish_of(Material(emissive=(0.1, 0.0, 0.5), extra=said))
    assert (finish.clearcoat, finish.clearcoat_roughness, finish.specular) == (0.9, 0.05, 0.6)
    assert (finish.sheen, finish.translucency, finish.softness) == ((0.1, 0.2, 0.3), 0.4, 1.0)
    assert finish.emissive == pytest.approx((0.3, 0.0, 1.5)) and not finish.unlit
    assert finish_of(Material(extra={"extensions": {"KHR_materials_unlit": {}}})).unlit


@pytest.mark.parametrize("odd", [None, "soft", True, float("nan"), [1], {"x": 1}])
def test_what_is_no_number_is_not_heard(odd: Any) -> None:
    said = {"extras": {"softness": odd}, "extensions": {"KHR_materials_clearcoat": {"clearcoatFactor": odd}}}
    assert finish_of(Material(extra=said)) == finish_of(Material())
    assert finish_of(Material(extra={"extras": odd, "extensions": odd})) == finish_of(Material())


def test_occlusion_and_roughness_share_a_map_and_a_strength_fades_the_former() -> None:
    textures = {
        "occlusion": Texture(png(100, 0, 0), extra={"strength": 0.5}),
        "metallic_roughness": Texture(png(0, 60, 20, size=8)),
    }
    found = surface(Material(textures=textures), uvs=[UVS]).detail_map
    assert found.shape == (8, 8, 4)
    np.testing.assert_allclose(found[3, 3], [178, 60, 20, 255], atol=1)
    assert surface(Material(), uvs=[UVS]).uvs is None


def test_pictures_that_cannot_be_read_or_have_no_place_are_left_out() -> None:
    broken = Material(textures={"colour": Texture(Image("x", "image/png", b"no picture"))})
    assert surface(broken, uvs=[UVS]).maps == {}
    elsewhere = Material(textures={"colour": Texture(png(1, 2, 3), uv_set=3), "normal": Texture(png(128, 128, 255))})
    assert list(surface(elsewhere, uvs=[UVS]).maps) == ["normal_map"]


def test_one_picture_on_two_materials_is_one_array() -> None:
    texture = Texture(png(9, 9, 9))
    materials = [
        Material("a", textures={"colour": texture}),
        Material("b", roughness=0.1, textures={"colour": texture}),
    ]
    mesh = Mesh("two", CORNERS, [[0, 1, 2], [0, 2, 1]], uvs=[UVS], materials=materials, material_of=[0, 1])
    character = Character("two", Skeleton(["root"], [-1], [[0, 0, 0]]), [Part("two", mesh, SkinBinding.rigid(0, 3))])
    first, second = surfaces_of(character)[0].surfaces
    assert first.texture is second.texture


def test_untold_white_leaves_room_for_light_and_paint_keeps_its_hue() -> None:
    assert surface(Material()).colours[..., :3].max() == pytest.approx(MAX_DEFAULT_ALBEDO)
    painted = surface(Material(), colours=[[1, 0.5, 0.25, 1]] * 3).colours
    np.testing.assert_allclose(painted[0, :3] / painted[0, 0], [1, 0.5, 0.25], atol=1e-6)
    unlit = Material(extra={"extensions": {"KHR_materials_unlit": {}}})
    assert surface(unlit, colours=[[1, 1, 1, 1]] * 3).colours.max() == 1


@pytest.mark.parametrize(
    ("shape", "closed"), [(box((0, 0, 0), (1, 1, 1)), True), (ball(), True), ((np.array(CORNERS), [[0, 1, 2]]), False)]
)
def test_only_solids_hide_their_backs(shape: Any, closed: bool) -> None:
    vertices, triangles = shape
    mesh = Mesh("solid", vertices, triangles)
    part = Part("solid", mesh, SkinBinding.rigid(0, len(vertices)))
    (drawn,) = surfaces_of(Character("solid", Skeleton(["root"], [-1], [[0, 0, 0]]), [part]))
    assert drawn.surfaces[0].double_sided == (not closed)

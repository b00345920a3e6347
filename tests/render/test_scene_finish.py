"""Finishes are numbers: compared by value, and refused where they are none."""

from __future__ import annotations

import pytest

from understudy.errors import InvalidInput
from understudy.render import SurfaceFinish


def test_equal_settings_are_one_finish() -> None:
    assert SurfaceFinish(sheen=(0, 1, 0)) == SurfaceFinish(sheen=(0.0, 1.0, 0.0))
    assert len({SurfaceFinish(), SurfaceFinish(roughness=0.6), SurfaceFinish(roughness=0.5)}) == 2


@pytest.mark.parametrize("name", ["roughness", "metallic", "softness", "clearcoat", "translucency"])
@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan")])
def test_parts_of_one_are_parts_of_one(name: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=f"{name} should lie between 0 and 1"):
        SurfaceFinish(**{name: value})


@pytest.mark.parametrize("value", [(1.0, 2.0), (0.0, 0.0, -1.0), (0.0, 0.0, float("inf"))])
def test_colours_are_three_numbers(value: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput, match="emissive should be three numbers"):
        SurfaceFinish(emissive=value)  # type: ignore[arg-type]

"""The names by which animations drive shapes: one for each shape of each part, and none for two."""

from __future__ import annotations

import pytest

pytest.importorskip("pxr")

from understudy.formats.usd.write_mesh import name_tokens


@pytest.mark.parametrize(
    "shapes",
    [
        {"Face": ("smile", "blink")},
        {"Face": ("smile", "blink"), "Teeth": ("smile",)},
        {"A": ("b", "A_b"), "B": ("b",)},
        {"A": ("x", "B_x"), "B": ("x", "A_x"), "A_": ("x",)},
    ],
)
def test_no_two_shapes_share_a_name(shapes: dict[str, tuple[str, ...]]) -> None:
    tokens = name_tokens(shapes)
    assert set(tokens) == {(part, name) for part, names in shapes.items() for name in names}
    assert len(set(tokens.values())) == len(tokens)


def test_a_name_of_its_own_is_kept() -> None:
    tokens = name_tokens({"Face": ("smile", "blink"), "Teeth": ("smile",)})
    assert tokens["Face", "blink"] == "blink"
    assert tokens["Teeth", "smile"] == "Teeth_smile"

"""The transfer mode in a real browser: a motion of the actor on the penguin, exported, in five actions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.studio.e2e.running import Studio

from understudy import formats


def test_a_motion_onto_the_penguin_in_five_actions(
    start_shared_studio: Callable[..., Studio], page: Any, shot: Callable[..., Path], tmp_path: Path
) -> None:
    studio = start_shared_studio("actor")
    page.goto(studio.address)
    page.wait_for_selector("canvas[data-staged]")
    page.get_by_role("tab", name="Transfer").click()  # 1
    page.locator("[data-mode=transfer] select").nth(2).select_option("cast:penguin")  # 2
    page.get_by_role("button", name="Put it on").click()  # 3
    page.get_by_text("contacts held").wait_for(timeout=120_000)
    shot(page, "transfer")
    with page.expect_download(timeout=60_000) as download:
        page.get_by_role("button", name="Export glTF").click()  # 4
    place = tmp_path / "penguin.glb"
    download.value.save_as(place)
    asset = formats.read(place)
    assert asset.character().name.lower() == "penguin" and len(asset.animations) == 1
    assert asset.animations[0].duration > 1.0

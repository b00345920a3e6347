"""How long a drag takes, from the pointer's event to the picture that shows it, in a real browser.

The times are printed and not asserted: a machine without a graphics card that does other things as well says little
about a user's. Measured on the dragon, on a spider and on a captured walk, with three pins each.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.data_folder import data_file
from tests.studio.e2e.running import Studio
from tests.studio.e2e.test_edit import drag, editing, free_time, show, state

CASES = {
    "dragon": ("dragon", "happy_greeting", "Head", ("Neck1", "Neck2", "Neck3")),
    "spider": (
        "gltf_quaternius/easy_enemies_pack_Spider.glb",
        "SpiderArmature|Spider_Walk",
        "FrontLeg3.L_end",
        ("BackLeg3.L_end", "BackLeg3.R_end", "FrontLeg3.R_end"),
    ),
    "walk": ("bvh_cmu/02_01.bvh", "02_01", "RightHand", ("LeftFoot", "RightFoot", "LeftHand")),
}


@pytest.mark.parametrize("name", CASES)
def test_drags_are_answered_while_the_pointer_moves(
    name: str, start_studio: Callable[..., Studio], new_page: Callable[..., Any], shot: Callable[..., Path], capsys: Any
) -> None:
    file, clip, joint, pins = CASES[name]
    studio = start_studio(file if name == "dragon" else data_file(file))
    page = new_page(960, 640)
    editing(page, studio, clip)
    for pin in pins:
        show(page, pin)
        page.locator(f'[data-testid="edit-curve"][data-name="{pin}"]').get_by_test_id("edit-pin").click()
    page.wait_for_function("() => window.understudy.edit.state().pins.length === 3")
    curve = show(page, joint)
    before = state(page)
    page.evaluate("() => window.understudy.editLatencies(true)")
    for dx, dy in ((20, -15), (-15, -20)):
        drag(page, curve, free_time(page), dx, dy, steps=25)
        page.wait_for_timeout(400)
    times = np.array(page.evaluate("() => window.understudy.editLatencies()"))
    shot(page, f"edit_latency_{name}")
    assert len(times) > 5 and state(page)["keys"] == before["keys"]
    freedom = sum(len(channel["columns"]) for channel in before["channels"])
    told = f"{name}: {freedom} columns, three pins: pointer to picture {np.median(times):.0f} ms in the median, "
    told += f"{np.percentile(times, 95):.0f} at the 95th percentile, of {len(times)}; load {os.getloadavg()[0]:.1f}"
    with capsys.disabled():
        sys.stdout.write(f"\n[edit latency] {told}\n")

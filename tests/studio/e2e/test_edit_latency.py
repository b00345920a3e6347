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
    "dragon": ("dragon", "happy_greeting", "Tongue4", ("Ear.L", "Ear.R", "Neck2")),
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
    page.wait_for_timeout(2000)  # the browser has compiled what it draws with, and has fewer triangles for a hand
    drag(page, curve, free_time(page), 10, -8, steps=10)  # the first of a server reads its compiled code from disk
    page.wait_for_timeout(800)
    page.keyboard.press("Escape")
    page.evaluate("() => window.understudy.editLatencies(true)")
    for dx, dy in ((20, -15), (-15, -20), (20, 10), (-20, 15)):
        drag(page, curve, free_time(page), dx, dy, steps=50)
        page.wait_for_timeout(600)
        page.keyboard.press("Escape")  # what is said of an edit that was blocked would lie over the path
    traces = page.evaluate("() => window.understudy.editLatencies()")
    shot(page, f"edit_latency_{name}")
    assert len(traces) > 5 and state(page)["keys"] == before["keys"]
    freedom = sum(len(channel["columns"]) for channel in before["channels"])
    with capsys.disabled():
        sys.stdout.write(f"\n[edit latency] {name}: {freedom} columns, three pins, {len(traces)} drags shown, ")
        sys.stdout.write(
            f"load {' '.join(f'{each:.1f}' for each in os.getloadavg())}; ms in the median, 95th percentile\n"
        )
        for step, times in steps_of(traces).items():
            sys.stdout.write(f"  {step:42} {np.median(times):6.1f} {np.percentile(times, 95):6.1f}\n")


def steps_of(traces: list[dict[str, float]]) -> dict[str, np.ndarray]:
    """(N,) ms that each step of N drags took, in the order in which they come; then all of them."""
    at = {name: np.array([trace[name] for trace in traces]) for name in traces[0]}
    return {
        "pointer's event to message sent": at["sent"] - at["event"],
        "wire and waiting, both ways": at["heard"] - at["sent"] - at["server"],
        "server: solve, evaluate, pack": at["server"],
        "answer to picture handed over": at["drawn"] - at["heard"],
        "graphics (in software here)": at["done"] - at["drawn"],
        "pointer's event to picture handed over": at["drawn"] - at["event"],
        "pointer's event to picture drawn": at["done"] - at["event"],
    }

"""The stage in a real browser: the graphics card skins as the rig does, and what is picked is what is seen."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.character.rig.layered_character import character as layered_character
from tests.data_folder import data_file
from tests.render.viewport.puppets import puppet, random_rows
from tests.render.viewport.reading import Described
from tests.studio.e2e.running import Studio

from understudy import formats
from understudy.character import rig
from understudy.character.rig import DirectRig, LayeredRig, PosedRig
from understudy.checks import Array
from understudy.render.viewport.description import describe
from understudy.render.viewport.surface import FramePacker
from understudy.studio import source
from understudy.studio.crowd.crowd import placements

MAKE = """async () => {
    const host = document.createElement("div");
    host.style.cssText = "position:fixed;inset:0;width:640px;height:480px;z-index:9";
    document.body.replaceChildren(host);
    window.trial?.dispose();
    const old = window.oldCanvas;
    window.trial = new old.stage.constructor(host);
    window.seen = [];
    window.trial.onSeen((sequence, stream) => window.seen.push([sequence, stream]));
    window.bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
    window.drawn = () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
}"""


@pytest.fixture(scope="module")
def trial(start_shared_studio: Callable[..., Studio], chromium: Any) -> Iterator[Any]:
    """One page for all tests of this file: loading one takes longer than they do."""
    server = start_shared_studio(data_file("gltf_khronos/Fox.glb"))
    page = chromium.new_page(viewport={"width": 640, "height": 480})
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(f"{error}"))
    page.goto(server.address)
    page.wait_for_selector("canvas[data-staged]")
    page.evaluate("() => { window.oldCanvas = document.querySelector('canvas[data-staged]'); }")
    yield page
    page.close()
    left = [error for error in errors if "404" not in error]  # pictures of the real characters are not at hand here
    assert not left, "\n".join(left)


@pytest.fixture
def stage(trial: Any) -> Any:
    """The page with a stage of its own, which no server sends frames to."""
    trial.evaluate(MAKE)
    return trial


def encoded(data: bytes | memoryview) -> str:
    return base64.b64encode(bytes(data)).decode()


def show(page: Any, description: bytes, method: str = "show") -> None:
    page.evaluate(f"data => window.trial.{method}(window.bytes(data), (n) => `missing/${{n}}`)", encoded(description))


def send(page: Any, *packed: bytes) -> None:
    """Frames all at once; returns when a picture has shown one, which may come after a pause (`frame_throttle.ts`)."""
    page.evaluate(
        """async list => {
            const before = window.seen.length;
            for (const data of list) window.trial.frame(window.bytes(data));
            for (let n = 0; n < 600 && window.seen.length === before; n++) await window.drawn();
            await window.drawn();
        }""",
        [encoded(data) for data in packed],
    )


def positions(page: Any) -> Array:
    """(V', 3) read back from the graphics card."""
    text = page.evaluate(
        """() => {
            const bytes = new Uint8Array(window.trial.positions().buffer);
            let text = "";
            for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
            return btoa(text);
        }"""
    )
    return np.frombuffer(base64.b64decode(text), np.float32).reshape(-1, 3)


def frame(packer: FramePacker, row: Array, sequence: int) -> bytes:
    a, b, payload = packer.pack(row)
    return source.frame_message(0, sequence, packer.form, 0.0, a, b, payload)


def compare(page: Any, found_rig: PosedRig, rows: Array) -> float:
    """The largest distance of a drawn vertex from the rig's, as a part of the character's size."""
    packer = FramePacker(found_rig)
    description = describe(found_rig, packer=packer)
    show(page, description)
    origins = Described(description)["origins"]
    worst = 0.0
    for number, (row, true) in enumerate(zip(rows, found_rig.vertices(rows))):
        send(page, frame(packer, row, 1000 * (number + 1)))
        off = np.linalg.norm(positions(page) - (true if packer.form == 2 else true[origins]), axis=1)
        worst = max(worst, float(off.max() / np.ptp(true, axis=0).max()))
    return worst


def test_skinning_on_the_graphics_card(stage: Any) -> None:
    """Eight influences, both methods, scaled joints, shapes with in-betweens beyond their range: as in Python."""
    for method, influences in (("linear", 8), ("dual", 8), ("dual", 3)):
        direct = DirectRig(puppet(influences, method, seed=influences))
        assert compare(stage, direct, random_rows(direct, 3)) < 5e-6, (method, influences)
    layered = LayeredRig(layered_character())
    rows = layered.rest + np.random.default_rng(0).uniform(-0.2, 0.2, (2, len(layered.rest)))
    assert compare(stage, layered, rows) == 0


@pytest.mark.parametrize(
    "name", ["gltf_threejs/RobotExpressive.glb", "gltf_khronos/MorphStressTest.glb", "gltf_khronos/Fox.glb"]
)
def test_real_characters_are_drawn_where_they_are(stage: Any, name: str) -> None:
    asset = formats.read(data_file(name))
    found_rig = rig.rig_of(asset.character())
    animation = asset.animations[-1]
    times = animation.frame_times()
    assert compare(stage, found_rig, found_rig.pose(animation, times[[len(times) // 3, -1]])) < 5e-6


def test_a_character_takes_the_pose_that_came_before_it(stage: Any) -> None:
    """A paused character gets one frame, which may come while the page still fetches the character."""
    direct = DirectRig(puppet(4))
    packer, row = FramePacker(direct), random_rows(direct, 1)[0]
    description = describe(direct, packer=packer)
    send(stage, frame(packer, row, 1))
    show(stage, description)
    origins = Described(description)["origins"]
    assert np.abs(positions(stage) - direct.vertices(row[None])[0][origins]).max() < 1e-4


def test_a_crowd_is_drawn_where_it_stands(stage: Any) -> None:
    direct = DirectRig(puppet(6, shapes=True))
    packer = FramePacker(direct)
    places = placements(5, np.array([[-0.3, 0, -0.3], [0.3, 2, 0.3]]))
    rows = random_rows(direct, 5)
    poses = packer.poses(rows)
    bones = poses[:, : 12 * len(packer.bones)].reshape(5, -1, 3, 4)
    bones[...] = places[:, None, :3, :3] @ bones
    bones[..., 3] += places[:, None, :3, 3]
    description = describe(direct, packer=packer, box=[[-2, 0, -2], [2, 2, 2]])
    show(stage, description, "crowd")
    send(stage, source.frame_message(1, 1, source.CROWD_FORM, 0.0, *poses.shape, poses.tobytes()))
    true = direct.vertices(rows)[:, Described(description)["origins"]]
    true = true @ places[:, :3, :3].swapaxes(1, 2) + places[:, None, :3, 3]
    np.testing.assert_allclose(positions(stage).reshape(true.shape), true, atol=1e-5)


def test_the_newest_frame_wins_and_rest_costs_nothing(stage: Any) -> None:
    direct = DirectRig(puppet())
    packer = FramePacker(direct)
    show(stage, describe(direct, packer=packer))
    rows = random_rows(direct, 4)
    send(stage, *(frame(packer, row, number + 1) for number, row in enumerate(rows)))
    assert stage.evaluate("window.seen") == [[4, 0]]
    assert stage.evaluate("window.trial.stats().dropped") == 3
    np.testing.assert_allclose(positions(stage)[:5], direct.vertices(rows[3:])[0, :5], atol=1e-5)
    stage.wait_for_function("() => window.trial.stats().fps === 0")  # nothing moves, nothing is drawn
    send(stage, frame(packer, rows[0], 1))  # of a server that was started anew
    assert stage.evaluate("() => window.seen.at(-1)") == [1, 0]
    np.testing.assert_allclose(positions(stage)[:5], direct.vertices(rows[:1])[0, :5], atol=1e-5)


def test_what_is_picked_is_what_is_seen(stage: Any) -> None:
    direct = DirectRig(puppet(3, shapes=False))
    packer = FramePacker(direct)
    row = random_rows(direct, 1)[0]
    show(stage, describe(direct, packer=packer))
    send(stage, frame(packer, row, 1))
    points = direct.vertices(row[None])[0]
    hits = 0
    for vertex in range(0, 63, 5):
        at = stage.evaluate("point => window.trial.project(point)", points[vertex].astype(float).tolist())
        found = stage.evaluate("([x, y]) => window.trial.pick(x, y)", [at["x"], at["y"]])
        if found is None:
            continue  # on the outline, half a pixel beside
        hits += 1
        assert found["character"] == "puppet linear" and found["part"] in ("body", "hat")
        on_screen = stage.evaluate("point => window.trial.project(point)", found["point"])
        assert abs(on_screen["x"] - at["x"]) <= 1 and abs(on_screen["y"] - at["y"]) <= 1
        assert np.linalg.norm(points[found["vertex"]] - found["point"]) < 0.6  # a corner of the triangle
    assert hits >= 8
    assert stage.evaluate("window.trial.pick(2, 2)") is None


def test_the_camera_turns_moves_and_zooms(stage: Any) -> None:
    direct = DirectRig(puppet())
    show(stage, describe(direct))
    view = "() => window.trial.view"
    before = stage.evaluate(view)
    stage.mouse.move(320, 240)
    stage.mouse.down(button="middle")
    stage.mouse.move(380, 250, steps=4)
    stage.mouse.up(button="middle")
    turned = stage.evaluate(view)
    assert turned["azimuth"] < before["azimuth"] and turned["target"] == before["target"]
    stage.keyboard.down("Shift")
    stage.mouse.down(button="middle")
    stage.mouse.move(330, 300, steps=4)
    stage.mouse.up(button="middle")
    stage.keyboard.up("Shift")
    moved = stage.evaluate(view)
    assert moved["target"] != before["target"] and moved["azimuth"] == turned["azimuth"]
    stage.mouse.wheel(0, -300)
    stage.wait_for_function("far => window.trial.view.distance < far", arg=moved["distance"])
    stage.keyboard.down("Alt")
    stage.mouse.down()
    stage.mouse.move(300, 280, steps=4)
    stage.mouse.up()
    stage.keyboard.up("Alt")
    assert stage.evaluate(view)["azimuth"] != moved["azimuth"]
    stage.evaluate("window.trial.frameAll()")
    stage.wait_for_function("y => Math.abs(window.trial.view.target[1] - y) < 1e-6", arg=before["target"][1])

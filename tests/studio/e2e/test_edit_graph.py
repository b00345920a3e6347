"""The graph editor and the dope sheet in a real browser: what is drawn is what is evaluated, and the stage follows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.acrobat import acrobat
from tests.studio.e2e.graphing import GraphPage
from tests.studio.e2e.running import Studio
from tests.studio.edit.robot import robot

from understudy import formats
from understudy.character import Asset, Channel, Character, Curve, Curves, Mesh, Part, Skeleton, SkinBinding
from understudy.maths import quaternion

JOINTS, KEYS, RATE = 60, 1000, 30.0
EXACT = 1e-6  # of the largest value, which is a few: frames are float32


@pytest.fixture(scope="module")
def edited(
    start_shared_studio: Callable[..., Studio], chromium: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GraphPage]:
    """One page for all tests, since a page takes seconds to come up: a robot, an acrobat with dense clips, a chain."""
    folder = tmp_path_factory.mktemp("characters")
    for name, asset in (("robot", robot()), ("acrobat", acrobat()), ("chain", chain())):
        formats.write(asset, folder / f"{name}.glb")
    context = chromium.new_context(viewport={"width": 1280, "height": 720})
    page, errors = context.new_page(), []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(f"{error}"))
    yield GraphPage(page, start_shared_studio(*sorted(folder.iterdir())))
    context.close()
    assert not errors, "\n".join(errors)


def chain() -> Asset:
    """60 joints that turn, with 1,000 keys each, three frames apart."""
    rng = np.random.default_rng(5)
    names = [f"joint{j}" for j in range(JOINTS)]
    skeleton = Skeleton(names, list(range(-1, JOINTS - 1)), [(0, 0, 0)] + [(0, 0.02, 0)] * (JOINTS - 1))
    times = np.arange(KEYS) * 3 / RATE
    curves = []
    for name in names:
        speed, phase = rng.uniform(0.3, 2, 3), rng.uniform(0, 6, 3)
        turns = quaternion.from_rotation_vector(0.15 * np.sin(speed * times[:, None] + phase))
        slopes = np.gradient(turns, times, axis=0)
        curves.append(Curve.hermite(Channel(name, "rotation"), times, turns, slopes, slopes))
    corners = np.array([[0, 0, 0], [0.1, 0, 0], [0, 1.2, 0], [0, 0, 0.1]])
    mesh = Mesh("body", corners, [(0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)])
    skin = SkinBinding([0], np.eye(4)[None], np.zeros((4, 1), int), np.ones((4, 1)))
    return Asset([Character("chain", skeleton, [Part("body", mesh, skin)])], [], [Curves("turns", curves, rate=RATE)])


@pytest.fixture
def graph(edited: GraphPage) -> GraphPage:
    """The robot's curves, at half a second, which is between two keys; the stage stands still there."""
    edited.show("robot")
    edited.tab("graph")
    edited.choose(edited.channel("body", "translation"))
    edited.page.get_by_test_id("graph-fit").click()
    edited.page.wait_for_timeout(100)
    x0, _ = edited.place(0, 0, 0)
    x1, _ = edited.place(0, 0, 1)
    edited.seek((x0 + x1) / 2, 0.5)
    return edited


def test_handle_moves_the_stage(graph: GraphPage, shot: Callable[[Any, str], Path]) -> None:
    number, before = graph.channel("body", "translation"), graph.stage
    state = graph.state
    graph.page.mouse.click(*graph.place(number, 1, 1))
    graph.until("() => understudy.graph.model.selection.size === 1")
    graph.drag(graph.place(number, 1, 1, "before"), -10, -40, release=False)
    graph.staged(differs_from=before)  # before it is let go
    shot(graph.page, "edit_graph_handle")
    graph.page.keyboard.press("Escape")
    graph.page.mouse.up()
    graph.staged(same_as=before)
    assert graph.state["revision"] == state["revision"]

    graph.drag(graph.place(number, 1, 1, "before"), -10, -40)
    after = graph.changed(state["revision"])
    moved = graph.staged(differs_from=before)
    assert after["keys"] == state["keys"]
    assert [c["times"] for c in after["channels"]] == [c["times"] for c in state["channels"]]
    graph.until("() => !understudy.graph.model.drag")
    assert graph.exact() < EXACT
    graph.undo()
    assert not np.array_equal(graph.staged(same_as=before), moved)


def test_curves_are_those_that_are_evaluated(graph: GraphPage) -> None:
    """Quaternions too, and stepped, linear and broken keys."""
    graph.page.locator(".graph-all").click()
    graph.until("() => understudy.graph.model.frame?.channels.length === understudy.edit.state().channels.length")
    assert graph.exact() < EXACT
    number = graph.channel("arm.L", "rotation")
    graph.choose(number)
    graph.page.mouse.click(*graph.place(number, 2, 1))
    for how in ("linear", "stepped", "auto", "break", "unify"):
        revision = graph.state["revision"]
        graph.page.get_by_test_id(f"graph-{how}").click()
        graph.changed(revision)
        graph.page.wait_for_timeout(150)
        assert graph.exact() < EXACT, how
    for _ in range(5):
        graph.undo()


def test_keys_are_inserted_moved_and_deleted(graph: GraphPage) -> None:
    number = graph.channel("body", "translation")
    state = graph.state
    graph.page.get_by_test_id("graph-insert").click()
    inserted = graph.changed(state["revision"])
    times = inserted["channels"][number]["times"]
    assert inserted["keys"] == state["keys"] + 1 and len(times) == 5 and times[1] == pytest.approx(0.5, abs=0.05)
    graph.until("() => understudy.graph.model.selection.size === 1")  # what was inserted is selected

    x, y = graph.place(number, 0, 1)
    second = (graph.place(number, 0, 2)[0] - graph.place(number, 0, 0)[0]) / 1.0
    graph.drag((x, y), 0.25 * second, 0)
    moved = graph.changed(inserted["revision"])["channels"][number]["times"]
    assert moved[1] == pytest.approx(times[1] + 0.25, abs=0.5 / 24)
    assert moved[1] * 24 == pytest.approx(round(moved[1] * 24), abs=1e-3)  # on a frame
    assert moved[:1] + moved[2:] == times[:1] + times[2:]

    revision = graph.state["revision"]
    graph.page.get_by_test_id("graph-remove").click()
    assert graph.changed(revision)["keys"] == state["keys"]
    for _ in range(3):
        graph.undo()
    assert graph.state["channels"][number]["times"] == state["channels"][number]["times"]


def test_times_are_dragged_on_the_dope_sheet(graph: GraphPage, shot: Callable[[Any, str], Path]) -> None:
    page, state = graph.page, graph.state
    graph.tab("keys")
    page.wait_for_timeout(100)
    row = page.locator(".graph-row").first.bounding_box()
    x, _ = graph.place(0, 0, 1)
    second = graph.place(0, 0, 2)[0] - x
    graph.drag((x, row["y"] - 10), 0.25 * second, 0)  # the summary above: keys of all channels
    after = graph.changed(state["revision"])
    shot(page, "edit_dope_sheet")
    for was, now in zip(state["channels"], after["channels"]):
        assert now["times"] == pytest.approx([was["times"][0], was["times"][1] + 0.25, *was["times"][2:]], abs=1e-3)
    assert graph.undo()["channels"] == state["channels"]

    # A box over two times, whose right edge stretches what is in it.
    page.mouse.move(x - 12, row["y"] + 4)
    page.mouse.down()
    page.mouse.move(x + second + 12, row["y"] + 12, steps=4)
    page.mouse.up()
    graph.until("() => understudy.graph.model.selection.size === 1")
    revision = graph.state["revision"]
    graph.drag((x + second + 10, row["y"] + 10), 0.5 * second, 0)
    wide = graph.changed(revision)["channels"][0]["times"]
    assert wide == pytest.approx([0, 1, 2.5, 3], abs=1e-3)
    graph.undo()


def test_dial_says_what_a_reduction_gives(edited: GraphPage, shot: Callable[[Any, str], Path]) -> None:
    """A dense clip offers to be reduced; keys, error and time follow the dial; one step of undo brings it back."""
    graph, page = edited, edited.page
    graph.show("acrobat")
    state = graph.state
    assert state["baked"] and page.get_by_test_id("reduce-offer").is_visible()
    dial, said = page.get_by_test_id("reduce-dial"), page.get_by_test_id("reduce-keys")
    keys = []
    for place in (40, 150):
        before = said.text_content()
        dial.evaluate("(track, place) => { track.value = place; track.dispatchEvent(new Event('input')); }", place)
        graph.until("before => document.querySelector('[data-testid=reduce-keys]').textContent !== before", before)
        graph.until("() => document.querySelector('.reduce .spinner').classList.contains('hidden')")
        keys.append(int(said.text_content().split()[0].replace(",", "")))
    assert keys[1] < keys[0] < state["sourceKeys"]
    assert "mm" in page.get_by_test_id("reduce-error").text_content()
    assert page.get_by_test_id("reduce-time").text_content().endswith("s")
    state = graph.state
    assert state["baked"]  # nothing was kept so far
    shot(page, "edit_reduce")
    page.get_by_test_id("reduce-offer").click()
    after = graph.changed(state["revision"])
    assert not after["baked"] and after["keys"] == keys[1]
    assert not page.get_by_test_id("reduce-offer").is_visible()
    assert graph.undo()["baked"]


def test_sixty_channels_of_a_thousand_keys(
    edited: GraphPage, shot: Callable[[Any, str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    graph, page = edited, edited.page
    graph.show("chain")
    graph.tab("graph")
    page.locator(".graph-all").click()
    graph.until("count => understudy.graph.model.lanes.length === count", 4 * JOINTS)
    assert graph.exact() < EXACT
    page.wait_for_timeout(200)
    box = page.locator(".graph-surface:not(.hidden)").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    graph.ask("() => understudy.graph.draws(true)")
    page.mouse.move(*middle)
    for _ in range(5):
        page.mouse.wheel(0, -120)
        page.wait_for_timeout(20)
    for _ in range(5):
        page.mouse.wheel(0, 120)
        page.wait_for_timeout(20)
    drawn = graph.ask("() => understudy.graph.draws(true)")["graph"]
    shot(page, "edit_graph_many")

    state = graph.state
    page.keyboard.press("Home")
    page.locator(".graph-surface:not(.hidden)").focus()
    page.keyboard.press("a")
    graph.until("count => understudy.graph.model.selection.size === count", JOINTS)
    graph.drag(graph.place(0, 3, KEYS // 2), 30, 0)
    after = graph.changed(state["revision"])
    dragged = graph.ask("() => understudy.graph.draws(true)")["graph top"]
    by = after["channels"][0]["times"][0]
    assert by > 0 and by * RATE == pytest.approx(round(by * RATE), abs=1e-3)
    for was, now in zip(state["channels"], after["channels"]):
        assert np.allclose(np.subtract(now["times"], was["times"]), by, atol=1e-3)
    assert graph.exact() < EXACT
    assert graph.undo()["channels"][7]["times"] == state["channels"][7]["times"]
    with capsys.disabled():
        told = ", ".join(
            f"{what} {np.median(ms):.0f} ms ({np.percentile(ms, 95):.0f} at 95 %)"
            for what, ms in (("a picture of all curves", drawn), ("one with all keys dragged", dragged))
        )
        sys.stdout.write(f"\n{JOINTS} channels x {KEYS} keys, {4 * JOINTS} curves: {told}\n")

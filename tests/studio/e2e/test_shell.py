"""The shell in a real browser: first launch, files, time, commands, and a page at twice its size."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.data_folder import data_file
from tests.studio.e2e.running import Studio

expect.set_options(timeout=30_000)
# Everything on the page that has moved by itself, as the browser counts it: 1 is the whole page by its own height.
SHIFTS = """() => new Promise((done) => {
    let sum = 0;
    const add = (list) => list.getEntries().forEach((entry) => (sum += entry.value));
    new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done(sum), 300);
})"""
SLIDER = "[role=slider][aria-label=Time]"


@pytest.fixture(scope="module")
def fox(start_shared_studio: Callable[..., Studio]) -> Studio:
    """A studio with a real glTF of three clips."""
    return start_shared_studio(data_file("gltf_khronos/Fox.glb"))


def opened(page: Any, address: str) -> Any:
    """The page at an address, with a character on stage."""
    page.goto(address)
    page.wait_for_selector("canvas[data-staged]")
    return page


def time_of(page: Any) -> float:
    """The playhead's time, seconds."""
    return float(page.locator(SLIDER).get_attribute("aria-valuenow"))


def pause(page: Any) -> None:
    """Leave it standing still."""
    if page.get_by_role("button", name="Pause", exact=True).is_visible():
        page.keyboard.press("Space")
    page.get_by_role("button", name="Play", exact=True).last.wait_for()


def drop(page: Any, *files: tuple[str, bytes]) -> None:
    """Drop files onto the middle of the page."""
    given = [[name, base64.b64encode(data).decode()] for name, data in files]
    page.evaluate(
        """files => {
            const transfer = new DataTransfer();
            for (const [name, data] of files) {
                const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
                transfer.items.add(new File([bytes], name));
            }
            for (const kind of ["dragenter", "dragover", "drop"]) {
                const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
                document.querySelector(".viewport").dispatchEvent(new DragEvent(kind, options));
            }
        }""",
        given,
    )


def test_first_launch(studio: Studio, page: Any, shot: Callable[..., Path]) -> None:
    """The dragon is there and moves, and one line says what to try."""
    opened(page, studio.address)
    assert page.get_by_role("listbox", name="Clips").get_by_role("option").count() == 48
    assert page.get_by_role("note").is_visible()
    before = time_of(page)
    expect(page.locator(SLIDER)).not_to_have_attribute("aria-valuenow", f"{before:.3f}")
    shot(page, "first_launch")
    assert page.evaluate(SHIFTS) < 0.01  # a tenth counts as good; the dragon may come after the page
    page.get_by_role("button", name="Close this line").click()
    page.reload()
    page.wait_for_selector("canvas[data-staged]")
    assert page.get_by_role("note").count() == 0  # it is said once


def test_play_step_and_scrub(fox: Studio, page: Any) -> None:
    opened(page, fox.address)
    page.get_by_role("option", name="Walk").click()
    page.get_by_role("button", name="Pause", exact=True).wait_for()
    pause(page)
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator(SLIDER)).to_have_attribute("aria-valuenow", "0.000")
    page.keyboard.press("ArrowRight")
    frame = time_of(page)
    assert 0 < frame < 0.1
    page.keyboard.press("ArrowRight")
    assert time_of(page) == pytest.approx(2 * frame, abs=2e-3)
    box = page.locator(SLIDER).bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 12, steps=4)
    scrubbed = time_of(page)
    assert scrubbed > 10 * frame
    page.keyboard.press("Escape")  # a drag that is taken back
    assert time_of(page) == pytest.approx(2 * frame, abs=2e-3)
    page.mouse.up()
    page.mouse.click(box["x"] + 0.75 * box["width"], box["y"] + 12)
    assert time_of(page) == pytest.approx(scrubbed, abs=frame)
    page.wait_for_timeout(1000)  # the seek is on its way
    page.reload()  # the server knows where it stood
    page.wait_for_selector("canvas[data-staged]")
    assert time_of(page) == pytest.approx(scrubbed, abs=frame)


def test_files_are_dropped(fox: Studio, page: Any, shot: Callable[..., Path]) -> None:
    """Several at once: each is listed, a broken one says why, the others open."""
    page.expected_errors.append("400")  # the browser's own line about the refused upload
    opened(page, fox.address)
    figure = data_file("gltf_khronos/RiggedFigure.glb").read_bytes()
    drop(page, ("RiggedFigure.glb", figure), ("broken.glb", figure[:900]), ("notes.txt", b"hello"))
    card = page.get_by_role("status", name="Files that came")
    card.get_by_text("1 of 3 opened").wait_for()
    assert "broken.glb" in card.locator("li", has_text="broken.glb").locator("p").inner_text()
    assert "known are" in card.locator("li", has_text="notes.txt").inner_text()
    assert page.get_by_role("listbox", name="Characters").get_by_role("option").count() == 2
    shot(page, "dropped")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("listbox", name="Characters").get_by_role("option")).to_have_count(1)
    assert page.get_by_role("alert").all_inner_texts() == []


def test_palette_finds_commands_and_shows_keys(fox: Studio, page: Any, shot: Callable[..., Path]) -> None:
    opened(page, fox.address)
    page.keyboard.press("Control+k")
    page.keyboard.type("turn the view")
    first = page.get_by_role("listbox", name="Commands").get_by_role("option").first
    assert first.locator("kbd").all_inner_texts() == ["R"]
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("keys maya")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+k")
    page.keyboard.type("turn the view")
    assert first.locator("kbd").all_inner_texts() == ["E"]
    shot(page, "palette")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("clip survey")
    page.keyboard.press("Enter")
    page.locator(".timeline-title", has_text="Survey").wait_for()


def test_labels_are_given_and_taken_back(fox: Studio, page: Any) -> None:
    opened(page, fox.address)
    page.get_by_role("option", name="Run").click()
    page.get_by_role("heading", name="Run").wait_for()
    page.get_by_label("Add a label").fill("hasty")
    page.keyboard.press("Enter")
    chip = page.get_by_role("group", name="Labels").get_by_role("button", name="hasty")
    chip.click()
    assert page.get_by_role("listbox", name="Clips").get_by_role("option").count() == 1
    page.locator("body").press("Control+z")
    chip.wait_for(state="detached")
    assert page.get_by_role("listbox", name="Clips").get_by_role("option").count() == 3


@pytest.mark.parametrize(("width", "height", "scale"), [(640, 360, 2.0), (1280, 720, 1.0)])
def test_everything_fits(
    fox: Studio, new_page: Callable[..., Any], shot: Callable[..., Path], width: int, height: int, scale: float
) -> None:
    """1280 x 720 at 200 % zoom is 640 x 360; nothing is cut off, and docks can be reached."""
    page = opened(new_page(width, height, scale), fox.address)
    inside = """() => [...document.querySelectorAll('.topbar button, .transport button')].filter((button) => {
        const box = button.getBoundingClientRect();
        return box.width > 1 && (box.left < 0 || box.right > innerWidth || box.bottom > innerHeight);
    }).map((button) => button.getAttribute('aria-label') ?? button.textContent)"""
    assert page.evaluate(inside) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if width < 900:
        page.get_by_role("button", name="Library", exact=True).click()
    option = page.get_by_role("option", name="Walk")
    option.scroll_into_view_if_needed()
    option.click()
    shot(page, f"fits_{width}")


def test_keys_reach_everything_and_it_has_a_name(fox: Studio, page: Any) -> None:
    """Tab goes through the page, each stop is seen to have the focus, and each control has a name."""
    opened(page, fox.address)
    unnamed = """() => [...document.querySelectorAll('button, input, select, [tabindex="0"]')].filter((each) => {
        if (!each.checkVisibility()) return false;
        const label = each.getAttribute('aria-label') || each.textContent.trim() || each.title || each.placeholder;
        return !label;
    }).map((each) => each.outerHTML.slice(0, 120))"""
    assert page.evaluate(unnamed) == []
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        stop = page.evaluate(
            """() => {
                const at = document.activeElement;
                const seen = getComputedStyle(at).outlineStyle !== 'none' || at.matches('.handle, canvas, body');
                return [at.closest('.topbar, .library, .panel, .timeline, .viewport')?.className ?? '', seen];
            }"""
        )
        reached.add(stop[0].replace("dock ", ""))
        assert stop[1], "the focus is not seen"
    assert {"topbar", "library", "panel", "timeline"} <= reached


def test_a_lost_server_comes_back(start_studio: Callable[..., Studio], page: Any) -> None:
    page.expected_errors.append("ERR_CONNECTION_REFUSED")
    studio = start_studio(data_file("gltf_khronos/RiggedSimple.glb"))
    opened(page, studio.address)
    studio.kill()
    page.get_by_text("reconnecting").wait_for()
    studio.start()
    page.get_by_text("live", exact=True).wait_for()
    page.get_by_role("option", name="RiggedSimple").first.wait_for()
    assert page.get_by_role("alert").count() == 0

"""The game in a real browser: a whole game to a win, to a loss and to a draw; by pointer, by keys, and by buttons."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.studio.e2e.running import Studio
from tests.studio.game.learned_project import learned_project

from understudy.studio.game.rules import CLAW, EMBER, FREE, Board, best_squares, completing_squares, free_squares

WHOSE = {"free": FREE, "yours": CLAW}
WAIT = 60_000  # ms: a busy machine draws few frames, and the game waits for the performance


@pytest.fixture(scope="module")
def playing(built_page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio with a lamp that has learned to act: quicker to learn than the dragon."""
    studio = Studio(learned_project(tmp_path_factory.mktemp("game") / "project"))
    yield studio
    studio.stop()


@pytest.fixture
def begin(playing: Studio, new_page: Callable[..., Any]) -> Callable[..., Any]:
    """A page in a game of a seed and a strength, with an opponent who thinks quickly."""

    def open_page(strength: str, seed: int) -> Any:
        from playwright.sync_api import expect

        page = new_page(960, 600)  # a smaller picture: it is drawn on the processor
        stored = f"localStorage.setItem('understudy.game.strength', JSON.stringify('{strength}'))"
        page.add_init_script(f"{stored}; localStorage.setItem('understudy.game.quick', 'true')")
        page.goto(f"{playing.address}?seed={seed}#play")
        page.wait_for_selector(".game-status:not(:empty)", timeout=WAIT)
        expect(page.locator("[data-square='8']")).to_have_attribute("style", re.compile("left"), timeout=WAIT)
        return page

    return open_page


def board(page: Any) -> Board:
    """What a screen reader would read of the board."""
    labels = page.eval_on_selector_all("[data-square]", "all => all.map((each) => each.ariaLabel)")
    return tuple(WHOSE.get(label.split(", ")[1], EMBER) for label in labels)


def status(page: Any) -> str:
    return str(page.text_content(".game-status"))


def by_key(page: Any, square: int) -> None:
    page.keyboard.press(str(square + 1))


def by_pointer(page: Any, square: int) -> None:
    box = page.eval_on_selector(
        f"[data-square='{square}']",
        "each => { const box = each.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2] }",
    )
    page.mouse.move(*box)
    page.mouse.click(*box)


def by_arrows(page: Any, square: int) -> None:
    """From wherever it is: to the upper left corner, and on from there."""
    for key, count in (("ArrowUp", 2), ("ArrowLeft", 2), ("ArrowDown", square // 3), ("ArrowRight", square % 3)):
        for _ in range(count):
            page.keyboard.press(key)
    page.keyboard.press("Enter")


def expect_status(page: Any, text: str | re.Pattern[str]) -> None:
    from playwright.sync_api import expect

    expect(page.locator(".game-status")).to_have_text(text, timeout=WAIT)


def expect_mine(page: Any, square: int) -> None:
    from playwright.sync_api import expect

    label = re.compile("yours")
    expect(page.locator(f"[data-square='{square}']")).to_have_attribute("aria-label", label, timeout=WAIT)


def play(page: Any, choose: Callable[[Board], int], move: Callable[[Any, int], None]) -> Board:
    """A whole game."""
    for _ in range(5):
        expect_status(page, re.compile("Your turn|win|draw"))
        if status(page) != "Your turn":
            break
        square = choose(board(page))
        move(page, square)
        expect_mine(page, square)
    expect_status(page, re.compile("win|draw"))
    return board(page)


def careful(now: Board) -> int:
    return best_squares(now, CLAW)[0]


def careless(now: Board) -> int:
    """Never a line of one's own, never in the way of the other's."""
    kept = [
        square
        for square in free_squares(now)
        if square not in (*completing_squares(now, CLAW), *completing_squares(now, EMBER))
    ]
    return (kept or list(free_squares(now)))[-1]


def test_a_game_is_won_by_pointer(begin: Callable[..., Any], shot: Callable[[Any, str], Path]) -> None:
    page = begin("hatchling", 1)
    assert page.locator(".library").is_hidden() and page.locator(".timeline").is_hidden()
    assert "1 to 9" in page.text_content(".game-hint")
    play(page, careful, by_pointer)
    assert status(page) == "You win"
    assert page.text_content(".game-side.you .game-count") == "1"
    winning = page.eval_on_selector_all(
        "[data-square]", "all => all.filter((each) => each.ariaLabel.includes('line')).length"
    )
    assert winning == 3
    shot(page, "game_won")
    page.click("text=New game")
    expect_status(page, re.compile("Your turn|thinking"))
    assert page.text_content(".game-side.you .game-count") == "1", "the score stays"


def test_a_game_is_lost_by_keys(begin: Callable[..., Any], shot: Callable[[Any, str], Path]) -> None:
    page = begin("elder", 2)
    sound = page.get_by_role("button", name="Sound")
    assert sound.get_attribute("aria-pressed") == "false", "sound is off until somebody asks for it"
    sound.click()
    assert sound.get_attribute("aria-pressed") == "true"
    play(page, careless, by_key)
    assert status(page) == "The lamp wins"
    assert page.text_content(".game-side.other .game-count") == "1"
    shot(page, "game_lost")


def test_a_draw_by_arrows_and_a_taken_square(begin: Callable[..., Any], shot: Callable[[Any, str], Path]) -> None:
    from playwright.sync_api import expect

    page = begin("elder", 3)
    by_arrows(page, 4)
    expect_mine(page, 4)
    expect_status(page, "Your turn")
    before = board(page)
    by_key(page, 4)
    expect(page.locator(".game [role=status]")).to_have_text("That square is taken.", timeout=WAIT)
    assert board(page) == before
    play(page, careful, by_arrows)
    assert status(page) == "A draw"
    assert "1 draw" in page.text_content(".game-draws")
    shot(page, "game_draw")


def test_a_reloaded_page_finds_its_game_again(begin: Callable[..., Any], playing: Studio) -> None:
    page = begin("elder", 4)
    by_key(page, 0)
    expect_mine(page, 0)
    page.goto(f"{playing.address}?again#play")
    page.wait_for_selector(".game-status:not(:empty)", timeout=WAIT)
    assert board(page)[0] == CLAW
    assert page.get_attribute(".game-strengths [aria-checked=true]", "title").startswith("Elder")
    page.click("text=Perform")
    assert page.locator(".game").is_hidden()

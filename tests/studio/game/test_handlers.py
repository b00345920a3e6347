"""The game over the wire: entering, moves, refusals, new games, coming back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.studio.game.learned_project import learned_project
from tests.studio.talking import Page, Refused, Studio

from understudy.studio.game.rules import CLAW, best_squares
from understudy.studio.security import AllowedFolders
from understudy.studio.session import Session

SEED = 5
QUICK = 0.05


@pytest.fixture(scope="module")
def playing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio with a lamp that has learned to act."""
    folder = learned_project(tmp_path_factory.mktemp("game") / "project")
    with Studio(Session(folder, AllowedFolders())) as studio:
        yield studio


@pytest.fixture
def page(playing: Studio) -> Iterator[Page]:
    with playing.page() as page:
        yield page


def entered(page: Page, **how: Any) -> dict[str, Any]:
    found: dict[str, Any] = page.ask("enterGame", **{"seed": SEED, "pace": QUICK, **how})
    return found


def shown(page: Page, wanted: Callable[[dict[str, Any]], bool], since: int = 0) -> dict[str, Any]:
    """The first game event since a number of events that is wanted; it may have come already."""
    while True:
        for event in page.events[since:]:
            if event["kind"] == "game" and wanted(event):
                return event
        since = len(page.events)
        page.take()


def moved(page: Page, square: int) -> dict[str, Any]:
    """Make a move; the game when it is the player's turn again, or over."""
    since = len(page.events)
    page.ask("placeMark", square=square)

    def answered(game: dict[str, Any]) -> bool:
        return game["board"][square] == "claw" and (game["result"] != "" or game["turn"] == "claw")

    return shown(page, answered, since)


def finished(page: Page, game: dict[str, Any]) -> dict[str, Any]:
    while not game["result"]:
        page.send('{"kind": "pointAt", "place": [0.1, 0.2, 0.3]}')
        game = moved(page, best_squares(tuple(game["board"]), CLAW)[0])
    return game


def test_entering_tells_all_that_the_page_draws(page: Page, playing: Studio) -> None:
    found = entered(page, strength="drake")
    game = found["game"]
    assert game["character"] == "lamp" and game["board"] == [""] * 9 and game["turn"] == "claw"
    assert game["strength"] == "drake" and game["result"] == "" and game["line"] == []
    assert [each["name"] for each in found["strengths"]] == ["hatchling", "fledgling", "drake", "elder"]
    assert found["table"]["width"] > 0
    stage = playing.session.document.stage
    assert stage.driver == "model" and stage.playing


def test_a_whole_game_and_the_next_one(page: Page) -> None:
    game = finished(page, entered(page, strength="hatchling")["game"])
    assert game["result"] in ("won", "lost", "draw") and game["turn"] == ""
    assert game["player"] + game["opponent"] + game["draws"] == 1
    since = len(page.events)
    page.ask("newGame", strength="elder")
    game = shown(page, lambda game: game["round"] == 1, since)
    assert game["strength"] == "elder"
    assert (
        shown(page, lambda game: game["turn"] == "claw", since)["board"].count("ember") == 1
    )  # who did not begin the last one begins this one
    assert game["player"] + game["opponent"] + game["draws"] == 1


def test_the_same_seed_and_moves_make_the_same_game(page: Page) -> None:
    first, again = (finished(page, entered(page, strength="fledgling")["game"])["board"] for _ in range(2))
    assert first == again


def test_moves_that_are_not_allowed_are_refused_with_a_sentence(page: Page) -> None:
    entered(page, strength="elder")
    game = moved(page, 4)
    with pytest.raises(Refused, match="taken"):
        page.ask("placeMark", square=4)
    assert shown(page, lambda event: event["mood"] == "refusing")["board"] == game["board"]
    with pytest.raises(Refused):
        page.ask("placeMark", square=9)


def test_a_game_that_was_left_waits(page: Page, playing: Studio) -> None:
    entered(page, strength="elder")
    game = moved(page, 4)
    page.ask("leaveGame")
    with playing.page() as other:
        found = other.ask("enterGame", strength="elder")
        assert found["game"]["board"] == game["board"]


def test_the_score_is_saved_with_the_project(tmp_path: Path) -> None:
    folder = learned_project(tmp_path / "project")
    with Studio(Session(folder, AllowedFolders())) as studio, studio.page() as page:
        game = finished(page, entered(page, strength="elder", seed=None)["game"])
        score = [game[name] for name in ("player", "opponent", "draws")]
        assert sum(score) == 1
        page.ask("undo")  # takes the model back, not the score
        page.ask("redo")
        entered(page, strength="hatchling")  # a game by its seed does not count
    with Studio(Session(folder, AllowedFolders())) as studio, studio.page() as page:
        game = page.ask("enterGame")["game"]
        assert [game[name] for name in ("player", "opponent", "draws")] == score
        assert (game["strength"], game["pace"], game["round"]) == ("elder", QUICK, 1)
        assert game["turn"] == "ember"  # who did not begin the last one begins this one


def test_nobody_plays_without_having_learned(studio: Studio) -> None:
    with studio.page() as page:
        with pytest.raises(Refused, match="learn"):
            page.ask("enterGame")
        with pytest.raises(Refused, match="No game"):
            page.ask("placeMark", square=4)

"""Mistakes in scripts: one sentence, at the line where it stands."""

from __future__ import annotations

import pytest

from understudy.perform.pose_model import ModelWithCharacter
from understudy.studio.perform.script_runner import check_script_text

GOOD = """# a scene
[[do]]
command = "transition"
label = "happy"

  [[ do ]]
command = "one_of"
set = "answer"

[[set.answer]]
do = [{command = "play", clip = "hop"}]

[[set.answer]]
do = [{command = "idle", seconds = 1}]
"""


def test_a_good_script_has_its_steps_and_their_lines(lamp: ModelWithCharacter) -> None:
    found = check_script_text(GOOD, lamp.model)
    assert (found.sentence, found.line, found.steps, found.lines) == ("", 0, 2, (2, 6))


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('"happy"', '"hapy"', 2, "do 1: there is no label 'hapy' in the model (did you mean 'happy'?)"),
        ('"one_of"', '"one"', 6, "do 2: there is no command 'one'"),
        ('"hop"', '"hopp"', 10, "there is no clip 'hopp'"),
        ("seconds = 1", "seconds = -1", 13, "seconds should be a number from 0"),
        ('"happy"', '"happy', 4, ""),
        ('set = "answer"', 'set = "nobody"', 6, "nobody"),
    ],
)
def test_a_mistake_is_found_where_it_is(lamp: ModelWithCharacter, old: str, new: str, line: int, words: str) -> None:
    found = check_script_text(GOOD.replace(old, new), lamp.model)
    assert found.line == line, found
    assert words in found.sentence and found.sentence and found.steps == 0


def test_a_mistake_without_a_place_has_no_line(lamp: ModelWithCharacter) -> None:
    found = check_script_text("seconds = 3\n", lamp.model)
    assert found.line == 0 and "[[do]]" in found.sentence

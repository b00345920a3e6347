from __future__ import annotations

import pytest

from understudy.errors import InvalidInput
from understudy.express.acting import cues
from understudy.express.graph.expression_graph import ExpressionGraph


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("fear", "fear"),
        ("head shake", "head shake"),
        ("fear:0.5", {"fear": 0.5}),
        ("fear+anger", {"fear": 0.5, "anger": 0.5}),
        ("fear:0.7+anger:0.2", {"fear": 0.7, "anger": 0.2}),
    ],
)
def test_words_of_the_command_line(text: str, read: object) -> None:
    assert cues.parse(text) == read


def test_a_bad_share_is_told() -> None:
    with pytest.raises(InvalidInput, match=r"should be a number, as in fear:0\.5, but is 'much'"):
        cues.parse("fear:much")


def test_shares_are_scaled_to_one(graph: ExpressionGraph) -> None:
    assert cues.read_cues(graph, {"fear": 0.9, "anger": 0.9}) == [cues.Cue(("fear", "anger"), (0.5, 0.5))]
    assert cues.read_cues(graph, {"fear": 0.3}) == [cues.Cue(("fear",), (0.3,))]
    assert cues.read_cues(graph, ["neutral", {"fear": 0.0}]) == [cues.Cue((), ()), cues.Cue((), ())]


def test_a_cue_says_itself_again(graph: ExpressionGraph) -> None:
    for text in ("fear", "fear:0.5", "fear:0.7+anger:0.2", "neutral"):
        cue = cues.read_cues(graph, cues.parse(text))[0]
        assert cue.text == text


def test_synonyms_and_shares_above_one(graph: ExpressionGraph) -> None:
    assert cues.read_cues(graph, ["joy", "Scared", {"angry": 0.5, "mad": 0.25}]) == [
        cues.Cue(("happiness",), (1.0,)),
        cues.Cue(("fear",), (1.0,)),
        cues.Cue(("anger",), (0.75,)),
    ]
    with pytest.raises(InvalidInput, match="share of 'fear' should be from 0 to 1, but is 3; the setting intensity"):
        cues.read_cues(graph, {"fear": 3.0})

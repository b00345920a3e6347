"""Sentences: a few of many names, each once, and short quotes of what was given."""

from __future__ import annotations

from understudy.errors import BadFile, InvalidInput, join_names


def test_a_few_of_many_are_named() -> None:
    assert join_names(["a"]) == "'a'"
    assert join_names(["a", "b", "a"]) == "'a', 'b'"
    assert join_names((f"j{i}" for i in range(9)), most=2) == "'j0', 'j1' and 7 more"
    assert join_names([]) == ""


def test_messages_quote_little_of_hostile_input() -> None:
    for quote in (repr("x" * 10_000), "x" * 10_000, repr("it's " * 2_000)):
        for error in (
            InvalidInput(f"there is no clip {quote}"),
            BadFile("walk.glb", f"has the name {quote}", "line 3"),
        ):
            assert len(str(error)) < 300 and str(error).startswith(
                ("there is no clip", "walk.glb, line 3: has the name")
            )
    short = f"there is no clip {'x' * 190!r}"
    assert str(InvalidInput(short)) == short

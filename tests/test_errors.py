"""Names in a sentence: a few of many, each once."""

from __future__ import annotations

from understudy.errors import join_names


def test_a_few_of_many_are_named() -> None:
    assert join_names(["a"]) == "'a'"
    assert join_names(["a", "b", "a"]) == "'a', 'b'"
    assert join_names((f"j{i}" for i in range(9)), most=2) == "'j0', 'j1' and 7 more"
    assert join_names([]) == ""

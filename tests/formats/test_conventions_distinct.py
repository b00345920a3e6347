"""Names made distinct."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from understudy.formats.conventions import make_distinct, number_duplicates


def test_examples():
    notes: list[str] = []
    assert make_distinct(["a", "b"], "joint", notes) == ("a", "b") and not notes
    assert make_distinct(["a", "a", "a_2", ""], "joint", notes) == ("a", "a_3", "a_2", "joint_3")
    assert len(notes) == 1 and "'a_3'" in notes[0] and "1 more" in notes[0]


@given(st.lists(st.sampled_from(["", "a", "a_2", "b", "joint_1", "joint_1_2"]), max_size=12))
def test_always_distinct_and_first_come_keeps_its_name(names):
    result = make_distinct(names, "joint", [])
    assert len(set(result)) == len(result) == len(names) and all(result)
    for i, name in enumerate(names):
        if name and name not in names[:i]:
            assert result[i] == name


def test_unique_never_takes_a_name_that_is_wanted() -> None:
    assert number_duplicates(["a", "a", "a_1", "a", "b"]) == ["a", "a_2", "a_1", "a_3", "b"]
    assert number_duplicates([]) == []

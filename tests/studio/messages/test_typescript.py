"""The browser's types are those of the dataclasses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

from tools import message_types
from understudy.studio.messages.message import Range, events, requests


def test_the_browsers_file_is_in_step() -> None:
    if not message_types.OUTPUT_PATH.is_file():
        pytest.skip("there is no web/ beside the package")
    assert message_types.OUTPUT_PATH.read_text(encoding="utf-8") == message_types.typescript(), (
        "run python tools/message_types.py"
    )


@dataclass(frozen=True)
class Inner:
    """Something within."""

    name: str


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (str, "string"),
        (int, "number"),
        (float, "number"),
        (bool, "boolean"),
        (Any, "unknown"),
        (float | None, "number | null"),
        (Literal["a", "b"], '"a" | "b"'),
        (list[int], "number[]"),
        (tuple[str, ...], "string[]"),
        (tuple[Literal["a", "b"], ...], '("a" | "b")[]'),
        (tuple[float, float, float], "[number, number, number]"),
        (dict[str, list[bool]], "Record<string, boolean[]>"),
        (Annotated[str, Range(longest=3)], "string"),
        (Inner, "Inner"),
    ],
    ids=str,
)
def test_every_kind_of_field_has_its_type(hint: Any, expected: str) -> None:
    assert message_types._type(hint, {}) == expected


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot hold"):
        message_types._type(bytes, {})


def test_two_dataclasses_of_one_name_are_refused() -> None:
    with pytest.raises(TypeError, match="two dataclasses"):
        message_types._type(Inner, {"Inner": int})


def test_every_message_is_in_the_file() -> None:
    text = message_types.typescript()
    for message in (*requests().values(), *events().values()):
        assert f'  kind: "{message.kind}";' in text


def test_every_kind_has_a_handler() -> None:
    from understudy.studio import registry
    from understudy.studio.messages.shell import FrameDrawn

    registry.load()
    without = [
        each.kind for each in requests().values() if each is not FrameDrawn and registry.handler_of(each) is None
    ]
    assert without == []

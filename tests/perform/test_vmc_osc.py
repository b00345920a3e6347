"""OSC: what is encoded here is decoded by another library."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pythonosc.osc_bundle import OscBundle
from pythonosc.osc_message import OscMessage

from understudy.perform import vmc

TEXT = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=20)
NUMBERS = st.one_of(st.integers(-(2**31), 2**31 - 1), st.floats(width=32, allow_nan=False), TEXT)


@settings(max_examples=60, deadline=None)
@given(st.lists(NUMBERS, max_size=8))
def test_messages(arguments: list[int | float | str]) -> None:
    read = OscMessage(vmc.encode_message("/a/b", *arguments))
    assert read.address == "/a/b" and list(read.params) == arguments


def test_an_opening_wants_its_numbers() -> None:
    read = OscMessage(vmc.message_prefix("/VMC/Ext/Bone/Pos", "左手", 3) + struct.pack(">3f", 1, 2, 3))
    assert list(read.params) == ["左手", 1.0, 2.0, 3.0]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 400), max_size=30), st.integers(60, 500))
def test_bundles_keep_every_message_in_order_and_fit(lengths: list[int], most: int) -> None:
    messages = [vmc.encode_message("/m", number, "x" * length) for number, length in enumerate(lengths)]
    packets = list(vmc.bundles(messages, most))
    read = [content.params[0] for packet in packets for content in OscBundle(packet)]
    assert read == list(range(len(lengths)))
    for packet in packets:
        assert len(packet) <= most or len(list(OscBundle(packet))) == 1


def test_nothing_makes_no_bundle() -> None:
    assert list(vmc.bundles([])) == []


@pytest.mark.parametrize("text", ["", "a", "abc", "abcd", "abcde"])
def test_padding(text: str) -> None:
    raw = vmc.encode_string(text)
    assert len(raw) % 4 == 0 and raw.rstrip(b"\0").decode() == text and len(text) < len(raw) <= len(text) + 4

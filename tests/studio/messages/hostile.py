"""Messages that no page of ours would send, each from a seed."""

from __future__ import annotations

import dataclasses
import json
import random
from typing import Any

from understudy.errors import InvalidInput
from understudy.studio.messages.message import camel, parse_request, requests

VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1.5,
        2**31,
        2**53 + 1,
        -(10**30),
        10**400,
        1e308,
        "",
        "x",
        "\0",
        "\ud800",
        "../../etc/passwd",
    ),
    *(
        "A" * 5000,
        "\u202e\u0000evil",
        [],
        {},
        [[]],
        [1, "a", None],
        {"a": {"b": 1}},
        {"__class__": "os"},
        {"kind": "play"},
    ),
)
TEXTS = (
    "",
    " ",
    "null",
    "[]",
    "[" * 100_000,
    '{"a":' * 50_000,
    '{"kind":"play"',
    "{'kind': 'play'}",
    '{"kind":"play","playing":true,"playing":false}',
    '{"kind":"seek","time":NaN}',
    '{"kind":"seek","time":-Infinity}',
    '{"kind":"seek","time":1e999}',
    '{"kind":"play","id":1e400,"playing":true}',
    '{"kind":"\\u0000"}',
    '{"kind":["play"]}',
    '{"kind":{"play":1}}',
    "\ufeff{}",
    "9" * 10_000,
    '"' + "a" * 2_000_000 + '"',
    "GET / HTTP/1.1\r\n\r\n",
    "<script>alert(1)</script>",
)
CHANGES = ("undo", "redo", "open", "close", "delete", "rename", "label")  # what they do when they are sound


def hostile(seed: int) -> str:
    """A text that is wrong in some way: cut off, of other types, with more fields or fewer, or no JSON at all."""
    rng = random.Random(seed)
    if seed < len(TEXTS):
        return TEXTS[seed]
    kind = rng.choice(list(requests()))
    names = [camel(each.name) for each in dataclasses.fields(requests()[kind]) if each.name != "id"]
    message: dict[str, Any] = {"kind": kind, "id": rng.choice([1, 2**40])}
    for name in names:
        message[name] = rng.choice(VALUES)
    way = rng.randrange(6)
    if way == 0 and names:
        del message[rng.choice(names)]
    elif way == 1:
        message[rng.choice(["__proto__", "constructor", "path", "x" * 300])] = rng.choice(VALUES)
    elif way == 2:
        message["kind"] = rng.choice(VALUES)
    elif way == 3:
        message["id"] = rng.choice(VALUES)
    text = json.dumps(message)
    if way == 4:
        return text[: rng.randrange(len(text))]
    if way == 5:
        place = rng.randrange(len(text))
        return text[:place] + chr(rng.choice([0, 34, 92, 125, 0x20AC, 0x1F600])) + text[place + 1 :]
    return text


def hostile_texts(count: int, longest: int) -> list[str]:
    """Hostile texts as a socket can carry them, without those that came out as sound requests for a change."""
    texts = [hostile(seed).encode("utf-8", "replace").decode() for seed in range(count)]
    return [text for text in texts if len(text) < longest and not _changes(text)]


def _changes(text: str) -> bool:
    try:
        return parse_request(text).kind in CHANGES
    except InvalidInput:
        return False

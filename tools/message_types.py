"""The browser's types, generated from the dataclasses: `python tools/message_types.py` writes them.

    class SetPlaying(Request): playing: bool  ->  export interface SetPlayingRequest { kind: "play"; playing: boolean }

A request type has no `id`: the connection adds it.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from pathlib import Path
from typing import Annotated, Any, Literal

from understudy.render.viewport import surface
from understudy.studio import source
from understudy.studio.messages.message import Event, Request, camel, events, requests

OUTPUT_PATH = Path(__file__).parents[1] / "web" / "src" / "protocol" / "messages.ts"
TYPESCRIPT_TYPES = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", Any: "unknown"}
HEADING = "// Generated from the dataclasses in src/understudy/studio/messages; do not edit.\n"


def typescript() -> str:
    """The whole file as text."""
    known: dict[str, type] = {}
    blocks = []
    for request in requests().values():
        blocks.append(_interface(f"{request.__name__}Request", request, known))
    for event in events().values():
        blocks.append(_interface(f"{event.__name__}Event", event, known))
    results = [(kind, _answer(request, known)) for kind, request in requests().items()]
    nested = [_interface(name, known[name], known) for name in _all_nested(known)]
    lines = [f"  {_literal(kind)}: {answer};" for kind, answer in results]
    return "\n".join(
        [
            HEADING,
            _frame_constants(),
            *nested,
            *blocks,
            _union("StudioRequest", [f"{request.__name__}Request" for request in requests().values()]),
            _union("StudioEvent", [f"{event.__name__}Event" for event in events().values()]),
            "/** What each kind of request is answered with. */",
            "export interface Results {",
            *lines,
            "}\n",
        ]
    )


def _all_nested(known: dict[str, type]) -> list[str]:
    """The names of all nested dataclasses; writing one may find others."""
    written: set[str] = set()
    while set(known) - written:
        for name in sorted(set(known) - written):
            _interface(name, known[name], known)
            written.add(name)
    return sorted(written)


def _interface(name: str, message: type, known: dict[str, type]) -> str:
    hints = typing.get_type_hints(message, include_extras=True)
    sentence = " ".join((message.__doc__ or "").split()).replace("*/", "")
    lines = [f"/** {sentence} */", f"export interface {name} {{"]
    is_request = issubclass(message, Request)
    if issubclass(message, Request | Event):
        lines.append(f"  kind: {_literal(message.kind)};")
    for each in dataclasses.fields(message):
        if is_request and each.name == "id":
            continue
        optional = is_request and each.default is not dataclasses.MISSING
        lines.append(f"  {camel(each.name)}{'?' if optional else ''}: {_type(hints[each.name], known)};")
    return "\n".join([*lines, "}\n"])


def _answer(request: type[Request], known: dict[str, type]) -> str:
    return "null" if request.result is None else _type(request.result, known)


def _type(hint: Any, known: dict[str, type]) -> str:
    if hint in TYPESCRIPT_TYPES:
        return TYPESCRIPT_TYPES[hint]
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        if known.setdefault(hint.__name__, hint) is not hint:
            raise TypeError(f"two dataclasses of the messages are called {hint.__name__}")
        return hint.__name__
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _type(inner[0], known)
    if origin is Literal:
        return " | ".join(_literal(value) for value in inner)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(dict.fromkeys(_type(each, known) for each in inner))
    if origin is dict:
        return f"Record<string, {_type(inner[1], known)}>"
    if origin is list or (origin is tuple and inner[1:] == (...,)):
        one = _type(inner[0], known)
        return f"({one})[]" if "|" in one else f"{one}[]"
    if origin is tuple:
        return "[" + ", ".join(_type(each, known) for each in inner) + "]"
    raise TypeError(f"the messages cannot hold {hint}")


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def _union(name: str, members: list[str]) -> str:
    return f"export type {name} =\n  | " + "\n  | ".join(members) + ";\n"


def _frame_constants() -> str:
    pairs = {
        "magic": hex(source.FRAME_MAGIC),
        "header": source.FRAME_HEADER.size,
        "joints": surface.JOINTS_FORM,
        "vertices": surface.VERTICES_FORM,
        "crowd": source.CROWD_FORM,
        "paths": source.PATHS_FORM,
        "graph": source.GRAPH_FORM,
        "ghosts": source.GHOSTS_FORM,
        "pathsStream": source.PATHS_STREAM,
        "graphStream": source.GRAPH_STREAM,
        "ghostsStream": source.GHOSTS_STREAM,
    }
    inner = ", ".join(f"{name}: {value}" for name, value in pairs.items())
    note = "/** Binary frames: the header's size in bytes and the forms; see studio/source.py. */"
    return f"{note}\nexport const FRAME = {{ {inner} }} as const;\n"


def write(place: Path = OUTPUT_PATH) -> None:
    """Write the file of the browser client."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(typescript(), encoding="utf-8")


if __name__ == "__main__":
    write()

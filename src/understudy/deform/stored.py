"""Fitted deformers in a file: arrays and one line of JSON in an npz, never pickle, written whole.

A deformer is a frozen dataclass whose fields are arrays, numbers, words, None, tuples of these, or dataclasses again
(settings, the skin below the corrections). Arrays lie under the path of their field, `skin.weights`; the header
holds the rest and names the classes, which must be those of a registered method's own module.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from understudy.checks import Array, freeze
from understudy.deform import registry
from understudy.deform.deformer import Deformer
from understudy.errors import BadFile, InvalidInput
from understudy.files import written_whole

VERSION = 1
HOMES = ("understudy.deform.", "understudy.character.")


def save(deformer: Deformer, path: str | Path) -> None:
    """Write a fitted deformer, whole or not at all."""
    arrays: dict[str, Array] = {}
    fields = _pack(deformer, "", arrays)
    header = json.dumps({"understudy": "deformer", "version": VERSION, "method": deformer.name, "fields": fields})
    with written_whole(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **{"header": np.array(header), **arrays})  # type: ignore[arg-type]


def load(path: str | Path) -> Deformer:
    """The deformer that `save` wrote, or a sentence that says why not."""
    try:
        with np.load(path, allow_pickle=False) as file:
            content = {name: freeze(file[name]) for name in file.files}
        header = json.loads(str(content.pop("header")))
        if header["understudy"] != "deformer" or header["version"] != VERSION:
            raise ValueError(f"its header is of version {header.get('version')}, not {VERSION}")
        kind = registry.method(header["method"])
        result = _unpack(header["fields"], "", content)
        if not isinstance(result, kind):
            raise ValueError(f"it holds {type(result).__name__}, which is not {header['method']!r}")
    except FileNotFoundError:
        raise BadFile(path, "there is no such file") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise BadFile(path, f"is not a saved deformer: {error}") from None
    return result


def _pack(value: Any, place: str, arrays: dict[str, Array]) -> Any:
    """`value` as JSON, its arrays put aside under their path."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "fiub":
            raise InvalidInput(f"{place} should hold numbers to be saved, but holds {value.dtype}")
        arrays[place] = value
        return {"array": True}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        inner = {name: _pack(getattr(value, name), f"{place}.{name}".lstrip("."), arrays) for name in names}
        return {"class": f"{type(value).__module__}:{type(value).__qualname__}", "fields": inner}
    if isinstance(value, tuple):
        return {"tuple": [_pack(item, f"{place}.{i}", arrays) for i, item in enumerate(value)]}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise InvalidInput(f"{place} should be an array, a number or a word to be saved, but is {type(value).__name__}")


def _unpack(value: Any, place: str, arrays: dict[str, Array]) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[place]
    if "tuple" in value:
        return tuple(_unpack(item, f"{place}.{i}", arrays) for i, item in enumerate(value["tuple"]))
    kind = _class(value["class"])
    fields = {name: _unpack(item, f"{place}.{name}".lstrip("."), arrays) for name, item in value["fields"].items()}
    wanted = {field.name for field in dataclasses.fields(kind)}
    if set(fields) != wanted:
        raise ValueError(f"{kind.__name__} should have the fields {sorted(wanted)}, but has {sorted(fields)}")
    result: Any = object.__new__(
        kind
    )  # as it was checked when it was made; classes may compute their fields in __init__
    for name, item in fields.items():
        object.__setattr__(result, name, item)
    return result


def _class(name: str) -> type:
    """A dataclass of this package's deformers, by its name; nothing else is ever loaded."""
    module, _, path = name.partition(":")
    if not module.startswith(HOMES):
        raise ValueError(f"it names a class from outside: {name!r}")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
        raise ValueError(f"{name!r} is not a dataclass")
    return found

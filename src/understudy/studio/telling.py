"""The document as text. It goes out whole at every step of a scrub, and hardly anything in it is new each time.

Its lists are frozen, so one that is the same object as last time has the same text.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from understudy.studio.document import Document
from understudy.studio.messages.message import camel, plain


class DocumentText:
    """Makes text of documents, and remembers the parts of the last one."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Any, str]] = {}  # field -> its value and text

    def of(self, document: Document) -> str:
        """The document as a JSON object."""
        return "{" + ",".join(self._field(document, each.name) for each in dataclasses.fields(document)) + "}"

    def _field(self, document: Document, name: str) -> str:
        value = getattr(document, name)
        known = self._known.get(name)
        if known is None or known[0] is not value:
            known = self._known[name] = (value, f'"{camel(name)}":{text_of(value)}')
        return known[1]


def text_of(value: Any) -> str:
    """Any part of a message as JSON; numbers are finite."""
    return json.dumps(plain(value), allow_nan=False, separators=(",", ":"))

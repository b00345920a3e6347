"""Files <-> Asset."""

from __future__ import annotations

from understudy.formats.registry import FORMATS, Format, ending_of, format_of, read, readable, write

__all__ = ["FORMATS", "Format", "ending_of", "format_of", "read", "readable", "write"]

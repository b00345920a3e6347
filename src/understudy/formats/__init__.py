"""Reading and writing files as an `Asset`; each format is a module or folder of this package."""

from __future__ import annotations

from understudy.formats.registry import FORMATS, PLACING, Format, ending_of, format_of, read, readable, write

__all__ = ["FORMATS", "PLACING", "Format", "ending_of", "format_of", "read", "readable", "write"]

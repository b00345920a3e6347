"""Files <-> Asset."""

from understudy.formats.registry import FORMATS, Format, by_ending, read, readable, write

__all__ = ["FORMATS", "Format", "by_ending", "read", "readable", "write"]

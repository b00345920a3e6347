"""Files <-> Asset."""

from understudy.formats.registry import FORMATS, Format, by_ending, ending_of, read, readable, write

__all__ = ["FORMATS", "Format", "by_ending", "ending_of", "read", "readable", "write"]

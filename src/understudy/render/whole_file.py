"""Files that appear whole or not at all: written under a temporary name beside the target, then renamed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from understudy.errors import InvalidInput


class WholeFile:
    """A temporary `path` with the target's ending; `finish` puts it in place, `abandon` removes it."""

    def __init__(self, target: str | Path) -> None:
        self.target = Path(target)
        if not self.target.parent.is_dir():
            raise InvalidInput(f"{self.target}: there is no folder {self.target.parent}")
        if self.target.is_dir():
            raise InvalidInput(f"{self.target} is a folder, but a file should be written there")
        self.path = self.target.with_name(f".{self.target.stem}-{token_hex(4)}.partial{self.target.suffix}")

    def finish(self) -> None:
        """Rename to the target, over an older file of that name."""
        self.path.replace(self.target)

    def abandon(self) -> None:
        """Leave nothing behind."""
        self.path.unlink(missing_ok=True)


@contextmanager
def whole_file(target: str | Path) -> Iterator[Path]:
    """Yields a temporary path to write to; it becomes `target` on success and vanishes on any error or interrupt."""
    file = WholeFile(target)
    try:
        yield file.path
        file.finish()
    except BaseException:
        file.abandon()
        raise

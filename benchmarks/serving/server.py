"""A studio in a process of its own, with a dragon that has learned, and what it costs."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

from understudy import cast

TICKS = os.sysconf("SC_CLK_TCK")


def prepared(folder: Path) -> None:
    """A project with the dragon on stage, performing."""
    from understudy.studio.perform.models import copy_into_project, with_model
    from understudy.studio.server import open_all
    from understudy.studio.session import Session

    async def prepare() -> None:
        session = Session(folder)
        await session.start()
        await open_all(session, ["dragon"])
        character = session.document.characters[0].id
        entry = await asyncio.to_thread(copy_into_project, session, cast.model_file("dragon"), character)
        session.change(with_model(session.document, entry), "adopt")
        await session.show(character, "model", entry.id)
        await session.stop()

    asyncio.run(prepare())


class Server:
    """`with Server() as server:` the dragon is live at `server.address`."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.log = Path(self._folder.name) / "log"
        self.began = 0.0

    def __enter__(self) -> Server:
        project = Path(self._folder.name) / "project"
        prepared(project)
        command = [sys.executable, "-m", "understudy", "studio", "--no-browser", "-q", "--port", "0"]
        self.began = time.perf_counter()
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [*command, "--project", str(project)], stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip().rstrip("/")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._folder.cleanup()

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def cpu(self) -> float:
        """Processor seconds that it has used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self) -> float:
        """Resident memory, megabytes."""
        text = Path(f"/proc/{self._process.pid}/status").read_text()
        line = next(line for line in text.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

"""A studio as a user starts it: a process of its own, on a free port, with a project folder of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.data_folder import PROJECT


class Studio:
    """A running server; `kill` and `start` again come back at the same address."""

    def __init__(self, project: Path, *files: str, port: int = 0) -> None:
        self.project, self.files = project, files
        self.port = port
        self.process: subprocess.Popen[str] | None = None
        self.address = ""
        self.start()

    def start(self, *files: str) -> None:
        """Start it, or start it again at the same port."""
        command = [sys.executable, "-m", "understudy", "studio", "--no-browser", "--quiet"]
        command += ["--project", str(self.project), "--port", str(self.port), *(files or self.files)]
        # The server has a log of its own: a pipe that nobody reads would stop it.
        log = (self.project.parent / f"{self.project.name}.log").open("a")
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=PROJECT, env=environment
        )
        log.close()
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http"), self.log()
        self.port = int(self.address.rstrip("/").rsplit(":", 1)[1])

    def log(self) -> str:
        """What the server said."""
        return (self.project.parent / f"{self.project.name}.log").read_text()

    def kill(self) -> None:
        """As a power cut would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self._gone()

    def stop(self) -> None:
        """As Ctrl+C would."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
            self._gone()

    def _gone(self) -> None:
        assert self.process is not None
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process = None

"""Damaged files by the thousand, read in child processes, so that a crash or a hang is a finding and not the end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.data_folder import PROJECT
from tests.fuzz.worker import kept

# Ten times the law of the worker: it measures processor time, this is wall time on a machine that may be busy.
PATIENCE = 20.0
WARM_UP = 120.0  # seconds until the first file, for imports and compilation


@dataclass
class Findings:
    """What came of the files of one ending."""

    ending: str
    read: int = 0
    refused: int = 0
    grown: int = 0  # bytes of memory
    slowest: float = 0.0  # seconds of processor time
    wrongs: list[tuple[int, str, str]] = field(default_factory=list)  # number, where the file was kept, what happened

    @property
    def total(self) -> int:
        """How many files were read, refused or went wrong."""
        return self.read + self.refused + len({number for number, _, _ in self.wrongs})

    def report(self) -> str:
        """One line, then the first wrongs in full."""
        head = (
            f"{self.ending}: {self.read} read, {self.refused} refused, {len(self.wrongs)} wrong, "
            f"slowest {self.slowest:.2f} s, memory +{self.grown / 1e6:.0f} MB"
        )
        return "\n".join([head, *(f"file {number}, kept as {kept}:\n{what}" for number, kept, what in self.wrongs[:5])])


def fuzz(seed_folder: Path, case_folder: Path, ending: str, count: int) -> Findings:
    """Read `count` damaged files; after a crash or a hang the next process goes on behind that file."""
    findings, start = Findings(ending), 0
    while start < count:
        progress = case_folder / "progress"
        progress.unlink(missing_ok=True)
        with (case_folder / "stderr").open("wb") as errors:
            order = [sys.executable, "-m", "tests.fuzz.worker", seed_folder, case_folder, ending, start, count]
            child = subprocess.Popen([str(item) for item in order], cwd=PROJECT, stdout=subprocess.PIPE, stderr=errors)
            output, hung = _wait(child, progress)
        if child.returncode == 0 and not hung:
            _add(findings, json.loads(output.splitlines()[-1]))
            return findings
        if not progress.exists():
            raise RuntimeError(
                "the worker failed before the first file:\n" + (case_folder / "stderr").read_text()[-4000:]
            )
        number = int(progress.read_text())
        keep = kept((case_folder / f"case{ending}").read_bytes(), number, ending)
        what = f"did not end within {PATIENCE} s" if hung else f"ended the process: {_ending_of(child.returncode)}"
        findings.wrongs.append((number, str(keep), what + "\n" + (case_folder / "stderr").read_text()[-1000:]))
        findings.read += number - start  # nothing else is known of those before it, but that they did no harm
        if len(findings.wrongs) >= 20:
            break
        start = number + 1
    return findings


def _add(findings: Findings, outcome: dict) -> None:
    findings.read += outcome["read"]
    findings.refused += outcome["refused"]
    findings.grown = max(findings.grown, outcome["grown"])
    findings.slowest = max(findings.slowest, outcome["slowest"])
    findings.wrongs.extend((number, kept, what) for number, kept, what in outcome["wrongs"])


def _wait(child: subprocess.Popen[bytes], progress: Path) -> tuple[bytes, bool]:
    """The child's output, and whether it had to be stopped because it stayed with one file for too long."""
    last, since = None, time.monotonic()
    while True:
        try:
            return child.communicate(timeout=0.5)[0], False
        except subprocess.TimeoutExpired:
            now = progress.read_text() if progress.exists() else None
            if now != last:
                last, since = now, time.monotonic()
            if time.monotonic() - since > (WARM_UP if last is None else PATIENCE):
                child.kill()
                return child.communicate()[0], True


def _ending_of(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit {code}"

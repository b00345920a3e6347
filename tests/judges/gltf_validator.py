"""What the Khronos glTF validator says about files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.judges.node import run_script

SEVERITIES = ("error", "warning", "info", "hint")


@dataclass(frozen=True)
class Verdict:
    """The validator's counts for one file, and its messages (at most 200), one line each."""

    path: Path
    errors: int
    warnings: int
    infos: int
    hints: int
    messages: tuple[str, ...]

    def lines(self, severity: str) -> list[str]:
        """The messages of one severity."""
        return [line for line in self.messages if line.startswith(severity)]


def validate(paths: Sequence[Path]) -> list[Verdict]:
    """Every file, in one Node process."""
    answers = run_script("gltf_validate.mjs", [str(path) for path in paths])
    return [
        Verdict(
            path,
            answer["errors"],
            answer["warnings"],
            answer["infos"],
            answer["hints"],
            tuple(
                f"{SEVERITIES[m['severity']]} {m['code']} at {m.get('pointer', '?')}: {m['message']}"
                for m in answer["messages"]
            ),
        )
        for path, answer in zip(paths, answers, strict=True)
    ]

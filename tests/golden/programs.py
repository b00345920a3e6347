"""The five jobs run through the command line with fixed seeds, and what came out: hashes and a few numbers.

`python -m tests.golden.programs OUT.json` records them. Two records of one machine are compared bit by bit (`sha256`);
other processors round differently, so the test compares the numbers.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

EDITS = """
[[edit]]
point = "Head"
time = 3.7
by = [0.0, 0.08, 0.0]
pins = ["Base"]
"""
PROGRAMS: dict[str, tuple[tuple[str, ...], ...]] = {
    "perform": (
        ("learn", "lamp", "-o", "lamp.understudy"),
        ("perform", "lamp.understudy", "{cast}/scenes/lamp.toml", "-o", "perform.npz", "--seed", "1"),
    ),
    "edit": (
        ("edit", "lamp", "edits.toml", "--clip", "curious", "-o", "edited.glb"),
        ("bake", "edited.glb", "-o", "edit.npz"),
    ),
    "reduce": (
        ("reduce", "actor", "--clip", "fear", "--tolerance", "20", "-o", "reduced.glb"),
        ("bake", "reduced.glb", "-o", "reduce.npz"),
    ),
    "express": (
        ("express", "build", "face", "-o", "face.understudy"),
        ("express", "act", "face.understudy", "fear", "surprise", "--seed", "1", "-o", "act.glb"),
        ("bake", "act.glb", "-o", "express.npz"),
    ),
    "transfer": (("transfer", "actor", "--clip", "surprise", "--to", "lamp", "-o", "transfer.npz"),),
    "deform": (("skin", "fit", "arm", "--method", "eigenskin", "-o", "deform.npz"),),
}


def run(job: str, folder: Path) -> dict[str, object]:
    """Run the commands of one job in a folder; the hash and the numbers of the last file that it writes."""
    import understudy

    cast = Path(understudy.__file__).parent / "cast"
    (folder / "edits.toml").write_text(EDITS, encoding="utf-8")
    for words in PROGRAMS[job]:
        command = [sys.executable, "-m", "understudy", *(word.format(cast=cast) for word in words), "-q"]
        one_thread = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # sums of two threads differ from run to run by 1e-13
        done = subprocess.run(command, cwd=folder, env=one_thread, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)} failed: {done.stderr}")
    return summary(folder / PROGRAMS[job][-1][PROGRAMS[job][-1].index("-o") + 1])


def summary(path: Path) -> dict[str, object]:
    """A file of arrays as one hash over all numbers, and mean, spread, first and last of each of them."""
    digest, numbers = hashlib.sha256(), {}
    with np.load(path, allow_pickle=False) as file:
        for name in sorted(file.files):
            values = file[name]
            if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
                continue  # names and headers, which say where a class lives
            digest.update(f"{name} {values.dtype} {values.shape}".encode() + np.ascontiguousarray(values).tobytes())
            flat = values.astype(float).ravel()
            numbers[name] = [list(values.shape), *(float(x) for x in (flat.mean(), flat.std(), flat[0], flat[-1]))]
    return {"sha256": digest.hexdigest(), "numbers": numbers}


def main() -> None:
    """Record all jobs into the file that the command line names."""
    with tempfile.TemporaryDirectory() as folder:
        record = {job: run(job, Path(folder)) for job in PROGRAMS}
        Path(sys.argv[1]).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

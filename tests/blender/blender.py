"""Blender as a Python module in an environment of its own, and what it shows of a file.

Run as a program (`python tests/blender/blender.py`), this makes the environment.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
FOLDER = Path(os.environ.get("UNDERSTUDY_BLENDER_VENV", HERE.parents[1] / ".venv-blender"))
BPY = "bpy==5.0.1"
PYTHON = (3, 11)  # the only version that this bpy is built for

Floats = NDArray[np.float64]
# our world (Y up) from Blender's (Z up)
OURS_FROM_BLENDER = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])


@dataclass(frozen=True)
class Order:
    """A file to open, the animation to play (None: the importer's choice), its rate, and the frames to look at."""

    path: Path
    clip: str | None
    rate: float
    frames: Sequence[float]


@dataclass(frozen=True)
class Shown:
    """What Blender shows, brought into our world."""

    meshes: dict[str, Floats]  # by object name, each (M, V, 3)
    bones: dict[str, Floats]  # by bone name, each (M, 4, 4)
    bones_rest: dict[str, Floats]  # each (4, 4)
    objects: dict[str, Floats]  # each (M, 4, 4)


def ensure_blender() -> Path:
    """The Python that has Blender; made on first use."""
    python = FOLDER / "bin" / "python"
    if not any(FOLDER.glob("lib/python*/site-packages/bpy")):
        base = sys.executable if sys.version_info[:2] == PYTHON else shutil.which("python{}.{}".format(*PYTHON))
        if base is None:
            raise RuntimeError("{} needs Python {}.{}".format(BPY, *PYTHON))
        subprocess.run([base, "-m", "venv", "--clear", str(FOLDER)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", BPY], check=True)
    return python


def look(orders: Sequence[Order], folder: Path) -> list[Shown]:
    """Every order, each in an empty scene, in one Blender process; files go through `folder`."""
    outputs = [folder / f"shown_{i}.npz" for i in range(len(orders))]
    jobs = [
        {
            "file": str(order.path),
            "output": str(output),
            "clip": order.clip,
            "rate": order.rate,
            "frames": [float(frame) for frame in order.frames],
        }
        for order, output in zip(orders, outputs)
    ]
    (folder / "order.json").write_text(json.dumps(jobs))
    # a clean environment: Blender's Python must not find our packages
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [str(ensure_blender()), str(HERE / "evaluate.py"), str(folder / "order.json")],
        capture_output=True,
        text=True,
        env=inherited,
        timeout=600,
    )
    if done.returncode:
        raise RuntimeError(f"Blender failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return [_shown(output) for output in outputs]


def _shown(path: Path) -> Shown:
    turn = OURS_FROM_BLENDER
    with np.load(path) as stored:
        meshes = {str(name): stored[f"mesh_{i}"] @ turn[:3, :3].T for i, name in enumerate(stored["mesh_names"])}
        bones = {str(name): turn @ stored["bones"][:, i] for i, name in enumerate(stored["bone_names"])}
        rest = {str(name): turn @ stored["bones_rest"][i] for i, name in enumerate(stored["bone_names"])}
        # objects, unlike bones, are turned within their own space as well
        back = np.linalg.inv(turn)
        objects = {str(name): turn @ stored["objects"][:, i] @ back for i, name in enumerate(stored["object_names"])}
    return Shown(meshes, bones, rest, objects)


if __name__ == "__main__":
    ensure_blender()

"""A small character file, made by our own writer, and the command line as a function."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.cli.acrobat import acrobat

from understudy.character import Asset, Channel, Character, Curve, Curves, Mesh, Part, Shapes, Skeleton, SkinBinding
from understudy.cli.app import run
from understudy.formats import write
from understudy.maths import quaternion


def flag() -> Asset:
    """A flag of two triangles on a pole of two joints, that bends for a second and waves a shape."""
    skeleton = Skeleton(["pole", "tip"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    shapes = Shapes(["wave"], [[[0, 0, 0], [0, 0, 0.1], [0, 0, 0.2], [0, 0, 0]]])
    mesh = Mesh("cloth", [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]], shapes=shapes)
    binds = np.tile(np.eye(4), (2, 1, 1))
    binds[1, 1, 3] = -1
    skin = SkinBinding([0, 1], binds, [[0, 1]] * 4, [[1, 0], [1, 0], [0, 1], [0, 1]])
    turns = quaternion.from_rotation_vector(np.outer(np.linspace(0, 1, 25), [0.0, 0.0, 1.0]))
    bend = Curve(Channel("tip", "rotation"), np.arange(25) / 24, turns)
    wave = Curve(Channel("cloth", "weights", ("wave",)), [0, 1], [[0], [1]])
    return Asset([Character("flag", skeleton, [Part("cloth", mesh, skin)])], curves=[Curves("bend", [bend, wave])])


@pytest.fixture
def flag_file(tmp_path: Path) -> Path:
    """The flag as a GLB file."""
    path = tmp_path / "flag.glb"
    write(flag(), path)
    return path


@pytest.fixture
def understudy(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., tuple[int, bytes, str]]:
    """Run the command line: (exit code, standard output, standard error)."""

    def call(*words: str | Path) -> tuple[int, bytes, str]:
        code = run([str(word) for word in words])
        out, err = capfdbinary.readouterr()
        return code, out, err.decode()

    return call


@pytest.fixture(scope="session")
def acrobat_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A character with three short clips as a GLB file."""
    path = tmp_path_factory.mktemp("acrobat") / "acrobat.glb"
    write(acrobat(), path)
    return path


@pytest.fixture(scope="session")
def acrobat_model(acrobat_file: Path) -> Path:
    """The model that was learned from it."""
    path = acrobat_file.with_suffix(".understudy")
    assert run(["learn", str(acrobat_file), "-o", str(path), "-q"]) == 0
    return path

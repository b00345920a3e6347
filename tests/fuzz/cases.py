"""One damaged file for each number: the same number gives the same file, on any machine with the same seed files."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.fuzz.mutations import BYTES, TEXT, damage
from tests.fuzz.structured import damaged_fbx, damaged_glb, damaged_gltf, damaged_npz

STRUCTURED = {
    **{".glb": damaged_glb, ".gltf": damaged_gltf, ".npz": damaged_npz, ".curves.json": damaged_gltf},
    **{".vrm": damaged_glb, ".vrma": damaged_glb, ".fbx": damaged_fbx, ".understudy": damaged_npz},
}
BINARY = (".c3d", ".usdc", ".usdz", ".usd")


def damaged_file(seeds: list[bytes], ending: str, number: int) -> bytes:
    """The damaged file of that number."""
    rng = Random(f"{ending} {number}")
    seed = seeds[number % len(seeds)]
    if ending in STRUCTURED:
        return STRUCTURED[ending](seed, rng)
    return damage(seed, rng, BYTES if ending in BINARY else TEXT)


def read_seeds(folder: Path, ending: str) -> list[bytes]:
    """The seed files of one ending that lie in a folder."""
    return [path.read_bytes() for path in sorted(folder.glob(f"*{ending}"))]

"""The pairs that transfers are measured on: the cast's, and six of real motions with real characters.

The motions are of a man who plays animals (CMU 79_*), the characters have clips of their own (Quaternius). The tables
beside this file say which moment of a clip belongs to which frame; they were made by hand, after looking at both. The
files are not part of the project: `real/characters.py` says where it looks for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from benchmarks.real.characters import DATA

from understudy import cast, formats
from understudy.character import Asset
from understudy.character.body.markers import markers_of
from understudy.character.body.mass import Body, body_of
from understudy.transfer.mapping import fit_mapping
from understudy.transfer.pairs import PosePairs, read_pairs, sources_of
from understudy.transfer.physics.spring_limbs import drag_limbs, limbs_by_name
from understudy.transfer.pipeline import TransferTarget, prepare_target
from understudy.transfer.source import SourceMotion, source_of

HERE = Path(__file__).resolve().parent
CHARACTERS = ("lamp", "penguin", "squirrel")
REAL = {
    "dog_husky": ("bvh_cmu/79_53.bvh", "gltf_quaternius/animals_pack_Husky.glb"),
    "trex_trex": ("bvh_cmu/79_56.bvh", "gltf_quaternius/dinosaurs_pack_Trex.glb"),
    "horse_horse": ("bvh_cmu/79_65.bvh", "gltf_quaternius/animals_pack_Horse.glb"),
    "mouse_rat": ("bvh_cmu/79_50.bvh", "gltf_quaternius/easy_enemies_pack_Rat.glb"),
    "snake_snake": ("bvh_cmu/79_54.bvh", "gltf_quaternius/easy_enemies_pack_Snake.glb"),
    "penguin_enemy": ("bvh_cmu/79_64.bvh", "gltf_quaternius/platformer_game_pack_Enemy.glb"),
}


@dataclass(frozen=True, eq=False)
class Case:
    """One actor, one character, and their pairs."""

    name: str
    asset: Asset  # of the character
    motions: dict[str, SourceMotion]  # at the motions' own rates
    source_body: Body
    pairs: PosePairs

    @property
    def height(self) -> float:
        """Metres, of the character as it was posed."""
        return float(np.ptp(self.pairs.target[..., 1]))

    @property
    def limits(self) -> dict[str, dict[str, tuple[float, float]]] | None:
        """How far joints turn."""
        return cast.limits(self.name) or None if self.name in CHARACTERS else None

    def stage(self) -> TransferTarget:
        """The character made ready, with the shared model."""
        target = self.asset.character()
        return prepare_target(
            target,
            self.pairs,
            fit_mapping(self.pairs),
            limits=self.limits,
            springs=(*limbs_by_name(target), *drag_limbs(target)),
        )


@cache
def actor() -> tuple[dict[str, SourceMotion], Body]:
    """The actor's six emotions."""
    return sources_of(cast.load("actor"), "actor"), cast.body("actor")


@cache
def cast_case(name: str) -> Case:
    """A member of the cast."""
    motions, body = actor()
    asset = cast.load(name)
    return Case(name, asset, motions, body, _pairs(Path(cast.pairs(name)), motions, asset))


@cache
def real_case(name: str) -> Case:
    """A real motion and a real character."""
    motion, character = (formats.read(DATA / file) for file in REAL[name])
    motions = {Path(REAL[name][0]).stem: source_of(motion)}
    pairs = _pairs(HERE / f"{name}.toml", motions, character)
    return Case(name, character, motions, body_of(motion.character()), pairs)


def names() -> list[str]:
    """Of all of them; those of real files where the files are."""
    return [*CHARACTERS, *(name for name, files in REAL.items() if all((DATA / file).is_file() for file in files))]


def case_of(name: str) -> Case:
    """One of `names`."""
    return cast_case(name) if name in CHARACTERS else real_case(name)


def _pairs(path: Path, motions: dict[str, SourceMotion], asset: Asset) -> PosePairs:
    target = asset.character()
    markers = markers_of(target, skip=[limb.joints[0] for limb in limbs_by_name(target)])
    return read_pairs(path, motions, target, markers=markers, own=asset)

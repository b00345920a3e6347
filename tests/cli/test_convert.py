"""`convert`: files, folders, standard output, what is lost."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path

from understudy import cast
from understudy.formats import read


def test_to_another_format_and_back(understudy, flag_file: Path, tmp_path: Path) -> None:
    assert understudy("convert", flag_file, "-o", tmp_path / "again.gltf")[0] == 0
    assert read(tmp_path / "again.gltf").animation("bend").key_count == 27


def test_what_is_lost_is_said(understudy, flag_file: Path, tmp_path: Path) -> None:
    code, out, _ = understudy("convert", flag_file, "-o", tmp_path / "flag.bvh", "--json")
    assert code == 0
    notes = " ".join(json.loads(out)["notes"])
    assert "mesh" in notes and ("shape" in notes or "weights" in notes)


def test_dry_run_writes_nothing(understudy, flag_file: Path, tmp_path: Path) -> None:
    assert understudy("convert", flag_file, "-o", tmp_path / "x.gltf", "--dry-run")[0] == 0
    assert not (tmp_path / "x.gltf").exists()


def test_dry_run_says_what_writing_would(understudy, flag_file: Path, tmp_path: Path) -> None:
    code, out, _ = understudy("convert", flag_file, "-o", tmp_path / "x.bvh", "--dry-run", "--json")
    assert code == 0 and "mesh" in " ".join(json.loads(out)["notes"])
    code, _, err = understudy("convert", flag_file, "-o", tmp_path / "x.obj", "--dry-run")
    assert code == 1 and f"{tmp_path / 'x.obj'}: " in err


def test_files_that_differ_by_ending_keep_their_own_output(understudy, flag_file: Path, tmp_path: Path) -> None:
    assert understudy("convert", flag_file, "-o", flag_file.with_suffix(".gltf"))[0] == 0
    assert understudy("convert", flag_file.parent, "-o", tmp_path / "out", "--to", "bvh")[0] == 0
    assert sorted(path.name for path in (tmp_path / "out").glob("*.bvh")) == ["flag.bvh", "flag.gltf.bvh"]


def test_a_folder_converted_in_place_keeps_its_sources(understudy, flag_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(flag_file, folder)
    assert understudy("convert", flag_file, "-o", folder / "flag.bvh")[0] == 0
    assert understudy("convert", folder, "-o", folder, "--to", "glb")[0] == 0
    assert read(folder / "flag.glb").characters[0].vertex_count == 4
    assert (folder / "flag.bvh.glb").exists()


def test_a_name_without_ending_is_a_folder_with_to(understudy, flag_file: Path, tmp_path: Path) -> None:
    assert understudy("convert", flag_file, "-o", tmp_path / "new", "--to", "gltf")[0] == 0
    assert (tmp_path / "new" / "flag.gltf").exists()
    assert understudy("convert", flag_file, "-o", tmp_path / "x.bvh", "--to", "glb")[0] == 2


def test_folder_to_folder(understudy, flag_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert understudy("convert", flag_file.parent, "-o", out, "--to", "gltf")[0] == 0
    assert (out / "flag.gltf").exists()
    assert understudy("convert", flag_file.parent, "-o", out)[0] == 2


def test_standard_output(understudy, flag_file: Path) -> None:
    code, out, _ = understudy("convert", flag_file, "-o", "-", "--to", "glb", "-q")
    assert code == 0 and out[:4] == b"glTF"


def test_chosen_clip_and_rate(understudy, flag_file: Path, tmp_path: Path) -> None:
    assert understudy("convert", flag_file, "-o", tmp_path / "x.glb", "--clip", "bend", "--rate", "12")[0] == 0
    assert len(read(tmp_path / "x.glb").animation("bend").curves[0]) == 13


def test_formats_that_are_only_read(understudy, flag_file: Path, tmp_path: Path) -> None:
    code, _, err = understudy("convert", flag_file, "-o", tmp_path / "x.c3d")
    assert code == 1 and "read but not written" in err


def test_layers_are_baked_and_the_error_is_told(understudy, tmp_path: Path) -> None:
    code, _, err = understudy("convert", "dragon", "-o", tmp_path / "dragon.glb", "--clip", first_clip())
    assert code == 0
    assert "note: the 742 controls of 'dragon' became joints and" in err
    assert "largest error" in err and "% of the height" in err
    asset = read(tmp_path / "dragon.glb")
    assert "mouth.smile.L" in asset.characters[0].shapes["Skin"]
    assert [animation.name for animation in asset.animations] == [first_clip()]


def test_layers_in_files_of_joints_and_of_vertices(understudy, tmp_path: Path) -> None:
    assert understudy("convert", "dragon", "-o", tmp_path / "dragon.bvh", "--clip", first_clip())[0] == 0
    assert "Head" in read(tmp_path / "dragon.bvh").characters[0].skeleton
    assert understudy("convert", "dragon", "-o", tmp_path / "dragon.npz", "--clip", first_clip())[0] == 0
    assert read(tmp_path / "dragon.npz").characters[0].vertex_count == cast.load("dragon").characters[0].vertex_count


@cache
def first_clip() -> str:
    return cast.load("dragon").animations[0].name


def test_a_character_that_lies_is_turned_and_scaled(understudy, tmp_path: Path) -> None:
    """Up, facing and scale are those of the file; what is written stands along +Y, looks along +Z, in metres."""
    (tmp_path / "box.obj").write_text("v 0 0 0\nv 100 0 0\nv 0 0 300\nf 1 2 3\n")
    words = ("--up", "z", "--facing", "-y", "--scale", "0.01")
    code, _, _ = understudy("convert", tmp_path / "box.obj", "-o", tmp_path / "box.glb", *words)
    assert code == 0
    code, out, _ = understudy("bake", tmp_path / "box.obj", "-o", tmp_path / "box.npz", *words)
    assert code == 0
    for name in ("box.glb", "box.npz"):
        code, out, _ = understudy("info", tmp_path / name, "--json")
        assert json.loads(out)["characters"][0]["height"] == 3.0
    assert understudy("convert", tmp_path / "box.obj", "-o", tmp_path / "x.glb", "--up", "w")[0] == 2

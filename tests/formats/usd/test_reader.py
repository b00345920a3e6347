"""What a file may be made of, and what is said of files that are damaged."""

from __future__ import annotations

import os

import numpy as np
import pytest
from tests.formats.usd.cases import random_asset
from tests.formats.usd.scenes import SCENE, changed, write_text

from understudy.errors import BadFile, Unsupported
from understudy.formats import read, write

pytest.importorskip("pxr")
from understudy.formats.usd import library


def test_the_scene_itself_is_sound(tmp_path):
    asset = read(write_text(tmp_path, SCENE))
    character = asset.characters[0]
    assert character.skeleton.names == ("hip", "knee")
    assert character.parts[0].mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert asset.curves[0].duration == 1.0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[0, 0, 1, 1] (", "[0, 0, 1, 2] (", "jointIndices should lie between 0 and 1, but hold 2"),
        ("[0, 0, 1, 1] (", "[0, 0, 1, -1] (", "jointIndices should lie between 0 and 1, but hold -1"),
        ("[0, 0, 1, 1] (", "[0, 0, 1] (", "same length"),
        ("[1, 1, 1, 1] (", "[1, 1, 1, -1] (", "not negative"),
        ("[0, 1, 2, 3]", "[0, 1, 2, 4]", "faceVertexIndices should lie between 0 and 3, but hold 4"),
        ("Counts = [4]", "Counts = [3]", "faceVertexCounts should sum to"),
        ("Counts = [4]", "Counts = [1000000000]", "faceVertexCounts should sum to"),
        ("[(0,-1,0)]", "[(0,-1,0), (0,0,0)]", "translations should hold 1 values"),
        ("0: [(1,0,0,0)]", "0: [(nan,0,0,0)]", "rotations should hold finite numbers"),
        ("0: [(1,0,0,0)]", "0: [(0,0,0,0)]", "unit quaternions"),
        ('"hip", "hip/knee"', '"hip", "hip"', "distinct paths"),
        ("(0,1,0,1)),", "(inf,1,0,1)),", "bindTransforms should hold finite numbers"),
        ("((1,0,0,0),(0,1,0,0)", "((0,0,0,0),(0,1,0,0)", "no inverse"),
        ("metersPerUnit = 1", "metersPerUnit = 0", "metersPerUnit should be above zero"),
        ('def Mesh "Skin"', 'def Mesh "Skin', "line 3[0-9]"),
        ("point3f[] points = [(0,0,0)", "point3f[] points = [(0,0,1e39)", "finite"),
        ("point3f[] points", "string[] points", "points"),
    ],
)
def test_one_sentence_for_each_fault(tmp_path, capfd, old, new, said):
    with pytest.raises(BadFile, match=said) as caught:
        read(write_text(tmp_path, changed((old, new))))
    assert "file.usda" in str(caught.value) and "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_the_library_says_nothing_of_its_own(tmp_path, capfd):
    read(write_text(tmp_path, changed(('def Mesh "Skin" (', 'def Mesh "Skin" (\n references = @./absent.usda@'))))
    assert capfd.readouterr() == ("", "")


def test_layers_beside_are_composed_and_absent_ones_noted(tmp_path):
    write_text(tmp_path, SCENE, "character.usda")
    over = "#usda 1.0\n( subLayers = [@./character.usda@, @./absent.usda@] )\n"
    asset = read(write_text(tmp_path, over, "shot.usda"))
    assert asset.characters[0].skeleton.names == ("hip", "knee")
    assert any("absent.usda" in note for note in asset.notes)


@pytest.mark.parametrize("arc", ["references", "payload"])
def test_layers_elsewhere_are_refused(tmp_path, arc):
    inner = tmp_path / "inner"
    inner.mkdir()
    write_text(tmp_path, SCENE, "character.usda")
    text = f'#usda 1.0\ndef "Root" ( {arc} = @../character.usda@</Root> ) {{ }}\n'
    with pytest.raises(Unsupported, match="outside its folder"):
        read(write_text(inner, text))


def test_value_clips_are_refused(tmp_path):
    clips = """def Mesh "Skin" (
        clips = {
            dictionary default = {
                asset[] assetPaths = [@/etc/passwd@]
                string primPath = "/Root"
            }
        }"""
    with pytest.raises(Unsupported, match="value clips"):
        read(write_text(tmp_path, changed(('def Mesh "Skin" (', clips))))


def test_a_binary_layer_behind_a_text_layer_is_tried_first(tmp_path, monkeypatch):
    write(random_asset(np.random.default_rng(0)), tmp_path / "character.usdc")
    shot = write_text(tmp_path, "#usda 1.0\n( subLayers = [@./character.usdc@] )\n", "shot.usda")
    trials = []
    start = library.start_trial
    monkeypatch.setattr(library, "start_trial", lambda path: trials.append(path) or start(path))
    assert read(shot).characters
    assert trials == [shot]


def test_nothing_to_read_is_told(tmp_path):
    with pytest.raises(Unsupported, match="no skeleton, mesh or skeletal animation"):
        read(write_text(tmp_path, '#usda 1.0\ndef Xform "Empty" { }\n'))


@pytest.mark.parametrize("content", [b"", b"PXR-USDC", b"PK\x03\x04", b"hello", os.urandom(300)])
@pytest.mark.parametrize("ending", [".usda", ".usdc", ".usdz"])
def test_other_files_are_refused(tmp_path, capfd, content, ending):
    path = tmp_path / f"file{ending}"
    path.write_bytes(content)
    with pytest.raises(BadFile):
        read(path)
    assert capfd.readouterr() == ("", "")


def test_a_file_that_changed_is_read_anew(tmp_path):
    path = write_text(tmp_path, SCENE)
    first = read(path)
    os.utime(write_text(tmp_path, SCENE.replace("knee", "foot")), (2e9, 2e9))
    assert first.characters[0].skeleton.names[1] == "knee"
    assert read(path).characters[0].skeleton.names[1] == "foot"


def test_a_name_that_is_not_utf8_is_written_but_not_read(tmp_path):
    """The library writes under a temporary name, and reads the file itself."""
    path = tmp_path / os.fsdecode(b"caf\xe9.usda")
    write(random_asset(np.random.default_rng(0)), path)
    assert path in tmp_path.iterdir()
    with pytest.raises(Unsupported, match="not UTF-8"):
        read(path)

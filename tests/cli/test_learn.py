"""`learn` and `info` of a model: one file that holds everything, labels as asked, nothing left behind, one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from understudy.errors import BadFile
from understudy.formats import read
from understudy.perform.pose_model import open_model


def test_a_label_a_clip_name(acrobat_model: Path) -> None:
    opened = open_model(acrobat_model)
    assert opened.model.labels == ("bow", "sway", "shake")
    assert opened.character.name == "acrobat"
    assert not Path(f"{acrobat_model}.part").exists()  # what was kept for a restart is gone


def test_the_model_holds_its_character(acrobat_file: Path, acrobat_model: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "moved.understudy"
    elsewhere.write_bytes(acrobat_model.read_bytes())
    rig = open_model(elsewhere).rig
    assert rig.character.vertex_count == read(acrobat_file).character().vertex_count
    assert rig.channels == open_model(acrobat_model).rig.channels


def test_info_shows_what_was_learned(understudy, acrobat_model: Path) -> None:
    code, out, _ = understudy("info", acrobat_model, "--json")
    told = json.loads(out)
    assert code == 0
    assert (told["format"], told["character"]) == ("model", "acrobat")
    assert [(row["label"], row["clips"], row["frames"]) for row in told["labels"]] == [
        ("bow", ["bow"], 30),
        ("sway", ["sway"], 36),
        ("shake", ["shake"], 32),
    ]
    assert {row["kind"] for row in told["labels"]} <= {"cycle", "act"}  # clips of a second are no moods
    assert told["unsure"] == [row["label"] for row in told["labels"] if row["certainty"] < 0.8]
    assert sum(value if isinstance(value, int) else len(value) for value in told["routes"].values()) == 0
    assert told["bytes"] == acrobat_model.stat().st_size
    code, out, _ = understudy("info", acrobat_model)
    assert code == 0 and b"sway" in out and b"kind" in out


def test_only_some_labels(understudy, acrobat_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.understudy"
    code, out, _ = understudy("learn", acrobat_file, "-o", path, "--label", "sway", "--dimensions", "2", "--json")
    told = json.loads(out)
    assert code == 0
    assert [row["label"] for row in told["labels"]] == ["sway"]
    assert told["latent_dimensions"] == 2 and told["output"] == str(path)
    assert open_model(path).model.labels == ("sway",)


def test_a_library_groups_clips_under_labels(understudy, acrobat_file: Path, tmp_path: Path) -> None:
    library = tmp_path / "troupe.toml"
    library.write_text(
        f'character = "{acrobat_file}"\nrate = 24\n[labels]\nbody = ["bow", "sway"]\nhead = "shake"\n'
        '[poses]\nlow = "bow@0.5"\n'
    )
    code, out, err = understudy("learn", library, "-o", tmp_path / "x.understudy", "--json")
    assert code == 0, err
    assert [(row["label"], len(row["clips"])) for row in json.loads(out)["labels"]] == [("body", 2), ("head", 1)]
    assert b"not sure" not in out  # fields, no sentences
    assert list(open_model(tmp_path / "x.understudy").model.poses) == ["low"]


def test_a_folder_is_learned_file_by_file(understudy, acrobat_file: Path, tmp_path: Path) -> None:
    troupe = tmp_path / "troupe"
    troupe.mkdir()
    (troupe / "a.glb").write_bytes(acrobat_file.read_bytes())
    (troupe / "b.glb").write_bytes(b"not a file")
    code, out, err = understudy("learn", troupe, "-o", tmp_path / "out", "--label", "bow", "--json")
    told = json.loads(out)
    assert code == 1 and "b.glb" in err
    assert "error" in told[1] and told[0]["labels"][0]["label"] == "bow"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.understudy", "manifest.jsonl"]


def test_standard_output(understudy, acrobat_file: Path, tmp_path: Path) -> None:
    code, out, _ = understudy("learn", acrobat_file, "-o", "-", "--label", "bow", "-q")
    assert code == 0
    (tmp_path / "x.understudy").write_bytes(out)
    assert open_model(tmp_path / "x.understudy").model.labels == ("bow",)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--label", "dance"], 1, "there is no label 'dance'; available: 'bow', 'sway', 'shake'"),
        (["--share", "2"], 2, "--share"),
        (["--dimensions", "0"], 2, "--dimensions"),
        (["--cluster", "moon"], 1, "'dask'"),
    ],
)
def test_bad_options(understudy, acrobat_file: Path, tmp_path: Path, words: list[str], code: int, said: str) -> None:
    found, _, err = understudy("learn", acrobat_file, "-o", tmp_path / "x.understudy", *words)
    assert found == code and said in err and "Traceback" not in err
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_learned(understudy, acrobat_file: Path, tmp_path: Path) -> None:
    assert understudy("learn", acrobat_file, "-o", tmp_path / "x.glb")[0] == 2
    code, _, err = understudy("learn", acrobat_file, "-o", tmp_path / "none" / "x.understudy")
    assert code == 1 and "there is no folder" in err
    library = tmp_path / "l.toml"
    library.write_text(f'character = "{acrobat_file}"\n[labels]\nhappy = ["jump"]\n')
    code, _, err = understudy("learn", library, "-o", tmp_path / "x.understudy")
    assert code == 1 and "l.toml" in err and "jump" in err


def test_an_interruption_says_how_to_go_on(understudy, acrobat_file: Path, tmp_path: Path, monkeypatch) -> None:
    from understudy.perform import training

    def stop(*given, **named):
        (Path(f"{tmp_path / 'x.understudy'}.part") / "bow.space").write_bytes(b"learned")
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "fit_library", stop)
    code, _, err = understudy("learn", acrobat_file, "-o", tmp_path / "x.understudy")
    assert code == 130 and "goes on from there" in err
    assert (tmp_path / "x.understudy.part").is_dir() and not (tmp_path / "x.understudy").exists()


def test_files_that_are_no_models(acrobat_model: Path, tmp_path: Path) -> None:
    data = acrobat_model.read_bytes()
    cut = tmp_path / "cut.understudy"
    cut.write_bytes(data[: len(data) // 2])
    other = tmp_path / "other.understudy"
    other.write_text("not a model")
    for path in (cut, other, tmp_path / "absent.understudy", tmp_path / "x.glb"):
        with pytest.raises(BadFile) as caught:
            open_model(path)
        assert path.name in str(caught.value)


def test_a_model_of_another_character(acrobat_model: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    model = open_model(acrobat_model).model
    path = tmp_path / "swapped.understudy"
    replace(model, cast="lamp", embedded=b"").save(path)
    with pytest.raises(BadFile, match=r"swapped.understudy: .*another character.*'lamp'"):
        open_model(path)


def test_a_cluster_learns_the_same(understudy, acrobat_file: Path, acrobat_model: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    path = tmp_path / "x.understudy"
    code, _, err = understudy("learn", acrobat_file, "-o", path, "--cluster", "dask", "--workers", "1", "-q")
    assert code == 0, err
    assert path.read_bytes() == acrobat_model.read_bytes()

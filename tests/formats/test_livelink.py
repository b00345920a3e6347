"""Live Link CSV in and out, other tables with ARKit columns, and tables that are something else."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data_folder import data_file, data_files

from understudy.character import Asset, Channel, Clip, Curve, Curves
from understudy.errors import UnderstudyError, Unsupported
from understudy.formats import livelink
from understudy.formats.arkit_names import ANGLE_NAMES, SHAPE_NAMES


def table(rows, titles=None, delimiter=","):
    titles = titles or ["Timecode", "BlendShapeCount", *(w[0].upper() + w[1:] for w in SHAPE_NAMES), *ANGLE_NAMES]
    return "\n".join(delimiter.join(map(str, row)) for row in [titles, *rows]) + "\n"


def live_rows(frames=(0, 1, 2, 3), seed=1):
    values = np.random.default_rng(seed).uniform(0, 1, (len(frames), 61)).round(6)
    return [[f"01:02:03:{2 * f:02d}.000", 61, *row] for f, row in zip(frames, values.tolist())], values


def load(tmp_path, text):
    (tmp_path / "take.csv").write_text(text)
    return livelink.read(tmp_path / "take.csv")


def test_a_plain_take(tmp_path):
    rows, values = live_rows()
    asset = load(tmp_path, table(rows))
    clip = asset.clips[0]
    assert clip.channels[0] == Channel("", "weights", SHAPE_NAMES) and clip.channels[1] == Channel(
        "", "controls", ANGLE_NAMES
    )
    np.testing.assert_array_equal(clip.values, values)
    assert clip.rate == 30 and clip.start == 0
    assert any("01:02:03:00.000" in note for note in asset.notes)


def test_missing_and_empty_rows_are_filled_in(tmp_path):
    rows, values = live_rows((0, 1, 3, 4, 5))
    rows[3] = [rows[3][0], 0]  # the face was lost
    asset = load(tmp_path, table(rows))
    clip = asset.clips[0]
    assert len(clip) == 6
    np.testing.assert_allclose(clip.values[2], (values[1] + values[2]) / 2)
    np.testing.assert_allclose(clip.values[4], (values[2] + values[4]) / 2)
    assert any("1 rows have no face" in note for note in asset.notes)
    assert any("missing" in note for note in asset.notes)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_other_spellings_orders_and_delimiters(tmp_path, delimiter):
    titles = ["Timecode", "jawOpen", "EYEBLINK_L", "face.eyeBlink_R", "mystery"]
    rows = [[f"00:00:00:{f:02d}.000", 0.1, 0.2, 0.3, "?"] for f in range(3)]
    asset = load(tmp_path, table(rows, titles, delimiter))
    clip = asset.clips[0]
    assert clip.channels[0].columns == ("eyeBlinkLeft", "eyeBlinkRight", "jawOpen")
    np.testing.assert_array_equal(clip.values[0], [0.2, 0.3, 0.1])
    assert clip.rate == 60
    assert any("49 of the 52" in note for note in asset.notes) and any(
        "1 other columns" in note for note in asset.notes
    )


def test_tables_without_timecode(tmp_path):
    titles = ["time", *SHAPE_NAMES]
    rows = [[f / 25, *([0.5] * 52)] for f in range(5)]
    assert load(tmp_path, table(rows, titles)).clips[0].rate == 25
    titles = ["frame", *SHAPE_NAMES]
    rows = [[f // 2, *([f / 10] * 52)] for f in range(6)]  # two faces in each frame
    asset = load(tmp_path, table(rows, titles))
    assert len(asset.clips[0]) == 3 and asset.clips[0].rate == 30
    assert any("other faces" in note for note in asset.notes) and any("no clock" in note for note in asset.notes)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "at least one row"),
        ("Timecode,JawOpen\n", "at least one row"),
        ("a,b\n1,2\n", "'a', 'b'"),
        ("jawOpen,b\n1,2\n", "ARKit weights"),
        ("Timecode,JawOpen\n00:00:00:00.000,x\n", "line 2: 'x' is not"),
        ("Timecode,JawOpen\n00:00:00:00.000,0.5\n0,0.5\n", "line 3: a timecode"),
        ("Timecode,JawOpen\n00:00:00:00.000,\n", "no row has"),
        ("Timecode,JawOpen\n00:00:00:00.000,1 2\n", "more than one number"),
        ('Timecode,JawOpen\n"' + "x" * 200_000, "not a table"),
    ],
)
def test_damage(tmp_path, text, reason):
    with pytest.raises(UnderstudyError, match=reason) as caught:
        load(tmp_path, text)
    assert "take.csv" in str(caught.value) and "\n" not in str(caught.value)


def test_scrambled_tables_raise_our_errors_only(tmp_path):
    whole = table(live_rows()[0]).encode()
    rng = np.random.default_rng(3)
    for _ in range(150):
        content = bytearray(whole)
        for at in rng.integers(0, len(content), 4):
            content[at] = rng.integers(1, 256)
        try:
            load(tmp_path, content.decode("latin-1"))
        except UnderstudyError as error:
            assert str(error)


@pytest.mark.parametrize("rate", [24.0, 25.0, 30.0, 60.0, 12.0, 29.97])
def test_round_trip(tmp_path, rate):
    values = np.random.default_rng(9).uniform(-1, 1, (40, 61))
    channels = [Channel("", "weights", SHAPE_NAMES), Channel("", "controls", ANGLE_NAMES)]
    asset = Asset(clips=[Clip("face", channels, values, rate, start=3.5)])
    assert livelink.write(asset, tmp_path / "out.csv") == []
    back = livelink.read(tmp_path / "out.csv").clips[0]
    assert back.channels == asset.clips[0].channels
    np.testing.assert_allclose(back.values, values, atol=1e-9)
    assert back.rate == pytest.approx(rate, rel=2e-3)


def test_what_the_format_cannot_hold_is_said(tmp_path):
    channels = [
        Channel("head", "weights", ("jawOpen", "smirk")),
        Channel("teeth", "weights", ("jawOpen",)),
        Channel("Hips", "rotation"),
    ]
    values = np.array([[0.1, 0.2, 0.9, 0, 0, 0, 1], [0.3, 0.4, 0.9, 0, 0, 0, 1]])
    asset = Asset(
        clips=[Clip("other", [Channel("Hips", "rotation")], values[:, 3:], 30), Clip("a", channels, values, 30)]
    )
    notes = livelink.write(asset, tmp_path / "out.csv")
    for word in ("one animation", "51 of the 52", "5 columns", "1 weights differ"):
        assert any(word in note for note in notes), word
    back = livelink.read(tmp_path / "out.csv").clips[0]
    assert back.get("", "weights")[1, SHAPE_NAMES.index("jawOpen")] == pytest.approx(0.3)


def test_keyframes_are_baked(tmp_path):
    keyed = Curves("keyed", [Curve(Channel("", "weights", ("jawOpen",)), [0.0, 1.0], [[0.0], [1.0]])], rate=10)
    livelink.write(Asset(curves=[keyed]), tmp_path / "out.csv")
    assert len(livelink.read(tmp_path / "out.csv").clips[0]) == 11


def test_nothing_to_write(tmp_path):
    with pytest.raises(Unsupported, match="ARKit"):
        livelink.write(Asset(), tmp_path / "out.csv")


def test_real_take():
    asset = livelink.read(data_file("face_livelink/alex_rom_3.csv"))
    clip = asset.clips[0]
    assert clip.rate == 30 and len(clip) == 4033 and clip.duration == pytest.approx(134.4, abs=0.05)
    assert any("3 of 4033 frames are missing" in note for note in asset.notes)


@pytest.mark.parametrize("path", data_files("**/*.csv"), ids=lambda path: path.stem)
def test_every_real_table_is_read_or_refused_by_name(path):
    try:
        asset = livelink.read(path)
    except Unsupported as error:
        assert "is a table of" in str(error)
    else:
        assert asset.clips[0].channels[0].kind == "weights"
        assert path.stem.startswith(("news_", "alex_rom_3"))

"""Applied edits: goals are met, keys stay, each step builds on the last; contradictions are refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.edit import puppets

from understudy.edit import edit_list
from understudy.edit.edit_list import apply_edit_list, check_edit_list, parse_edit_list
from understudy.edit.goals import Point
from understudy.edit.solver.objective_terms import Arc, arc_error
from understudy.errors import BadFile
from understudy.maths import quaternion
from understudy.render.trail import point_frames

MOVE = '[[edit]]\npoint = "hand"\ntime = 0.25\n'


def run(text: str, euler: bool = False, **how):
    rig, curves = puppets.rig(), puppets.wave(euler)
    checked = check_edit_list(parse_edit_list(text, "x.toml"), rig, curves)
    return (rig, curves, *apply_edit_list(rig, curves, checked.steps, path="x.toml", **how))


def place(rig, curves, time: float, joint: str = "rig:hand") -> tuple[np.ndarray, np.ndarray]:
    positions, axes = point_frames(rig, rig.pose(curves, [time]), Point(joint))
    return positions[0], axes[0]


@pytest.mark.parametrize("euler", [False, True])
def test_a_move_reaches_its_goal_and_keys_stay(euler: bool) -> None:
    rig, before, after, reports = run(MOVE + "by = [0.02, 0.05, 0]", euler)
    moved = place(rig, after, 0.25)[0] - place(rig, before, 0.25)[0]
    np.testing.assert_allclose(moved, [0.02, 0.05, 0], atol=2e-3)
    assert reports[0].reached and "reached" in reports[0].sentence and "'rig:hand' at 0.25 s" in reports[0].sentence
    for one, other in zip(before.curves, after.curves):
        np.testing.assert_array_equal(one.times, other.times)
        np.testing.assert_array_equal(one.values, other.values)
    assert (after.name, after.labels, after.rate) == ("wave", ("greeting",), 24.0)


def test_turns_are_about_the_worlds_axes() -> None:
    rig, before, after, reports = run(MOVE + "turn_by_degrees = [0, 0, 12]")
    change = place(rig, after, 0.25)[1] @ place(rig, before, 0.25)[1].T
    vector = quaternion.to_rotation_vector(quaternion.from_matrix(change))
    np.testing.assert_allclose(vector, [0, 0, np.radians(12)], atol=2e-3)
    assert reports[0].reached and reports[0].sentence.startswith("turn")


def test_a_weight_keeps_a_share_of_a_step() -> None:
    rig, before, after, reports = run(MOVE + "by = [0, 0.04, 0]\nweight = 0.5", True)
    moved = place(rig, after, 0.25)[0] - place(rig, before, 0.25)[0]
    np.testing.assert_allclose(moved, [0, 0.02, 0], atol=4e-3)
    assert reports[0].weight == 0.5 and reports[0].details[-1] == "50 % of this change is kept."
    none = run(MOVE + "by = [0, 0.04, 0]\nweight = 0.0")
    assert none[2] is none[1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("weight = 1.5", "weight should be"),
        ("falloff = 0", "falloff should be"),
        ('hold_feet = "yes"', "hold_feet should be"),
    ],
)
def test_shares_and_radii_are_checked(line: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        parse_edit_list(MOVE + "by = [0, 0.04, 0]\n" + line, "x.toml")


def test_steps_build_on_each_other() -> None:
    twice = MOVE + "by = [0, 0.03, 0]\n" + MOVE + "by = [0, 0.03, 0]"
    rig, before, after, reports = run(twice)
    moved = place(rig, after, 0.25)[0] - place(rig, before, 0.25)[0]
    np.testing.assert_allclose(moved, [0, 0.06, 0], atol=4e-3)
    assert [report.place for report in reports] == ["edit 1", "edit 2"]


def test_a_blocked_edit_says_so_and_goes_on() -> None:
    pinned = MOVE + 'by = [0, 0.1, 0]\npins = ["upper", "fore"]\n'
    _, _, _, reports = run(pinned + MOVE + "by = [0, 0.01, 0]\n" + MOVE + "to = [9, 9, 9]\n")
    assert [report.reached for report in reports] == [False, True, False]
    assert "blocked" in reports[0].sentence and reports[0].outcome.obstacles
    assert reports[2].outcome.distance <= reports[2].outcome.start_distance
    facts = reports[2].facts()
    assert facts["edit"] == "edit 3" and not facts["reached"] and facts["blocks"][0]["sentence"]
    assert facts["distance_mm"] == pytest.approx(1000 * reports[2].outcome.distance, abs=1e-6)


PINNED = MOVE + 'by = [0, 0.05, 0]\npins = ["fore"]\n'


def test_offers_are_made_when_asked_for() -> None:
    assert run(PINNED)[3][0].offers == ()
    _, before, after, (report,) = run(PINNED, ask=True)
    assert not report.reached and after.key_count == before.key_count
    kinds = {offer["kind"]: offer for offer in report.facts()["offers"]}
    assert "release" in kinds and kinds["release"]["sentence"] and isinstance(kinds["release"]["reached"], bool)
    assert run(MOVE + "by = [0, 0.01, 0]", ask=True)[3][0].offers == ()


def test_an_offer_is_accepted_only_where_the_file_says_so() -> None:
    assert not run(PINNED)[3][0].reached
    rig, before, after, (report,) = run(PINNED + 'accept = "release"')
    assert report.reached and "as accepted: without the pin of 'rig:fore'" in report.sentence
    moved = place(rig, after, 0.25)[0] - place(rig, before, 0.25)[0]
    np.testing.assert_allclose(moved, [0, 0.05, 0], atol=3e-3)


def test_keys_are_added_only_when_asked_for() -> None:
    _, before, after, reports = run('[[edit]]\nkind = "key"\ntime = 0.3\ntargets = ["rig:fore"]')
    assert [len(curve) for curve in after.curves] == [3, 4, 3, 3]
    times = np.linspace(0, 1, 41)
    np.testing.assert_allclose(after.sample(times), before.sample(times), atol=1e-9)
    assert reports[0].sentence == "inserted a key of rig:fore at 0.3 s"
    gone = '[[edit]]\nkind = "key"\ntime = 0.5\nremove = true\n'
    moved = '[[edit]]\nkind = "key"\ntime = 0.5\nto_time = 0.6\n'
    assert [len(curve) for curve in run(gone)[2].curves] == [2] * 4
    assert run(moved)[2].curves[0].times.tolist() == [0, 0.6, 1]


def test_tangents_are_set_where_asked_for() -> None:
    _, before, after, _ = run(
        '[[edit]]\nkind = "tangents"\nmethod = "flat"\ntargets = "rig:hand"\nstart = 0.4\nstop = 0.6'
    )
    flat = after.curves[2]
    assert not flat.before[1, :, 1].any() and not flat.after[1, :, 1].any()
    np.testing.assert_array_equal(flat.after[0], before.curves[2].after[0])
    np.testing.assert_array_equal(after.curves[0].after, before.curves[0].after)


def test_a_pose_is_dragged_at_its_key() -> None:
    text = '[[edit]]\nkind = "pose"\ntime = 0.5\npoint = "hand"\nby = [-0.05, -0.1, 0]\n'
    rig, before, after, reports = run(text)
    moved = place(rig, after, 0.5)[0] - place(rig, before, 0.5)[0]
    np.testing.assert_allclose(moved, [-0.05, -0.1, 0], atol=3e-3)
    assert reports[0].reached and reports[0].sentence.startswith("pose 'rig:hand' at 0.5 s: reached")
    assert after.key_count == before.key_count
    np.testing.assert_allclose(place(rig, after, 1.0)[0], place(rig, before, 1.0)[0], atol=1e-9)
    with pytest.raises(BadFile, match=r"x\.toml, edit 1: .*no .*key at 0\.3 s"):
        run(text.replace("0.5", "0.3"))
    asked = run(text.replace("0.5", "0.3") + "insert = true")[2]
    assert asked.key_count > before.key_count


def test_columns_of_a_key_are_set_by_name() -> None:
    text = '[[edit]]\nkind = "pose"\ntime = 0.5\nset = {"rig:fore.euler.z" = 0.25, "sleeve.weights.spread" = 0.5}\n'
    _, before, after, reports = run(text, euler=True)
    names = after.channels.names
    changed = dict(zip(names, after.sample([0.5])[0]))
    assert changed["rig:fore.euler.z"] == pytest.approx(0.25) and changed["sleeve.weights.spread"] == pytest.approx(0.5)
    assert reports[0].sentence == "set 2 columns at 0.5 s" and after.key_count == before.key_count
    with pytest.raises(BadFile, match="`insert = true` asks for one"):
        run(text.replace("time = 0.5", "time = 0.3"), euler=True)
    assert run(text.replace("time = 0.5", "time = 0.3") + "insert = true", euler=True)[2].key_count > before.key_count


def test_timing_is_scaled_directly_or_as_a_goal() -> None:
    def speed(rig, curves) -> float:
        a, b = (place(rig, curves, 0.25 + h)[0] for h in (-1e-4, 1e-4))
        return float(np.linalg.norm(b - a) / 2e-4)

    for words in ("", 'point = "hand"\n', 'targets = ["rig:upper", "rig:fore"]\n'):
        rig, before, after, reports = run(f'[[edit]]\nkind = "timing"\ntime = 0.25\nfactor = 1.3\n{words}')
        assert 1.1 * speed(rig, before) < speed(rig, after) < 1.5 * speed(rig, before)
        assert "1.3 times as fast at 0.25 s" in reports[0].sentence and after.key_count == before.key_count
    assert reports[0].sentence.startswith("timing of rig:upper, rig:fore")


def test_a_sketch_is_followed() -> None:
    rig, curves = puppets.rig(), puppets.wave()
    times = np.linspace(0, 0.5, 9)
    path = point_frames(rig, rig.pose(curves, times), Point("rig:hand"))[0]
    path[:, 1] += 0.03 * np.sin(np.pi * times / 0.5)
    stroke = [[round(float(x), 6) for x in row] for row in path]
    text = f'[[edit]]\nkind = "sketch"\npoint = "hand"\nstroke = {stroke}\nstart = 0\nstop = 0.5\n'
    _, before, after, reports = run(text)
    assert reports[0].sentence.startswith("sketch 'rig:hand'") and after.key_count == before.key_count
    fine = np.linspace(0, 0.5, 400)
    off = []
    for curves in (before, after):
        found = point_frames(rig, rig.pose(curves, fine), Point("rig:hand"))[0]
        off.append(np.linalg.norm(path[:, None] - found[None], axis=2).min(axis=1).max())
    assert off[1] < 0.3 * off[0]
    timed = [[float(time), *row] for time, row in zip(times, stroke)]
    run(f'[[edit]]\nkind = "sketch"\npoint = "hand"\nstroke = {timed}\n')


def test_an_arc_is_wished_for() -> None:
    text = '[[edit]]\narcs = [{point = "hand", start = 0.0, stop = 0.5, weight = 100}]\n'
    rig, before, after, reports = run(text)
    arc = Arc(Point("rig:hand"), 0.0, 0.5)
    assert arc_error(rig, after, arc) < 0.7 * arc_error(rig, before, arc)
    assert reports[0].sentence.startswith("arc from 0 to 0.5 s") and after.key_count == before.key_count
    with pytest.raises(BadFile, match="stop of the arc should be 0 to 1 s"):
        run(text.replace("stop = 0.5", "stop = 5"))


def test_progress_is_told() -> None:
    told = []
    run((MOVE + "by = [0, 0.01, 0]\n") * 3, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('[[edit]]\npoint = "hnd"\ntime = 0.2\nby = [0, 1, 0]', "edit 1", "did you mean"),
        ("[[edit]]\npoint = {vertex = 99}\ntime = 0.2\nby = [0, 1, 0]", "edit 1", "vertices 0 to 7"),
        ('[[edit]]\npoint = "hand"\ntime = 7\nby = [0, 1, 0]', "edit 1", "0 to 1 s, within the animation, but is 7"),
        (MOVE + 'by = [0, 1, 0]\npins = ["hip"]', "edit 1", "no joint or point 'hip'"),
        (MOVE + 'by = [0, 1, 0]\npins = ["hand"]', "edit 1", "a pin keeps its position there"),
        (MOVE + "turn_by_degrees = [0, 1, 0]\npins = ['hand']", "edit 1", "a pin keeps its orientation there"),
        (MOVE + "by = [0, 1, 0]\nholds = [{point = 'rig:hand', time = 0.25}]", "edit 1", "a hold keeps"),
        (MOVE + "by = [0, 1, 0]\ncontacts = [{point = 'hand', start = 0.1, stop = 0.4}]", "edit 1", "a contact keeps"),
        (MOVE + "by = [0, 1, 0]\ncontacts = [{point = 'fore', start = 0.1, stop = 4}]", "edit 1", "of the contact of"),
        (MOVE + "by = [0, 1, 0]\npins = [{point = 'fore', stop = 4}]", "edit 1", "stop of the pin of 'rig:fore'"),
        (MOVE + "by = [0, 1, 0]\nholds = [{point = 'fore', time = -1}]", "edit 1", "the time of the hold"),
        (MOVE + "by = [0, 1, 0]\nstart = 0.5", "edit 1", "outside of the edit's start and stop"),
        (MOVE + "by = [0, 1, 0]\nstop = 5", "edit 1", "stop should be 0 to 1 s"),
        (MOVE + "by = [0, 1, 0]\nstiffness = {leg = 2}", "edit 1", "no curve with stiffness 'leg'"),
        (
            "[[edit]]\nmoves = [{point = 'hand', time = 0.2, by = [0, 1, 0]}, "
            "{point = 'hand', time = 0.2, by = [0, 2, 0]}]",
            "edit 1",
            "two goals at once",
        ),
        ("[[edit]]\nkind = 'key'\ntime = 0.2\ntargets = ['leg']", "edit 1", "no curve of 'leg'"),
        ("[[edit]]\nkind = 'key'\ntime = -0.2", "edit 1", "time should be 0 to 1 s"),
        ("[[edit]]\nkind = 'tangents'\nmethod = 'flat'\nstop = 3", "edit 1", "stop should be 0 to 1 s"),
        ("[[edit]]\nkind = 'timing'\ntime = 3\nfactor = 2", "edit 1", "time should be 0 to 1 s"),
        ("[[edit]]\nkind = 'pose'\ntime = 0.5\nset = {wrist = 2}", "edit 1", "no column 'wrist'"),
        (
            "[[edit]]\nkind = 'sketch'\npoint = 'hand'\nstroke = [[0.1, 0, 0, 0], [2, 1, 1, 1]]",
            "edit 1",
            "a time of the stroke",
        ),
        (
            "[[edit]]\nkind = 'sketch'\npoint = 'hand'\nstroke = [[0, 0, 0], [1, 1, 1]]\n"
            "start = 0\nstop = 1\npins = ['hand']",
            "edit 1",
            "a pin keeps its position",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_done(text: str, place: str, words: str) -> None:
    rig, curves = puppets.rig(), puppets.wave()
    with pytest.raises(BadFile) as caught:
        check_edit_list(parse_edit_list(text, "x.toml"), rig, curves)
    assert str(caught.value).startswith(f"x.toml, {place}: ") and words in str(caught.value)


def test_the_solvers_refusals_name_the_place() -> None:
    text = MOVE + "by = [0, 0.1, 0]\nlimits = [{target = 'rig:fore', column = 'z', high = 1}]"
    with pytest.raises(BadFile, match=r"x\.toml, edit 1: .*quaternion"):
        run(text)
    with pytest.raises(BadFile, match=r"x\.toml, edit 2: there is no key at 0\.3 s"):
        run(MOVE + "by = [0, 0.01, 0]\n[[edit]]\nkind = 'key'\ntime = 0.3\nremove = true")


def test_moving_the_start_of_a_contact_is_no_contradiction() -> None:
    text = MOVE + "by = [0, 0.02, 0]\ncontacts = [{point = 'hand', start = 0.25, stop = 0.4}]"
    check_edit_list(parse_edit_list(text), puppets.rig(), puppets.wave())


def test_read_names_the_file(tmp_path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(MOVE + "by = [0, 0.1, 0]")
    assert edit_list.read_edit_list(str(path)).path == str(path)
    with pytest.raises(BadFile, match=r"missing\.toml"):
        edit_list.read_edit_list(str(tmp_path / "missing.toml"))

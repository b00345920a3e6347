from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.transfer.small import actor, hopper, pairs, source

from understudy.character.body.contacts import ContactPhases
from understudy.character.body.mass import Body, body_of
from understudy.character.body.poses import poses_of
from understudy.errors import InvalidInput
from understudy.transfer.mapping import fit_regression
from understudy.transfer.pipeline import TransferTarget, prepare_target, report_of, transfer
from understudy.transfer.source import SourceMotion


def test_the_known_relation_comes_out(stage: TransferTarget) -> None:
    done = transfer(source(), stage, physics=False)
    truth = poses_of(hopper(), "keys")
    markers = stage.pairs.markers
    gap = np.linalg.norm(markers.local(done.intermediate["mapped"].world) - markers.local(truth.world), axis=-1)
    assert gap.mean() < 0.01 and gap.max() < 0.06
    assert list(done.intermediate) == ["mapped", "apart", "placed", "final"]
    assert done.clip.duration == pytest.approx(source().duration) and done.phases is None


def test_it_travels_as_the_actor_does(stage: TransferTarget) -> None:
    done = transfer(source(), stage, source_body=body_of(actor().character()), physics=False)
    way = done.intermediate["placed"].world[:, 0, :3, 3]
    ahead = way[-1] - way[0]
    assert ahead[2] > 0.2 and abs(ahead[0]) < 0.3 * ahead[2]


def test_with_physics_what_stands_stays(stage: TransferTarget) -> None:
    still = source_of_still()
    done = transfer(still, stage, source_body=body_of(actor(1.0, still=True).character()))
    assert done.phases is not None
    feet = stage.body.contact_positions(done.intermediate["solved"].world)
    assert np.ptp(feet[:, done.phases.down.all(axis=0)], axis=0).max(initial=0.0) < 0.01


def test_phases_that_are_given_are_used(stage: TransferTarget) -> None:
    given = source(1.0)
    never = ContactPhases(stage.body.names, np.zeros((len(given), len(stage.body.names)), bool))
    assert transfer(given, stage, phases=never).phases is never


def test_one_frame_is_no_motion(stage: TransferTarget) -> None:
    given = source()
    one = replace(given, points=given.points[:1], frames=given.frames[:1])
    with pytest.raises(InvalidInput, match="two frames"):
        transfer(one, stage)


def test_another_actor_is_refused(stage: TransferTarget) -> None:
    given = source()
    other = SourceMotion("cloud", given.points[:, :9], given.frames, 30.0, None, given.names[:9])
    with pytest.raises(InvalidInput, match="points, but it has 9"):
        transfer(other, stage)


def test_who_has_nothing_to_stand_on_is_told_so(stage: TransferTarget) -> None:
    body = stage.body
    floating = replace(stage, body=Body(body.masses, body.centres, body.inertias, ()))
    with pytest.raises(InvalidInput, match=r"nothing to stand on.*--no-physics"):
        transfer(source(), floating)
    assert transfer(source(1.0), floating, physics=False).poses


def test_the_report_is_plain(stage: TransferTarget) -> None:
    given = source()
    done = transfer(given, stage, physics=False)
    told = json.loads(json.dumps(report_of(given, stage, done)))
    assert told["frames"] == 90 and told["pairs"] == len(stage.pairs)
    assert len(told["least_certain"]) == 5 and len(told["suggested"]) == 5
    frames = sorted(each["frame"] for each in told["least_certain"])
    assert min(np.diff(frames)) > 10
    assert told["collisions_mm"]["apart"]["itself"] <= told["collisions_mm"]["mapped"]["itself"] + 1e-6


def test_without_collisions_there_is_no_such_step() -> None:
    given = pairs()
    plain = prepare_target(hopper().character(), given, fit_regression(given), collisions=False)
    assert list(transfer(source(1.0), plain, physics=False).intermediate) == ["mapped", "placed"]


def source_of_still() -> SourceMotion:
    from understudy.transfer.source import source_of

    return source_of(actor(1.0, still=True))

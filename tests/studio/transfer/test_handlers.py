"""The transfer mode over the wire: a motion on the squirrel, corrected; on the penguin; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.studio.talking import Refused, Studio

from understudy.studio.perform.recording import clip_of


def test_a_motion_on_another_body_is_a_take_of_it(studio: Studio) -> None:
    with studio.page() as page:
        actor, squirrel = (page.ask("open", path=name)["characters"][0] for name in ("actor", "squirrel"))
        entry = next(each for each in page.document["characters"] if each["id"] == actor)
        clip = min(entry["clips"], key=lambda each: each["seconds"])
        wanted = {"source": actor, "clip": clip["name"], "target": squirrel, "physics": False}
        outcome = page.ask("transfer", **wanted)
        assert outcome["size"] > 0 and outcome["contacts"] == []
        foot = next(match for match in outcome["bones"] if match["bone"] == "LeftFoot")
        assert foot["source"] and foot["target"] and foot["certainty"] > 0
        stage = page.document["stage"]
        assert (stage["character"], stage["driver"], stage["drives"]) == (squirrel, "take", outcome["take"])
        rig, moved = clip_of(studio.session, studio.session.document, outcome["take"])
        assert np.ptp(rig.pose(moved), axis=0).max() > 0.1  # it moves
        again = page.ask("transfer", **wanted, size=2 * outcome["size"], replaces=outcome["take"])
        assert again["take"] == outcome["take"] and again["size"] == pytest.approx(2 * outcome["size"], rel=1e-3)
        assert [take["character"] for take in page.document["takes"]].count(squirrel) == 1
        with pytest.raises(Refused, match="has this motion already"):
            page.ask("transfer", **wanted | {"target": actor})
        with pytest.raises(Refused, match="nothere"):
            page.ask("transfer", **wanted, bones={"LeftFoot": "nothere"})
        penguin = page.ask("open", path="penguin")["characters"][0]
        by_pairs = page.ask("transfer", **wanted | {"target": penguin})
        assert by_pairs["bones"] == [] and page.document["stage"]["character"] == penguin

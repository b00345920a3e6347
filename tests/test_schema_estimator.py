from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from understudy.errors import NotFitted, UnderstudyError
from understudy.gp.gplvm import GPLVM, SparseGPLVM
from understudy.gp.priors import ConnectivityPrior, DynamicsPrior
from understudy.schema import Estimator


@dataclass(frozen=True)
class Part:
    size: float = 2.0


class Mean(Estimator):
    def __init__(self, power: int = 2, part: Part | None = None) -> None:
        self.power = power
        self.part = part

    def fit(self, values: list[float]) -> Mean:
        self.mean_ = sum(values) / len(values)
        return self


def test_settings_are_the_arguments_as_plain_values():
    assert Mean(3, Part(1.5)).settings() == {"power": 3, "part": {"size": 1.5}}
    assert Mean().settings() == {"power": 2, "part": None}


def test_what_is_learnt_is_not_there_before():
    estimator = Mean()
    with pytest.raises(NotFitted, match="Mean has no 'mean_' yet: call fit first"):
        _ = estimator.mean_
    assert estimator.fit([1.0, 3.0]) is estimator and estimator.mean_ == 2.0
    assert issubclass(NotFitted, UnderstudyError)


def test_a_name_that_never_was_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Mean has no attribute 'median'"):
        _ = Mean().median
    assert not hasattr(Mean(), "median")


def test_it_reads_as_it_was_made():
    assert repr(Mean(3, Part())) == "Mean(power=3, part=Part(size=2.0))"


@pytest.mark.parametrize("kind", [GPLVM, SparseGPLVM])
def test_every_learner_keeps_the_contract(kind):
    settings = kind(
        dynamics=DynamicsPrior(length=0.5), connectivity=ConnectivityPrior(beta=3.0), iterations=7
    ).settings()
    assert json.loads(json.dumps(settings)) == settings
    assert settings["dynamics"]["length"] == 0.5 and settings["iterations"] == 7
    assert kind().settings() == kind().settings()
    assert {name for name in vars(kind()) if name.endswith("_")} == set()

"""The benchmark of the door: what its result looks like, on one stream, and how the difference is taken."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from benchmarks.door import summary, table
from benchmarks.door_leaving import MOMENTS
from benchmarks.door_strain import REMOVED, wrong_grants
from benchmarks.streams import Timed
from firstword.commands.bench import door
from grant import GrantRefused, Signer


def test_the_door_is_the_difference_and_the_pace_is_a_ratio() -> None:
    direct = [Timed(0.050, 25.0)] * 5
    through = [Timed(0.052, 24.5)] * 5
    told = summary(direct, through)
    assert told["ttfb_overhead_ms"] == {"p50": 2.0, "p95": 2.0}
    assert told["words_per_s_ratio"] == 0.98
    assert told["answers"] == 5


def test_every_wrong_grant_is_wrong_in_its_own_way() -> None:
    secret = "a secret of the tests of this benchmark"
    signer, wrong = Signer(secret, removed={REMOVED}), wrong_grants(secret)
    assert len(set(wrong.values())) == len(wrong) == 7
    for token in wrong.values():
        with pytest.raises(GrantRefused):
            signer.verify(token)


def test_a_quick_run_measures_a_real_door() -> None:
    done = CliRunner().invoke(door, ["--quick", "--strain", "--json"])
    assert done.exit_code == 0, done.output
    result = json.loads(done.output)
    one = result["streams"]["1"]
    assert one["answers"] == 2
    assert one["first_word_ms"]["door"]["p50"] > 0
    assert result["refusals"]["times"] == 50
    assert result["slow_clients"]["clients"] == 5
    assert set(result["leaving"]) == set(MOMENTS)
    assert all(one["never"] == 0 and one["n"] == 3 for one in result["leaving"].values())
    assert "added p50" in table(result)

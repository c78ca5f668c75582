"""The lease as a model: claims, beats, steps, deaths and late wakings in any order, against the real rows."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from core_house import ask
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from agents_core.errors import LeaseLost
from agents_core.loop import Step
from agents_core.store import Held, Store

WORKERS = st.sampled_from(["w1", "w2", "w3"])


class Leases(RuleBasedStateMachine):
    """K3. `holds` are tokens somebody believes in, whether or not they are still true."""

    holds = Bundle("holds")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.store = Store(f"sqlite+aiosqlite:///{Path(self.folder.name) / 'core.db'}", lease_s=1000.0)
        self.fence, self.steps, self.over, self.cancelled, self.free = 0, 0, False, False, True

    def do(self, what):
        return self.loop.run_until_complete(what)

    @initialize()
    def begin(self) -> None:
        self.do(self.store.begin("run-1", ask()))

    @rule(target=holds, owner=WORKERS)
    def claim(self, owner: str):
        held = self.do(self.store.claim(owner))
        assert (held is not None) == (self.free and not self.over)
        if held is None:
            return multiple()
        self.fence, self.free = self.fence + 1, False
        assert (held.owner, held.fence, held.cancelled) == (owner, self.fence, self.cancelled)
        return held

    @rule()
    def lease_runs_out(self) -> None:
        """The holder died, or froze, or its database was away."""

        async def run_out() -> None:
            async with self.store.database.write() as connection:
                await connection.exec_driver_sql("UPDATE runs SET lease_until_s = 0")

        self.do(run_out())
        self.free = True

    @rule(held=holds)
    def beat(self, held: Held) -> None:
        # A holder whose lease ran out and whom nobody overtook holds it again: the row is still its own.
        seen = self.do(self.store.renew_all(held.owner, ["run-1"]))
        mine = not self.over and held.fence == self.fence and seen.get("run-1", (0, False))[0] == held.fence
        if mine and self.released_fence != held.fence:
            self.free = False
        if seen.get("run-1", (0, False))[0] == held.fence:
            assert mine

    @rule(held=holds)
    def step(self, held: Held) -> None:
        try:
            cancelled = self.do(self.store.renew(held, Step(self.steps, "model", text=str(held.fence))))
        except LeaseLost:
            assert self.over or held.fence != self.fence or self.released_fence == held.fence
            return
        assert not self.over
        assert held.fence == self.fence
        assert cancelled == self.cancelled
        self.steps, self.free = self.steps + 1, False

    @rule(held=consumes(holds))
    def release(self, held: Held) -> None:
        self.do(self.store.release(held))
        if not self.over and held.fence == self.fence:
            self.free, self.released_fence = True, held.fence

    @rule(held=holds)
    def finish(self, held: Held) -> None:
        try:
            self.do(self.store.finish(held, "done", answer=str(held.fence)))
        except LeaseLost:
            assert self.over or held.fence != self.fence or self.released_fence == held.fence
            return
        assert not self.over
        assert held.fence == self.fence
        self.over = True

    @rule()
    def cancel(self) -> None:
        unheld = self.state() == "todo"
        assert self.do(self.store.cancel("run-1")) == (not self.over)
        self.cancelled = True
        self.over = self.over or unheld

    @invariant()
    def the_rows_are_as_they_should_be(self) -> None:
        record = self.do(self.store.record("run-1"))
        if record is None:
            return
        assert (record.fence, record.attempt) == (self.fence, self.fence)
        assert (record.state in ("done", "cancelled")) == self.over
        steps = self.do(self.store.steps("run-1"))
        assert [step.n for step in steps] == list(range(self.steps))
        fences = [int(step.text) for step in steps]
        assert fences == sorted(fences)

    released_fence = 0

    def state(self) -> str:
        return self.do(self.store.record("run-1")).state

    def teardown(self) -> None:
        self.do(self.store.close())
        self.loop.close()
        self.folder.cleanup()


Leases.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestLeases = Leases.TestCase

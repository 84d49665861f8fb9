"""Whatever people do, every assignment goes to a list that is filled least."""

from __future__ import annotations

import shutil
import tempfile

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from field.store.stand_ins import come, start
from karat.field.store import Store, people, progress, trials

LISTS = 3
WANTED = 12
LEASE = 100.0


class Assignment(RuleBasedStateMachine):
    """A model of who holds a seat, beside the store."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.store = Store.open(f"sqlite:///{self.folder}/karat.db")
        self.study_id = start(self.store)
        self.now = 1000.0
        self.people: list[dict[str, object]] = []

    @initialize()
    def nobody_yet(self) -> None:
        assert self.filled() == [0] * LISTS

    def seated(self, one: dict[str, object]) -> bool:
        return one["state"] == "complete" or (one["state"] == "running" and float(str(one["until"])) > self.now)

    def filled(self) -> list[int]:
        return [
            sum(1 for one in self.people if one["list"] == number and self.seated(one))
            for number in range(1, LISTS + 1)
        ]

    @rule()
    def somebody_comes(self) -> None:
        before = self.filled()
        came = come(self.store, self.study_id, lists=LISTS, wanted=WANTED, lease_seconds=LEASE, now=self.now)
        if sum(before) >= WANTED:
            assert came.outcome == "full"
            return
        assert came.outcome == "new"
        assert came.list is not None
        assert before[came.list - 1] == min(before)
        self.people.append({
            "list": came.list, "state": "running", "until": self.now + LEASE, "token": came.token_hash,
            "id": came.session_id, "name": came.participant,
        })  # fmt: skip

    @rule(data=st.data(), state=st.sampled_from(["complete", "screened-out", "failed-quiz", "declined"]))
    def somebody_finishes(self, data: st.DataObject, state: str) -> None:
        running = [one for one in self.people if one["state"] == "running"]
        if running:
            one = data.draw(st.sampled_from(running))
            self.store.call(trials.plan_trials, trials.PlannedTrials(int(str(one["id"])), []))
            assert self.store.call(progress.finish, int(str(one["id"])), state, now=self.now) == "ok"
            one["state"] = state

    @rule(data=st.data(), decision=st.sampled_from(["excluded", "returned", "rejected", "restored"]))
    def somebody_is_judged(self, data: st.DataObject, decision: str) -> None:
        if not self.people:
            return
        one = data.draw(st.sampled_from(self.people))
        changed = self.store.call(people.decide, self.study_id, str(one["name"]), decision)
        if decision == "restored":
            assert changed == ("before" in one)
            if changed:
                one["state"] = one.pop("before")
        else:
            assert changed == ("before" in one or one["state"] in ("running", "complete"))
            if changed:
                one.setdefault("before", one["state"])
                one["state"] = decision

    @rule(data=st.data())
    def somebody_comes_back(self, data: st.DataObject) -> None:
        running = [one for one in self.people if one["state"] == "running"]
        if running:
            one = data.draw(st.sampled_from(running))
            back = come(
                self.store, self.study_id, lists=LISTS, known_token=one["token"], lease_seconds=LEASE, now=self.now
            )
            assert (back.outcome, back.session_id) == ("resumed", one["id"])
            one["token"], one["until"] = back.token_hash, self.now + LEASE

    @rule(seconds=st.sampled_from([1.0, 40.0, 101.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def lists_are_within_one_while_nobody_leaves(self) -> None:
        if all(self.seated(one) for one in self.people):
            assert max(self.filled()) - min(self.filled()) <= 1

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)


TestAssignment = Assignment.TestCase
TestAssignment.settings = settings(max_examples=8, stateful_step_count=30, deadline=None)

# SPDX-License-Identifier: Apache-2.0
"""How many turns the second run takes, and what it may conclude from them: with planted times and a planted clock."""

import contextlib
import io
import random
import unittest
from collections.abc import Callable, Sequence

from tune import comparing, outcome, verifying
from tune.comparing import LEAST_TURNS, LOOKS, MOST_TURNS, Question
from tune.jobs import Entry, Measured
from tune.record import Record
from tune.verifying import DEFAULT_ARM, Arm, tuned_arm
from tune.ways import DEFAULT, Way

TUNED = tuned_arm({"FILE": "rules"})
WEFT = Arm("weft", "with weft's collectives", {"FILE": "weft"})
NAMES = {"": "default", "rules": "tuned", "weft": "weft"}
NEAR, FAR = (4, "bcast", 8), (4, "bcast", 64)
# Of one turn and arm, by place; an empty list: the call fails.
Times = Callable[[str, tuple[int, str, int]], list[float]]


class PlantedClock:
    def __init__(self) -> None:
        self.now = 0.0

    def elapsed(self) -> float:
        return self.now

    def stage(self, text: str) -> None:
        pass


class PlantedJobs:
    """Each job takes a second."""

    def __init__(self, clock: PlantedClock, times: Times) -> None:
        self._clock = clock
        self._times = times
        self.ran: list[tuple[str, int]] = []  # arm, places

    def measure(
        self,
        ranks: int,
        plan: Sequence[Entry],
        environment: dict[str, str],
        seconds: float,
        entry_seconds: float,
        prefix: Sequence[str] = (),
    ) -> dict[int, Measured]:
        self._clock.now += 1.0
        name = NAMES[environment.get("FILE", "")]
        self.ran.append((name, len(plan)))
        found = [self._times(name, (ranks, entry.operation, entry.size)) for entry in plan]
        return {number: Measured(times, 0.0, "" if times else "it fails") for number, times in enumerate(found)}


def noisy(after: float, spread: float, seed: int = 1) -> Times:
    """The default takes 100, all others `after` times as long in the median."""
    generator = random.Random(seed)
    return lambda name, place: [100.0 * (1 if name == "default" else after * generator.lognormvariate(0, spread))]


def verify(times: Times, places: Sequence[tuple[int, str, int]] = (NEAR,), seconds: float = 1e6) -> Record:
    record = Record()
    clock = PlantedClock()
    questions = [Question(place, "default", "tuned") for place in places]
    with contextlib.redirect_stderr(io.StringIO()):
        verifying.verify(PlantedJobs(clock, times), record, clock, questions, [DEFAULT_ARM, TUNED], seconds)
    return record


def turns(record: Record, place: tuple[int, str, int] = NEAR) -> int:
    return len(record.verified[place])


class TurnsTest(unittest.TestCase):
    def compare(self, record: Record, place: tuple[int, str, int] = NEAR) -> comparing.Comparison:
        return comparing.compare(record.verified[place], "default", "tuned")

    def test_what_is_clear_ends_at_the_first_look(self) -> None:
        for after, faster in ((0.5, True), (1.0, False), (0.97, False), (2.0, False)):
            record = verify(noisy(after, 0.001))
            self.assertEqual(turns(record), LOOKS[0][0], after)
            self.assertEqual(self.compare(record).faster, faster)

    def test_what_is_undecided_goes_on_until_it_is_certain(self) -> None:
        decided = 0
        for seed in range(20):
            # Half as long, by times of which a sixth is longer than the default's.
            record = verify(noisy(0.5, 0.7, seed))
            self.assertIn(turns(record), [count for count, _ in LOOKS])
            decided += self.compare(record).faster
            if turns(record) > LOOKS[0][0]:
                first = comparing.compare(record.verified[NEAR][: LOOKS[0][0]], "default", "tuned")
                self.assertTrue(first.undecided)
        self.assertGreaterEqual(decided, 18)

    def test_it_ends_some_time(self) -> None:
        # The median is lower, and four of ten are higher.
        numbers = iter(range(10_000))
        record = verify(lambda name, place: [100.0 if name == "default" else (80.0, 120.0, 85.0)[next(numbers) % 3]])
        self.assertEqual(turns(record), MOST_TURNS)
        self.assertTrue(self.compare(record).undecided)

    def test_the_budget_ends_it(self) -> None:
        # Two jobs a turn, of a second each.
        for seconds, expected in ((1, LEAST_TURNS), (16, 8), (50, 25), (1000, MOST_TURNS)):
            numbers = iter(range(10_000))
            planted = lambda name, place, numbers=numbers: [  # noqa: E731
                100.0 if name == "default" else (80.0, 120.0, 85.0)[next(numbers) % 3]
            ]
            self.assertEqual(turns(verify(planted, seconds=seconds)), expected, seconds)

    def test_only_what_is_undecided_goes_on(self) -> None:
        clear, wild = noisy(0.5, 0.001), iter((80.0, 120.0, 85.0) * 1000)

        def times(name: str, place: tuple[int, str, int]) -> list[float]:
            return clear(name, place) if place == NEAR or name == "default" else [next(wild)]

        record = verify(times, (NEAR, FAR))
        self.assertEqual((turns(record), turns(record, FAR)), (LOOKS[0][0], MOST_TURNS))

    def test_a_later_look_takes_nothing_back(self) -> None:
        first = LOOKS[0][0]
        pairs = [{"default": [100.0], "tuned": [50.0]}] * first + [{"default": [100.0], "tuned": [200.0]}] * first
        found = comparing.compare(pairs, "default", "tuned")
        self.assertTrue(found.faster)
        self.assertEqual(found.ratio.count, first)

    def test_what_fails_is_not_tried_again(self) -> None:
        record = verify(lambda name, place: [100.0] if name == "default" else [])
        self.assertEqual(turns(record), LOOKS[0][0])

    def test_arms_that_no_open_question_needs_are_left_out(self) -> None:
        wild = iter((80.0, 120.0, 85.0) * 1000)
        clock = PlantedClock()
        jobs = PlantedJobs(clock, lambda name, place: [100.0 if name != "weft" else next(wild)])
        questions = [Question(NEAR, "default", "tuned"), Question(NEAR, "tuned", "weft")]
        verifying.verify(jobs, Record(), clock, questions, [DEFAULT_ARM, TUNED, WEFT], 1e6)
        count = {name: sum(1 for arm, _ in jobs.ran if arm == name) for name in NAMES.values()}
        self.assertEqual(count, {"default": LOOKS[0][0], "tuned": MOST_TURNS, "weft": MOST_TURNS})

    def test_all_looks_together_are_wrong_in_five_percent_at_most(self) -> None:
        self.assertLessEqual(sum(error for _, error in LOOKS), 0.05)
        wrong = 0
        for seed in range(400):
            # At the very margin: "faster" is wrong, and so it is in half of the 5 % at most.
            wrong += self.compare(verify(noisy(0.95, 0.5, seed))).faster
        self.assertLess(wrong, 400 * 0.045)

    def test_six_turns_still_suffice(self) -> None:
        self.assertTrue(self.compare(verify(noisy(0.5, 0.001), seconds=1)).faster)


class WordsTest(unittest.TestCase):
    def test_undecided_is_said(self) -> None:
        record = Record()
        for way, times in ((DEFAULT, [100.0]), (Way("ring", algorithm=1), [50.0])):
            record.add(NEAR, way, times, 0.0, "")
        numbers = iter((80.0, 120.0, 85.0) * 1000)
        record.verified = verify(lambda name, place: [100.0 if name == "default" else next(numbers)]).verified
        found = verifying.verdicts(record, {NEAR: "ring"})
        with contextlib.redirect_stdout(io.StringIO()) as said:
            outcome.show_verdicts("Again:", ("default", "with file"), found, {NEAR: "ring"}, {})
        self.assertIn("default: undecided", said.getvalue())
        self.assertIn("1 undecided", said.getvalue())
        self.assertRegex(said.getvalue(), rf" {MOST_TURNS} +-15 %")


if __name__ == "__main__":
    unittest.main()

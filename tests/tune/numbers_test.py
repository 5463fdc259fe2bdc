# SPDX-License-Identifier: Apache-2.0
"""Statistics, the model and the selection of the tuner: without an MPI."""

import math
import random
import unittest

from tune import comparing, crossings, messages, model, operations, paper, selection, stats, units, verifying
from tune.faults import Fault
from tune.record import Record
from tune.stats import Estimate
from tune.ways import DEFAULT, WEFT


def estimate(median: float, width: float = 0.02) -> Estimate:
    return Estimate(median, median * (1 - width), median * (1 + width), 50)


class StatisticsTest(unittest.TestCase):
    def test_interval_contains_the_median(self) -> None:
        generator = random.Random(3)
        missed = 0
        for _ in range(400):
            found = stats.estimate([generator.lognormvariate(0, 1) for _ in range(41)])
            missed += not found.low <= 1.0 <= found.high
        self.assertLess(missed, 400 * 0.09)

    def test_few_samples(self) -> None:
        found = stats.estimate([3.0])
        self.assertEqual((found.low, found.median, found.high), (3.0, 3.0, 3.0))
        found = stats.estimate([1.0, 2.0, 9.0])
        self.assertEqual((found.low, found.median, found.high), (1.0, 2.0, 9.0))

    def test_outliers_are_counted_and_kept(self) -> None:
        found = stats.estimate([10.0, 10.1, 10.2, 9.9, 10.0, 10.1, 9.8, 10.0, 500.0])
        self.assertEqual(found.outliers, 1)
        self.assertEqual(found.count, 9)

    def test_paper_leaves_out_the_first_call(self) -> None:
        self.assertEqual(stats.mean_of_paper([1000.0, 1.0, 3.0]).median, 2.0)

    def test_ratio_of_pairs(self) -> None:
        found = stats.ratio([(100.0, 50.0 + i) for i in range(6)])
        self.assertEqual((found.low, found.high, found.count), (0.5, 0.55, 6))
        self.assertAlmostEqual(found.median, 0.525)
        # With more turns, one that is far off on each side does not count.
        found = stats.ratio([(100.0, 1.0), (1.0, 100.0), *[(100.0, 90.0)] * 7])
        self.assertEqual((found.low, found.median, found.high), (0.9, 0.9, 0.9))

    def test_interval_of_ratios_contains_the_median(self) -> None:
        generator = random.Random(5)
        for count in (6, 9, 20):
            missed = 0
            for _ in range(400):
                found = stats.ratio([(1.0, generator.lognormvariate(0, 1)) for _ in range(count)])
                missed += not found.low <= 1.0 <= found.high
            self.assertLess(missed, 400 * 0.08, count)


class SelectionTest(unittest.TestCase):
    def test_default_stays_without_a_clear_gain(self) -> None:
        for other in (100.0, 97.0, 120.0):
            ways = {"default": estimate(100), "ring": estimate(other)}
            self.assertEqual(selection.best_of(ways), "default", other)

    def test_overlapping_intervals_decide_nothing(self) -> None:
        ways = {"default": estimate(100, 0.2), "ring": estimate(80, 0.2)}
        self.assertEqual(selection.best_of(ways), "default")

    def test_clear_gain(self) -> None:
        ways = {"default": estimate(100), "ring": estimate(80), "linear": estimate(70)}
        self.assertEqual(selection.best_of(ways), "linear")

    def test_equal_neighbours_become_one(self) -> None:
        measured = {
            8: {"default": estimate(100), "ring": estimate(50), "linear": estimate(60)},
            64: {"default": estimate(100), "ring": estimate(61), "linear": estimate(60)},
            512: {"default": estimate(100), "ring": estimate(90), "linear": estimate(60)},
        }
        self.assertEqual(selection.select(measured), {8: "ring", 64: "ring", 512: "linear"})

    def test_thresholds(self) -> None:
        chosen = {8: "ring", 64: "ring", 1024: "default", 4096: "linear"}
        expected = [(0, "ring"), (257, "default"), (2049, "linear"), (4097, "default")]
        self.assertEqual(selection.thresholds(chosen), expected)
        chosen = {64: "ring", 1024: "linear", 4096: "default"}
        expected = [(0, "default"), (64, "ring"), (257, "linear"), (2049, "default")]
        self.assertEqual(selection.thresholds(chosen), expected)
        self.assertEqual(selection.thresholds({64: "default"}), [(0, "default")])
        self.assertEqual(selection.thresholds({0: "tree"}), [(0, "tree")])
        self.assertEqual(selection.thresholds({}), [])

    def test_all_sizes_or_none(self) -> None:
        better = {
            8: {"default": estimate(100), "ring": estimate(50)},
            64: {"default": estimate(100), "ring": estimate(101)},
        }
        self.assertEqual(selection.select_whole(better), {8: "ring", 64: "ring"})
        better[64]["ring"] = estimate(150)
        self.assertEqual(selection.select_whole(better), {})
        self.assertEqual(selection.select_whole({8: {"default": estimate(1), "ring": estimate(1)}}), {})

    def test_a_neighbour_that_loses_is_not_taken_over(self) -> None:
        uncertain = Estimate(100, 60, 160, 9)
        measured = {
            8: {"default": estimate(100), "ring": estimate(50), "linear": estimate(90)},
            64: {"default": estimate(105), "ring": estimate(145), "linear": uncertain},
        }
        self.assertEqual(selection.select_whole(measured), {8: "ring", 64: "linear"})


LINE = {
    "level": "same cache",
    "pairs": 1,
    "flag": 100.0,
    "copy": 0.025,
    "points": [[0, 1000.0], [8, 1000.0], [32768, 4276.8], [131072, 14107.2]],
}


SIZES = (8, 1024, 32768, 1 << 20)


def pattern(name: str, alpha: float, beta: float) -> dict[str, object]:
    return {"pattern": name, "sent": 4, "points": [[size, alpha + beta * size] for size in SIZES]}


# A message takes 1000 ns and 0.1 ns a byte, whatever goes on; a copy takes a tenth of that for each byte.
PATTERNS = [
    pattern("ping", 1000, 0.1),
    pattern("round", 1000, 0.1),
    pattern("flood", 500, 0.1),
    pattern("fan", 4 * 1000, 4 * 0.1),
    pattern("copy", 0, 0.01),
    pattern("add", 0, 0.02),
]


class MessagesTest(unittest.TestCase):
    def test_between_the_points_and_beyond(self) -> None:
        curve = messages.Curve([[8, 100], [16, 200], [32, 600]])
        self.assertEqual([curve(size) for size in (1, 8, 12, 32, 48)], [100, 100, 150, 600, 1000])

    def test_more_bytes_take_no_less_time(self) -> None:
        # A point that something else has disturbed.
        curve = messages.Curve([[8, 100], [16, 9000], [32, 300]])
        self.assertEqual([curve(size) for size in (8, 16, 32)], [100, 300, 300])

    def test_what_one_more_message_takes(self) -> None:
        self.assertAlmostEqual(messages.messages_of(PATTERNS).gap(1024), 1102.4)

    def test_damaged(self) -> None:
        for points in ([], [[8, 100]], [[8, -1], [16, 1]], [[8, float("nan")], [16, 1]]):
            with self.assertRaises(ValueError):
                messages.Curve(points)
        with self.assertRaisesRegex(Fault, "alone on its host"):
            messages.messages_of(PATTERNS[1:])


class ModelTest(unittest.TestCase):
    def model(self, ranks: int) -> model.Model:
        return model.model_of([LINE, *PATTERNS], ranks)

    def test_parameters(self) -> None:
        level = model.level_of(LINE)
        self.assertAlmostEqual(level.alpha, 1000)
        self.assertAlmostEqual(level.beta, 0.1)
        size, count = level.fragment(1 << 20)
        self.assertAlmostEqual(size, ((1 << 20) * 100 / 0.025) ** 0.5)
        self.assertAlmostEqual(size * count, 1 << 20)

    def test_bruck_for_short_and_pairwise_for_long_blocks(self) -> None:
        own = self.model(64)
        for size, faster, slower in ((8, "modified_bruck", "pairwise"), (1 << 20, "pairwise", "modified_bruck")):
            self.assertLess(own.predict("alltoall", faster, size), own.predict("alltoall", slower, size))
        self.assertIsNone(own.predict("alltoall", "unheard of", 8))

    def test_rounds_and_trees(self) -> None:
        own, size = self.model(8), 1024
        message, copy = 1000 + 0.1 * size, 0.01 * size
        for operation, name, expected in (
            ("alltoall", "pairwise", 7 * message + copy),
            ("bcast", "binomial", 3 * message),
            ("bcast", "basic_linear", 7 * message),
            ("bcast", "pipeline", 7 * message),
            ("allgather", "recursive_doubling", 3 * 1000 + 7 * 0.1 * size + copy),
            ("allreduce", "recursive_doubling", 3 * (message + 2 * copy) + 2 * copy),
        ):
            self.assertAlmostEqual(own.predict(operation, name, size), expected, 3, msg=f"{operation}, {name}")

    def test_segments_follow_each_other(self) -> None:
        whole, parts = (self.model(8).predict("bcast", "pipeline", 1 << 20, segment) for segment in (0, 8192))
        self.assertLess(parts, whole / 2)

    def test_two_ranks_have_one_algorithm_by_many_names(self) -> None:
        own = self.model(2)
        for operation, names in (
            ("alltoall", ("pairwise", "two_proc")),
            ("bcast", ("basic_linear", "binomial", "pipeline", "chain", "binary_tree")),
            ("allgather", ("ring", "neighbor", "recursive_doubling", "two_proc")),
        ):
            self.assertEqual(len({round(own.predict(operation, name, 8192), 3) for name in names}), 1, operation)


def line(alpha: float, beta: float) -> dict[int, float]:
    return {2**i: alpha + beta * 2**i for i in range(3, 20, 2)}


class CrossingsTest(unittest.TestCase):
    """ "late" begins to be faster at 10 000 bytes, or where it says."""

    EARLY = line(1000, 0.2)

    def late(self, size: float) -> dict[int, float]:
        return line(1000 + 0.1 * size, 0.1)

    def times(self, size: float) -> dict[str, dict[int, float]]:
        return {"early": self.EARLY, "late": self.late(size)}

    def verdict(self, model_size: float, measured_size: float) -> crossings.Verdict:
        (found,) = crossings.verdicts(self.times(model_size), self.times(measured_size))
        return found

    def test_where_the_best_changes(self) -> None:
        (found,) = crossings.changes(self.times(10_000))
        self.assertEqual((found.before, found.after), ("early", "late"))
        self.assertLess(abs(math.log2(found.size / 10_000)), 0.5)

    def test_noise_changes_nothing(self) -> None:
        wave = {size: time * (1.05 if i % 2 else 0.95) for i, (size, time) in enumerate(self.EARLY.items())}
        self.assertEqual(crossings.changes({"early": self.EARLY, "wave": wave}), [])

    def test_within_one_doubling(self) -> None:
        for measured, right in ((10_000, True), (16_000, True), (160_000, False)):
            found = self.verdict(10_000, measured)
            self.assertEqual(found.right, right, measured)
            self.assertTrue(found.by_model)

    def test_those_that_are_as_good_as_each_other(self) -> None:
        same = {size: time * 1.02 for size, time in self.EARLY.items()}
        (found,) = crossings.verdicts(self.times(10_000), {"early": self.EARLY, "late": same})
        self.assertTrue(found.right)
        self.assertIsNone(found.other)
        self.assertAlmostEqual(found.apart, 0.02)

    def test_a_change_that_the_model_does_not_have(self) -> None:
        slow = {size: 2 * time for size, time in self.EARLY.items()}
        (found,) = crossings.verdicts({"early": self.EARLY, "late": slow}, self.times(10_000))
        self.assertFalse(found.by_model or found.right)
        self.assertAlmostEqual(found.apart, 1.0)

    def test_algorithms_that_one_side_lacks(self) -> None:
        self.assertEqual(crossings.verdicts(self.times(10_000), {"early": self.EARLY}), [])
        self.assertEqual(crossings.verdicts({}, {}), [])


class OperationsTest(unittest.TestCase):
    def test_sizes_that_are_too_large(self) -> None:
        alltoall, bcast = operations.OPERATIONS["alltoall"], operations.OPERATIONS["bcast"]
        operations.check_sizes([alltoall, bcast], [8, 1 << 20], [2, 64])
        for size, counts, words in ((1 << 30, [2], "at most"), (1 << 20, [2, 128], "each of 128 ranks")):
            with self.assertRaises(Fault) as caught:
                operations.check_sizes([bcast, alltoall], [size], counts)
            self.assertIn(words, str(caught.exception))


class PaperTest(unittest.TestCase):
    def test_kinds(self) -> None:
        ways = {
            "own bruck:4": estimate(3),
            "modified_bruck": estimate(2),
            "linear_sync": estimate(5),
            "two_proc": estimate(1),
        }
        self.assertEqual(paper.best_of_kinds(ways), {"Bruck": 2, "blocks": 5})
        self.assertEqual(paper.kind_of("own pairwise"), "pairwise")
        self.assertIsNone(paper.kind_of("default"))

    def test_rules(self) -> None:
        rules = ((256, "Bruck"), (32768, "blocks"))
        self.assertEqual([paper.by_rules(size, rules) for size in (8, 256, 32768)], ["Bruck", "blocks", "pairwise"])


class VerdictTest(unittest.TestCase):
    def compare(self, afters: list[float], before: float = 100.0) -> comparing.Comparison:
        turns = [{"default": [before, before, before], "tuned": [after] * 3} for after in afters]
        return comparing.compare(turns, "default", "tuned")

    def test_faster(self) -> None:
        self.assertTrue(self.compare([80.0] * 6).faster)
        self.assertFalse(self.compare([96.0] * 6).faster)
        # The bound decides, not the median.
        self.assertFalse(self.compare([80.0] * 5 + [96.0]).faster)
        self.assertFalse(self.compare([120.0] * 6).faster)
        self.assertTrue(self.compare([120.0] * 6).slower)

    def test_few_turns_confirm_nothing(self) -> None:
        self.assertFalse(self.compare([50.0] * 5).faster)
        self.assertIsNone(comparing.compare([{"default": [1.0]}], "default", "tuned"))

    def test_what_fails_is_not_faster(self) -> None:
        turns = [{"default": [100.0], "tuned": [50.0]}] * 8 + [{"default": [100.0], "tuned": []}]
        self.assertFalse(comparing.compare(turns, "default", "tuned").faster)

    def test_drift_of_the_machine_does_not_count(self) -> None:
        turns = [{"default": [100.0 * 2**i], "tuned": [80.0 * 2**i]} for i in range(6)]
        self.assertTrue(comparing.compare(turns, "default", "tuned").faster)

    def test_weft_stands_against_the_file(self) -> None:
        record = Record()
        place = (2, "bcast", 8)
        for way, times in ((DEFAULT, [100.0]), (WEFT, [70.0])):
            record.add(place, way, times, 0.0, "")
        record.verified[place] = [{"default": [100.0], "weft": [70.0], "tuned": [70.0]}] * 6
        (found,) = verifying.verdicts(record, {place: "weft"}, "weft")
        self.assertFalse(found.found.faster)
        record.verified[place] = [{"default": [100.0], "weft": [70.0]}] * 6
        (found,) = verifying.verdicts(record, {place: "weft"}, "weft")
        self.assertTrue(found.found.faster)


class UnitsTest(unittest.TestCase):
    def test_sizes_and_times(self) -> None:
        self.assertEqual([units.parse_size(text) for text in ("8", "4K", "1MiB")], [8, 4096, 1 << 20])
        self.assertEqual([units.parse_seconds(text) for text in ("20", "90s", "5m", "1.5h")], [20, 90, 300, 5400])
        for text in ("", "-1", "4X", "5 m", "9" * 5000):
            with self.assertRaises(Fault):
                units.parse_size(text)
            with self.assertRaises(Fault):
                units.parse_seconds(text)
        self.assertEqual([units.size(count) for count in (0, 8, 1536, 4096, 1 << 20)], ["0", "8", "1536", "4K", "1M"])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Statistics, the model and the selection of the tuner: without an MPI."""

import random
import unittest

from tune import model, paper, selection, stats, units
from tune.faults import Fault
from tune.stats import Estimate
from tune.verifying import Verdict


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

    def test_gain_at_worst_and_at_best(self) -> None:
        real, low, high = stats.gain(Estimate(100, 90, 110, 9), Estimate(50, 45, 60, 9))
        self.assertEqual(real, 0.5)
        self.assertLess(low, real)
        self.assertLess(real, high)


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


LINE = {
    "level": "same cache",
    "pairs": 1,
    "flag": 100.0,
    "copy": 0.025,
    "points": [[0, 1000.0], [8, 1000.0], [32768, 4276.8], [131072, 14107.2]],
}


class ModelTest(unittest.TestCase):
    def test_parameters(self) -> None:
        level = model.level_of(LINE)
        self.assertAlmostEqual(level.alpha, 1000)
        self.assertAlmostEqual(level.beta, 0.1)
        size, count = level.fragment(1 << 20)
        self.assertAlmostEqual(size, ((1 << 20) * 100 / 0.025) ** 0.5)
        self.assertAlmostEqual(size * count, 1 << 20)

    def test_bruck_for_short_and_pairwise_for_long_blocks(self) -> None:
        own = model.Model([model.level_of(LINE)], 64, 64)
        for size, faster, slower in ((8, "modified_bruck", "pairwise"), (1 << 20, "pairwise", "modified_bruck")):
            self.assertLess(own.predict("alltoall", faster, size), own.predict("alltoall", slower, size))
        self.assertIsNone(own.predict("alltoall", "unheard of", 8))


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
    def verdict(self, before: Estimate, after: Estimate) -> bool:
        return Verdict((4, "bcast", 8), "ring", 0.5, before, after).confirmed

    def test_confirmed(self) -> None:
        self.assertTrue(self.verdict(estimate(100), estimate(80)))
        self.assertFalse(self.verdict(estimate(100), estimate(99.9, 0.0001)))
        self.assertFalse(self.verdict(estimate(100, 0.3), estimate(80, 0.3)))
        self.assertFalse(self.verdict(estimate(80), estimate(100)))

    def test_few_calls_confirm_nothing(self) -> None:
        self.assertFalse(self.verdict(Estimate(100, 99, 101, 10), Estimate(50, 49, 51, 50)))


class UnitsTest(unittest.TestCase):
    def test_sizes_and_times(self) -> None:
        self.assertEqual([units.parse_size(text) for text in ("8", "4K", "1MiB")], [8, 4096, 1 << 20])
        self.assertEqual([units.parse_seconds(text) for text in ("20", "90s", "5m", "1.5h")], [20, 90, 300, 5400])
        for text in ("", "-1", "4X", "5 m"):
            with self.assertRaises(Fault):
                units.parse_size(text)
            with self.assertRaises(Fault):
                units.parse_seconds(text)
        self.assertEqual([units.size(count) for count in (0, 8, 1536, 4096, 1 << 20)], ["0", "8", "1536", "4K", "1M"])


if __name__ == "__main__":
    unittest.main()

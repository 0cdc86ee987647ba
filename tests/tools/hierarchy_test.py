"""Tests of bench/hierarchy without measuring: the bounds, by another way of counting, and the table."""
import importlib.machinery
import importlib.util
import os
import sys
import unittest

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "hierarchy")
sys.dont_write_bytecode = True
sys.path.insert(0, FOLDER)
import bounds  # noqa: E402


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(FOLDER, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def entering(ranks, wants):
    """The most blocks that enter a host, where each rank wants one of each rank for which wants(sender, receiver)."""
    host_of = [host for host, count in enumerate(ranks) for _ in range(count)]
    inside = range(len(host_of))
    return max(len({wants(s, r) for r in inside for s in inside if host_of[r] == host and host_of[s] != host} - {None})
               for host in range(len(ranks)))


class Bounds(unittest.TestCase):
    def test_parts_are_counted_one_by_one(self):
        for ranks in ([2, 2], [4, 4], [2] * 4, [3, 5], [1, 1, 6]):
            size = 8 * sum(ranks)  # bytes: a part of 8 for each rank, or for each pair
            with self.subTest(ranks=ranks):
                self.assertAlmostEqual(bounds.of("all_gather", size, ranks, 1), 8 * entering(ranks, lambda s, r: s))
                self.assertAlmostEqual(bounds.of("reduce_scatter", size, ranks, 1), bounds.of("all_gather", size, ranks, 1))
                self.assertAlmostEqual(bounds.of("all_to_all", size, ranks, 1), 8 * entering(ranks, lambda s, r: (s, r)))

    def test_all_of_the_data(self):
        self.assertAlmostEqual(bounds.of("all_reduce", 100, [4, 4], 50), 2)  # half out in each of the two phases
        self.assertAlmostEqual(bounds.of("all_reduce", 100, [2] * 4, 50), 3)
        self.assertAlmostEqual(bounds.of("broadcast", 100, [3, 5], 50), 2)

    def test_one_host_has_no_links(self):
        for collective in load("hierarchy").FLAT:
            self.assertEqual(bounds.of(collective, 1000, [4], 10), 0)


class Table(unittest.TestCase):
    def test_ratios(self):
        text = load("hierarchy").report([("2x2", "all_reduce", 1 << 20, 1000.0, {"chosen": 1100.0, "again": 1300.0, "flat": 2400.0})])
        self.assertIn("| 2x2 | all_reduce (ring) | 1 | 1.0 | 1.2 | 1.20 | 2.4 | 2.00 | 1.18 |", text)

    def test_shapes(self):
        module = load("hierarchy")
        self.assertEqual(module.ranks_of("2x4"), [4, 4])
        self.assertEqual(module.ranks_of("3+5"), [3, 5])


if __name__ == "__main__":
    unittest.main()

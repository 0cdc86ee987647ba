"""Tests of bench/hierarchy: the bounds by other ways of counting, settings, arms, and tables; and as root, one tiny run.

Usage: hierarchy_test.py [FOLDER OF strata-run]
"""
import contextlib
import csv
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest

from lab_support import ROOT, needs_labs

STRATA = sys.argv.pop(1) if len(sys.argv) > 1 and os.path.isdir(sys.argv[1]) else None
FOLDER = os.path.join(ROOT, "bench", "hierarchy")
sys.dont_write_bytecode = True
sys.path[:0] = [FOLDER, os.path.join(ROOT, "bench"), os.path.join(ROOT, "bench", "compare")]
from common.lab import Lab  # noqa: E402
from comparison import build, samples  # noqa: E402
from comparison.arms import STRATA as CHOSEN, STRATA_AGAIN  # noqa: E402
from levels import bounds, rails, report, unequal  # noqa: E402
from levels.arms import ARMS, COLLECTIVES, PEERS, STRATA_FLAT, Job, arms_for  # noqa: E402
from levels.command_line import parse_command_line  # noqa: E402
from levels.setting import Setting, parse, ranks_in  # noqa: E402

PAIR = Setting("2x2", "1gbit")


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
        for collective in COLLECTIVES:
            self.assertEqual(bounds.of(collective, 1000, [4], 10), 0)

    def test_unequal_rates_allow_no_less_and_some_shares_reach_it(self):
        for vector in unequal.draw(200, seed=3):
            with self.subTest(vector=vector):
                least = bounds.unequal_all_reduce(1, vector)
                self.assertFalse(shares_exist(vector, least * (1 - 1e-9)))
                self.assertTrue(shares_exist(vector, least * (1 + 1e-9)))
                self.assertLessEqual(least, bounds.ring_all_reduce(1, vector) * (1 + 1e-9))

    def test_equal_rates_are_a_case_of_unequal_ones(self):
        for hosts in (2, 3, 4):
            expected = bounds.of("all_reduce", 12, [2] * hosts, 5)
            self.assertAlmostEqual(bounds.unequal_all_reduce(12, [5] * hosts), expected)
            self.assertAlmostEqual(bounds.ring_all_reduce(12, [5] * hosts), expected)


def shares_exist(rates, time):
    """Whether all-reduce of one unit can end by then. The host with the share s sends 1 - s parts to be reduced, and its sums to
    n - 1 hosts; so a host may own what its rate leaves room for, and together they must own everything."""
    others = len(rates) - 1
    room = [(rate * time - 1) / (others - 1) for rate in rates]
    return min(room) >= 0 and sum(min(share, 1) for share in room) >= 1


class Settings(unittest.TestCase):
    def test_ranks_of_hosts(self):
        self.assertEqual(ranks_in("2x4"), [4, 4])
        self.assertEqual(ranks_in("3+5"), [3, 5])
        for wrong in ("2x", "x4", "4", "1x4", "17x1", "3+", "2x4@1gbit", "0x4"):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(ValueError, re.escape(wrong)):
                ranks_in(wrong)

    def test_orders_are_those_of_strata_run(self):
        self.assertEqual(Setting("1+3", "1gbit").host_of_ranks(), [0, 1, 1, 1])
        self.assertEqual(Setting("3+5", "1gbit", "round-robin").host_of_ranks(), [0, 1, 0, 1, 0, 1, 1, 1])

    def test_names_can_be_read(self):
        for setting in (Setting("3+5", "8gbit", "round-robin"), unequal.setting_of([100, 250, 1000]), rails.SETTING):
            self.assertEqual(parse(setting.name()), setting)


class CommandLine(unittest.TestCase):
    def test_quick_changes_defaults_only(self):
        full, quick = parse_command_line([]), parse_command_line(["--quick", "--rounds", "4"])
        self.assertEqual((full.shapes, full.sizes), (["2x2", "2x4", "4x2", "4x4", "3+5"], [1 << 20, 4 << 20, 16 << 20, 64 << 20]))
        self.assertEqual((quick.shapes, quick.orders, quick.rounds), (["2x4", "3+5"], ["packed"], 4))

    def test_refusals_name_the_value(self):
        for arguments in (["--shapes", "2y4"], ["--rates", "1gb"], ["--sizes", "8Q"], ["--collectives", "all_redce"],
                          ["--orders", "random"], ["--peers", "nccl"], ["--rounds", "0"], ["--parts", "some"]):
            with self.subTest(arguments=arguments), contextlib.redirect_stderr(io.StringIO()) as words, \
                    self.assertRaises(SystemExit) as end:
                parse_command_line(arguments)
            self.assertEqual(end.exception.code, 2)
            self.assertIn(arguments[1], words.getvalue())


class Arms(unittest.TestCase):
    def job(self, folder, setting=PAIR):
        lab = Lab("/bin/strata-lab", 2, [])
        lab.facts = {"hosts": [{"pid": 11}, {"pid": 12}]}
        programs = dict.fromkeys(("strata-run", "strata-perf", "openmpi", "gloo"), "program")
        return Job(setting, "all_reduce", (1024, 4096), 0.1, programs, lab, folder)

    def test_order_goes_round(self):
        first, second = ([arm.name for arm in arms_for("all_reduce", PEERS, number)] for number in (1, 2))
        self.assertEqual(second, first[1:] + first[:1])
        self.assertEqual([arm.name for arm in arms_for("all_reduce", PEERS, len(first) + 1)], first)
        self.assertEqual(set(first), {CHOSEN, STRATA_AGAIN, STRATA_FLAT, "openmpi", "gloo", "gloo-ring-chunked"})

    def test_peers_that_are_not_there_or_cannot_do_it_are_left_out(self):
        self.assertEqual([arm.name for arm in arms_for("broadcast", [], 1)], [CHOSEN, STRATA_FLAT, STRATA_AGAIN])
        self.assertNotIn("gloo-ring-chunked", [arm.name for arm in arms_for("all_gather", PEERS, 1)])

    def test_every_rank_runs_on_its_host(self):
        for order, expected in (("packed", [0, 0, 1, 1]), ("round-robin", [0, 1, 0, 1])):
            with self.subTest(order=order), tempfile.TemporaryDirectory() as folder:
                job = self.job(folder, Setting("2x2", "1gbit", order))
                commands = {arm.name: arm.command(job) for arm in ARMS}
                self.assertEqual([command[4] for command in commands["gloo"]], [f"host{host}" for host in expected])
                self.assertIn(order, commands[CHOSEN][0])
                self.assertEqual(commands["openmpi"][0][:3], ["nsenter", "--target", "11"])
                with open(os.path.join(folder, "hosts"), encoding="ascii") as file:
                    self.assertEqual(file.read().split(), [f"host{host}" for host in expected])

    def test_the_agent_runs_the_command_on_the_host(self):
        agent = os.path.join(FOLDER, "mpi_agent")
        end = subprocess.run([agent, "echo", "lab-1", "-x", "-n", "host1", "orted", "--a", "b c"], capture_output=True, text=True,
                             check=True)
        self.assertEqual(end.stdout, "exec --name lab-1 host1 -- sh -c orted --a b c\n")


def sample(arm, ms, setting=PAIR, number=1, collective="all_reduce", size=1 << 20, others_pct=1.0, right=True):
    us = 1e3 * ms
    return samples.Sample(round=number, arm=arm, mode=setting.name(), ranks=setting.ranks(), collective=collective, size=size,
                          bytes=size, p50_us=us, p99_us=us, min_us=us, samples=9, calls=1, right=right, probe_before_ns=-1,
                          probe_after_ns=-1, others_pct=others_pct)


def text_of(given, settings=(PAIR,), vectors=(), goodputs=(), notes=()):
    return report.report("HEAD", report.Measured(given, list(settings), list(vectors), dict(goodputs), list(notes), 30), [])


class Report(unittest.TestCase):
    GIVEN = [bounds.as_sample(PAIR, "all_reduce", 1 << 20, 1, 0.001), sample(CHOSEN, 1.1), sample(STRATA_AGAIN, 1.3),
             sample(STRATA_FLAT, 2.4), sample("openmpi", 3.6), sample("gloo", 1.8)]

    def test_ratios(self):
        text = text_of(self.GIVEN, goodputs={"2x2@1gbit": [[957e6, 955e6]]})
        self.assertIn("| all_reduce | 1 MiB | 1.00 | 1.20 | 1.20 | 1.80 | gloo | 1.50 | 2.40 | 2.00 | 1.18 | 1 |", text)
        self.assertIn("| all_reduce | 1 | 1.20 | 1.20 | 1.50 | 1.50 | 0 |", text)
        self.assertIn("TCP: 955 Mbit/s.", text)

    def test_figures_that_others_disturbed_do_not_count_and_are_told(self):
        text = text_of([*self.GIVEN, sample("gloo-ring-chunked", 0.5, others_pct=31)])
        self.assertIn("1 of 6 figures are rejected", text)
        self.assertIn("| 1.80 | gloo |", text)

    def test_wrong_results_and_notes_are_told(self):
        text = text_of([*self.GIVEN, sample("gloo-ring-chunked", 0.5, right=False)], notes=["openmpi: its last words"])
        self.assertIn("all_reduce, gloo-ring-chunked: wrong results", text)
        self.assertIn("- openmpi: its last words", text)
        self.assertIn("| 1.80 | gloo |", text)

    def test_what_is_not_there_is_left_empty(self):
        self.assertIn("| all_reduce | 1 MiB |  | 1.10 |  |  |  |  |  |  | 1.00 | 1 |", text_of([sample(CHOSEN, 1.1)]))
        self.assertNotIn("##", text_of([]))

    def test_settings_keep_their_order(self):
        settings = [Setting("4x2", "1gbit"), PAIR, Setting("2x2", "1gbit", "round-robin")]
        text = text_of([sample(CHOSEN, 1, setting) for setting in reversed(settings)], settings)
        self.assertEqual(re.findall(r"^## (\dx\d.*)$", text, re.MULTILINE), [setting.text() for setting in settings])

    def test_rails(self):
        size = rails.SIZES["send"][0]
        times = zip(rails.INTERFACES, (size / 75e3, size / 25e3, size / 90e3))
        text = text_of([sample(name, ms, rails.SETTING, collective="send", size=size) for name, ms in times])
        self.assertIn("| send | 1 MiB | 75.0 | 25.0 | 90.0 | 0.90 |", text)


class Unequal(unittest.TestCase):
    def test_vectors_are_in_range_and_the_seeds(self):
        vectors = unequal.draw(50, seed=1)
        self.assertEqual(vectors, unequal.draw(50, seed=1))
        self.assertNotEqual(vectors, unequal.draw(50, seed=2))
        self.assertEqual({len(vector) for vector in vectors}, set(unequal.HOSTS))
        self.assertTrue(all(100 <= rate <= 1000 for vector in vectors for rate in vector))

    def test_the_slower_direction_of_each_link_counts(self):
        # host 0 at 500, host 2 at 300: each sends to an unlimited one, and gets from the one before.
        self.assertEqual(unequal.goodputs_of([480, 290, 285, 485]), [480, 285])

    def test_table(self):
        vector, size = [800, 400, 400], unequal.SIZE
        setting = unequal.setting_of(vector)
        rates = [800e6, 400e6, 400e6]
        paths = [rate for rate in rates for _ in range(2)]
        paths = paths[:1] + paths[2:] + paths[:1]  # sent by each, then taken in by the next
        least_ms = 1e3 * 4 * size / 200e6
        ratios = ((CHOSEN, 1.1), (STRATA_AGAIN, 1.1), (unequal.RING, 1.4))
        given = [sample(arm, least_ms * ratio, setting, size=size) for arm, ratio in ratios]
        self.assertRegex(text_of(given, [], [vector], {setting.lab(): [paths]}),
                         r"\| 800 400 400 \| 800 400 400 \| 336 \| 369 \| 1\.10 \| 1\.00 \| 470 \| 1\.40 \| 1\.33 \|")

    @unittest.skipUnless(STRATA, "strata-topo is not named")
    def test_topology_files_are_understood(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="ascii") as file:
            file.write(unequal.topology([652e6, 210e6]))
            file.flush()
            end = subprocess.run([os.path.join(STRATA, "strata-topo"), "show", "--topology", file.name], capture_output=True,
                                 text=True, check=False)
        self.assertEqual(end.returncode, 0, end.stderr)
        for words in ("host0", "host1", "652 Mb/s", "210 Mb/s"):
            self.assertIn(words, end.stdout)


@needs_labs
@unittest.skipUnless(STRATA, "the folder of strata-run is not named")
class InALab(unittest.TestCase):
    def test_every_arm_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            raw = os.path.join(folder, "raw.csv")
            end = subprocess.run(
                [os.path.join(FOLDER, "hierarchy"), "--parts", "shapes", "--shapes", "1+2", "--rates", "1gbit", "--orders",
                 "round-robin", "--collectives", "all_reduce", "--sizes", "64K", "--rounds", "1", "--seconds", "0.001",
                 "--calibration-seconds", "0.05", "--retries", "0", "--patience", "0", "--max-pressure", "100", "--max-others",
                 "10000", "--csv", raw, "--output", folder, "--strata", STRATA, "--build",
                 os.path.join(STRATA, "..", "compare_programs")],
                capture_output=True, text=True, timeout=240, check=False)
            self.assertEqual(end.returncode, 0, end.stdout + end.stderr)
            with open(raw, encoding="utf-8", newline="") as file:
                right = {row["arm"]: row["right"] for row in csv.DictReader(file)}
            with open(os.path.join(folder, "RESULTS.md"), encoding="utf-8") as file:
                text = file.read()
        there = [peer for peer in PEERS if not build.missing_packages(peer)]
        self.assertLessEqual({arm.name for arm in arms_for("all_reduce", there, 1)}, set(right), text)
        self.assertEqual(set(right.values()), {"1"})
        self.assertIn("## 1+2 at 1gbit, round-robin", text)


if __name__ == "__main__":
    unittest.main()

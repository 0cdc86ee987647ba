"""Tests of bench/compare without measuring: what its programs' lines mean, which arms run, and how the figures compare."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import sys
import tempfile
import unittest

COMPARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "compare")
sys.path[:0] = [COMPARE, os.path.dirname(COMPARE)]
sys.dont_write_bytecode = True
from comparison import choices, limits, own_costs, plots, samples, table
from comparison.arms import (ARMS, COLLECTIVES, LIMIT_ARM, MEASURED, MODES, Job, arms_for, bytes_of, goes_with,
                             workers_of)
from comparison.cells import behind, bus_factor, cells_of
from comparison.choices_table import choices_text
from comparison.special_tables import many_text, point_to_point_text


def load_command():
    loader = importlib.machinery.SourceFileLoader("compare_command", os.path.join(COMPARE, "compare"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare_command", loader))
    loader.exec_module(module)
    return module


def sample(arm, p50_us, number=1, probe=40, right=True, size=1024, **other):
    fields = {"round": number, "arm": arm, "mode": "shm", "ranks": 2, "collective": "all_reduce", "size": size,
              "bytes": size, "p50_us": p50_us, "p99_us": 2 * p50_us, "min_us": p50_us / 2, "samples": 9, "calls": 32,
              "right": right, "probe_before_ns": probe, "probe_after_ns": probe, "others_pct": 1.0}
    return samples.Sample(**{**fields, **other})


def only_cell(*given):
    cells = cells_of(given)
    assert len(cells) == 1, cells
    return cells[0]


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.command = load_command()

    def test_defaults(self):
        options = self.command.parse_command_line([])
        self.assertEqual((options.rounds, options.ranks, len(options.modes)), (2, [2, 4], 4))
        self.assertEqual(options.sizes, [8, 1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20])

    def test_lists(self):
        options = self.command.parse_command_line(["--sizes", "64,2M", "--ranks", "3", "--modes", "tcp", "--quick"])
        self.assertEqual((options.sizes, options.ranks, options.modes, options.rounds), ([64, 2 << 20], [3], ["tcp"], 1))

    def test_refusals_name_the_value(self):
        for arguments in (["--sizes", "8Q"], ["--ranks", "1"], ["--modes", "pigeon"], ["--collectives", "all_redce"],
                          ["--peers", "nccl"]):
            with contextlib.redirect_stderr(io.StringIO()) as words, self.assertRaises(SystemExit) as end:
                self.command.parse_command_line(arguments)
            self.assertEqual(end.exception.code, 2)
            self.assertIn(arguments[1], words.getvalue())


class Arms(unittest.TestCase):
    def test_sizes_are_whole_and_each_rank_has_a_part(self):
        self.assertEqual(bytes_of("all_reduce", 8, 4), 8)
        self.assertEqual(bytes_of("all_gather", 8, 4), 16)
        self.assertEqual(bytes_of("all_to_all", 1000, 3), 996)
        self.assertEqual(bytes_of("barrier", 64, 2), 0)

    def names(self, collective, ranks, modes, peers, tuned=False, number=1, cores=2):
        return [arm.name for arm, _ in arms_for(collective, ranks, modes, peers, tuned, cores, number)]

    def test_strata_is_measured_twice_and_the_order_turns(self):
        orders = [self.names("all_reduce", 2, ["shm"], ("openmpi", "mpich"), number=number) for number in (1, 2)]
        self.assertEqual(orders[0], ["strata", "openmpi", "strata-again", "mpich"])
        self.assertEqual(orders[1], orders[0][1:] + orders[0][:1])

    def test_both_kinds_of_buffers_are_measured_beside_the_same_peers(self):
        block = arms_for("reduce", 2, ["shm", "shm-allocated"], ("mpich",), False, 2, 1)
        self.assertEqual([(arm.name, mode) for arm, mode in block],
                         [("strata", "shm"), ("strata", "shm-allocated"), ("mpich", "shm"), ("strata-again", "shm"),
                          ("strata-again", "shm-allocated")])

    def test_where_arms_do_not_apply(self):
        peers = ("gloo", "torch", "limits")
        self.assertEqual(sorted(self.names("broadcast", 4, ["tcp"], peers, True)),
                         ["gloo", "strata", "strata-again"])
        self.assertEqual(sorted(self.names("broadcast", 2, ["tcp"], peers, True)),
                         ["gloo", "strata", "strata-again", "torch-gloo"])
        self.assertEqual(sorted(self.names("broadcast", 2, ["tcp"], peers, True, number=2)),
                         ["gloo", "strata", "strata-again"])

    def test_messages_are_of_ordinary_buffers_and_those_of_iperf3_are_large(self):
        block = arms_for("send", 2, ["shm", "shm-allocated"], ("mpich", "gloo"), True, 2, 1)
        self.assertEqual({mode for _, mode in block}, {"shm"})
        self.assertEqual({arm.name for arm, _ in block}, {"strata", "strata-again", "mpich"})
        self.assertEqual(next(arm for arm in ARMS if arm.name == "iperf3").sizes_of((8, 64 << 10), 2, 2), [64 << 10])

    def test_several_connections_are_of_windows_of_messages(self):
        self.assertEqual([c for c in MEASURED if goes_with(c, 2, "tcp-2-streams")], ["send"])
        self.assertEqual([c for c in MEASURED if not goes_with(c, 4, "tcp")], ["ping_pong", "send"])
        block = arms_for("send", 2, ["tcp-2-streams"], ("openmpi", "mpich", "iperf3"), True, 2, 1)
        self.assertEqual(sorted(arm.name for arm, _ in block), ["iperf3", "openmpi", "strata", "strata-again"])
        strata = next(arm for arm, _ in block if arm.name == "strata")
        self.assertEqual(strata.environment, {"STRATA_TCP_STREAMS": "2"})

    def test_who_never_yields_is_measured_at_large_sizes_when_ranks_share_cores(self):
        arm = next(arm for arm in ARMS if arm.name == "mpich")
        self.assertEqual(arm.sizes_of((8, 64 << 20), 4, 2), [64 << 20])
        self.assertEqual(arm.sizes_of((8, 64 << 20), 4, 4), [8, 64 << 20])
        self.assertNotIn("mpich", self.names("barrier", 4, ["shm"], ("mpich",)))

    def test_every_arm_makes_commands_of_words(self):
        programs = {name: name for name in ("openmpi", "mpich", "gloo", "torch", "iperf3", "limits")}
        for arm in (*ARMS, LIMIT_ARM):
            for ranks in (2, 4):
                job = Job("all_reduce", (8, 1024), ranks, arm.modes[0], 0.1, 9, False, True, 2, programs, "/folder")
                commands = arm.command(job)
                self.assertIn(len(commands), (1, ranks), arm.name)
                for word in (word for command in commands for word in command):
                    self.assertIsInstance(word, str)
                self.assertIn("8,1024", commands[0])


class Reading(unittest.TestCase):
    def test_lines_of_programs_among_other_words(self):
        text = ("Warning: an MPI's chatter\ncompare,,all_reduce,2,8,0.15,0.3,0.1,400,32,1\n"
                "compare,plain,copy,2,8,0.05,0.1,0.04,400,32,0\ncompare,cut,off\n")
        rows = list(samples.rows_of_programs(text))
        self.assertEqual([row[:3] for row in rows], [("", "all_reduce", 8), ("plain", "copy", 8)])
        self.assertEqual(rows[0][3], {"p50_us": 0.15, "p99_us": 0.3, "min_us": 0.1, "samples": 400, "calls": 32,
                                      "right": True})
        self.assertFalse(rows[1][3]["right"])

    def test_stratas_broadcast_is_in_place(self):
        names = [f"{side}_{name}" for side in ("out_of_place", "in_place")
                 for name in ("p50_us", "p99_us", "min_us", "samples", "calls", "wrong")]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "strata.csv")
            with open(path, "w", encoding="utf-8") as file:
                file.write(",".join(["collective", "size_bytes", *names]) + "\n")
                file.write("broadcast,8,1,2,0.5,9,32,0,3,4,2.5,9,32,0\nall_reduce,16,1,2,0.5,9,32,7,,,,,,\n")
            rows = list(samples.rows_of_strata(path))
        self.assertEqual([(size, figures["p50_us"], figures["right"]) for _, _, size, figures in rows],
                         [(8, 3.0, True), (16, 1.0, False)])

    def test_raw_csv_is_read_as_written(self):
        given = [sample("strata", 1.25, probe=-1), sample("mpich", 3.5, right=False, others_pct=12.0)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "raw.csv")
            with contextlib.closing(samples.Recorder(path)) as recorder:
                recorder.add(given)
            self.assertEqual(samples.read_csv(path), given)


class Cells(unittest.TestCase):
    def test_ratios_are_of_the_same_round(self):
        cell = only_cell(sample("strata", 1, 1), sample("mpich", 2, 1), sample("strata", 10, 2), sample("mpich", 20, 2),
                         sample("strata", 4, 3), sample("mpich", 2, 3))
        self.assertEqual((cell.peers[0].arm, cell.peers[0].ratio), ("mpich", 2))
        self.assertFalse(cell.is_behind())

    def test_rounds_with_near_cores_count(self):
        cell = only_cell(sample("strata", 1, 1, probe=40), sample("mpich", 3, 1, probe=40),
                         sample("strata", 9, 2, probe=250), sample("mpich", 9, 2, probe=250),
                         sample("strata", 1, 3, probe=40), sample("mpich", 9, 3, probe=250))
        self.assertEqual((cell.cores, cell.p50_us, cell.peers[0].ratio), ("near", 1, 3))

    def test_far_cores_count_if_they_never_were_near(self):
        cell = only_cell(sample("strata", 4, 1, probe=250), sample("mpich", 2, 1, probe=250))
        self.assertEqual((cell.cores, cell.peers[0].ratio), ("far", 0.5))

    def test_noise_is_what_the_two_stratas_differ(self):
        cell = only_cell(sample("strata", 10), sample("strata-again", 12), sample("mpich", 10), sample("gloo", 5))
        self.assertEqual((cell.noise, cell.p50_us, [p.arm for p in cell.peers]), (1.2, 11, ["gloo", "mpich"]))
        self.assertTrue(cell.is_behind() and not cell.is_within_noise())
        self.assertTrue(only_cell(sample("strata", 10), sample("strata-again", 12), sample("mpich", 10)).is_within_noise())

    def test_wrong_results_do_not_count(self):
        cell = only_cell(sample("strata", 2), sample("gloo", 1, right=False), sample("mpich", 3))
        self.assertEqual((cell.wrong, [p.arm for p in cell.peers]), (("gloo",), ["mpich"]))

    def test_limits_are_no_peers(self):
        cell = only_cell(sample("strata", 2), sample(limits.LIMIT, 1))
        self.assertEqual((cell.limit.arm, cell.limit.ratio, cell.peers), (limits.LIMIT, 0.5, ()))

    def test_peers_count_for_both_kinds_of_buffers(self):
        private, allocated = cells_of([sample("strata", 4), sample("strata", 2, mode="shm-allocated"), sample("mpich", 8),
                                       sample(limits.LIMIT, 1)])
        self.assertEqual((private.peers[0].ratio, private.limit.ratio), (2, 0.25))
        self.assertEqual((allocated.peers[0].ratio, allocated.limit), (4, None))

    def test_behind_begins_with_the_worst(self):
        cells = cells_of([sample("strata", 2, size=8), sample("mpich", 1, size=8), sample("strata", 4),
                          sample("mpich", 1), sample("strata", 1, size=4096), sample("mpich", 2, size=4096)])
        self.assertEqual([cell.size for cell in behind(cells)], [1024, 8])

    def test_bandwidth(self):
        self.assertEqual([bus_factor(c, 4) for c in ("all_reduce", "all_gather", "broadcast")], [1.5, 0.75, 1.0])
        self.assertAlmostEqual(only_cell(sample("strata", 1)).busbw_gbs(), 1.024)


MACHINE = {"hop": 0.1, "switch": 1, "tcp_hop": 4, "tcp_stream": 5, "tcp_exchange": 6}  # us, whatever the size
RATES = {"copy": 1e-4, "add": 1.5e-4, "pass": 3e-4}  # us a byte


def parts():
    return {**{name: limits.Curve([(8, us), (1 << 30, us)]) for name, us in MACHINE.items()},
            **{name: limits.Curve([(4096, 4096 * rate)]) for name, rate in RATES.items()}}


class Limits(unittest.TestCase):
    def test_curve(self):
        curve = limits.Curve([(8, 2.0), (4, 1.0), (16, 10.0)])
        self.assertEqual([curve.at(size) for size in (2, 4, 6, 8, 12, 32)], [0.5, 1.0, 1.5, 2.0, 6.0, 20.0])

    def test_of_two_ranks_on_two_cores(self):
        size = 1 << 20
        us = lambda mode, collective: limits.limit_us(mode, collective, size, 2, 2, parts())  # noqa: E731
        copy_us = size * RATES["copy"]
        self.assertAlmostEqual(us("shm-allocated", "all_reduce"), 0.1 + copy_us)  # each writes half of both outputs
        self.assertAlmostEqual(us("shm-allocated", "reduce_scatter"), 0.1 + size / 2 * RATES["add"])
        self.assertAlmostEqual(us("shm", "all_reduce"), size * RATES["pass"])  # every byte goes through a slot once
        self.assertAlmostEqual(us("shm", "all_to_all"), copy_us + size / 2 * (RATES["pass"] - RATES["copy"]))
        self.assertAlmostEqual(us("tcp", "all_gather"), 6)
        self.assertAlmostEqual(us("tcp", "all_reduce"), 6 + size / 2 * (RATES["add"] - RATES["copy"]))
        self.assertEqual(us("tcp", "broadcast"), 4)  # the faster of the two ways that go in one direction

    def test_a_word_takes_a_hop(self):
        for mode, hop_us in (("shm", 0.1), ("shm-allocated", 0.1), ("tcp", 4)):
            self.assertAlmostEqual(limits.limit_us(mode, "reduce", 8, 2, 2, parts()), hop_us, delta=0.01)
            self.assertEqual(limits.limit_us(mode, "barrier", 0, 2, 2, parts()), max(hop_us, 6 if mode == "tcp" else 0))

    def test_ranks_that_share_cores_share_work_and_turns(self):
        size = 1 << 20
        self.assertEqual(limits.limit_us("shm", "barrier", 0, 16, 2, parts()), 7)  # eight ranks on a core: seven changes
        self.assertEqual(limits.limit_us("tcp", "barrier", 0, 4, 2, parts()), 6 * 6 / 2 + 1)  # six messages on two cores
        two, four = (limits.limit_us("shm-allocated", "all_reduce", size, n, 2, parts()) for n in (2, 4))
        self.assertAlmostEqual(four - 1, 2 * (two - 0.1))
        self.assertAlmostEqual(limits.limit_us("shm", "broadcast", 8, 4, 2, parts()), 0.5, delta=0.01)

    def test_every_collective_has_one_that_grows_with_ranks(self):
        for collective in COLLECTIVES:
            for mode in MODES:
                two, four = (limits.limit_us(mode, collective, 1 << 20, n, 2, parts()) for n in (2, 4))
                self.assertGreaterEqual(four, two, (collective, mode))
                self.assertGreater(two, 0)

    def test_a_write_costs_no_less_than_a_read(self):
        odd = {**parts(), "add": limits.Curve([(4096, 1)])}
        memory = limits.memory_of(odd, 8192)
        self.assertEqual(memory.read, memory.write)

    def test_rounds(self):
        self.assertEqual(limits.rounds_us("tcp", 8, 16, parts()), 4 * 4)
        self.assertAlmostEqual(limits.rounds_us("shm", 8, 9, parts()), 4 * 0.1)
        self.assertAlmostEqual(limits.rounds_us("shm", 4096, 16, parts()), 4 * 4096 * RATES["pass"] / 2)

    def test_messages(self):
        us = lambda mode, case, size: limits.limit_us(mode, case, size, 2, 2, parts())  # noqa: E731
        self.assertEqual([limits.window_of(size) for size in (8, 1 << 20, 4 << 20, 1 << 30)], [64, 64, 16, 2])
        self.assertEqual(us("tcp", "send", 8), 5 / 64)  # a window is one stream
        self.assertEqual(us("tcp", "ping_pong", 8), 4)
        self.assertAlmostEqual(us("shm", "ping_pong", 8), 0.1)
        self.assertAlmostEqual(us("shm", "send", 1 << 20), (1 << 19) * RATES["pass"])

    def test_workers(self):
        self.assertEqual([workers_of("shm", *of) for of in ((4, 2), (3, 8), (2, 1))], [2, 3, 1])
        self.assertEqual([workers_of("tcp", *of) for of in ((4, 2), (3, 8), (2, 1))], [2, 2, 2])

    def test_parts_are_those_of_the_block_and_the_fastest_way_counts(self):
        def part(name, us, way="only", **other):
            return sample(f"limit:{way}", us, collective=name, size=8, **other)
        words = [part("hop", 0.1), part("switch", 1), part("copy", 0.2, "plain"), part("copy", 0.1, "streaming"),
                 part("add", 0.3), part("pass", 0.4)]
        given = [sample("strata", 1, size=8), sample("strata", 1, size=8, mode="shm-allocated"), sample("mpich", 1, size=8),
                 sample("strata", 1, size=8, ranks=4), *words, part("copy", 0.01, right=False)]
        found = limits.composed(given, 2)
        self.assertEqual([(s.mode, s.ranks, s.arm) for s in found],
                         [("shm", 2, limits.LIMIT), ("shm-allocated", 2, limits.LIMIT)])
        self.assertAlmostEqual(found[0].p50_us, 0.4)
        self.assertAlmostEqual(found[1].p50_us, 0.1 + 0.1)


def candidate(algorithm, chosen, predicted_us, measured_us, size=8):
    return choices.Candidate("tcp", 4, "all_reduce", size, algorithm, 0, chosen, predicted_us, measured_us)


class Choices(unittest.TestCase):
    GIVEN = [candidate("ring", True, 10, 20), candidate("tree", False, 12, 10), candidate("direct", False, 15, 30),
             candidate("ring", True, -1, 10, 64), candidate("tree", False, 12, 9.5, 64)]

    def test_a_choice_is_a_defect_if_another_is_over_a_tenth_faster(self):
        found = choices.choices_of(self.GIVEN)
        self.assertEqual([(c.chosen.algorithm, c.best.algorithm, c.is_defect()) for c in found],
                         [("ring", "tree", True), ("ring", "tree", False)])

    def test_defects_come_first(self):
        text = choices_text(self.GIVEN)
        self.assertIn("1 of 2 algorithms", text)
        self.assertIn("| tcp | 4 | all_reduce | 8 B | ring | 10.0 | 20.0 | tree | 12.0 | 10.0 | 2.00 |", text)
        self.assertIn("| tcp | 4 | all_reduce | 64 B | ring |  | 10.0 |  | tree | 1.05 |", text)
        self.assertEqual(choices_text([]), "")

    def test_read_as_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "choices.csv")
            self.assertEqual(choices.read(path), [])
            choices.write(path, self.GIVEN)
            self.assertEqual(choices.read(path), self.GIVEN)

    def test_candidates_of_strata_perf(self):
        row = {"collective": "all_reduce", "size_bytes": 8, "candidates": [
            {"algorithm": "ring", "segment_bytes": 64, "chosen": True, "predicted_us": None, "measured_us": 2.5},
            {"algorithm": "tree", "segment_bytes": 64, "chosen": False, "predicted_us": 1.5, "measured_us": None}]}
        job = Job("all_reduce", (8,), 2, "shm", 0.1, 9, False, True, 2, {}, "")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"rows": [row, {"collective": "send", "size_bytes": 8}]}, file)
            self.assertEqual(list(choices.rows_of_json(path, job)),
                             [choices.Candidate("shm", 2, "all_reduce", 8, "ring", 64, True, -1, 2.5)])
        self.assertTrue(choices.has_choices("barrier", "tcp"))
        self.assertFalse(choices.has_choices("send", "tcp") or choices.has_choices("barrier", "shm-allocated"))


class OwnCosts(unittest.TestCase):
    def test_words_come_with_their_command(self):
        self.assertEqual(own_costs.section("bench/overhead", "a 1 ns\nb 2 ns\n"),
                         "`bench/overhead` says\n\n    a 1 ns\n    b 2 ns\n\n")

    def test_what_is_not_built_is_noted(self):
        with tempfile.TemporaryDirectory() as folder:
            text, notes = own_costs.measure(os.path.join(folder, "tools"), 1)
        self.assertEqual((text, len(notes)), ("", 1))


class Report(unittest.TestCase):
    def test_table(self):
        given = [sample("strata", 2), sample("strata-again", 2), sample("mpich", 1.5), sample(limits.LIMIT, 1),
                 sample("gloo", 9, right=False), sample("limit:plain", 1000, collective="copy")]
        text = table.report("Title", "machine", given, ["a note"])
        self.assertIn("## Strata is behind in 1 of 1 cells", text)
        self.assertIn("| shm | 2 | all_reduce | 1 KiB | 2.00 | 1.50 | mpich | 0.75 |  |", text)
        self.assertIn("| all_reduce | 1 KiB | 2.00 | 4.00 | 0.51 | 1.50 | 3.00 | mpich | 0.75 | 1.00 | 2.00 | 1.00 | near 40 | 1 |",
                      text)
        self.assertIn("| shm | 2 | all_reduce | 1 KiB | gloo |", text)
        self.assertIn("| shm | 2 | all_reduce | 2.00 |", text)
        self.assertIn("| copy | 1000 |", text)
        self.assertIn("- a note", text)

    def test_messages_have_a_table_with_all_peers(self):
        given = [sample("strata", 2, collective="send"), sample("mpich", 3, collective="send"),
                 sample("iperf3", 4, collective="send"), sample(limits.LIMIT, 1, collective="send")]
        text = point_to_point_text(cells_of(given))
        self.assertIn("| shm | send | 1 KiB | 2.00 | 4.00 | 0.51 | 4.00 | 3.00 | 1.00 | 2.00 |", text)
        self.assertNotIn("## shm, 2 ranks", table.report("Title", "machine", given, []))

    def test_many_ranks_are_beside_rounds_and_limit(self):
        given = [sample("strata", 20, ranks=16), sample("openmpi", 30, ranks=16), sample(limits.LIMIT, 5, ranks=16),
                 sample(limits.ROUNDS, 10, ranks=16)]
        text = many_text(cells_of(given))
        self.assertIn("| shm | 1 KiB | 20.0 | 40.0 | 30.0 | 60.0 | openmpi | 1.50 | 13.0 | 1.54 | 5.00 | 4.00 |", text)
        self.assertNotIn("## shm, 16 ranks", table.report("Title", "machine", given, []))

    def test_numbers(self):
        self.assertEqual([table.number(v) for v in (0.1234, 9.999, 42.26, 99.97, 12345.6, None)],
                         ["0.12", "10.0", "42.3", "100", "12346", ""])
        self.assertEqual([table.size_text(v) for v in (8, 1024, 1536, 64 << 20)], ["8 B", "1 KiB", "1536 B", "64 MiB"])

    def test_plots_show_strata_the_best_peers_and_the_limit(self):
        names = ("mpich", "gloo", "openmpi", "openmpi-ucx")
        cells = cells_of([sample("strata", 2), sample(limits.LIMIT, 1),
                          *(sample(name, 3 + i) for i, name in enumerate(names))])
        curves = plots.curves_of(cells)
        self.assertEqual(list(curves), ["Strata", "mpich", "gloo", "openmpi", "limit"])
        text = plots.script("title", curves, "x.svg")
        self.assertEqual(text.count("with linespoints"), 5)
        self.assertIn("1024 2", text)


if __name__ == "__main__":
    unittest.main()

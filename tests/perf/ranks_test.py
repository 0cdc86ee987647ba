#!/usr/bin/env python3
"""Runs strata-perf as a job of several processes: every collective, type and operation, out of place and in place.

Usage: ranks_test.py STRATA_PERF
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest

PERF = sys.argv.pop(1) if len(sys.argv) > 1 else "strata-perf"
DEADLINE_S = 120
OUTSIDE = {name: value for name, value in os.environ.items()
           if not name.startswith("STRATA_") and name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}


def run_job(ranks, *arguments):
    """Exit codes of all ranks, rank 0's output, everybody's complaints."""
    with tempfile.TemporaryDirectory() as folder:
        job = []
        for rank in range(ranks):
            place = {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank),
                     "STRATA_RENDEZVOUS": os.path.join(folder, "meet")}
            job.append(subprocess.Popen([PERF, *arguments], env={**OUTSIDE, **place}, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        ends = []
        try:
            ends = [process.communicate(timeout=DEADLINE_S) for process in job]
        finally:
            for process in job:
                process.kill()
        return [p.returncode for p in job], ends[0][0], "".join(out for out, _ in ends[1:]), "".join(e for _, e in ends)


def rows(output):
    return [line.split() for line in output.splitlines() if line and not line.startswith("#")]


class Ranks(unittest.TestCase):
    def run_well(self, ranks, *arguments):
        codes, output, others, complaints = run_job(ranks, *arguments)
        self.assertEqual(codes, [0] * ranks, output + complaints)
        self.assertEqual(others, "", "only rank 0 prints")
        self.assertIn("# Out of bounds values : 0 OK", output)
        return output

    def test_everything_is_right_on_any_number_of_ranks(self):
        for ranks in (1, 2, 3, 4, 5):
            with self.subTest(ranks=ranks):
                table = rows(self.run_well(ranks, "all", "-b", "1001", "-e", "1001", "-d", "all", "-o", "all", "-n", "1",
                                           "-w", "0"))
                self.assertGreater(len(table), 300)
                for row in table:
                    self.assertEqual(len(row), 17, row)
                    self.assertIn(row[8], ("0", "N/A"))
                    self.assertIn(row[12], ("0", "N/A"))

    def test_sizes_from_nothing_to_more_than_a_chunk(self):
        for size in ("0", "1", "8", "70000", "3M"):
            with self.subTest(size=size):
                self.run_well(3, "all", "-b", size, "-e", size, "-n", "2", "-r", "-1", "-c", "2", "--plain")

    def test_calls_together_and_overlapped(self):
        self.run_well(3, "all", "-b", "4K", "-e", "4K", "-m", "5", "-n", "3")
        self.run_well(3, "all", "-b", "4K", "-e", "64K", "-f", "4", "-z", "0", "--untouched", "-n", "20")

    def test_point_to_point(self):
        for ranks in (1, 2, 3):
            for window in ("1", "7"):
                with self.subTest(ranks=ranks, window=window):
                    for case in ("ping_pong", "send"):
                        self.run_well(ranks, case, "--sizes", "0,8,70000,3M", "-n", "3", "-m", "2", "--window", window)
                        self.run_well(ranks, case, "--sizes", "8,3M", "--sampled", "0.001", "--window", window,
                                      "--transport", "tcp")

    def test_transports(self):
        for transport in ("tcp", "shm"):
            with self.subTest(transport=transport):
                self.run_well(2, "all", "-b", "100K", "-e", "100K", "-n", "2", "--transport", transport)

    def test_shared_buffers(self):
        self.run_well(3, "all", "--sizes", "8,100K", "-n", "2", "-r", "-1", "--memory", "shared")

    def test_explanations(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.json")
            for transport in ("tcp", "shm"):
                output = self.run_well(3, "all", "--sizes", "8,300K", "-n", "2", "-r", "-1", "--transport", transport,
                                       "--algorithm", "all", "-J", path)
                self.assertIn("predicted    measured", output)
                self.assertIn("x the best measured", output)
                with open(path, encoding="utf-8") as file:
                    for row in json.load(file)["rows"]:
                        self.check_candidates(row, transport)
        self.assertIn("* direct", self.run_well(2, "all_reduce", "-e", "8", "--explain", "--algorithm", "direct"))

    def check_candidates(self, row, transport):
        explained = not row["collective"].endswith("_v") and row["collective"] not in ("sendrecv", "ping_pong", "send")
        self.assertEqual("candidates" in row, explained)
        if not explained:
            return
        first, *others = row["candidates"]
        self.assertTrue(first["chosen"])
        self.assertGreater(first["measured_us"], 0)
        self.assertEqual(first["predicted_us"] is None, transport == "shm")
        for candidate in others:
            self.assertFalse(candidate["chosen"])
            self.assertGreaterEqual(candidate["predicted_us"], 0)

    def test_samples(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.csv")
            for touching in ((), ("--untouched",)):
                self.run_well(2, "all", "--sizes", "8,70000", "--sampled", "0.001", "--csv", path, *touching)
                with open(path, encoding="utf-8") as file:
                    in_csv = list(csv.DictReader(file))
                self.assertEqual(len(in_csv), 33)  # a barrier has one row, the other 16 tests two
                for row in in_csv:
                    self.assertGreaterEqual(int(row["out_of_place_samples"]), 9)
                    self.assertLessEqual(float(row["out_of_place_min_us"]), float(row["out_of_place_p50_us"]))
                    self.assertEqual(row["in_place_p50_us"] != "", row["collective"] == "broadcast")
                    if not touching:
                        self.assertEqual(row["out_of_place_calls"], "1")

    def test_files_hold_what_is_printed(self):
        with tempfile.TemporaryDirectory() as folder:
            csv_path, json_path = os.path.join(folder, "x.csv"), os.path.join(folder, "x.json")
            table = rows(self.run_well(2, "all_reduce", "-b", "8", "-e", "64", "-f", "2", "-N", "2", "--csv", csv_path,
                                       "-J", json_path))
            with open(csv_path, encoding="utf-8") as file:
                in_csv = list(csv.DictReader(file))
            with open(json_path, encoding="utf-8") as file:
                in_json = json.load(file)["rows"]
        sizes = [row[0] for row in table]
        self.assertEqual(sizes, ["8", "16", "32", "64"] * 2)
        self.assertEqual([row["size_bytes"] for row in in_csv], sizes)
        self.assertEqual([str(row["size_bytes"]) for row in in_json], sizes)

    def test_failures_end_every_rank_and_say_why(self):
        for arguments, code, words in (
                (("all_reduce", "-r", "9", "-e", "8"), 2, "'9' is not a rank"),
                (("all_reduce", "-e", "8", "--csv", "/nonexistent/x.csv"), 3, "/nonexistent/x.csv"),
                (("all_reduce", "-e", "8", "--algorithm", "rig"), 3, "'rig'"),
                (("all_reduce", "-e", "8", "--transport", "pigeon"), 3, "pigeon"),
                (("all_redce",), 2, "'all_redce'")):
            with self.subTest(arguments=arguments):
                codes, _, _, complaints = run_job(2, *arguments)
                self.assertEqual(codes, [code] * 2, complaints)
                self.assertIn(words, complaints)

    def test_started_alone_it_says_how_to_start_it(self):
        end = subprocess.run([PERF, "all_reduce"], env=OUTSIDE, text=True, capture_output=True, timeout=DEADLINE_S,
                             check=False)
        self.assertEqual(end.returncode, 2)
        self.assertIn("strata-run -n 4 -- strata-perf all_reduce", end.stderr)


if __name__ == "__main__":
    unittest.main()

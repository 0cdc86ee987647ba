#!/usr/bin/env python3
"""Runs jobs with a timeline and reads the file as Perfetto would: every field, order, nesting, and cause before effect.

Usage: timeline_job_test.py STRATA_RUN STRATA_PERF
"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

STRATA_PERF = os.path.abspath(sys.argv.pop())
STRATA_RUN = os.path.abspath(sys.argv.pop())
DEADLINE_S = 120
OUTSIDE = {name: value for name, value in os.environ.items()
           if not name.startswith("STRATA_") and name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
PROBE = ["all_reduce", "--sizes", "8,4K,300K", "-n", "4"]


def run(*arguments, folder, **environment):
    return subprocess.run([STRATA_RUN, *arguments], cwd=folder, text=True, capture_output=True, timeout=DEADLINE_S,
                          env={**OUTSIDE, **environment}, check=False)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def span(event):
    """Begin and end in whole nanoseconds."""
    begin = round(event["ts"] * 1000)
    return begin, begin + round(event["dur"] * 1000)


class Checked:
    """A trace, taken apart; what is wrong with it is an assertion."""

    def __init__(self, test, trace):
        self.test = test
        self.events = trace["traceEvents"]
        self.other = trace["otherData"]
        self.fields()
        self.tracks_nest()
        self.operations_balance()
        self.names()

    def of(self, phase, category=None):
        return [e for e in self.events if e["ph"] == phase and category in (None, e.get("cat"))]

    def fields(self):
        needed = {"X": {"name", "cat", "ts", "dur", "pid", "tid"}, "M": {"name", "pid", "args"},
                  "b": {"name", "cat", "id2", "ts", "pid", "tid"}, "s": {"name", "cat", "id", "ts", "pid", "tid"}}
        needed.update({"e": needed["b"], "n": needed["b"], "f": needed["s"]})
        for event in self.events:
            self.test.assertIn(event["ph"], needed)
            self.test.assertLessEqual(needed[event["ph"]], set(event), event)
            if event["ph"] != "M":
                self.test.assertIsInstance(event["ts"], (int, float))
            if event["ph"] == "X":
                self.test.assertGreaterEqual(event["dur"], 0, event)

    def tracks_nest(self):
        tracks = collections.defaultdict(list)
        for event in self.of("X"):
            tracks[event["pid"], event["tid"]].append(event)
        for events in tracks.values():
            begins = [e["ts"] for e in events]
            self.test.assertEqual(begins, sorted(begins), "the events of a track are in order")
            open_until = []
            for event in events:
                begin, end = span(event)
                while open_until and open_until[-1] <= begin:
                    open_until.pop()
                if open_until:
                    self.test.assertLessEqual(end, open_until[-1], f"{event} crosses the span it is in")
                open_until.append(end)

    def operations_balance(self):
        open_ = collections.defaultdict(list)
        for event in self.events:
            key = event.get("id2", {}).get("local"), event["pid"]
            if event["ph"] == "b":
                open_[key].append(event)
            elif event["ph"] == "e":
                begin = open_[key].pop()
                self.test.assertEqual(begin["name"], event["name"])
                self.test.assertLessEqual(begin["ts"], event["ts"])
        self.test.assertFalse(any(open_.values()), "every span that begins ends")

    def names(self):
        named = {e["pid"]: e["args"]["name"] for e in self.of("M") if e["name"] == "process_name"}
        for pid, name in named.items():
            self.test.assertRegex(name, rf"^rank {pid} on \S+$")
        self.test.assertEqual({e["pid"] for e in self.events}, set(named))
        self.ranks = set(named)

    def arrows(self):
        """Begin of the send and end of the receive, in microseconds, of each message seen at both ends."""
        begins = {e["id"]: e["ts"] for e in self.of("s")}
        ends = {e["id"]: e["ts"] for e in self.of("f")}
        self.test.assertEqual(len(begins), len(self.of("s")), "each message has a name of its own")
        return [(begins[i], ends[i]) for i in begins if i in ends]


class Timelines(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "t.json")

    def job(self, *arguments, ranks=2, complete=True, **environment):
        end = run("-n", str(ranks), "--trace", "t.json", *arguments, folder=self.folder.name, **environment)
        self.assertEqual(end.returncode, 0, end.stderr)
        self.assertEqual(os.listdir(self.folder.name), ["t.json"], "nothing else is left")
        trace = Checked(self, read(self.path))
        self.assertEqual(trace.ranks, set(range(ranks)))
        self.assertEqual(trace.other["dropped_records"] == 0, complete)
        return trace, end

    def test_messages(self):
        for transport in ("tcp", "shm"):
            trace, end = self.job("--transport", transport, "--algorithm", "messages", "--", STRATA_PERF, *PROBE, ranks=3)
            arrows = trace.arrows()
            self.assertGreater(len(arrows), 100)
            self.assertEqual(len(arrows), len(trace.of("s")), "every send has its receive")
            # Ticks of two processes are told each by its own line, so a few tens of nanoseconds are not known.
            for begin, finish in arrows:
                self.assertGreater(finish, begin - 0.2, "nothing arrives before it was sent")
            operations = [e for e in trace.of("b", "operation") if e["name"] == "all_reduce"]
            self.assertTrue(operations)
            for operation in operations:
                self.assertEqual(operation["args"]["status"], "ok")
                self.assertNotIn(operation["args"]["algorithm"], ("?", "shared_memory"))
            self.assertIn("exposed ms", end.stderr)
            self.assertRegex(end.stderr, r"timeline: \S+/t.json")

    def test_every_call_is_there(self):
        trace, _ = self.job("--", STRATA_PERF, "broadcast", "--sizes", "40", "-n", "7", "-w", "2", "-c", "0",
                            "--untouched")
        calls = [e for e in trace.of("b", "operation") if e["name"] == "broadcast" and e["args"]["bytes"] == 40]
        self.assertEqual(len(calls), 2 * 2 * (7 + 2), "of both ranks, out of place and in place")
        for call in calls:
            self.assertEqual(call["args"]["algorithm"], "shared_memory")

    def test_waits_and_steps_are_on_threads(self):
        trace, _ = self.job("--transport", "tcp", "--", STRATA_PERF, *PROBE)
        self.assertTrue(trace.of("X", "wait"))
        self.assertTrue(trace.of("X", "step"))

    def test_little_room(self):
        trace, end = self.job("--transport", "tcp", "--", STRATA_PERF, "all_reduce", "--sizes", "8", "-n", "9000",
                              complete=False, STRATA_TRACE_MB="1")
        dropped = trace.other["ranks"]["0"]["dropped_records"]
        self.assertGreater(dropped, 0)
        self.assertIn(f"({dropped} records dropped", end.stderr)

    def test_one_rank(self):
        trace, _ = self.job("--", STRATA_PERF, *PROBE, ranks=1)
        self.assertTrue(trace.of("b", "operation"))

    def test_ranks_that_are_killed(self):
        script = f"{STRATA_PERF} all_reduce --sizes 8 -n 100 -N 0 --transport tcp > rows.$RANK & p=$!; " \
                 "if test $RANK = 1; then until grep -q sum rows.0; do sleep 0.1; done; kill -KILL $p; fi; wait $p"
        end = run("-n", "2", "--trace", "t.json", "--", "sh", "-c", script, folder=self.folder.name)
        self.assertNotEqual(end.returncode, 0)
        self.assertRegex(end.stderr, r"t.json has what rank 0-1 had recorded")
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["rows.0", "rows.1", "t.json"])
        trace = Checked(self, read(self.path))
        self.assertEqual(trace.ranks, {0, 1})
        self.assertTrue(trace.of("s"))

    def test_a_place_that_cannot_be_written_fails_nothing(self):
        end = run("-n", "2", "--trace", "/proc/nowhere/t.json", "--", STRATA_PERF, *PROBE, folder=self.folder.name,
                  TMPDIR=self.folder.name)
        self.assertEqual(end.returncode, 0, end.stderr)
        self.assertIn("/proc/nowhere/t.json.tmp", end.stderr)
        self.assertIn("No such file or directory", end.stderr)
        for rank in (0, 1):
            self.assertIn(f"t.json.rank{rank}.part", end.stderr)
            self.assertTrue(os.path.exists(os.path.join(self.folder.name, f"t.json.rank{rank}.part")))


if __name__ == "__main__":
    unittest.main()

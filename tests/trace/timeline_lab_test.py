#!/usr/bin/env python3
"""A job on emulated hosts. They have one clock in truth, so what is found of it must be nothing, within its own bounds.

Usage: timeline_lab_test.py STRATA_RUN STRATA_PERF
"""
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import lab_support

STRATA_PERF = os.path.abspath(sys.argv.pop())
STRATA_RUN = os.path.abspath(sys.argv.pop())


class Clocks(unittest.TestCase):
    @lab_support.needs_labs
    def test_hosts_in_one_clock(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.json")
            end = lab_support.run(STRATA_RUN, "--lab", "3x2@1gbit", "--trace", path, "--", STRATA_PERF, "all_reduce",
                                  "--sizes", "1K,256K", "-n", "3", "--algorithm", "ring")
            self.assertEqual(end.returncode, 0, end.stderr)
            self.assertEqual(os.listdir(folder), ["t.json"])
            with open(path, encoding="utf-8") as file:
                trace = json.load(file)
        events, ranks = trace["traceEvents"], trace["otherData"]["ranks"]
        self.assertEqual({e["args"]["name"] for e in events if e["name"] == "process_name"},
                         {f"rank {r} on host{r // 2}" for r in range(6)})
        bound_us = 0.2  # ticks of two processes are told each by its own line
        for rank, found in ranks.items():
            for offset, error in zip(found["clock_offset_ns"], found["clock_error_ns"]):
                self.assertLessEqual(abs(offset), error, f"rank {rank}")
                self.assertEqual(error == 0, int(rank) < 2, "one host is that of rank 0")
                bound_us = max(bound_us, 0.2 + 2 * error / 1000)
        begins = {e["id"]: e for e in events if e["ph"] == "s"}
        across = 0
        for arrow in events:
            if arrow["ph"] == "f" and arrow["id"] in begins:
                begin = begins[arrow["id"]]
                across += arrow["pid"] // 2 != begin["pid"] // 2
                self.assertGreater(arrow["ts"], begin["ts"] - bound_us, "nothing arrives before it was sent")
        self.assertGreater(across, 10)
        self.assertRegex(end.stderr, r"rank level +bytes sent")


if __name__ == "__main__":
    unittest.main()

"""Tests of bench/schedule/latency without measuring: what it reads, and the figures it makes of that."""
import importlib.machinery
import importlib.util
import json
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True


def load():
    loader = importlib.machinery.SourceFileLoader("latency", os.path.join(ROOT, "bench", "schedule", "latency"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("latency", loader))
    loader.exec_module(module)
    return module


latency = load()


def arm(name, us, bulk_mb=0, seconds=1.0):
    return {"round": 1, "arm": name, "bulk_mb": bulk_mb, "seconds": seconds, "us": us}


class Latency(unittest.TestCase):
    def test_reads_lines_behind_a_rank_and_nothing_else(self):
        one = arm("all-reduce alone", [1.5, 2.5])
        self.assertEqual(latency.arms_in(f"# a remark\n[0] {json.dumps(one)}\n\n"), [one])

    def test_percentiles_are_of_all_rounds(self):
        rounds = [arm("all-reduce alone", [1000.0 * i for i in range(1, 51)]), arm("all-reduce alone", [1000.0 * i for i in range(51, 101)])]
        self.assertEqual(latency.row("tuned", rounds), ["all-reduce alone", "tuned", "100", "51.00", "100.00", ""])

    def test_what_is_sent_counts_both_kinds(self):
        # 1.5 times 100 MiB and ten times 64 KiB of an all-reduce of four ranks; once of a message.
        reduced = latency.row("tuned", [arm("all-reduce, urgent", [1.0] * 10, bulk_mb=100, seconds=2.0)])
        self.assertEqual(reduced[-1], f"{1.5 * (100 * 2**20 + 10 * 2**16) / 2 / 1e6:.2f}")
        message = latency.row("tuned", [arm("message, urgent", [1.0] * 10, bulk_mb=100, seconds=2.0)])
        self.assertEqual(message[-1], f"{(1.5 * 100 * 2**20 + 10 * 2**16) / 2 / 1e6:.2f}")

    def test_arms_without_urgent_data_have_no_times(self):
        self.assertEqual(latency.row("tuned", [arm("bulk alone", [], bulk_mb=2, seconds=1.0)])[2:5], ["0", "", ""])

    def test_a_table_has_a_row_for_each_arm_and_credit(self):
        measured = [(credit, [arm("a", [1.0]), arm("b", [2.0])]) for credit in latency.CREDITS]
        self.assertEqual(latency.report(measured).count("\n"), 2 + 2 * len(latency.CREDITS))


if __name__ == "__main__":
    unittest.main()

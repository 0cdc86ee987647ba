#!/usr/bin/python3
"""Reads the metrics of running ranks, as Prometheus does, and compares them with what the ranks have done.

Usage: metrics_test.py STRATA_RUN STRATA_PERF
"""
import os
import re
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

try:
    from prometheus_client.parser import text_string_to_metric_families
except ImportError:
    print("SKIPPED: Prometheus' parser is not here; install Debian's python3-prometheus-client to run this test")
    sys.exit(0)

STRATA_PERF = os.path.abspath(sys.argv.pop())
STRATA_RUN = os.path.abspath(sys.argv.pop())
DEADLINE_S = 60
OUTSIDE = {name: value for name, value in os.environ.items()
           if not name.startswith("STRATA_") and name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}


class Job:
    """strata-perf without an end, whose ranks have told where they listen."""

    def __init__(self, *arguments, ranks=2):
        self.process = subprocess.Popen([STRATA_RUN, "-n", str(ranks), "--log", "info", "--metrics", "0", *arguments],
                                        env=OUTSIDE, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.urls = {}
        while len(self.urls) < ranks:
            line = self.process.stderr.readline()
            if not line:
                raise AssertionError("the job has ended")
            found = re.search(r"strata (\d+) info: metrics: (\S+)", line)
            if found:
                self.urls[int(found[1])] = found[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=DEADLINE_S)

    def read(self, rank):
        """Value of each metric by its name and its labels but rank."""
        with urllib.request.urlopen(self.urls[rank], timeout=DEADLINE_S) as answer:
            kind = answer.headers["Content-Type"]
            text = answer.read().decode()
        if not kind.startswith("text/plain; version=0.0.4"):
            raise AssertionError(kind)
        values = {}
        for family in text_string_to_metric_families(text):
            if not family.documentation or family.type not in ("counter", "gauge"):
                raise AssertionError(family)
            for sample in family.samples:
                if sample.labels.pop("rank") != str(rank):
                    raise AssertionError(sample)
                key = (sample.name, *sample.labels.values())
                if key in values:
                    raise AssertionError(f"{key} is there twice")
                values[key] = sample.value
        return values


class Metrics(unittest.TestCase):
    def until(self, job, rank, condition):
        """Counters only grow, so this ends unless the job does nothing."""
        while True:
            values = job.read(rank)
            if condition(values):
                return values

    def test_messages(self):
        with Job("--transport", "tcp", "--", STRATA_PERF, "all_reduce", "--sizes", "64K", "-N", "0", "-c", "0") as job:
            for rank in (0, 1):
                first = self.until(job, rank, lambda v: v["strata_operations_ended_total", "all_reduce"] > 10)
                later = self.until(job, rank, lambda v, f=first: v["strata_operations_ended_total", "all_reduce"] >
                                   f["strata_operations_ended_total", "all_reduce"] + 10)
                for key, value in first.items():
                    if key[0].endswith("_total"):
                        self.assertGreaterEqual(later[key], value, key)
                started = later["strata_operations_started_total", "all_reduce"]
                ended = later["strata_operations_ended_total", "all_reduce"]
                self.assertIn(started - ended, (0, 1, 2))  # both are read while the job goes on
                self.assertEqual(later["strata_operations_failed_total", "all_reduce"], 0)
                # Of two ranks each sends and receives as much as the buffer holds, once.
                self.assertGreaterEqual(later["strata_sent_bytes_total", "host"], 65536 * (ended - 40))
                self.assertGreaterEqual(later["strata_received_bytes_total", "host"], 65536 * (ended - 40))
                self.assertEqual(later["strata_sent_bytes_total", "network"], 0)
                self.assertIn(later["strata_operations_in_flight", "0"], range(0, 4))
                self.assertGreater(later["strata_engine_turns_total", "work"], 0)

    def test_shared_memory(self):
        with Job("--", STRATA_PERF, "all_gather", "--sizes", "8,64K", "-N", "0", "-c", "0", ranks=3) as job:
            values = self.until(job, 2, lambda v: v["strata_operations_ended_total", "all_gather"] > 100)
            self.assertGreater(values["strata_sent_bytes_total", "shared_memory"], 10 * 65536)
            with self.assertRaises(urllib.error.HTTPError):
                urllib.request.urlopen(job.urls[0].replace("metrics", "elsewhere"), timeout=DEADLINE_S)

    def test_a_port_that_is_taken_is_a_warning(self):
        with Job("--", STRATA_PERF, "barrier", "-N", "0", ranks=1) as job:
            where = job.urls[0].split("/")[2]
            end = subprocess.run([STRATA_RUN, "-n", "1", "--metrics", where, "--", STRATA_PERF, "barrier"], env=OUTSIDE,
                                 text=True, capture_output=True, timeout=DEADLINE_S, check=False)
            self.assertEqual(end.returncode, 0, end.stderr)
            self.assertIn(f"nobody can listen on port {where.split(':')[1]} of 127.0.0.1", end.stderr)

    def test_a_place_that_is_none_is_refused(self):
        for where in ("x", "1.2.3.4:", "::1:5", "99999", "host:70000", ":5"):
            end = subprocess.run([STRATA_RUN, "-n", "1", "--metrics", where, "--", "true"], env=OUTSIDE, text=True,
                                 capture_output=True, timeout=DEADLINE_S, check=False)
            self.assertEqual(end.returncode, 2, end.stderr)
            self.assertIn(f'metrics is "{where}"', end.stderr)


if __name__ == "__main__":
    unittest.main()

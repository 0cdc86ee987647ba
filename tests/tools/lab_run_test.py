"""Tests of strata-run --lab: ranks run on separate hosts, use the right transports, and no lab is left, however it ends.

Usage: lab_run_test.py STRATA_RUN STRATA_PERF STRATA_TOPO
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest

from lab_support import COMMAND, needs_labs, processes_in, run, wait_until_gone

RUN, PERF, TOPO = (sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1))
OUTSIDE = {name: value for name, value in os.environ.items()
           if not name.startswith("STRATA_") and name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")}
NAME = f"test-run-{os.getpid()}"


def job(*arguments, env=()):
    return run(RUN, *arguments, env={**OUTSIDE, **dict(env)})

# Of four hosts.
RACKS = """levels = ["rack"]
[[group]]
name = "rack0"
level = "rack"
[[group]]
name = "rack1"
level = "rack"
""" + "".join(f"""[[host]]
name = "host{host}"
in = "rack{host // 2}"

""" for host in range(4)).rstrip("\n") + "\n"


class Job:
    """One that is under way, and its lab. Its end is waited for."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([RUN, "--lab-name", NAME, *arguments], env=OUTSIDE, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def wait_for(self, text):
        for line in self.process.stdout:
            if text in line:
                return
        raise AssertionError(f"'{text}' was not printed; the errors: {self.process.stderr.read()}")

    def processes(self):
        return processes_in(json.loads(run(COMMAND, "status", "--name", NAME, "--json").stdout)[0])


@needs_labs
class LabRun(unittest.TestCase):
    def told(self, *arguments, env=()):
        script = "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $(hostname) $STRATA_RENDEZVOUS $STRATA_CALIBRATE $PWD"
        end = job(*arguments, "--no-prefix", "--", "sh", "-c", script, env=env)
        self.assertEqual((end.returncode, end.stderr), (0, ""))
        return sorted(end.stdout.splitlines())

    def test_ranks_are_told_their_place(self):
        rest = f"10.77.0.1:29400 always {os.getcwd()}"
        self.assertEqual(self.told("--lab", "1+2@1gbit"),
                         [f"0/3 0/1 host0 {rest}", f"1/3 0/2 host1 {rest}", f"2/3 1/2 host1 {rest}"])
        self.assertEqual(self.told("--lab", "2x2", "--lab-order", "round-robin"),
                         [f"0/4 0/2 host0 {rest}", f"1/4 0/2 host1 {rest}", f"2/4 1/2 host0 {rest}", f"3/4 1/2 host1 {rest}"])
        self.assertEqual(self.told("--lab", "1x1", env={"STRATA_CALIBRATE": "off", "STRATA_RENDEZVOUS": "elsewhere:1"}.items()),
                         [f"0/1 0/1 host0 10.77.0.1:29400 off {os.getcwd()}"])

    def test_collectives_are_right_and_hosts_share_no_memory_with_each_other(self):
        for order, near in (("packed", {(0, 1), (2, 3)}), ("round-robin", {(0, 2), (1, 3)})):
            with self.subTest(order=order):
                end = job("--lab", "2x2@1gbit", "--lab-order", order, "--log", "debug", "--", PERF, "all_reduce", "-b", "8",
                          "-e", "1M", "-f", "64", "-n", "2")
                self.assertEqual(end.returncode, 0, end.stderr)
                self.assertIn("# Out of bounds values : 0 OK", end.stdout)
                ways = set(re.findall(r"strata (\d) debug: rank (\d) is reached by (\w+)", end.stderr))
                expected = {(str(a), str(b), "shm" if (min(a, b), max(a, b)) in near else "tcp")
                            for a in range(4) for b in range(4) if a != b}
                self.assertEqual(ways, expected)

    def test_hierarchical_collectives_are_right_for_uneven_hosts_and_any_order_of_ranks(self):
        for lab in (("--lab", "1+3@1gbit"), ("--lab", "2x2@1gbit", "--lab-order", "round-robin")):
            with self.subTest(lab=lab):
                end = job(*lab, "--", PERF, "all", "--sizes", "1K,1M", "-n", "1", "-r", "-1",
                          env=[("STRATA_ALGORITHM", "hierarchical")])
                self.assertEqual(end.returncode, 0, end.stderr)
                self.assertIn("# Out of bounds values : 0 OK", end.stdout)

    def test_racks_and_uneven_rails(self):
        end = job("--lab", "4x1@1gbit:none", "--lab-racks", "2", "--lab-uplink", "500mbit", "--", PERF, "all", "-b", "1K", "-e",
                  "1K", "-n", "1")
        self.assertEqual(end.returncode, 0, end.stderr)
        self.assertIn("# Out of bounds values : 0 OK", end.stdout)

    def test_data_go_over_all_rails_that_are_asked_for(self):
        script = f"{PERF} all_reduce --sizes 8,4M -n 4 && echo sent $(cat /sys/class/net/rail[01]/statistics/tx_bytes)"
        for rails, both in (("rail0,rail1", True), ("rail1", False)):
            with self.subTest(rails=rails):
                end = job("--lab", "2x1@300mbit:100mbit", "--interface", rails, "--", "sh", "-c", script)
                self.assertEqual(end.returncode, 0, end.stderr)
                self.assertIn("# Out of bounds values : 0 OK", end.stdout)
                for first, second in re.findall(r"sent (\d+) (\d+)", end.stdout):
                    self.assertGreater(int(second), 4 << 20 if both else 16 << 20)
                    if both:
                        self.assertGreater(int(first), int(second))
                    else:
                        self.assertLess(int(first), 1 << 20)

    def test_a_cut_rail_ends_every_rank_with_an_error(self):
        with Job("--lab", "2x1@1gbit:1gbit", "--interface", "rail0,rail1", "--timeout", "4", "--", PERF, "all_reduce", "--sizes",
                 "1M", "-n", "1000000", "-c", "0") as running:
            running.wait_for("# Collective: all_reduce")
            self.assertEqual(run(COMMAND, "link", "--name", NAME, "down", "host1.rail1").returncode, 0)
            _, errors = running.process.communicate(timeout=120)
            self.assertEqual(running.process.returncode, 3, errors)
            self.assertEqual(len(re.findall(r"^\[\d\] strata-perf: .*all_reduce", errors, re.MULTILINE)), 2, errors)

    def levels_of(self, *arguments, env=()):
        """Of each level that strata-perf --explain shows: name, medium, what its costs are from, groups."""
        end = job("--lab", "4x2@1gbit", *arguments, "--", PERF, "all_reduce", "--sizes", "1K,1M", "--explain", "-n", "2", env=env)
        self.assertEqual(end.returncode, 0, end.stderr)
        self.assertIn("# Out of bounds values : 0 OK", end.stdout)
        return re.findall(r"# (\w+) +(\S+) +\S+ +\S+  (measured|built-in|by hand) +(\d.*)$", end.stdout, re.MULTILINE)

    def test_ranks_form_the_levels_that_the_topology_file_states_in_any_order(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(RACKS)
            file.flush()
            lab = ("--lab-racks", "2", "--topology", file.name)
            within = ("shm", "measured")  # of the level's name there may be others that group alike
            packed = self.levels_of(*lab)
            self.assertEqual([level[1:] for level in packed],
                             [(*within, "0-1 | 2-3 | 4-5 | 6-7"), ("tcp", "measured", "0-3 | 4-7"), ("tcp", "measured", "0-7")])
            self.assertEqual([level[0] for level in packed[1:]], ["rack", "cluster"])
            dealt = self.levels_of(*lab, "--lab-order", "round-robin")
            self.assertEqual([level[3] for level in dealt], ["0,4 | 1,5 | 2,6 | 3,7", "0-1,4-5 | 2-3,6-7", "0-7"])
            by_hand = self.levels_of(*lab, "--levels", "rack")
            self.assertEqual([level[3] for level in by_hand],
                             ["0-1 | 2-3 | 4-5 | 6-7  (no algorithm's level)", "0-3 | 4-7", "0-7"])
        self.assertEqual([level[2:] for level in self.levels_of("--levels", "4x2", "--lab-order", "round-robin",
                                                                env=[("STRATA_CALIBRATE", "off")])],
                         [("built-in", "0,4 | 1,5 | 2,6 | 3,7  (no algorithm's level)"), ("built-in", "0-7"),
                          ("by hand", "0-1 | 2-3 | 4-5 | 6-7")])

    def test_hierarchical_collectives_are_right_on_three_levels_whose_ranks_are_dealt(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(RACKS)
            file.flush()
            end = job("--lab", "2+1+3+2@1gbit", "--lab-racks", "2", "--lab-order", "round-robin", "--topology", file.name, "--",
                      PERF, "all", "--sizes", "1K,300K", "-n", "1", "-r", "-1", env=[("STRATA_ALGORITHM", "hierarchical")])
            self.assertEqual(end.returncode, 0, end.stderr)
            self.assertIn("# Out of bounds values : 0 OK", end.stdout)

    def test_a_topology_file_that_does_not_fit_is_an_error_at_every_rank_with_its_line(self):
        def line_of(host):  # of its [[host]]
            return RACKS[:RACKS.index(f'name = "{host}"')].count("\n")

        for text, words in ((RACKS.replace("host1", "host9"),
                             f":{line_of('host1')}: rank 2 is on host 'host1', which the file does not have"),
                            (RACKS + "slots = 1\n",
                             f":{line_of('host3')}: host 'host3' has slots = 1, and 2 ranks of the job are there"),
                            (RACKS.replace("rack1", "rack7", 1), ": in = 'rack1': there is no [[group]] of that name"),
                            ("x", ":1: this is no TOML")):
            with self.subTest(words=words), tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
                file.write(text)
                file.flush()
                # A rank that fails would end those that have not said it yet.
                end = job("--lab", "4x2", "--topology", file.name, "--", "sh", "-c", f"{PERF} barrier -n 1; [ $? = 3 ]")
                self.assertEqual(end.returncode, 0, end.stderr)
                said = re.findall(r"^\[(\d)\] strata-perf: rank \d: start: \w+: (.*)", end.stderr, re.MULTILINE)
                self.assertEqual(sorted(rank for rank, _ in said), [str(rank) for rank in range(8)], end.stderr)
                self.assertEqual(len({what for _, what in said}), 1, end.stderr)
                self.assertIn(file.name, said[0][1])
                self.assertIn(words, said[0][1])

    def test_probed_costs_are_read_as_they_were_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            racks, costs = os.path.join(folder, "racks.toml"), os.path.join(folder, "costs.toml")
            with open(racks, "w", encoding="utf-8") as file:
                file.write(RACKS)
            lab = ("--lab", "4x2@1gbit", "--lab-racks", "2", "--lab-uplink", "500mbit")
            end = job(*lab, "--topology", racks, "--", TOPO, "probe", "--output", costs)
            self.assertEqual((end.returncode, end.stdout), (0, ""), end.stderr)
            said = re.findall(r"level (\d) of 3: (\w+) over (\w+): \S+ us, (\S+) (\S)b/s( \(of \d pairs: .*\))?$", end.stderr,
                              re.MULTILINE)
            self.assertEqual([level[:1] + level[2:3] for level in said], [("1", "shm"), ("2", "tcp"), ("3", "tcp")], end.stderr)
            with open(costs, "rb") as file:
                found = tomllib.load(file)
            self.assertEqual([host["in"] for host in found["host"]], ["rack0", "rack0", "rack1", "rack1"])
            self.assertEqual([cost["medium"] for cost in found["cost"]], ["shm", "tcp", "tcp"])
            within_rack, between = ((float(rate), unit) for _, _, _, rate, unit, _ in said[1:])
            self.assertEqual(within_rack[1], "M" if within_rack[0] > 100 else "G")
            self.assertEqual(between[1], "M")  # half of what a host sends
            self.assertLess(between[0], 650)
            # A job that is given them measures nothing anew.
            end = job(*lab, "--topology", costs, "--log", "debug", "--", PERF, "barrier", "-n", "1", "--explain",
                      env=[("STRATA_CALIBRATE", "auto"), ("XDG_CACHE_HOME", folder)])
            self.assertEqual(end.returncode, 0, end.stderr)
            self.assertEqual(len(re.findall(r"^\[0\] # .* measured  \d", end.stdout, re.MULTILINE)), 3, end.stdout)
            rate = re.search(r"# cluster +tcp +\S+ +(\S+)  measured", end.stdout).group(1)
            self.assertAlmostEqual(float(rate) * 1000, between[0], delta=5 + between[0] / 100)  # of two digits

    def test_a_link_that_is_cut_while_it_is_probed_is_an_error_at_every_rank(self):
        with Job("--lab", "2x1@1gbit", "--timeout", "3", "--rendezvous-timeout", "5", "--", "sh", "-c",
                 f"echo up; while {TOPO} probe --output /dev/null; do :; done; exit 9") as running:
            running.wait_for("up")
            time.sleep(2)
            self.assertEqual(run(COMMAND, "link", "--name", NAME, "down", "host1").returncode, 0)
            _, errors = running.process.communicate(timeout=120)
            self.assertEqual(running.process.returncode, 9, errors)
            self.assertRegex(errors, r"strata-topo: .*(rank|rendezvous)")

    def test_a_cut_link_ends_every_rank_with_an_error_that_names_those_beyond(self):
        with Job("--lab", "2x2@1gbit", "--timeout", "4", "--", PERF, "all_reduce", "-b", "64K", "-e", "64K", "-n", "1000000",
                 "-c", "0") as running:
            running.wait_for("# Collective: all_reduce")
            self.assertEqual(run(COMMAND, "link", "--name", NAME, "down", "host1").returncode, 0)
            _, errors = running.process.communicate(timeout=120)
            self.assertEqual(running.process.returncode, 3, errors)
            said = {int(rank): text for rank, text in re.findall(r"^\[(\d)\] strata-perf: (.*)", errors, re.MULTILINE)}
            self.assertEqual(sorted(said), [0, 1, 2, 3], errors)
            for rank, text in said.items():
                for beyond in ((2, 3) if rank < 2 else (0, 1)):
                    self.assertRegex(text, rf"timeout: .*rank {beyond} \(host host{beyond // 2}, pid \d+\) does not answer")

    def test_no_lab_is_left_however_the_job_ends(self):
        for end, code in ((signal.SIGINT, 128 + signal.SIGINT), (signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, -9)):
            with self.subTest(end=end), Job("--lab", "2x2", "--", "sh", "-c", "echo up; exec sleep 1000") as running:
                running.wait_for("up")
                inside = running.processes()
                running.process.send_signal(end)
                self.assertEqual(running.process.wait(120), code)
                self.assertTrue(wait_until_gone(inside))
                self.check_nothing_is_left()
        for script, code in (("exit 0", 0), ("[ $RANK = 1 ] && exit 5; exec sleep 1000", 5),
                             ("[ $RANK = 2 ] && kill -9 $$; exec sleep 1000", 137), ("setsid sleep 1000 & exit 0", 0)):
            with self.subTest(script=script):
                end = job("--lab", "2x2", "--lab-name", NAME, "--", "sh", "-c", script)
                self.assertEqual(end.returncode, code, end.stderr)
                self.check_nothing_is_left()
                if code:
                    self.assertRegex(end.stderr, r"strata-run: rank \d on host[01] \(pid \d+\)")

    def check_nothing_is_left(self):
        end = run(COMMAND, "up", "--name", NAME, "--hosts", "1")  # whatever was left is found, and a lab would be in the way
        self.assertEqual(end.returncode, 0, end.stderr)
        self.assertEqual(run(COMMAND, "down", "--name", NAME).returncode, 0)
        self.assertFalse(os.path.exists(f"/run/strata-lab/{NAME}.json"))

    def test_mistakes_of_the_lab_are_the_labs_to_name(self):
        for arguments, code, words in ((("--lab", "2x1@1gb"), 2, "'1gb' is no rate"),
                                       (("--lab", "2x1", "--lab-racks", "3"), 2, "--racks is 3; it must be from 1 to 2"),
                                       (("--lab", "2x1", "--lab-name", "a/b"), 2, "'a/b' is no name")):
            with self.subTest(arguments=arguments):
                end = job(*arguments, "true")
                self.assertEqual(end.returncode, code)
                self.assertIn(words, end.stderr)
                self.assertIn("strata-run: the lab could not be started", end.stderr)


@needs_labs
class LateCarrier(unittest.TestCase):
    def test_a_carrier_that_comes_late_is_waited_for_and_one_that_does_not_come_is_said(self):
        for comes, words in ((True, r"v0 has no carrier yet: waiting for it"), (False, r"v0 is up but has no carrier")):
            with self.subTest(comes=comes):
                script = ("ip link set lo up && ip link add v0 type veth peer name v1 && ip addr add 10.9.0.1/24 dev v0 && "
                          "ip link set v0 up && " + ("{ sleep 0.2; ip link set v1 up; } & " if comes else "") +
                          f"exec {RUN} -n 2 --transport tcp --log info -- {PERF} barrier -n 1")
                end = run("unshare", "--net", "sh", "-c", script, env=OUTSIDE)
                self.assertEqual(end.returncode, 0, end.stderr)
                self.assertRegex(end.stderr, words)
                self.assertEqual("but has no carrier" in end.stderr, not comes)


class WithoutRoot(unittest.TestCase):
    @unittest.skipUnless(os.geteuid() == 0, "somebody without root is one who has been it")
    def test_the_cure_is_named(self):
        if run("test", "-x", RUN, user=65534, group=65534).returncode != 0:
            self.skipTest(f"{RUN} may not be executed by others")
        end = run(RUN, "--lab", "2x1", "true", user=65534, group=65534, env=OUTSIDE)
        self.assertEqual(end.returncode, 125)
        self.assertIn("start this with sudo", end.stderr)


if __name__ == "__main__":
    unittest.main()

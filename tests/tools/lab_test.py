"""Tests of tools/lab: hosts are separate, rates hold, links can be cut, nothing is left, mistakes are named."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

from lab_support import COMMAND, LabTest, mounts, needs_labs, processes_in, run, wait_until_gone

# Sends that many bytes to the address; prints how many seconds that took until the other end had them all.
SEND = "import socket, time; s = socket.create_connection(('{address}', 29398), 60); start = time.monotonic(); " \
       "s.sendall(bytes({count})); s.shutdown(1); s.recv(1); print(time.monotonic() - start)"
RECEIVE = "import socket; s = socket.create_server(('', 29398)); print('up', flush=True); s.settimeout(60); " \
          "c = s.accept()[0]; b = bytearray(1 << 20)\nwhile c.recv_into(b): pass\nc.sendall(b'.')"
# Tries until it is answered, by whatever, or the time is over.
REACH = """import socket, time
end = time.monotonic() + {seconds}
while (left := end - time.monotonic()) > 0:
    with socket.socket() as s:
        s.settimeout(left)
        s.bind(('{source}', 0))
        try: s.connect(('{address}', 9))
        except ConnectionRefusedError: print('reached'); break
        except OSError: time.sleep(0.01)
else: print('cut')"""
BURSTS_BYTES = 2 * (128 << 10)  # both ends of a link let so much through at once


@needs_labs
class Hosts(LabTest):
    def test_names_memory_processes_and_networks_are_the_hosts_own(self):
        outside = run("ip", "address").stdout
        self.up("--hosts", "2", "--rails", "2")
        for host in (0, 1):
            self.assertEqual(self.on(host, "import socket; print(socket.gethostname())"), f"host{host}")
            self.assertEqual(self.on(host, "import socket; print(socket.gethostbyname('host1'))"), "10.77.0.2")
            self.assertEqual(self.on(host, "import os; print(sorted(os.listdir('/sys/class/net')))"),
                             "['lo', 'rail0', 'rail1']")
            self.assertEqual(self.on(host, "import os; print(os.path.exists('/sys/devices/system/cpu/cpu0'))"), "True")
            pids = json.loads(self.on(host, "import os; print([int(x) for x in os.listdir('/proc') if x.isdigit()])"))
            self.assertEqual(len(pids), 2, "the host's first process, and the one that looks")
        shared = f"/dev/shm/strata-{self.name}"
        self.on(0, f"open('{shared}', 'w').write('mine')")
        self.assertEqual(self.on(0, f"print(open('{shared}').read())"), "mine")
        self.assertEqual(self.on(1, f"import os; print(os.path.exists('{shared}'))"), "False")
        self.assertFalse(os.path.exists(shared))
        self.assertEqual(run("ip", "address").stdout, outside)

    def test_commands_keep_the_folder_and_give_back_what_they_end_with(self):
        self.up("--hosts", "1")
        self.assertEqual(self.on(0, "import os; print(os.getcwd())"), os.getcwd())
        self.on(0, "raise SystemExit(7)", code=7)
        self.on(0, "import os; os.kill(os.getpid(), 9)", code=128 + signal.SIGKILL)
        self.assertIn("no-such-program cannot be started on host0", self.lab("exec", "0", "--", "no-such-program", code=127))
        self.lab("exec", "0", "--", "/", code=126)

    def test_a_command_ends_with_its_exec(self):
        self.up("--hosts", "1")
        for number in (signal.SIGKILL, signal.SIGTERM):
            command = [sys.executable, COMMAND, "exec", "--name", self.name, "0", "--", "sh", "-c", "echo up; exec sleep 1000"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as inside:
                self.assertEqual(inside.stdout.readline(), "up\n")
                inside.send_signal(number)
                self.assertEqual(inside.stdout.read(), "", "ends when nobody holds it any more")

    def test_several_labs_at_once(self):
        other = self.name + "-b"
        self.addCleanup(self.lab, "down", name=other)
        self.up("--hosts", "2", "--rate", "1gbit")
        self.up("--hosts", "3", name=other)
        self.assertIn("give another --name", self.lab("up", "--hosts", "1", code=1))
        self.assertEqual(len(self.facts()["hosts"]), 2)
        self.assertEqual(len(self.facts(name=other)["hosts"]), 3)
        self.assertIn(other, run(COMMAND, "status").stdout)


@needs_labs
class End(LabTest):
    def test_nothing_is_left(self):
        mounted = mounts()
        facts = self.up("--hosts", "3", "--rate", "1gbit")
        # A daemon that has left its session, holds no terminal, and does not listen.
        self.lab("exec", "1", "--", "setsid", "--fork", "sh", "-c", "trap '' TERM HUP INT; exec >/dev/null 2>&1; sleep 1000")
        self.assertEqual(mounts(), mounted)
        inside = processes_in(facts)
        self.assertGreater(len(inside), 4)
        self.lab("down")
        self.assertTrue(wait_until_gone(inside))
        self.assertEqual(mounts(), mounted)
        self.assertFalse(os.path.exists(f"/run/strata-lab/{self.name}.json"))
        self.assertIn(f"there is no lab '{self.name}'", self.lab("down", code=1))

    def test_all_labs_can_be_ended_at_once(self):
        commands = "mount -t tmpfs none /run; " + "".join(f"{COMMAND} {arguments}; " for arguments in (
            "up --hosts 1 --name a", "up --hosts 2 --name b", "status", "down --all", "status", "down --all"))
        end = run("unshare", "--mount", "sh", "-ec", commands + "ls -a /run")  # so that those of other tests stay
        self.assertEqual(end.returncode, 0, end.stderr)
        self.assertRegex(end.stdout, r"(?s)^lab a: .*\nlab b: .*\nno lab is up\n\.\n\.\.\n$")

    def test_the_death_of_the_keeper_is_the_end_and_the_next_lab_finds_the_way_clear(self):
        facts = self.up("--hosts", "2")
        inside = processes_in(facts)
        os.kill(facts["keeper"], signal.SIGKILL)
        self.assertTrue(wait_until_gone(inside))
        self.assertIn(f"there is no lab '{self.name}'", self.lab("exec", "0", "--", "true", code=1))
        self.assertEqual(len(self.up("--hosts", "3")["hosts"]), 3)

    def test_an_attached_lab_ends_with_its_input_or_its_command(self):
        for end in (lambda process: process.stdin.close(), lambda process: process.send_signal(signal.SIGTERM),
                    lambda process: process.kill()):
            command = [sys.executable, COMMAND, "up", "--name", self.name, "--hosts", "1", "--attached"]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                inside = processes_in(json.loads(process.stdout.readline()))
                end(process)
                self.assertTrue(wait_until_gone(inside))
                self.assertEqual(process.stdout.read(), "", "and nobody else holds its output")


@needs_labs
class Links(LabTest):
    def transfer_seconds(self, source, destination, rail, count):
        command = [sys.executable, COMMAND, "exec", "--name", self.name, str(destination), "--", sys.executable, "-c", RECEIVE]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as receiver:
            self.assertEqual(receiver.stdout.readline(), "up\n")
            return float(self.on(source, SEND.format(address=f"10.77.{rail}.{destination + 1}", count=count)))

    def check_rate(self, source, destination, rail, megabits):
        """More than the rate and the bursts cannot come through, however late anybody runs."""
        count = 1_000_000
        seconds = self.transfer_seconds(source, destination, rail, count)
        self.assertGreaterEqual(seconds, (count - BURSTS_BYTES) * 8 / (megabits * 1e6))

    def test_no_more_comes_through_than_the_rate(self):
        self.up("--hosts", "3", "--rails", "2", "--rate", "40mbit", "--rate", "host1.rail1=10mbit")
        self.check_rate(0, 2, rail=0, megabits=40)
        self.check_rate(2, 1, rail=1, megabits=10)  # into the slow one
        self.check_rate(1, 2, rail=1, megabits=10)  # and out of it
        self.lab("rate", "host0=20mbit", "rail1=none")
        self.check_rate(2, 0, rail=0, megabits=20)
        self.assertEqual([rail["rate_bit_s"] for rail in self.facts()["hosts"][0]["rails"]], [20_000_000, None])

    def test_racks_share_their_uplink(self):
        self.up("--hosts", "4", "--racks", "2", "--uplink", "20mbit")
        self.check_rate(0, 2, rail=0, megabits=20)
        self.check_rate(3, 1, rail=0, megabits=20)
        self.lab("rate", "rack1=10mbit")
        self.check_rate(0, 3, rail=0, megabits=10)

    def reach(self, source, destination, rail, seconds):
        where = {"source": f"10.77.{rail}.{source + 1}", "address": f"10.77.{rail}.{destination + 1}"}
        return self.on(source, REACH.format(seconds=seconds, **where))

    def test_links_are_cut_and_put_together(self):
        self.up("--hosts", "4", "--rails", "2", "--racks", "2")
        self.lab("link", "down", "host1.rail1")
        self.assertEqual(self.reach(0, 1, rail=1, seconds=0.2), "cut")
        self.assertEqual(self.on(1, "print(open('/sys/class/net/rail1/carrier').read().strip())"), "0")
        self.assertEqual(self.reach(0, 1, rail=0, seconds=60), "reached")
        self.assertIn("DOWN", self.lab("status"))
        self.lab("link", "down", "rack1")
        self.assertEqual(self.reach(0, 2, rail=0, seconds=0.2), "cut")
        self.assertEqual(self.reach(3, 2, rail=0, seconds=60), "reached")
        for target in ("rack1", "host1.rail1"):
            self.lab("link", "up", target)
        self.assertEqual(self.reach(0, 1, rail=1, seconds=60), "reached")
        self.assertEqual(self.reach(0, 2, rail=0, seconds=60), "reached")
        self.assertNotIn("DOWN", self.lab("status"))

    def test_delays_where_the_kernel_has_them(self):
        end = run(COMMAND, "up", "--name", self.name, "--hosts", "2", "--rate", "1gbit", "--delay", "20ms")
        if end.returncode != 0:
            self.assertIn("modprobe", end.stderr)
            self.assertIn("netem", end.stderr)
            self.assertFalse(os.path.exists(f"/run/strata-lab/{self.name}.json"), "nothing is left of half a lab")
            return
        self.assertGreaterEqual(self.transfer_seconds(0, 1, rail=0, count=1), 0.040)

    def test_calibration(self):
        self.up("--hosts", "2", "--rails", "2", "--rate", "50mbit", "--rate", "rail1=none")
        arguments = ("--json", "--seconds", "0.1", "--max-pressure", "100")
        result = json.loads(self.lab("calibrate", *arguments))
        paths = [(row["from"], row["to"], row["rail"], row["nominal_bit_s"]) for row in result["paths"]]
        self.assertEqual(paths, [("host0", "host1", 0, 50_000_000), ("host1", "host0", 0, 50_000_000),
                                 ("host0", "host1", 1, None), ("host1", "host0", 1, None)])
        self.assertTrue(all(row["goodput_bit_s"] > 0 for row in result["paths"]))
        self.assertRegex(self.lab("calibrate", *arguments[1:]), r"host1 +host0 +0 +50mbit +[\d.]+ Mbit/s +[\d.]+ %")
        self.lab("rate", "host1=none")
        self.assertEqual(len(json.loads(self.lab("calibrate", "--all-pairs", *arguments))["paths"]), 4)

    @unittest.skipUnless(os.path.exists("/proc/pressure/cpu"), "this kernel does not tell how busy it is")
    def test_calibration_on_a_busy_machine_is_refused(self):
        self.up("--hosts", "2")
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
        try:
            self.assertIn("the machine is busy", self.lab("calibrate", "--seconds", "0.1", code=1))
        finally:
            for process in busy:
                process.kill()
                process.wait()


class Mistakes(unittest.TestCase):
    def test_without_root_it_says_so(self):
        if os.geteuid() != 0:
            end = run(COMMAND, "up", "--hosts", "2")
        else:
            with tempfile.TemporaryDirectory() as folder:  # where the repository may not be read by others
                run("cp", "-r", os.path.dirname(COMMAND), folder)
                run("chmod", "-R", "go=rX", folder)
                end = run(os.path.join(folder, "lab", "lab"), "up", "--hosts", "2", user=65534, group=65534)
        self.assertEqual(end.returncode, 1, end.stderr)
        self.assertIn("only root may make: start this with sudo", end.stderr)

    @needs_labs
    def test_a_missing_command_is_named_with_its_package(self):
        with tempfile.TemporaryDirectory() as empty:
            code = f"import sys; sys.path.insert(0, {os.path.dirname(COMMAND)!r}); sys.dont_write_bytecode = True; import wiring; " \
                   f"wiring.PATH = {empty!r}; import command_line; sys.exit(command_line.main(['up', '--hosts', '2']))"
            end = run(sys.executable, "-c", code)
        self.assertEqual((end.returncode, end.stderr), (1, "lab: the command ip is missing: apt-get install iproute2\n"))

    @needs_labs
    def test_each_mistake_is_named(self):
        for arguments, code, words in (
                ((), 2, "COMMAND"),
                (("upp",), 2, "invalid choice: 'upp'"),
                (("up",), 2, "--hosts"),
                (("up", "--hosts", "0"), 2, "--hosts is 0; it must be from 1 to 16"),
                (("up", "--hosts", "two"), 2, "'two'"),
                (("up", "--hosts", "2", "--rate", "1gb"), 2, "'1gb' is no rate"),
                (("up", "--hosts", "2", "--rate", "host2=1gbit"), 2, "there is no 'host2'; there are host0 to host1"),
                (("up", "--hosts", "2", "--delay", "3"), 2, "'3' is no delay"),
                (("up", "--hosts", "2", "--name", "../x"), 2, "'../x' is no name"),
                (("exec", "--name", "none", "0", "--", "true"), 1, "there is no lab 'none'"),
                (("rate", "--name", "none", "1gbit"), 1, "lab up starts one"),
                (("link", "sideways", "host0"), 2, "sideways"),
                (("calibrate", "--seconds", "0"), 2, "--seconds is 0"),
                (("status", "--name", "none"), 1, "there is no lab 'none'")):
            with self.subTest(arguments=arguments):
                end = run(COMMAND, *arguments)
                self.assertEqual(end.returncode, code, end.stderr)
                self.assertIn(words, end.stderr)

    def test_help_has_examples_for_every_command(self):
        text = run(COMMAND, "--help").stdout
        commands, examples = text.split("EXAMPLES")
        names = re.findall(r"^    ([a-z]+)", commands, re.MULTILINE)
        self.assertGreaterEqual(set(names), {"up", "down", "status", "exec", "rate", "link", "calibrate"})
        for name in names:
            self.assertIn(f"lab {name}", examples)


if __name__ == "__main__":
    unittest.main()

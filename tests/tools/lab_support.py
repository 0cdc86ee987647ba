"""What tests of labs have in common: whether labs can be made here, commands, and what is left of a lab."""
import json
import os
import select
import subprocess
import sys
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
COMMAND = os.path.join(ROOT, "tools", "lab", "lab")
DEADLINE_S = 120  # of what takes a second at most; the end of a hang


def why_not():
    """Why no lab can be made here; empty: it can, so the tests must pass."""
    if os.geteuid() != 0:
        return "labs need root"
    trial = subprocess.run(["unshare", "--net", "--pid", "--fork", "--mount-proc", "true"], capture_output=True, text=True,
                           check=False)
    return f"namespaces may not be made here: {trial.stderr.strip()}" if trial.returncode != 0 else ""


needs_labs = unittest.skipIf(why_not(), why_not())


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False, **options)


def processes_in(facts):
    """Descriptors (pidfd) of all processes in the lab: those in its networks, whose holders come first."""
    holders = [facts["keeper"]] + [host["pid"] for host in facts["hosts"]]
    networks = {_network_of(pid) for pid in holders}
    others = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _network_of(pid) in networks]
    return [os.pidfd_open(pid) for pid in holders + [pid for pid in others if pid not in holders]]


def _network_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return "it has ended"


def mounts():
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        return file.read()


def wait_until_gone(pidfds):
    """False: not within the deadline. Closes the descriptors."""
    gone = [select.select([pidfd], [], [], DEADLINE_S)[0] for pidfd in pidfds]
    for pidfd in pidfds:
        os.close(pidfd)
    return all(gone)


class LabTest(unittest.TestCase):
    """Ends the labs that it has started. Those of other tests have other names."""
    name = f"test-{os.getpid()}"

    def setUp(self):
        self.addCleanup(run, COMMAND, "down", "--name", self.name)

    def lab(self, command, *arguments, code=0, name=None):
        """What it prints on standard output; on standard error if it must fail."""
        end = run(sys.executable, COMMAND, command, "--name", name or self.name, *arguments)
        self.assertEqual(end.returncode, code, end.stdout + end.stderr)
        return end.stderr if code else end.stdout

    def up(self, *arguments, **options):
        self.lab("up", *arguments, **options)
        return self.facts(**options)

    def facts(self, **options):
        return json.loads(self.lab("status", "--json", **options))[0]

    def on(self, host, script, code=0):
        """Runs a Python script there."""
        return self.lab("exec", f"host{host}", "--", sys.executable, "-c", script, code=code).strip()

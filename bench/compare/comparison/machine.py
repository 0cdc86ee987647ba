"""The machine's state while something is measured: who else uses it, and how far its cores are apart."""
import os
import subprocess
import time

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
BUSY_FIELDS = (0, 1, 2, 5, 6)  # of /proc/stat's cpu line: user nice system irq softirq
WINDOW_S = 0.2
QUIET_SHARE = 0.05


def busy_s():
    """CPU seconds that all have used since the machine started."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = file.readline().split()[1:]
    return sum(int(fields[i]) for i in BUSY_FIELDS) / TICKS_PER_S


def own_s():
    """CPU seconds of this program and of what it has started and seen end."""
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


def cores():
    return len(os.sched_getaffinity(0))


def wait_until_quiet(patience_s):
    """Waits until less than 5 % of the machine is in use, but no longer than told. Tells whether it became so."""
    give_up = time.monotonic() + patience_s
    while True:
        busy, begin = busy_s(), time.monotonic()
        time.sleep(WINDOW_S)
        share = (busy_s() - busy) / (time.monotonic() - begin) / (os.cpu_count() or 1)
        if share < QUIET_SHARE:
            return True
        if time.monotonic() > give_up:
            return False


class OthersMeter:
    """What others use of the machine from its making on."""

    def __init__(self):
        self.begin, self.busy, self.own = time.monotonic(), busy_s(), own_s()

    def percent_of_a_core(self):
        elapsed = max(time.monotonic() - self.begin, 1 / TICKS_PER_S)
        others = (busy_s() - self.busy) - (own_s() - self.own)
        return max(0.0, others / elapsed * 100)


def core_to_core_ns(probe):
    """Nanoseconds from one core to the other, one way; -1 if it cannot be told, or without a probe."""
    if probe is None:
        return -1.0
    try:
        run = subprocess.run([probe], capture_output=True, text=True, timeout=10, check=False)
        return float(run.stdout)
    except (ValueError, subprocess.TimeoutExpired):
        return -1.0


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown CPU"


class RenoNamespace:
    """A network namespace with a loopback whose congestion control is reno. prefix: runs a command in it."""

    def __init__(self):
        self.name = f"strata-compare-{os.getpid()}"
        self.prefix = ["ip", "netns", "exec", self.name]
        self.usable = False

    def __enter__(self):
        steps = (["ip", "netns", "add", self.name], ["ip", "-n", self.name, "link", "set", "lo", "up"],
                 [*self.prefix, "sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno"])
        try:
            self.usable = all(subprocess.run(step, capture_output=True, check=False).returncode == 0 for step in steps)
        except FileNotFoundError:
            self.usable = False
        return self

    def __exit__(self, *_):
        try:
            subprocess.run(["ip", "netns", "del", self.name], capture_output=True, check=False)
        except FileNotFoundError:
            pass

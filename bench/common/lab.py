"""A lab for what strata-run does not start, and what TCP gets through its links."""
import json
import os
import select
import subprocess
import time

LIMIT_S = 120
BETWEEN_TRIES_S = 5


class LabError(Exception):
    """strata-lab could not do it; the text says why."""


class Busy(LabError):
    """The machine is too busy to measure."""


class Lab:
    """Hosts joined by links; up while it is entered and this process lives. rates: as strata-lab up --rate takes them."""

    def __init__(self, command, hosts, rates):
        self.command, self.hosts, self.rates = command, hosts, rates
        self.name = f"bench-{os.getpid()}"
        self.process, self.facts = None, None

    def __enter__(self):
        rates = [word for rate in self.rates for word in ("--rate", rate)]
        command = [self.command, "up", "--attached", "--name", self.name, "--hosts", str(self.hosts), *rates]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        start_new_session=True)  # a terminal's signals are not for it
        answered = select.select([self.process.stdout], [], [], LIMIT_S)[0]
        line = self.process.stdout.readline() if answered else ""
        if not line:
            raise LabError(self._end() or f"{' '.join(command)} did not answer within {LIMIT_S} s")
        self.facts = json.loads(line)
        return self

    def __exit__(self, *_):
        self._end()

    def restart(self):
        """Ends whatever runs in it."""
        self._end()
        self.__enter__()

    def _end(self):
        """What it complained of."""
        try:
            _, complaint = self.process.communicate(timeout=LIMIT_S)  # closes its input, which is the lab's end
        except subprocess.TimeoutExpired:
            self.process.kill()
            _, complaint = self.process.communicate()
        return complaint.strip()

    def on(self, host):
        """What a command on this host begins with."""
        return [self.command, "exec", "--name", self.name, f"host{host}", "--"]

    def in_network_of(self, host):
        """The same of one that has this host's network only: it can command the lab, which hosts cannot."""
        return ["nsenter", "--target", str(self.facts["hosts"][host]["pid"]), "--net"]

    def goodputs(self, seconds, max_pressure, tries):
        """Bits a second that TCP gets from each host to the next, measured again while the machine is busy."""
        while True:
            tries -= 1
            try:
                return [path["goodput_bit_s"] for path in self._calibrate(seconds, max_pressure)["paths"]]
            except Busy:
                if tries <= 0:
                    raise
                time.sleep(BETWEEN_TRIES_S)

    def _calibrate(self, seconds, max_pressure):
        command = [self.command, "calibrate", "--name", self.name, "--json", "--seconds", str(seconds), "--max-pressure",
                   str(max_pressure)]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S + 2 * self.hosts * seconds, check=False)
        except subprocess.TimeoutExpired as error:
            raise LabError(f"{' '.join(command)} did not end within {error.timeout:.0f} s") from error
        if run.returncode != 0:
            raise (Busy if "the machine is busy" in run.stderr else LabError)(run.stderr.strip())
        return json.loads(run.stdout)

"""One run: in each lab of each round the arms take turns, collective by collective; then unequal hosts, and rails."""
import collections
import time

from common.lab import Lab, LabError
from comparison.arms import bytes_of
from comparison.segments import measure
from levels import bounds, rails, unequal
from levels.arms import Job, arms_for
from levels.setting import Setting

LARGE_BYTES = 32 << 20  # from here on, the first round has to do
FAILURES_MAX = 3  # in a row; an arm that fails more often would only cost time


class Run:
    """options: the command line. programs: {name: path}. settings: of comparison.run. vectors: of rates, see unequal.py."""

    def __init__(self, options, programs, recorder, settings, vectors):
        self.options, self.programs, self.recorder, self.settings, self.vectors = options, programs, recorder, settings, vectors
        self.peers = [peer for peer in options.peers if peer in programs]
        self.notes = []
        self.goodputs = collections.defaultdict(list)  # {a lab's text, or a vector: [bits a second of each host's link]}
        self.failures = collections.Counter()
        self.strata_failed = False

    def run(self):
        o = self.options
        for number in range(1, o.rounds + 1):
            sizes = [size for size in o.sizes if number == 1 or size < LARGE_BYTES]
            for rate in o.rates if sizes and "shapes" in o.parts else ():
                for shape in o.shapes:
                    self.in_a_lab(Setting(shape, rate), sizes, number)
            for vector in self.vectors if "unequal" in o.parts else ():
                unequal.measure(self, vector, number)
            if "rails" in o.parts:
                rails.measure(self, number)

    def in_a_lab(self, setting, sizes, number):
        """All orders and collectives. Without figures, and with a note, where the machine is busy or there is no lab."""
        try:
            with Lab(self.programs["strata-lab"], len(setting.ranks_of_hosts()), [setting.rate]) as lab:
                goodput = min(self.calibrate(lab, setting.lab(), number))
                for order in self.options.orders:
                    for collective in self.options.collectives:
                        self.block(Setting(setting.shape, setting.rate, order), collective, sizes, number, lab, goodput)
        except LabError as error:
            self.say(setting.lab(), "rejected", number, str(error))

    def calibrate(self, lab, name, number):
        o = self.options
        found = lab.goodputs(o.calibration_seconds, o.max_pressure, 1 + o.retries)
        self.goodputs[name].append(found)
        self.say(name, " ".join(f"{bits / 1e6:.0f}" for bits in found) + " Mbit/s", number, "")
        return found

    def block(self, setting, collective, sizes, number, lab, goodput):
        exact = tuple(dict.fromkeys(bytes_of(collective, size, setting.ranks()) for size in sizes))
        for size in exact:
            least_s = bounds.of(collective, size, setting.ranks_of_hosts(), goodput / 8)
            self.recorder.add([bounds.as_sample(setting, collective, size, number, least_s)])
        for arm in arms_for(collective, self.peers, number):
            self.segment(arm, setting, collective, exact, number, lab)

    def segment(self, arm, setting, collective, sizes, number, lab=None):
        if self.failures[arm.name] >= FAILURES_MAX:
            return
        samples, problem = measure(
            arm, lambda folder: Job(setting, collective, sizes, self.options.seconds, self.programs, lab, folder), sizes, number,
            self.settings)
        self.recorder.add(samples)
        busy = f", others {samples[0].others_pct:.0f} %" if samples else ""
        self.say(f"{setting.text()}, {collective}, {arm.name}", f"{len(samples)} figures{busy}", number, problem)
        if problem:
            self.fail(arm, lab)
        else:
            self.failures[arm.name] = 0

    def fail(self, arm, lab):
        self.strata_failed |= arm.peer == "strata"
        self.failures[arm.name] += 1
        if self.failures[arm.name] == FAILURES_MAX:
            self.notes.append(f"{arm.name} has failed {FAILURES_MAX} times in a row, and is left out from there on")
        if lab:
            lab.restart()

    def say(self, what, state, number, problem):
        print(f"{time.strftime('%T')} round {number}/{self.options.rounds} {what}: {state}" + (f"; {problem}" if problem else ""),
              flush=True)
        if problem:
            self.notes.append(f"round {number}, {what}: {problem}")

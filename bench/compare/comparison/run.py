"""One run: all blocks of all rounds, in which the arms of a comparison take turns."""
import dataclasses
import time

from comparison import choices, machine
from comparison.arms import (LARGE_BYTES, LIMIT_ARM, LIMITS, MANY, SHM, STRATA_AGAIN, Job, arms_for, bytes_of, goes_with)
from comparison.segments import measure

MANY_SIZES = (8, 64, 512, 4 << 10)
LIMIT_TOUCHED = 8  # limits are measured up to so many times the largest size, of memory that ranks touch in a call
LIMIT_SIZES = tuple(1 << shift for shift in (3, 10, 12, 14, 16, 18, 20, 22, 24, 26))
SAMPLES_MIN = 5


@dataclasses.dataclass
class Settings:
    """How segments are run."""
    patience_s: float
    limit_s: float
    retries: int
    namespace: object = None
    others_pct_max: float = 10  # of a core; above, a segment is measured again
    meter: type = machine.OthersMeter


def modes_together(modes):
    """Both kinds of Strata's buffers in shared memory are measured beside the same peers."""
    shm = [mode for mode in modes if mode in SHM]
    return [group for group in (shm, *([mode] for mode in modes if mode not in SHM)) if group]


class Comparison:
    """One run: all blocks of all rounds."""

    def __init__(self, options, programs, recorder, settings):
        self.options, self.programs, self.recorder, self.settings = options, programs, recorder, settings
        self.cores = machine.cores()
        self.notes, self.candidates = [], []
        available = {"openmpi-ucx": "openmpi"}
        self.peers = [p for p in options.peers if available.get(p, p) in programs]

    def run(self):
        o = self.options
        for number in range(1, o.rounds + 1):
            for modes in modes_together(o.modes):
                for ranks in o.ranks:
                    sizes = [size for size in o.sizes if number == 1 or size < LARGE_BYTES]
                    self.block(modes, ranks, o.collectives, sizes, number)
                if o.many and "all_reduce" in o.collectives and modes[0] in ("shm", "tcp"):
                    self.block(modes[:1], MANY, ["all_reduce"], MANY_SIZES, number)

    def block(self, modes, ranks, collectives, sizes, number):
        if not sizes:
            return
        collectives = [collective for collective in collectives if goes_with(collective, ranks, modes[0])]
        if collectives and "limits" in self.peers:
            touched_max = LIMIT_TOUCHED * max(sizes)
            self.segment(LIMIT_ARM, LIMITS, ranks, modes[0], [s for s in LIMIT_SIZES if s <= touched_max], number)
        for collective in collectives:
            tuned = self.options.tuned and ranks != MANY
            for arm, mode in arms_for(collective, ranks, modes, self.peers, tuned, self.cores, number):
                if not arm.namespace or self.settings.namespace.usable:
                    self.segment(arm, collective, ranks, mode, arm.sizes_of(sizes, ranks, self.cores), number)
            if number == 1 and choices.has_choices(collective, modes[0]):
                self.choose(collective, ranks, modes[0], [size for size in sizes if size < LARGE_BYTES])

    def job(self, collective, ranks, mode, sizes, checked=True, folder=""):
        o = self.options
        return Job(collective, sizes, ranks, mode, o.seconds, SAMPLES_MIN, o.touched, not o.unbound, self.cores,
                   self.programs, folder, checked)

    def choose(self, collective, ranks, mode, sizes):
        exact = tuple(dict.fromkeys(bytes_of(collective, size, ranks) for size in sizes))
        if exact:
            found, problem = choices.measure(self.job(collective, ranks, mode, exact, checked=False), self.settings.limit_s)
            self.candidates += found
            self.say(f"{mode} {ranks} {collective} algorithms", f"{len(found)} figures", 1, problem)

    def say(self, label, state, number, problem):
        print(f"{time.strftime('%T')} round {number}/{self.options.rounds} {label}: {state}"
              + (f"; {problem}" if problem else ""), flush=True)
        if problem:
            self.notes.append(f"round {number}, {label}: {problem}")

    def segment(self, arm, collective, ranks, mode, wanted, number):
        exact = tuple(dict.fromkeys(bytes_of(collective, size, ranks) for size in wanted))
        if not exact:
            return

        def make_job(folder):
            return self.job(collective, ranks, mode, exact, arm.name != STRATA_AGAIN, folder)

        samples, problem = measure(arm, make_job, wanted if collective != "barrier" else (0,), number, self.settings)
        self.recorder.add(samples)
        state = f", others {samples[0].others_pct:.0f} %, cores {samples[0].probe_after_ns:.0f} ns" if samples else ""
        self.say(f"{mode} {ranks} {collective} {arm.name}", f"{len(samples)} figures{state}", number, problem)

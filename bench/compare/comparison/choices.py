"""Whether Strata's selector chose well: each algorithm's predicted and measured time, where a call could use it."""
import collections
import csv
import dataclasses
import json
import os
import tempfile

from comparison.arms import COLLECTIVES, strata
from comparison.segments import run_processes

MODES_WITH_CHOICES = ("shm", "tcp")
TOLERATED = 1.1  # chosen / best


@dataclasses.dataclass(frozen=True)
class Candidate:
    mode: str
    ranks: int
    collective: str
    size: int
    algorithm: str
    segment_bytes: int
    chosen: bool
    predicted_us: float  # -1: no prediction, as on common memory
    measured_us: float

    def cell(self):
        return self.mode, self.ranks, self.collective, self.size


FIELDS = tuple(field.name for field in dataclasses.fields(Candidate))


def has_choices(collective, mode):
    return collective in COLLECTIVES and mode in MODES_WITH_CHOICES


def rows_of_json(path, job):
    """What strata-perf measured of all algorithms."""
    with open(path, encoding="utf-8") as file:
        for row in json.load(file)["rows"]:
            for one in row.get("candidates", ()):
                if one["measured_us"] is not None:
                    predicted = -1 if one["predicted_us"] is None else one["predicted_us"]
                    yield Candidate(job.mode, job.ranks, row["collective"], row["size_bytes"], one["algorithm"],
                                    one["segment_bytes"], one["chosen"], predicted, one["measured_us"])


def measure(job, limit_s):
    """(candidates, problem). job.folder is replaced by one of its own."""
    with tempfile.TemporaryDirectory(prefix="strata-compare-") as folder:
        path = os.path.join(folder, "choices.json")
        command = strata(dataclasses.replace(job, folder=folder))[0] + ["--algorithm", "all", "--json", path]
        _, problem = run_processes([command], {}, folder, limit_s)
        return list(rows_of_json(path, job)) if not problem else [], problem


def write(path, candidates):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        writer.writerows([int(v) if isinstance(v, bool) else v for v in dataclasses.astuple(c)] for c in candidates)


def read(path):
    """Nothing, if there is no such file."""
    if not os.path.exists(path):
        return []
    readers = {"int": int, "float": float, "str": str, "bool": lambda text: text == "1"}
    with open(path, encoding="utf-8", newline="") as file:
        return [Candidate(**{field.name: readers[field.type.__name__](row[field.name])
                             for field in dataclasses.fields(Candidate)}) for row in csv.DictReader(file)]


@dataclasses.dataclass(frozen=True)
class Choice:
    """What was chosen in a cell, and what was fastest."""
    chosen: Candidate
    best: Candidate

    def ratio(self):
        return self.chosen.measured_us / self.best.measured_us

    def is_defect(self):
        return self.ratio() > TOLERATED


def choices_of(candidates):
    """One for each cell, in the order of the cells."""
    grouped = collections.defaultdict(list)
    for candidate in candidates:
        grouped[candidate.cell()].append(candidate)
    chosen = {cell: next((c for c in of_cell if c.chosen), None) for cell, of_cell in grouped.items()}
    return [Choice(chosen[cell], min(of_cell, key=lambda c: c.measured_us))
            for cell, of_cell in grouped.items() if chosen[cell]]

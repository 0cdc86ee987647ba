"""The figures as they are measured: one for each arm, collective, number of ranks, mode, size and round."""
import csv
import dataclasses

NEAR_NS = 110  # the two cores share a cache


@dataclasses.dataclass(frozen=True)
class Sample:
    round: int
    arm: str
    mode: str
    ranks: int
    collective: str
    size: int   # as asked for
    bytes: int  # what it was rounded to
    p50_us: float
    p99_us: float
    min_us: float
    samples: int
    calls: int
    right: bool
    probe_before_ns: float
    probe_after_ns: float
    others_pct: float

    def cell(self):
        return self.mode, self.ranks, self.collective, self.size

    def cores(self):
        """Where the cores were: near, far, or moved meanwhile."""
        low, high = sorted((self.probe_before_ns, self.probe_after_ns))
        return "near" if 0 <= high <= NEAR_NS else "far" if low > NEAR_NS else "moved"


FIELDS = tuple(field.name for field in dataclasses.fields(Sample))
_READ = {"int": int, "float": float, "str": str, "bool": lambda text: text == "1"}


def to_row(sample):
    values = dataclasses.asdict(sample)
    return [int(v) if isinstance(v, bool) else f"{v:.4g}" if f.endswith(("_ns", "_pct")) else v
            for f, v in values.items()]


def read_csv(path):
    readers = {field.name: _READ[getattr(field.type, "__name__", field.type)] for field in dataclasses.fields(Sample)}
    with open(path, encoding="utf-8", newline="") as file:
        return [Sample(**{name: read(row[name]) for name, read in readers.items()}) for row in csv.DictReader(file)]


class Recorder:
    """Writes raw.csv as the figures come, so that an interrupted run leaves what it had."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8", newline="")  # closed by close()
        self.writer = csv.writer(self.file)
        self.writer.writerow(FIELDS)
        self.samples = []

    def add(self, samples):
        self.samples += samples
        self.writer.writerows(map(to_row, samples))
        self.file.flush()

    def close(self):
        self.file.close()


def rows_of_programs(text):
    """(variant, what was measured, bytes, figures) of each line that a program of this folder printed."""
    for line in text.splitlines():
        fields = line.strip().split(",")
        if len(fields) == 11 and fields[0] == "compare":
            p50, p99, least = map(float, fields[5:8])
            figures = {"p50_us": p50, "p99_us": p99, "min_us": least, "samples": int(fields[8]), "calls": int(fields[9]),
                       "right": fields[10] == "1"}
            yield fields[1], fields[2], int(fields[4]), figures


def rows_of_strata(path):
    """The same of strata-perf's CSV. Broadcast is in place, as the peers have nothing else."""
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            side = "in_place_" if row["collective"] == "broadcast" else "out_of_place_"
            get = lambda name: row[side + name]  # noqa: E731
            yield "", row["collective"], int(row["size_bytes"]), {
                "p50_us": float(get("p50_us")), "p99_us": float(get("p99_us")), "min_us": float(get("min_us")),
                "samples": int(get("samples")), "calls": int(get("calls")), "right": get("wrong") in ("", "0")}

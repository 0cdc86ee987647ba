"""The real trainer: a small model whose sums take about as long as its computation, and the switches of each arm."""
import dataclasses
import json
import os

from comparison import build

TEXT = os.path.join(build.ROOT, "data", "english.txt")
BATCH, SEQUENCE = 32, 128
# No clipping: its norm needs all sums before the first weight changes.
MODEL = ("--layers", "4", "--heads", "4", "--width", "192", "--sequence", str(SEQUENCE), "--batch", str(BATCH), "--threads", "1",
         "--clip-norm", "0", "--bucket-mb", "0.5")
REPORTS = ("--warmup-steps", "1", "--validate-every", "0", "--validation-samples", "4", "--sample-tokens", "0")
WARM_UP = 2  # steps that do not count


@dataclasses.dataclass(frozen=True)
class Arm:
    name: str
    switches: tuple


def _off(*names):
    return tuple(word for name in names for word in (f"--{name}", "false"))


ARMS = (
    Arm("serial", _off("overlap", "priority", "crossing")),
    Arm("fifo", _off("priority", "crossing")),
    Arm("priority", _off("crossing")),
    Arm("crossing", ()),
    Arm("crossing again", ()),
)


@dataclasses.dataclass(frozen=True)
class TrainerFigure:
    """Of one run: medians over its steps."""
    name: str
    seconds: float
    exposed_ms: float
    others_percent: float

    def tokens_per_second(self):
        return BATCH * SEQUENCE / self.seconds


def command(program, arm, steps, metrics):
    return [program, "train", "--text", TEXT, *MODEL, *REPORTS, "--steps", str(steps), "--metrics", metrics, *arm.switches]


def steps_in(metrics):
    """Those that count; none if the run did not get so far. The last step does not cross."""
    if not os.path.exists(metrics):
        return []
    with open(metrics, encoding="utf-8") as file:
        steps = [step for step in map(json.loads, file) if "seconds" in step]
    return steps[WARM_UP:-1]

"""The command line of schedule."""
import argparse
import os

from common.options import at_least, listed, one_of, parse_with_quick
from comparison import build
from iterations.models import MODELS

DESCRIPTION = """schedule - measures training iterations on emulated hosts, beside the best that an order of sums can do

Four ranks on hosts of their own sum gradients of layers, while their computation only sleeps. Four ways take turns: all sums
after backward; each sum when backward is through its layer; front layers first; and front layers first with a forward that
waits, layer by layer, for its own sum only. They stand beside what the first three take, and the best there is, at the rate
that TCP is measured to get through the links. Two communicators of one priority then show how they share a link, and the real
trainer what these ways are worth to it. Needs root, as labs do."""

EPILOG = """TIME
  An estimated eight minutes as it comes; with --quick an estimated two, on two cores that are otherwise idle.

OUTPUT
  DIR/RESULTS.md   the figures, printed too
  DIR/plots/*.svg  times of the ways beside their bounds, drawn with gnuplot

EXIT STATUS
  0  measured; 1  a sum was wrong, or something could not be run; 2  the command line or the build is wrong

EXAMPLES
  Everything, into this repository:
    bench/schedule/schedule --output bench/schedule
  A short look:
    bench/schedule/schedule --quick
  One model on a slower network, with every figure kept:
    bench/schedule/schedule --parts cells --models vgg --rate 100mbit --csv raw.csv
  The real trainer only:
    bench/schedule/schedule --trainer

PACKAGES (Debian)
  gnuplot-nox iproute2"""

PARTS = ("cells", "fairness", "trainer")
QUICK = {"ratios": [1.0], "rounds": 1, "calibration_seconds": 0.5, "trainer_steps": 10}


def ratio(entry):
    value = float(entry)
    if not 0 < value <= 100:
        raise ValueError(f"the ratio {entry} is not over 0 and at most 100")
    return value


def parse_command_line(arguments):
    p = argparse.ArgumentParser(prog="schedule", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    add_what(p)
    add_how(p)
    options = parse_with_quick(p, arguments, QUICK)
    if options.trainer:
        options.parts = ["trainer"]
    return options


def add_what(p):
    p.add_argument("--parts", type=listed(one_of(*PARTS)), default=list(PARTS), metavar="NAMES", help=", ".join(PARTS) + " (all)")
    p.add_argument("--trainer", action="store_true", help="the same as --parts trainer")
    p.add_argument("--models", type=listed(one_of(*MODELS)), default=list(MODELS), metavar="NAMES", help=", ".join(MODELS) + " (all)")
    p.add_argument("--ratios", type=listed(ratio), default=[0.5, 1.0, 1.5], metavar="LIST",
                   help="time of the network / time of the computation (0.5,1,1.5)")
    p.add_argument("--rate", default="200mbit", metavar="RATE", help="of each host's link, each way (200mbit)")
    p.add_argument("--seconds", type=at_least(0.01, float), default=0.9, metavar="S",
                   help="of an iteration in which nothing overlaps (0.9)")
    p.add_argument("--trainer-rate", default="400mbit", metavar="RATE", help="the same for the trainer (400mbit)")
    p.add_argument("--trainer-steps", type=at_least(3), default=16, metavar="N", help="of each of its runs (16)")


def add_how(p):
    p.add_argument("--quick", action="store_true", help="other defaults: ratio 1, one round, short runs of the trainer")
    p.add_argument("--rounds", type=at_least(1), default=3, metavar="N", help="turns of each arm (3)")
    p.add_argument("--iterations", type=at_least(1), default=2, metavar="N", help="timed in a turn, after one that is not (2)")
    p.add_argument("--calibration-seconds", type=at_least(0.01, float), default=1.0, metavar="S", help="for each link (1)")
    p.add_argument("--retries", type=at_least(0), default=2, metavar="N",
                   help="how often the links are calibrated, or the trainer is run, again if others disturb (2)")
    p.add_argument("--patience", type=at_least(0, float), default=5, metavar="S",
                   help="longest wait for a quiet machine before the trainer runs (5)")
    p.add_argument("--max-others", type=at_least(0, float), default=30, metavar="PERCENT",
                   help="of a core, which others may use just before or after the trainer runs; else it is rejected (30)")
    p.add_argument("--max-pressure", type=at_least(0, float), default=20, metavar="PERCENT",
                   help="of the time in which processes may wait for a core; else a turn is rejected (20)")
    p.add_argument("--limit", type=at_least(1, float), default=300, metavar="S", help="a job is stopped after so long (300)")
    p.add_argument("--csv", metavar="FILE", help="every figure, as they come")
    p.add_argument("--output", default=os.path.join(build.ROOT, "build/schedule"), metavar="DIR",
                   help="where the report goes (build/schedule)")
    p.add_argument("--strata", default=os.path.join(build.ROOT, "build/release/tools"), metavar="DIR",
                   help="where strata-run and strata-lab are (build/release/tools)")
    p.add_argument("--programs", default=os.path.join(build.ROOT, "build/release/bench/schedule"), metavar="DIR",
                   help="where iteration and fairness are (build/release/bench/schedule)")
    p.add_argument("--trainer-folder", default=os.path.join(build.ROOT, "build/release/trainer"), metavar="DIR",
                   help="where strata-gpt is (build/release/trainer)")

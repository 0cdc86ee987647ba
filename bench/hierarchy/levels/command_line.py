"""The command line of hierarchy."""
import argparse
import os
import re

from common.options import at_least, listed, one_of, parse_with_quick
from comparison import build
from levels.arms import COLLECTIVES, PEERS
from levels.setting import ORDERS, ranks_in

DESCRIPTION = """hierarchy - measures collectives between emulated hosts, beside the bound of their links

For each shape of hosts and ranks a lab is started, and what TCP gets through its links is measured. Then what Strata chooses
(twice, so that the noise is seen), Strata's best algorithm that knows nothing of hosts, Open MPI and Gloo take turns in
labs of that shape. After that come hosts with unequal links, whose rates are drawn at random, and hosts with two links of unequal
rates. Needs root, as labs do. What is not installed is left out, with a word; what fails or hangs is noted at the end."""

EPILOG = """TIME
  An estimated three and a half hours as it comes; with --quick about eight minutes, on two cores that are otherwise idle.

OUTPUT
  DIR/RESULTS.md   the comparison, printed too
  DIR/plots/*.svg  time against size, drawn with gnuplot

EXIT STATUS
  0  measured; 1  Strata gave a wrong result or could not be run; 2  the command line or the build is wrong

EXAMPLES
  Everything, into this repository:
    bench/hierarchy/hierarchy --output bench/hierarchy
  A short look:
    bench/hierarchy/hierarchy --quick
  All-reduce in one shape only, with every figure kept:
    bench/hierarchy/hierarchy --parts shapes --shapes 2x4 --rates 1gbit --collectives all_reduce --csv raw.csv
  Ten vectors of unequal rates, other ones:
    bench/hierarchy/hierarchy --parts unequal --unequal 10 --seed 2

PACKAGES (Debian)
  openmpi-bin libopenmpi-dev libgloo-dev gnuplot-nox iproute2"""

PARTS = ("shapes", "unequal", "rails")
SIZE = re.compile(r"[1-9]\d*[KM]?")
RATE = re.compile(r"\d+(?:\.\d+)?[kmg]bit")
QUICK = {"shapes": ["2x4", "3+5"], "rates": ["1gbit"], "orders": ["packed"], "sizes": [4 << 20, 16 << 20], "rounds": 1,
         "seconds": 0.1, "unequal": 2, "limit": 60, "calibration_seconds": 0.5}


def shape(entry):
    ranks_in(entry)
    return entry


def size(entry):
    if not SIZE.fullmatch(entry):
        raise ValueError(f"'{entry}' is not a size, such as 512K or 16M")
    return int(entry.rstrip("KM")) << {"K": 10, "M": 20}.get(entry[-1], 0)


def rate(entry):
    if not RATE.fullmatch(entry):
        raise ValueError(f"'{entry}' is no rate, such as 250mbit or 1gbit")
    return entry


def parse_command_line(arguments):
    p = argparse.ArgumentParser(prog="hierarchy", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    add_what(p)
    add_how(p)
    return parse_with_quick(p, arguments, QUICK)


def add_what(p):
    p.add_argument("--parts", type=listed(one_of(*PARTS)), default=list(PARTS), metavar="NAMES", help=", ".join(PARTS) + " (all)")
    p.add_argument("--shapes", type=listed(shape), default="2x2,2x4,4x2,4x4,3+5".split(","), metavar="SHAPES",
                   help="hosts x ranks, or the ranks of each host (2x2,2x4,4x2,4x4,3+5)")
    p.add_argument("--rates", type=listed(rate), default=["1gbit", "8gbit"], metavar="RATES",
                   help="of each host's link, each way (1gbit,8gbit)")
    p.add_argument("--orders", type=listed(one_of(*ORDERS)), default=list(ORDERS), metavar="NAMES",
                   help="of ranks: " + ", ".join(ORDERS) + " (both)")
    p.add_argument("--collectives", type=listed(one_of(*COLLECTIVES)), default=list(COLLECTIVES), metavar="NAMES",
                   help=", ".join(COLLECTIVES) + " (all)")
    p.add_argument("--sizes", type=listed(size), default=[1 << 20, 4 << 20, 16 << 20, 64 << 20], metavar="SIZES",
                   help="bytes, of the larger of a rank's two buffers (1M,4M,16M,64M); 32M and more in the first round only")
    p.add_argument("--peers", type=listed(one_of(*PEERS)), default=list(PEERS), metavar="NAMES", help=", ".join(PEERS) + " (all)")
    p.add_argument("--unequal", type=at_least(0), default=8, metavar="N", help="how many vectors of unequal rates are drawn (8)")
    p.add_argument("--seed", type=int, default=1, metavar="N", help="of these (1)")


def add_how(p):
    p.add_argument("--quick", action="store_true",
                   help="other defaults: 2x4 and 3+5 at 1gbit, packed, 4M,16M, one short round, two vectors of unequal rates")
    p.add_argument("--rounds", type=at_least(1), default=2, metavar="N", help="(2)")
    p.add_argument("--seconds", type=at_least(0.001, float), default=0.2, metavar="S", help="for the samples of one figure (0.2)")
    p.add_argument("--calibration-seconds", type=at_least(0.01, float), default=1.0, metavar="S", help="for each link (1)")
    p.add_argument("--retries", type=at_least(0), default=2, metavar="N",
                   help="how often a lab is calibrated, or a figure measured, again that others disturbed (2)")
    p.add_argument("--patience", type=at_least(0, float), default=5, metavar="S", help="longest wait for a quiet machine (5)")
    p.add_argument("--limit", type=at_least(1, float), default=120, metavar="S", help="an arm is stopped after so long (120)")
    p.add_argument("--max-pressure", type=at_least(0, float), default=20, metavar="PERCENT",
                   help="of the time in which processes may wait for a core when a lab is calibrated; else it is rejected (20)")
    p.add_argument("--max-others", type=at_least(0, float), default=30, metavar="PERCENT",
                   help="of a core, which others may use just before or after a figure; else it is rejected (30)")
    p.add_argument("--csv", metavar="FILE", help="every figure, as they come")
    p.add_argument("--output", default=os.path.join(build.ROOT, "build/hierarchy"), metavar="DIR",
                   help="where the report goes (build/hierarchy)")
    p.add_argument("--build", default=os.path.join(build.ROOT, "build/compare/programs"), metavar="DIR",
                   help="where the peers' programs are built (build/compare/programs)")
    p.add_argument("--strata", default=os.path.join(build.ROOT, "build/release/tools"), metavar="DIR",
                   help="where strata-run, strata-perf and strata-lab are (build/release/tools)")

"""All-reduce between hosts of one rank each whose links have unequal rates, beside its bound, and beside a ring."""
import os
import random
import tempfile

from common.lab import Lab, LabError
from comparison.arms import STRATA, STRATA_AGAIN, Arm
from levels import bounds
from levels.arms import rotated, strata
from levels.setting import Setting

HOSTS = (3, 4)
MEGABITS = (100, 1000)
RING = "strata-ring"
SIZE = 16 << 20
COLLECTIVE = "all_reduce"


def draw(count, seed):
    """[[megabits a second of each host]]: the same for the same seed."""
    dice = random.Random(seed)
    return [[dice.randint(*MEGABITS) for _ in range(dice.choice(HOSTS))] for _ in range(count)]


def setting_of(vector):
    return Setting("+".join("1" for _ in vector), ",".join(f"{rate}mbit" for rate in vector))


def topology(goodputs):
    """A topology file of hosts whose network cards have these rates, in bits a second."""
    return "".join(f'[[machine]]\nname = "with{i}"\nnics = [{{name = "rail0", rate = "{round(bits / 1e6)} Mb/s"}}]\n\n'
                   f'[[host]]\nname = "host{i}"\nmachine = "with{i}"\nslots = 1\n\n' for i, bits in enumerate(goodputs))


def goodputs_of(paths):
    """Of each host of a lab in which one without a limit follows each: what it sends to that, and gets from the one before."""
    return [min(paths[2 * i], paths[2 * i - 1]) for i in range(len(paths) // 2)]


def measure(run, vector, number):
    rates = [f"host{2 * i}={rate}mbit" for i, rate in enumerate(vector)]
    setting = setting_of(vector)
    try:
        with Lab(run.programs["strata-lab"], 2 * len(vector), rates) as lab:
            rates_bit_s = goodputs_of(run.calibrate(lab, setting.lab(), number))
    except LabError as error:
        run.say(setting.lab(), "rejected", number, str(error))
        return
    rates_byte_s = [bits / 8 for bits in rates_bit_s]
    run.recorder.add([bounds.as_sample(setting, COLLECTIVE, SIZE, number, bounds.unequal_all_reduce(SIZE, rates_byte_s))])
    with tempfile.TemporaryDirectory(prefix="strata-hierarchy-") as folder:
        path = os.path.join(folder, "cluster.toml")
        with open(path, "w", encoding="ascii") as file:
            file.write(topology(rates_bit_s))
        for arm in rotated(arms(path), number):
            run.segment(arm, setting, COLLECTIVE, (SIZE,), number)


def arms(topology_path):
    told = {"STRATA_TOPOLOGY": topology_path}
    return [Arm(STRATA, "strata", (), strata(), environment=told),
            Arm(RING, "strata", (), strata("--algorithm", "ring")),
            Arm(STRATA_AGAIN, "strata", (), strata(checked=False), environment=told)]

"""Two hosts with two links each, one three times as fast as the other: what both together carry, and each alone."""
from comparison.arms import Arm
from levels.arms import rotated, strata
from levels.setting import Setting

SETTING = Setting("2x1", "750mbit:250mbit")
BOTH = "rail0,rail1"
INTERFACES = ("rail0", "rail1", BOTH)
SIZES = {"send": (1 << 20, 4 << 20), "all_reduce": (4 << 20, 16 << 20)}
WINDOW = 4  # messages of a `send` under way at once


def measure(run, number):
    for collective, perf in (("send", ("--window", str(WINDOW))), ("all_reduce", ())):
        for arm in rotated([Arm(name, "strata", (), strata(*perf, run=("--interface", name))) for name in INTERFACES], number):
            run.segment(arm, SETTING, collective, SIZES[collective], number)

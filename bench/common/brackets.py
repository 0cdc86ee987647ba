"""How busy the machine is with others, told from the moments before and after something is measured."""
import time

from comparison import machine

WINDOW_S = 0.2


class Brackets:
    """Meanwhile nobody can tell: much of the work in a lab is its links', or that of daemons nobody waits for."""

    def __init__(self):
        self.before = _percent_of_a_core()

    def percent_of_a_core(self):
        return max(self.before, _percent_of_a_core())


def _percent_of_a_core():
    busy, begin = machine.busy_s(), time.monotonic()
    time.sleep(WINDOW_S)
    return (machine.busy_s() - busy) / (time.monotonic() - begin) * 100

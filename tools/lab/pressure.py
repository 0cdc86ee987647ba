"""How busy the machine is with others, from the kernel's pressure stall information."""
import time

from errors import Failure

FILE = "/proc/pressure/cpu"
WINDOW_S = 1.0


def waited_percent():
    """The share of a second in which some process waited for a core; None: this kernel does not say."""
    before = _waited_us()
    if before is None:
        return None
    start = time.monotonic()
    time.sleep(WINDOW_S)
    return 100 * (_waited_us() - before) / 1e6 / (time.monotonic() - start)


def check(when, maximum):
    """The share, if it is not over the maximum."""
    percent = waited_percent()
    if percent is not None and percent > maximum:
        raise Failure(f"{when} the measuring, processes waited for a core {percent:.0f} % of the time, more than the "
                      f"{maximum:g} % of --max-pressure: the machine is busy, and the figures would be too low; try later")
    return percent


def _waited_us():
    try:
        with open(FILE, encoding="ascii") as file:
            return int(file.readline().rpartition("total=")[2])
    except OSError:
        return None

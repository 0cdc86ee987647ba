"""What a model at a ratio of network to computation came to: the figures of each arm, beside its bound."""
import dataclasses
import statistics

from iterations import bounds

ARMS = ("serial", "fifo", "priority", "crossing")
AGAIN = "crossing again"  # so that the noise is seen
TURNS = (*ARMS, "crossing")  # as the program takes them; the places of the arms and of the second crossing
NAMES = (*ARMS, AGAIN)


@dataclasses.dataclass
class Figure:
    name: str
    ms: float
    waited_ms: float
    stalled_percent: float


@dataclasses.dataclass
class Cell:
    model: str
    ratio: float
    times: list  # of its layers, as bounds.py takes them
    figures: list

    def counted(self, name, stalled_max):
        return [figure for figure in self.figures if figure.name == name and figure.stalled_percent <= stalled_max]

    def ms(self, name, stalled_max):
        """None if no figure counts."""
        found = [figure.ms for figure in self.counted(name, stalled_max)]
        return statistics.median(found) if found else None

    def bound_ms(self, name):
        return 1e3 * bounds.OF_ARMS[name](self.times)

    def ratio_to_bound(self, name, stalled_max):
        found = self.ms(name, stalled_max)
        return found and found / self.bound_ms(name)

    def noise(self, stalled_max):
        pair = [self.ms(name, stalled_max) for name in ("crossing", AGAIN)]
        return all(pair) and max(pair) / min(pair)


def figures_in(output):
    """Of the lines that the program printed."""
    found = []
    for line in output.splitlines():
        words = line.split(",")
        if len(words) == 7 and words[0].isdigit():
            found.append(Figure(NAMES[int(words[2])], float(words[4]), float(words[5]), float(words[6])))
    return found

"""What a training iteration takes at least, and how long each way to order its sums of gradients takes.

Layers are (forward, backward, network) times, the front one first. One link; a sum may be interrupted at any time. An
iteration begins with backward, from the last layer to the front; a layer's sum can begin when its backward has ended, and
its forward when its sum has.
"""


def optimum(layers):
    """T*: the front layer's sum goes first, and each forward waits for its own layer's only."""
    last = len(layers)
    return max(sum(f + b for f, b, _ in layers[j:]) + sum(c for _, _, c in layers[:j + 1]) for j in range(last))


def first_come(layers):
    """T_FIFO: sums go in any order that wastes no time, and forward waits for all of them."""
    forward = sum(f for f, _, _ in layers)
    return forward + max(sum(b for _, b, _ in layers[j:]) + sum(c for _, _, c in layers[:j + 1]) for j in range(len(layers)))


def serial(layers):
    """Sums begin when backward has ended, and forward waits for all of them."""
    return sum(map(sum, layers))


OF_ARMS = {"serial": serial, "fifo": first_come, "priority": first_come, "crossing": optimum}

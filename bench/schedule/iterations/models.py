"""The models: how parameters and computation are spread over the layers, front first. Backward takes twice as long as forward."""

BACKWARD = 2  # times forward
# Parameters and multiplications of VGG-16's layers (Simonyan & Zisserman 2015), on images of 224 x 224.
VGG_PARAMETERS = (1792, 36928, 73856, 147584, 295168, 590080, 590080, 1180160, 2359808, 2359808, 2359808, 2359808, 2359808,
                  102764544, 16781312, 4097000)
VGG_MULTIPLICATIONS = (86.7, 1849.7, 924.8, 1849.7, 924.8, 1849.7, 1849.7, 924.8, 1849.7, 1849.7, 462.4, 462.4, 462.4,
                       102.8, 16.8, 4.1)
EQUAL_LAYERS = 12
EMBEDDING_SHARE = 0.4  # of the parameters, in the front layer, which has next to nothing to compute
EMBEDDING_WORK = 0.01

# name: (shares of the parameters, shares of the computation)
MODELS = {
    "equal": ((1,) * EQUAL_LAYERS, (1,) * EQUAL_LAYERS),
    "vgg": (VGG_PARAMETERS, VGG_MULTIPLICATIONS),
    "embedding": ((EMBEDDING_SHARE * EQUAL_LAYERS / (1 - EMBEDDING_SHARE),) + (1,) * EQUAL_LAYERS,
                  (EMBEDDING_WORK * EQUAL_LAYERS,) + (1,) * EQUAL_LAYERS),
}
ELEMENT = 4  # bytes


def layers_of(model, ratio, seconds, bytes_per_second):
    """[(bytes, seconds backward, seconds forward)] of an iteration that takes `seconds` when nothing overlaps.

    ratio: time of the network / time of the computation. bytes_per_second: of gradients that are summed.
    """
    parameters, work = MODELS[model]
    computing = seconds / (1 + ratio)
    size = ratio * computing * bytes_per_second
    forward = computing / (1 + BACKWARD)
    return [(max(ELEMENT, round(size * p / sum(parameters) / ELEMENT) * ELEMENT), forward * BACKWARD * w / sum(work),
             forward * w / sum(work)) for p, w in zip(parameters, work)]


def times_of(layers, bytes_per_second):
    """What bounds.py takes."""
    return [(forward, backward, size / bytes_per_second) for size, backward, forward in layers]


def sum_factor(ranks):
    """Bytes that each rank sends, and receives, for each byte that is summed over all of them."""
    return 2 * (ranks - 1) / ranks

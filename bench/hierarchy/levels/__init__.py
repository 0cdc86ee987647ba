"""The parts of bench/hierarchy/hierarchy."""

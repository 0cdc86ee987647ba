"""The parts of bench/schedule/schedule."""

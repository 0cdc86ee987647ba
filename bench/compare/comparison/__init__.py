"""The parts of bench/compare/compare."""

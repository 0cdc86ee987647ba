"""What the runners of several benchmarks need."""

# The reduction kernels, against an independent reference, on every instruction set of the CPU at hand.
strata_test(compute_test SOURCES
  compute/small_float_test.cpp compute/reduce_values_test.cpp compute/reduce_memory_test.cpp
  compute/cases.cpp compute/reference.cpp compute/small_float_reference.cpp)

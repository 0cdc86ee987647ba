# Reduction kernels. Each *_kernels.cpp is compiled for every instruction set that Highway can choose at run time.
target_sources(strata_core PRIVATE
  compute/reduce.cpp compute/copy.cpp compute/small_float.cpp compute/integer_kernels.cpp compute/float_kernels.cpp
  compute/float16_kernels.cpp compute/float8_kernels.cpp)

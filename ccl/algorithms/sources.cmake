target_sources(strata_core PRIVATE
  algorithms/algorithm.cpp
  algorithms/catalog.cpp
  algorithms/fragments.cpp
  algorithms/ring.cpp
  algorithms/writer.cpp)

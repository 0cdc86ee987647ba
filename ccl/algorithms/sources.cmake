target_sources(strata_core PRIVATE
  algorithms/algorithm.cpp
  algorithms/binomial_tree.cpp
  algorithms/bruck.cpp
  algorithms/catalog.cpp
  algorithms/chain.cpp
  algorithms/direct.cpp
  algorithms/dissemination.cpp
  algorithms/fragments.cpp
  algorithms/halving_doubling.cpp
  algorithms/linear.cpp
  algorithms/one_shot.cpp
  algorithms/pairwise.cpp
  algorithms/recursive_doubling.cpp
  algorithms/ring.cpp
  algorithms/rotation.cpp
  algorithms/tree.cpp
  algorithms/writer.cpp)

target_sources(strata_core PRIVATE
  topology/by_hand.cpp
  topology/candidates.cpp
  topology/cpu_list.cpp
  topology/cpus.cpp
  topology/hierarchy.cpp
  topology/partition.cpp
  topology/position.cpp)

# Collectives within a host, on memory that its ranks have in common.
target_sources(strata_core PRIVATE
  local/allocation.cpp local/direct.cpp local/moves.cpp local/shm_group.cpp)

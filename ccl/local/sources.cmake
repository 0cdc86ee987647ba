# Collectives within a host, on memory that its ranks have in common.
target_sources(strata_core PRIVATE
  local/allocation.cpp local/boards.cpp local/direct.cpp local/moves.cpp local/shm_group.cpp
  local/shm_group_slots.cpp local/shm_group_straight.cpp local/straight.cpp)

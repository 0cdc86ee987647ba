target_sources(strata_core PRIVATE
  schedule/expression.cpp
  schedule/lower.cpp
  schedule/memory_map.cpp
  schedule/program.cpp
  schedule/schedule.cpp
  schedule/specification.cpp
  schedule/symbolic_run.cpp
  schedule/verify.cpp)

target_sources(strata_core PRIVATE
  schedule/lower.cpp
  schedule/program.cpp
  schedule/schedule.cpp)

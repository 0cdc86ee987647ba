target_sources(strata_core PRIVATE topology/cpus.cpp)

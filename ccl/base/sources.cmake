# Layer 0: what everything else stands on.
target_sources(strata_core PRIVATE
  base/environment.cpp base/environment_variables.cpp base/host.cpp base/nearest.cpp base/network_interface.cpp)

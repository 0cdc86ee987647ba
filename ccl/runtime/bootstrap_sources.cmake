target_sources(strata_core PRIVATE
  runtime/options.cpp runtime/rendezvous_address.cpp)

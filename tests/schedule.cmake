# The schedule: derivation, lowering, the verifier, and the algorithms it proves.
strata_test(schedule_tests SOURCES
  schedule/catalog_test.cpp
  schedule/cost_test.cpp
  schedule/derive_test.cpp
  schedule/group_test.cpp
  schedule/hierarchical_test.cpp
  schedule/lower_test.cpp
  schedule/mutants_test.cpp
  schedule/world.cpp)
# The planner: what a schedule costs, and which algorithm is the cheapest.
strata_test(planner_test SOURCES planner/costs_text_test.cpp planner/link_levels_test.cpp planner/selector_test.cpp
  planner/simulate_test.cpp schedule/world.cpp topology/examples.cpp)

target_sources(strata_core PRIVATE
  ${CMAKE_CURRENT_SOURCE_DIR}/planner/cost_model.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/planner/costs_text.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/planner/level_estimates.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/planner/link_levels.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/planner/pairing.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/planner/predict.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/planner/plan_cache.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/planner/selector.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/planner/simulate.cpp)

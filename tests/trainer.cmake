# The trainer's tests.
if(STRATA_TRAINER)
  strata_test(trainer_torch_test SOURCES trainer/torch_test.cpp LIBRARIES strata_trainer)
  target_compile_definitions(trainer_torch_test PRIVATE STRATA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()

# The trainer's tests.
if(STRATA_TRAINER)
  # The static libraries refer to each other only one way, so strata_core comes last.
  function(strata_trainer_test name)
    strata_test(${name} ${ARGN} LIBRARIES strata_trainer strata_core PkgConfig::HWY)
    if(TARGET ${name})
      target_compile_definitions(${name} PRIVATE STRATA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    endif()
  endfunction()

  strata_trainer_test(trainer_layers_test SOURCES trainer/layers_test.cpp trainer/reference.cpp PROCESSORS 2)
  strata_trainer_test(trainer_model_test SOURCES trainer/model_test.cpp)
  strata_trainer_test(trainer_torch_test SOURCES trainer/torch_test.cpp)
  strata_trainer_test(trainer_data_test SOURCES trainer/data_test.cpp)
  strata_trainer_test(trainer_config_test SOURCES trainer/config_test.cpp)
  strata_trainer_test(trainer_checkpoint_test SOURCES trainer/checkpoint_test.cpp)
  strata_trainer_test(trainer_report_test SOURCES trainer/report_test.cpp)
  strata_trainer_test(trainer_update_test SOURCES trainer/update_test.cpp PROCESSORS 2)
  strata_trainer_test(trainer_parity_test SOURCES trainer/parity_test.cpp PROCESSORS 2)

  add_test(NAME trainer_command_test COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/trainer/command_test.py
    $<TARGET_FILE:strata-gpt> ${PROJECT_SOURCE_DIR}/data/english.txt)
  set_tests_properties(trainer_command_test PROPERTIES TIMEOUT 300 PROCESSORS 2)
endif()

target_sources(strata_core PRIVATE
  transport/self_transport.cpp
  runtime/work.cpp runtime/driver.cpp runtime/scratch_pool.cpp runtime/observer.cpp runtime/counters.cpp runtime/metrics_server.cpp runtime/executor.cpp runtime/describe.cpp
  runtime/names.cpp runtime/communicator_state.cpp runtime/control.cpp runtime/engine.cpp runtime/engine_failure.cpp runtime/engine_control.cpp
  runtime/engine_local.cpp runtime/engine_at_once.cpp runtime/engine_message.cpp
  runtime/engine_cancel.cpp runtime/watchdog.cpp
  runtime/memory.cpp runtime/options.cpp runtime/call.cpp runtime/call_group.cpp runtime/connect.cpp
  runtime/place_report.cpp runtime/whereabouts.cpp runtime/locate.cpp
  runtime/calibrate.cpp runtime/cost_cache.cpp runtime/measure_costs.cpp runtime/probe.cpp
  runtime/tracing.cpp runtime/trace_gathering.cpp
  runtime/communicator.cpp runtime/communicator_create.cpp runtime/split.cpp
  runtime/c_handles.cpp runtime/c_communicator.cpp runtime/c_operations.cpp)
set_source_files_properties(runtime/c_communicator.cpp runtime/cost_cache.cpp PROPERTIES
  COMPILE_DEFINITIONS STRATA_VERSION="${PROJECT_VERSION}")

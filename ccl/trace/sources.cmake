# Layer 1: the timeline of a job, from records to a file and a table.
target_sources(strata_core PRIVATE
  trace/clock.cpp trace/part.cpp trace/clock_offset.cpp trace/recorder.cpp trace/spans.cpp trace/timeline.cpp trace/usage.cpp trace/chrome.cpp trace/merge.cpp)

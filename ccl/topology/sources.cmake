target_sources(strata_core PRIVATE
  topology/by_hand.cpp
  topology/candidates.cpp
  topology/check_ranks.cpp
  topology/cpu_list.cpp
  topology/cpus.cpp
  topology/discover.cpp
  topology/hierarchy.cpp
  topology/host_names.cpp
  topology/hwloc_machine.cpp
  topology/import.cpp
  topology/machine_file.cpp
  topology/machine_text.cpp
  topology/nccl_xml.cpp
  topology/nvlink.cpp
  topology/nvml.cpp
  topology/partition.cpp
  topology/pcie.cpp
  topology/position.cpp
  topology/quantity.cpp
  topology/rates.cpp
  topology/read_file.cpp
  topology/set_machine.cpp
  topology/sysfs_nics.cpp
  topology/toml_fields.cpp
  topology/topology_file.cpp
  topology/topology_text.cpp)
target_link_libraries(strata_core PRIVATE ${CMAKE_DL_LIBS})

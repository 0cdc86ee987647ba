# Memory that the processes of a host share, and how they wake each other.
target_sources(strata_core PRIVATE
  shm/doorbell.cpp shm/local_socket.cpp shm/memory_file.cpp shm/neighbours.cpp
  shm/process_memory.cpp)

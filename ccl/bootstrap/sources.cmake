# How ranks find each other.
target_sources(strata_core PRIVATE
  bootstrap/bootstrap.cpp
  bootstrap/rendezvous_address.cpp
  bootstrap/rendezvous_client.cpp
  bootstrap/rendezvous_connection.cpp
  bootstrap/rendezvous_door.cpp
  bootstrap/rendezvous_introduction.cpp
  bootstrap/rendezvous_limits.cpp
  bootstrap/rendezvous_listener.cpp
  bootstrap/rendezvous_messages.cpp
  bootstrap/rendezvous_resolve.cpp
  bootstrap/rendezvous_roll.cpp
  bootstrap/rendezvous_secret.cpp
  bootstrap/rendezvous_server.cpp)
set_source_files_properties(bootstrap/rendezvous_introduction.cpp PROPERTIES
  COMPILE_DEFINITIONS "STRATA_VERSION=\"${PROJECT_VERSION}\"")

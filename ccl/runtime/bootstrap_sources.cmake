# Options and how ranks find each other.
target_sources(strata_core PRIVATE
  runtime/bootstrap.cpp
  runtime/options.cpp
  runtime/rendezvous_address.cpp
  runtime/rendezvous_client.cpp
  runtime/rendezvous_connection.cpp
  runtime/rendezvous_door.cpp
  runtime/rendezvous_introduction.cpp
  runtime/rendezvous_limits.cpp
  runtime/rendezvous_listener.cpp
  runtime/rendezvous_messages.cpp
  runtime/rendezvous_resolve.cpp
  runtime/rendezvous_roll.cpp
  runtime/rendezvous_secret.cpp
  runtime/rendezvous_server.cpp)
set_source_files_properties(runtime/rendezvous_introduction.cpp PROPERTIES
  COMPILE_DEFINITIONS "STRATA_VERSION=\"${PROJECT_VERSION}\"")

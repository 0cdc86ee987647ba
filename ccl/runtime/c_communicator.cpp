// The C interface: communicators.
#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "ccl/runtime/c_handles.hpp"
#include "strata/memory.hpp"
#include "strata/trace.hpp"

using namespace strata;

namespace {

std::string text(const char* value) { return value == nullptr ? std::string() : std::string(value); }

// 0: the default. The largest value: none at all.
std::uint32_t amount(std::uint32_t given, std::uint32_t standard) {
  if (given == 0) return standard;
  return given == std::numeric_limits<std::uint32_t>::max() ? 0 : given;
}

CommunicatorOptions convert(const strata_comm_options& given) {
  strata_comm_options full = STRATA_COMM_OPTIONS_INIT;
  std::memcpy(&full, &given, std::min(given.size, sizeof full));
  CommunicatorOptions o;
  o.rendezvous = text(full.rendezvous);
  o.rank = full.rank;
  o.size = full.world_size;
  o.local_rank = full.local_rank;
  o.progress_thread = full.no_progress_thread == 0;
  o.secret = text(full.secret);
  o.interface = text(full.interface_name);
  o.transport = text(full.transport);
  o.algorithm = text(full.algorithm);
  o.port_min = full.port_min;
  o.port_max = full.port_max;
  if (full.rendezvous_timeout_ms > 0) o.rendezvous_timeout_ms = full.rendezvous_timeout_ms;
  o.timeout_ms = amount(full.timeout_ms, o.timeout_ms);
  o.spin_us = amount(full.spin_us, o.spin_us);
  o.memory_mb = amount(full.memory_mb, o.memory_mb);
  o.calibrate = text(full.calibrate);
  o.topology = text(full.topology);
  o.levels = text(full.levels);
  o.single_copy = full.no_single_copy == 0;
  if (full.tcp_streams > 0) o.tcp_streams = full.tcp_streams;
  o.trace = text(full.trace);
  o.metrics = text(full.metrics);
  if (full.trace_mb > 0) o.trace_mb = full.trace_mb;
  o.tcp_credit_kb = full.tcp_credit_kb;
  o.tcp_fragment_kb = full.tcp_fragment_kb;
  return o;
}

int store(Expected<std::optional<Communicator>> made, strata_comm_t* handle) {
  *handle = nullptr;
  if (!made) return c::result(made.status());
  if (*made) *handle = c::add(std::move(**made));
  return STRATA_OK;
}

}  // namespace

const char* strata_version(void) { return STRATA_VERSION; }

const char* strata_result_name(int result) {
  if (result < 0 || result > STRATA_CANCELLED) return "?";
  return to_string(static_cast<ErrorCode>(result)).data();
}

int strata_alloc(void** memory, size_t bytes) {
  if (memory == nullptr) return c::result({ErrorCode::invalid_argument, "strata_alloc: memory is null"});
  *memory = nullptr;
  const Expected<void*> made = allocate(bytes);
  if (made) *memory = *made;
  return c::result(made.status());
}

int strata_free(void* memory) { return c::result(deallocate(memory)); }

int strata_memory_use(uint64_t* kept_bytes, uint64_t* limit_bytes) {
  if (kept_bytes == nullptr || limit_bytes == nullptr)
    return c::result(
        {ErrorCode::invalid_argument,
         fmt::format("strata_memory_use: {} is null", kept_bytes == nullptr ? "kept_bytes" : "limit_bytes")});
  const MemoryUse use = memory_use();
  *kept_bytes = use.kept_bytes;
  *limit_bytes = use.limit_bytes;
  return STRATA_OK;
}

size_t strata_size_of(strata_data_type type) {
  const DataType t = c::type(type);
  return static_cast<int>(t) < kDataTypes ? size_of(t) : 0;
}

int strata_comm_create(const strata_comm_options* options, strata_comm_t* comm) {
  if (comm == nullptr)
    return c::invalid("strata_comm_create", "comm is NULL; give where to store the handle");
  *comm = nullptr;
  if (options != nullptr && (options->size == 0 || options->size > 4096))
    return c::invalid("strata_comm_create",
                      "options->size is not sizeof(strata_comm_options); initialise the struct "
                      "with STRATA_COMM_OPTIONS_INIT");
  auto made = options ? Communicator::create(convert(*options)) : Communicator::from_environment();
  if (!made) return c::result(made.status());
  *comm = c::add(*std::move(made));
  return STRATA_OK;
}

int strata_comm_destroy(strata_comm_t comm) { return c::remove(comm) ? STRATA_OK : STRATA_INVALID_ARGUMENT; }

int strata_comm_rank(strata_comm_t comm, int32_t* rank) {
  if (rank == nullptr) return c::invalid("strata_comm_rank", "rank is NULL; give where to store it");
  const auto found = c::find(comm);
  if (!found) return STRATA_INVALID_ARGUMENT;
  *rank = found->rank();
  return STRATA_OK;
}

int strata_comm_size(strata_comm_t comm, int32_t* size) {
  if (size == nullptr) return c::invalid("strata_comm_size", "size is NULL; give where to store it");
  const auto found = c::find(comm);
  if (!found) return STRATA_INVALID_ARGUMENT;
  *size = found->size();
  return STRATA_OK;
}

int strata_comm_status(strata_comm_t comm) {
  const auto found = c::find(comm);
  return found ? c::result(found->status()) : STRATA_INVALID_ARGUMENT;
}

int strata_comm_abort(strata_comm_t comm, const char* reason) {
  const auto found = c::find(comm);
  if (!found) return STRATA_INVALID_ARGUMENT;
  found->abort(text(reason));
  return STRATA_OK;
}

int strata_comm_split(strata_comm_t comm, int32_t color, int32_t key, strata_comm_t* made) {
  if (made == nullptr) return c::invalid("strata_comm_split", "made is NULL; give where to store the handle");
  *made = nullptr;
  const auto found = c::find(comm);
  return found ? store(found->split(color, key), made) : STRATA_INVALID_ARGUMENT;
}

int strata_comm_duplicate(strata_comm_t comm, strata_comm_t* made) {
  if (made == nullptr)
    return c::invalid("strata_comm_duplicate", "made is NULL; give where to store the handle");
  *made = nullptr;
  const auto found = c::find(comm);
  if (!found) return STRATA_INVALID_ARGUMENT;
  auto copy = found->duplicate();
  if (!copy) return c::result(copy.status());
  *made = c::add(*std::move(copy));
  return STRATA_OK;
}

int strata_trace_begin(const char* name, int32_t index, strata_trace_category category) {
  if (name == nullptr) return c::invalid("strata_trace_begin", "name is NULL; say what the span is");
  if (category < STRATA_TRACE_COMPUTE || category > STRATA_TRACE_OTHER)
    return c::invalid("strata_trace_begin", "category is none of STRATA_TRACE_COMPUTE, _DATA and _OTHER");
  if (TraceSpan::recorded()) TraceSpan::begin(name, index, static_cast<TraceCategory>(category));
  return STRATA_OK;
}

int strata_trace_end(void) {
  if (TraceSpan::recorded()) TraceSpan::end();
  return STRATA_OK;
}

int strata_trace_recorded(void) { return TraceSpan::recorded() ? 1 : 0; }

int strata_comm_subgroup(strata_comm_t comm, const int32_t* ranks, int32_t count, strata_comm_t* made) {
  if (made == nullptr)
    return c::invalid("strata_comm_subgroup", "made is NULL; give where to store the handle");
  *made = nullptr;
  if (count < 0 || (count > 0 && ranks == nullptr))
    return c::invalid("strata_comm_subgroup", "ranks is NULL or count is negative; list the members");
  const auto found = c::find(comm);
  if (!found) return STRATA_INVALID_ARGUMENT;
  return store(found->subgroup({ranks, static_cast<std::size_t>(count)}), made);
}

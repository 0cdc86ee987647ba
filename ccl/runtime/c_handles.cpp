#include "ccl/runtime/c_handles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "ccl/runtime/communicator_impl.hpp"

namespace strata::c {
namespace {

struct Table {
  std::shared_mutex mutex;
  std::uintptr_t next = 1;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Communicator>> communicators;
};
// Never destroyed: a program may end without having destroyed its communicators.
Table& table() {
  static auto* const instance = new Table;
  return *instance;
}

thread_local std::string last_error;

Status unknown(strata_comm_t handle) {
  return {ErrorCode::invalid_argument,
          handle == nullptr
              ? std::string("comm is NULL")
              : fmt::format("comm = {} is not a communicator: it was destroyed or never created",
                            static_cast<const void*>(handle))};
}

}  // namespace

strata_comm_t add(Communicator communicator) {
  auto shared = std::make_shared<Communicator>(std::move(communicator));
  const std::unique_lock lock(table().mutex);
  const std::uintptr_t number = table().next++;
  table().communicators.emplace(number, std::move(shared));
  return reinterpret_cast<strata_comm_t>(number);
}

std::shared_ptr<Communicator> find(strata_comm_t handle) {
  {
    const std::shared_lock lock(table().mutex);
    const auto found = table().communicators.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found != table().communicators.end()) return found->second;
  }
  result(unknown(handle));
  return nullptr;
}

std::shared_ptr<Communicator> remove(strata_comm_t handle) {
  std::shared_ptr<Communicator> removed = find(handle);
  if (!removed) return nullptr;
  const std::unique_lock lock(table().mutex);
  if (table().communicators.erase(reinterpret_cast<std::uintptr_t>(handle)) == 1) return removed;
  result(unknown(handle));  // another thread was first
  return nullptr;
}

int result(const Status& status) {
  if (!status.ok()) last_error = status.message();
  return static_cast<int>(status.code());
}

int invalid(const char* function, const char* what) {
  return result({ErrorCode::invalid_argument, fmt::format("{}: {}", function, what)});
}

int finish(Work work, strata_work_t* handle) {
  if (handle == nullptr) return result(in_group() ? work.status() : work.wait());
  *handle = nullptr;
  if (Status s = work.status(); !s.ok() && s.code() == ErrorCode::invalid_argument) return result(s);
  *handle = new strata_work{std::move(work)};
  return STRATA_OK;
}

CallOptions options(const strata_call_options* given) {
  if (given == nullptr) return {};
  strata_call_options full = STRATA_CALL_OPTIONS_INIT;
  std::memcpy(&full, given, std::min(given->size, sizeof full));
  return {.scale = full.scale,
          .priority = full.priority,
          .timeout_ms = full.timeout_ms,
          .deadline_ms = full.deadline_ms,
          .name = full.name ? full.name : std::string_view(),
          .algorithm = full.algorithm ? full.algorithm : std::string_view()};
}

DataType type(strata_data_type value) {
  return static_cast<DataType>(std::clamp<std::int64_t>(static_cast<std::int64_t>(value), -1, 255) & 0xff);
}
ReduceOp op(strata_reduce_op value) {
  return static_cast<ReduceOp>(std::clamp<std::int64_t>(static_cast<std::int64_t>(value), -1, 255) & 0xff);
}

}  // namespace strata::c

const char* strata_last_error(void) { return strata::c::last_error.c_str(); }

// The C interface: operations, groups and work.
#include <vector>

#include "ccl/runtime/c_handles.hpp"

using namespace strata;

namespace {

// Finds the communicator, starts `operation(communicator)` on it and ends the call as `work` wants.
template <class Operation>
int call(strata_comm_t comm, strata_work_t* work, Operation operation) {
  if (work != nullptr) *work = nullptr;
  const auto found = c::find(comm);
  return found ? c::finish(operation(*found), work) : STRATA_INVALID_ARGUMENT;
}

// A NULL array becomes an empty list, which the checks of the C++ interface refuse by name.
std::span<const std::uint64_t> counts_of(const uint64_t* counts, const Communicator& communicator) {
  return {counts, counts == nullptr ? 0 : static_cast<std::size_t>(communicator.size())};
}

std::vector<Work> works_of(const strata_work_t* works, size_t count) {
  std::vector<Work> list(count);
  for (size_t i = 0; i < count; ++i)
    if (works[i] != nullptr) list[i] = works[i]->work;
  return list;
}

}  // namespace

int strata_barrier(strata_comm_t comm, const strata_call_options* options, strata_work_t* work) {
  return call(comm, work, [&](Communicator& c) { return c.barrier(c::options(options)); });
}

int strata_broadcast(strata_comm_t comm, const void* send, void* recv, uint64_t count, strata_data_type type,
                     int32_t root, const strata_call_options* options, strata_work_t* work) {
  return call(comm, work, [&](Communicator& c) {
    return c.broadcast(send, recv, count, c::type(type), root, c::options(options));
  });
}

int strata_reduce(strata_comm_t comm, const void* send, void* recv, uint64_t count, strata_data_type type,
                  strata_reduce_op op, int32_t root, const strata_call_options* options,
                  strata_work_t* work) {
  return call(comm, work, [&](Communicator& c) {
    return c.reduce(send, recv, count, c::type(type), c::op(op), root, c::options(options));
  });
}

int strata_all_reduce(strata_comm_t comm, const void* send, void* recv, uint64_t count, strata_data_type type,
                      strata_reduce_op op, const strata_call_options* options, strata_work_t* work) {
  return call(comm, work, [&](Communicator& c) {
    return c.all_reduce(send, recv, count, c::type(type), c::op(op), c::options(options));
  });
}

int strata_reduce_scatter(strata_comm_t comm, const void* send, void* recv, uint64_t count,
                          strata_data_type type, strata_reduce_op op, const strata_call_options* options,
                          strata_work_t* work) {
  return call(comm, work, [&](Communicator& c) {
    return c.reduce_scatter(send, recv, count, c::type(type), c::op(op), c::options(options));
  });
}

int strata_all_gather(strata_comm_t comm, const void* send, void* recv, uint64_t count, strata_data_type type,
                      const strata_call_options* options, strata_work_t* work) {
  return call(comm, work, [&](Communicator& c) {
    return c.all_gather(send, recv, count, c::type(type), c::options(options));
  });
}

int strata_all_to_all(strata_comm_t comm, const void* send, void* recv, uint64_t count, strata_data_type type,
                      const strata_call_options* options, strata_work_t* work) {
  return call(comm, work, [&](Communicator& c) {
    return c.all_to_all(send, recv, count, c::type(type), c::options(options));
  });
}

int strata_gather(strata_comm_t comm, const void* send, void* recv, uint64_t count, strata_data_type type,
                  int32_t root, const strata_call_options* options, strata_work_t* work) {
  return call(comm, work, [&](Communicator& c) {
    return c.gather(send, recv, count, c::type(type), root, c::options(options));
  });
}

int strata_scatter(strata_comm_t comm, const void* send, void* recv, uint64_t count, strata_data_type type,
                   int32_t root, const strata_call_options* options, strata_work_t* work) {
  return call(comm, work, [&](Communicator& c) {
    return c.scatter(send, recv, count, c::type(type), root, c::options(options));
  });
}

int strata_reduce_scatter_v(strata_comm_t comm, const void* send, void* recv, const uint64_t* counts,
                            strata_data_type type, strata_reduce_op op, const strata_call_options* options,
                            strata_work_t* work) {
  return call(comm, work, [&](Communicator& c) {
    return c.reduce_scatter_v(send, recv, counts_of(counts, c), c::type(type), c::op(op),
                              c::options(options));
  });
}

int strata_all_gather_v(strata_comm_t comm, const void* send, void* recv, const uint64_t* counts,
                        strata_data_type type, const strata_call_options* options, strata_work_t* work) {
  return call(comm, work, [&](Communicator& c) {
    return c.all_gather_v(send, recv, counts_of(counts, c), c::type(type), c::options(options));
  });
}

int strata_all_to_all_v(strata_comm_t comm, const void* send, const uint64_t* send_counts, void* recv,
                        const uint64_t* recv_counts, strata_data_type type,
                        const strata_call_options* options, strata_work_t* work) {
  return call(comm, work, [&](Communicator& c) {
    return c.all_to_all_v(send, counts_of(send_counts, c), recv, counts_of(recv_counts, c), c::type(type),
                          c::options(options));
  });
}

int strata_gather_v(strata_comm_t comm, const void* send, void* recv, const uint64_t* counts,
                    strata_data_type type, int32_t root, const strata_call_options* options,
                    strata_work_t* work) {
  return call(comm, work, [&](Communicator& c) {
    return c.gather_v(send, recv, counts_of(counts, c), c::type(type), root, c::options(options));
  });
}

int strata_scatter_v(strata_comm_t comm, const void* send, void* recv, const uint64_t* counts,
                     strata_data_type type, int32_t root, const strata_call_options* options,
                     strata_work_t* work) {
  return call(comm, work, [&](Communicator& c) {
    return c.scatter_v(send, recv, counts_of(counts, c), c::type(type), root, c::options(options));
  });
}

int strata_send(strata_comm_t comm, const void* data, uint64_t count, strata_data_type type, int32_t to,
                const strata_call_options* options, strata_work_t* work) {
  return call(comm, work,
              [&](Communicator& c) { return c.send(data, count, c::type(type), to, c::options(options)); });
}

int strata_recv(strata_comm_t comm, void* data, uint64_t count, strata_data_type type, int32_t from,
                const strata_call_options* options, strata_work_t* work) {
  return call(comm, work,
              [&](Communicator& c) { return c.recv(data, count, c::type(type), from, c::options(options)); });
}

int strata_group_start(void) {
  group_start();
  return STRATA_OK;
}

int strata_group_end(strata_work_t* work) {
  if (work != nullptr) *work = nullptr;
  return c::finish(group_end(), work);
}

int strata_work_wait(strata_work_t work, int64_t timeout_ms) {
  if (work == nullptr) return STRATA_OK;
  return c::result(timeout_ms < 0 ? work->work.wait()
                                  : work->work.wait_for(std::chrono::milliseconds(timeout_ms)));
}

int strata_work_cancel(strata_work_t work) {
  if (work != nullptr) work->work.cancel();
  return STRATA_OK;
}

int strata_work_done(strata_work_t work) { return work == nullptr || work->work.done() ? 1 : 0; }

int strata_work_wait_any(const strata_work_t* works, size_t count, size_t* index) {
  if (works == nullptr || count == 0 || index == nullptr)
    return c::invalid("strata_work_wait_any", "works and index must not be NULL and count not 0");
  *index = Work::wait_any(works_of(works, count));
  return STRATA_OK;
}

int strata_work_wait_all(const strata_work_t* works, size_t count) {
  if (works == nullptr && count > 0) return c::invalid("strata_work_wait_all", "works is NULL");
  return c::result(Work::wait_all(works_of(works, count)));
}

int strata_work_then(strata_work_t work, void (*callback)(int, void*), void* context) {
  if (callback == nullptr) return c::invalid("strata_work_then", "callback is NULL");
  const Work ended;
  (work == nullptr ? ended : work->work).then([callback, context](const Status& s) {
    callback(static_cast<int>(s.code()), context);
  });
  return STRATA_OK;
}

void strata_work_free(strata_work_t work) { delete work; }

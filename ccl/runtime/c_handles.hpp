// What the C interface's handles stand for, and how its errors are kept.
#pragma once
#include <memory>

#include "strata/ccl.h"
#include "strata/communicator.hpp"

struct strata_work {
  strata::Work work;
};

namespace strata::c {

// Handles are numbers, never reused, so that one that was destroyed is told from one that lives.
strata_comm_t add(Communicator communicator);
// Null: no such communicator; the thread's last error then says so.
std::shared_ptr<Communicator> find(strata_comm_t handle);
std::shared_ptr<Communicator> remove(strata_comm_t handle);

// Remembers the message for strata_last_error() and returns the code.
int result(const Status& status);
int invalid(const char* function, const char* what);

// Ends a call as its `work` argument wants: waits, or makes the handle.
int finish(Work work, strata_work_t* handle);

CallOptions options(const strata_call_options* given);
DataType type(strata_data_type value);  // values outside the enumeration stay outside
ReduceOp op(strata_reduce_op value);

}  // namespace strata::c

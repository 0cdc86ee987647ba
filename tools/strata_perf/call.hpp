// Starts one collective through the library's interface.
#pragma once
#include "strata/communicator.hpp"
#include "tools/strata_perf/test_case.hpp"

namespace strata::perf {

struct Call {
  Kind kind;
  DataType type;
  ReduceOp op;
  Rank root;
  const Shape* shape;
  CallOptions options = {};
  int messages = 1;      // of `send`: at once
  bool answers = false;  // as of TestCase
};
// Of tests that answer: blocks on the rank that does.
Work start(Communicator& communicator, const Call& call, const void* input, void* output);

}  // namespace strata::perf

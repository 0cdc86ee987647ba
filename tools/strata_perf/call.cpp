#include "tools/strata_perf/call.hpp"

namespace strata::perf {
namespace {

Work send_to_next(Communicator& c, const Call& call, const void* input, void* output) {
  const Rank next = (c.rank() + 1) % c.size(), previous = (c.rank() + c.size() - 1) % c.size();
  group_start();
  (void)c.recv(output, call.shape->count, call.type, previous, call.options);
  (void)c.send(input, call.shape->count, call.type, next, call.options);
  return group_end();
}

// The counts of all-to-all-v are the same seen from either end of a pair: that of ranks i and j is at (i + j)
// % size.
Work all_to_all_v(Communicator& c, const Call& call, const void* input, void* output) {
  std::vector<std::uint64_t> counts(call.shape->counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i)
    counts[i] = call.shape->counts[(static_cast<std::size_t>(c.rank()) + i) % counts.size()];
  return c.all_to_all_v(input, counts, output, counts, call.type, call.options);
}

}  // namespace

Work start(Communicator& c, const Call& call, const void* input, void* output) {
  const auto& [kind, type, op, root, shape, options] = call;
  const std::uint64_t count = shape->count;
  switch (kind) {
    case Kind::all_reduce: return c.all_reduce(input, output, count, type, op, options);
    case Kind::all_gather: return c.all_gather(input, output, count, type, options);
    case Kind::reduce_scatter: return c.reduce_scatter(input, output, count, type, op, options);
    case Kind::broadcast: return c.broadcast(input, output, count, type, root, options);
    case Kind::reduce: return c.reduce(input, output, count, type, op, root, options);
    case Kind::all_to_all: return c.all_to_all(input, output, count, type, options);
    case Kind::gather: return c.gather(input, output, count, type, root, options);
    case Kind::scatter: return c.scatter(input, output, count, type, root, options);
    case Kind::sendrecv: return send_to_next(c, call, input, output);
    case Kind::all_gather_v: return c.all_gather_v(input, output, shape->counts, type, options);
    case Kind::reduce_scatter_v: return c.reduce_scatter_v(input, output, shape->counts, type, op, options);
    case Kind::gather_v: return c.gather_v(input, output, shape->counts, type, root, options);
    case Kind::scatter_v: return c.scatter_v(input, output, shape->counts, type, root, options);
    case Kind::all_to_all_v: return all_to_all_v(c, call, input, output);
    case Kind::barrier: return c.barrier(options);
  }
  return Work(Status(ErrorCode::internal, "no such collective"));
}

}  // namespace strata::perf

#include "tools/strata_perf/call.hpp"

#include <algorithm>

namespace strata::perf {
namespace {

Work send_to_next(Communicator& c, const Call& call, const void* input, void* output) {
  const Rank next = (c.rank() + 1) % c.size(), previous = (c.rank() + c.size() - 1) % c.size();
  group_start();
  (void)c.recv(output, call.shape->count, call.type, previous, call.options);
  (void)c.send(input, call.shape->count, call.type, next, call.options);
  return group_end();
}

// On one rank, to itself.
Work ping_pong(Communicator& c, const Call& call, const void* input, void* output) {
  if (c.size() == 1) return send_to_next(c, call, input, output);
  const std::uint64_t count = call.shape->count;
  if (c.rank() > 1) return {};
  if (c.rank() == 1) {
    const Status arrived = c.recv(output, count, call.type, 0, call.options).wait();
    return arrived.ok() ? c.send(output, count, call.type, 0, call.options) : Work(arrived);
  }
  const Status sent = c.send(input, count, call.type, 1, call.options).wait();
  return sent.ok() ? c.recv(output, count, call.type, 1, call.options) : Work(sent);
}

// All messages from and to the same memory. The receiver's word that it has them is of at most one element.
Work send_at_once(Communicator& c, const Call& call, const void* input, void* output) {
  const Rank receiver = c.size() > 1 ? 1 : 0;
  const std::uint64_t count = call.shape->count, word = std::min<std::uint64_t>(count, 1);
  if (c.rank() > receiver) return {};
  group_start();
  for (int i = 0; i < call.messages; ++i) {
    if (c.rank() == receiver) (void)c.recv(output, count, call.type, 0, call.options);
    if (c.rank() == 0) (void)c.send(input, count, call.type, receiver, call.options);
  }
  if (c.rank() < receiver) (void)c.recv(output, word, call.type, receiver, call.options);
  Work all = group_end();
  if (c.rank() == 0) return all;
  const Status arrived = all.wait();
  return arrived.ok() ? c.send(output, word, call.type, 0, call.options) : Work(arrived);
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
  const auto& [kind, type, op, root, shape, options, messages, answers] = call;
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
    case Kind::ping_pong: return ping_pong(c, call, input, output);
    case Kind::send: return send_at_once(c, call, input, output);
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

// The C++ interface: an ordered set of ranks and the collectives among them.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "strata/estimate.hpp"
#include "strata/export.h"
#include "strata/options.hpp"
#include "strata/status.hpp"
#include "strata/types.hpp"
#include "strata/work.hpp"

namespace strata {

// Rules for every operation:
// - It returns at once; the Work says when it has ended. Buffers belong to the library until then.
// - Counts are in elements and 64-bit; zero is allowed. Pointers need no alignment.
// - Collectives on one communicator match by call order: every rank calls the same ones in the same order.
//   Calls from several threads are safe; their order is the order in which they return. Those that are given
//   a name match by it, in any order (CallOptions::name).
// - In place: pass the same buffer as stated below. Any other overlap is invalid_argument.
// - Misuse gives a Work that has ended with invalid_argument. Once a peer has failed, every operation, in
// flight
//   or later, ends with the same status on all ranks.
// - 16- and 8-bit floats are summed in 32 bits within a reduction step and rounded once per step.
class STRATA_API Communicator final {
 public:
  // Blocks until all ranks have come (options.rendezvous_timeout_ms). Errors: invalid_argument, timeout
  // (names the missing ranks), unauthenticated, unavailable.
  static Expected<Communicator> create(const CommunicatorOptions& options);
  static Expected<Communicator> from_environment();

  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();  // ends operations in flight with `aborted`, here and at the peers that wait for this rank

  Rank rank() const;
  int size() const;
  Status status() const;  // ok, or why the communicator failed (sticky)

  // Collective over this communicator. Ranks of equal colour form a new one, ordered by key, then by old
  // rank. A negative colour takes part and gets nothing (std::nullopt).
  Expected<std::optional<Communicator>> split(int color, int key = 0);
  Expected<Communicator> duplicate();
  // Collective over this communicator; `ranks` lists the members in their new order, the same list on all of
  // them. A rank that is not in its list gets nothing.
  Expected<std::optional<Communicator>> subgroup(std::span<const Rank> ranks);

  Work barrier(const CallOptions& = {});
  // output[count] on all ranks = input[count] of root. input is read at root only. In place: input == output.
  Work broadcast(const void* input, void* output, std::uint64_t count, DataType, Rank root,
                 const CallOptions& = {});
  // output[count] at root = reduction of all input[count]; output is not touched elsewhere (may be null).
  Work reduce(const void* input, void* output, std::uint64_t count, DataType, ReduceOp, Rank root,
              const CallOptions& = {});
  // output[count] = reduction of all input[count]. In place: input == output.
  Work all_reduce(const void* input, void* output, std::uint64_t count, DataType, ReduceOp,
                  const CallOptions& = {});
  // output[count] = part `rank` of the reduction of all input[size * count]. In place: output == input + rank
  // * count.
  Work reduce_scatter(const void* input, void* output, std::uint64_t count, DataType, ReduceOp,
                      const CallOptions& = {});
  // output[size * count] = every rank's input[count] in rank order. In place: input == output + rank * count.
  Work all_gather(const void* input, void* output, std::uint64_t count, DataType, const CallOptions& = {});
  // Part i of output[size * count] = part `rank` of rank i's input[size * count]. In place: input == output.
  Work all_to_all(const void* input, void* output, std::uint64_t count, DataType, const CallOptions& = {});
  // output[size * count] at root = every rank's input[count]. In place at root: input == output + root *
  // count.
  Work gather(const void* input, void* output, std::uint64_t count, DataType, Rank root,
              const CallOptions& = {});
  // output[count] = part `rank` of root's input[size * count]. In place at root: output == input + root *
  // count.
  Work scatter(const void* input, void* output, std::uint64_t count, DataType, Rank root,
               const CallOptions& = {});

  // The v forms: one count a rank (elements), in rank order, packed without gaps in the large buffer.
  // counts has size() entries and must be the same on all ranks; it is copied.
  Work reduce_scatter_v(const void* input, void* output, std::span<const std::uint64_t> counts, DataType,
                        ReduceOp, const CallOptions& = {});
  Work all_gather_v(const void* input, void* output, std::span<const std::uint64_t> counts, DataType,
                    const CallOptions& = {});
  Work gather_v(const void* input, void* output, std::span<const std::uint64_t> counts, DataType, Rank root,
                const CallOptions& = {});
  Work scatter_v(const void* input, void* output, std::span<const std::uint64_t> counts, DataType, Rank root,
                 const CallOptions& = {});
  // send_counts[i] elements go to rank i, recv_counts[i] come from it: what i calls send_counts[rank].
  Work all_to_all_v(const void* input, std::span<const std::uint64_t> send_counts, void* output,
                    std::span<const std::uint64_t> recv_counts, DataType, const CallOptions& = {});

  // Point to point: the i-th send from a to b meets the i-th recv at b from a, with equal count and type.
  Work send(const void* data, std::uint64_t count, DataType, Rank to, const CallOptions& = {});
  Work recv(void* data, std::uint64_t count, DataType, Rank from, const CallOptions& = {});

  // What a call of this collective would take by each algorithm that can do it, the one that would be taken
  // first. count, and options, as the call takes them; root, and op, where it has some. Nothing is sent, and
  // all ranks get the same. With many ranks it may take seconds. Error: invalid_argument, as of the call.
  Expected<std::vector<Estimate>> estimate(Collective, std::uint64_t count, DataType,
                                           ReduceOp = ReduceOp::sum, Rank root = 0,
                                           const CallOptions& = {}) const;

  // Where the ranks sit: levels from the inside out, the same on all ranks. Empty: nothing is known.
  std::vector<LevelEstimate> levels() const;

  // Fails the communicator at all ranks with `aborted` and this reason.
  void abort(std::string_view reason);

  class Impl;
  explicit Communicator(std::shared_ptr<Impl> impl);

 private:
  std::shared_ptr<Impl> impl_;
};

// Operations of the calling thread between group_start() and group_end(), on any communicators, are held back
// and start together at group_end(). Groups nest; the outermost end starts them. Do not wait for an operation
// of a group before the group has ended: it has not begun.
STRATA_API void group_start();
// The Work that ends when all operations of the group have, with the first bad status among them.
STRATA_API Work group_end();

}  // namespace strata

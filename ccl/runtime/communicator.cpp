// The C++ interface: each function writes down its arguments; prepare() checks them and the engine does the
// rest.
#include "strata/communicator.hpp"

#include "ccl/planner/level_estimates.hpp"
#include "ccl/runtime/communicator_impl.hpp"

namespace strata {
namespace {

constexpr Rank kSelfSends = kNoRank - 1;

Expected<std::uint64_t> next_number(const Submission& s) {
  CommunicatorState& c = *s.communicator;
  const bool sends = s.direction == Collective::send;
  const std::uint64_t bits = !s.point_to_point() ? 0
                             : sends             ? message_bits(c.me(), s.peer)
                                                 : message_bits(s.peer, c.me());
  // Between a rank and itself the two ends of a message are two calls of its name.
  if (!s.name.empty()) return c.names.next(s.name, bits, s.peer == c.me() && sends ? kSelfSends : s.peer);
  if (!s.point_to_point()) return c.next_operation++;
  const auto peer = static_cast<std::size_t>(s.peer);
  return bits | (sends ? c.next_send[peer]++ : c.next_recv[peer]++);
}

}  // namespace

void hand_over(Engine& engine, std::unique_ptr<Submission> submission) {
  const auto communicator = submission->communicator;
  // Held across the queue, so that operations enter it in the order of their numbers.
  const std::lock_guard lock(communicator->order);
  const auto number = next_number(*submission);
  if (!number) return submission->work->end(number.status());
  submission->number = *number;
  engine.observer().submitted(*submission);
  engine.submit(std::move(submission));
}

Work Communicator::Impl::start(const Call& call, const CallOptions& options) {
  if (small_and_local(*state, call, options) && !in_group())
    if (auto at_once = engine->try_at_once(state, call, options)) return *std::move(at_once);
  if (call.collective == Collective::send && options.name.empty() && !in_group())
    if (auto sent = engine->try_send_at_once(state, call, options)) return *std::move(sent);
  auto prepared = prepare(state, call, options);
  if (!prepared) return Work(prepared.status());
  std::unique_ptr<Submission> submission = *std::move(prepared);
  submission->work = std::make_shared<WorkState>(engine);
  submission->work->deadline = submission->deadline;
  Work work(submission->work);
  if (!keep_for_group(engine, submission)) hand_over(*engine, std::move(submission));
  return work;
}

Communicator::Communicator(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

Rank Communicator::rank() const { return impl_->state->me(); }
int Communicator::size() const { return impl_->state->size(); }
Status Communicator::status() const { return impl_->state->status(); }

void Communicator::abort(std::string_view reason) {
  const auto& state = *impl_->state;
  impl_->engine->abort(
      impl_->state,
      {ErrorCode::aborted,
       fmt::format("{} aborted: {}", name_of(state, state.me(), impl_->engine->peers()), reason)});
}

Work Communicator::barrier(const CallOptions& options) {
  return impl_->start({.collective = Collective::barrier}, options);
}

Work Communicator::broadcast(const void* input, void* output, std::uint64_t count, DataType type, Rank root,
                             const CallOptions& options) {
  return impl_->start({.collective = Collective::broadcast,
                       .input = input,
                       .output = output,
                       .count = count,
                       .type = type,
                       .root = root},
                      options);
}

Work Communicator::reduce(const void* input, void* output, std::uint64_t count, DataType type, ReduceOp op,
                          Rank root, const CallOptions& options) {
  return impl_->start({.collective = Collective::reduce,
                       .input = input,
                       .output = output,
                       .count = count,
                       .type = type,
                       .op = op,
                       .root = root},
                      options);
}

Work Communicator::all_reduce(const void* input, void* output, std::uint64_t count, DataType type,
                              ReduceOp op, const CallOptions& options) {
  return impl_->start({.collective = Collective::all_reduce,
                       .input = input,
                       .output = output,
                       .count = count,
                       .type = type,
                       .op = op},
                      options);
}

Work Communicator::reduce_scatter(const void* input, void* output, std::uint64_t count, DataType type,
                                  ReduceOp op, const CallOptions& options) {
  return impl_->start({.collective = Collective::reduce_scatter,
                       .input = input,
                       .output = output,
                       .count = count,
                       .type = type,
                       .op = op},
                      options);
}

Work Communicator::all_gather(const void* input, void* output, std::uint64_t count, DataType type,
                              const CallOptions& options) {
  return impl_->start(
      {.collective = Collective::all_gather, .input = input, .output = output, .count = count, .type = type},
      options);
}

Work Communicator::all_to_all(const void* input, void* output, std::uint64_t count, DataType type,
                              const CallOptions& options) {
  return impl_->start(
      {.collective = Collective::all_to_all, .input = input, .output = output, .count = count, .type = type},
      options);
}

Work Communicator::gather(const void* input, void* output, std::uint64_t count, DataType type, Rank root,
                          const CallOptions& options) {
  return impl_->start({.collective = Collective::gather,
                       .input = input,
                       .output = output,
                       .count = count,
                       .type = type,
                       .root = root},
                      options);
}

Work Communicator::scatter(const void* input, void* output, std::uint64_t count, DataType type, Rank root,
                           const CallOptions& options) {
  return impl_->start({.collective = Collective::scatter,
                       .input = input,
                       .output = output,
                       .count = count,
                       .type = type,
                       .root = root},
                      options);
}

Work Communicator::reduce_scatter_v(const void* input, void* output, std::span<const std::uint64_t> counts,
                                    DataType type, ReduceOp op, const CallOptions& options) {
  return impl_->start({.collective = Collective::reduce_scatter,
                       .input = input,
                       .output = output,
                       .type = type,
                       .op = op,
                       .v = true,
                       .counts = counts},
                      options);
}

Work Communicator::all_gather_v(const void* input, void* output, std::span<const std::uint64_t> counts,
                                DataType type, const CallOptions& options) {
  return impl_->start({.collective = Collective::all_gather,
                       .input = input,
                       .output = output,
                       .type = type,
                       .v = true,
                       .counts = counts},
                      options);
}

Work Communicator::gather_v(const void* input, void* output, std::span<const std::uint64_t> counts,
                            DataType type, Rank root, const CallOptions& options) {
  return impl_->start({.collective = Collective::gather,
                       .input = input,
                       .output = output,
                       .type = type,
                       .root = root,
                       .v = true,
                       .counts = counts},
                      options);
}

Work Communicator::scatter_v(const void* input, void* output, std::span<const std::uint64_t> counts,
                             DataType type, Rank root, const CallOptions& options) {
  return impl_->start({.collective = Collective::scatter,
                       .input = input,
                       .output = output,
                       .type = type,
                       .root = root,
                       .v = true,
                       .counts = counts},
                      options);
}

Work Communicator::all_to_all_v(const void* input, std::span<const std::uint64_t> send_counts, void* output,
                                std::span<const std::uint64_t> recv_counts, DataType type,
                                const CallOptions& options) {
  return impl_->start({.collective = Collective::all_to_all,
                       .input = input,
                       .output = output,
                       .type = type,
                       .v = true,
                       .counts = send_counts,
                       .recv_counts = recv_counts},
                      options);
}

Work Communicator::send(const void* data, std::uint64_t count, DataType type, Rank to,
                        const CallOptions& options) {
  return impl_->start(
      {.collective = Collective::send, .input = data, .count = count, .type = type, .root = to}, options);
}

Work Communicator::recv(void* data, std::uint64_t count, DataType type, Rank from,
                        const CallOptions& options) {
  return impl_->start(
      {.collective = Collective::recv, .output = data, .count = count, .type = type, .root = from}, options);
}

std::vector<LevelEstimate> Communicator::levels() const {
  return level_estimates(impl_->state->selector->model());
}

Expected<std::vector<Estimate>> Communicator::estimate(Collective collective, std::uint64_t count,
                                                       DataType type, ReduceOp op, Rank root,
                                                       const CallOptions& options) const {
  return strata::estimate(*impl_->state,
                          {.collective = collective, .count = count, .type = type, .op = op, .root = root},
                          options);
}

}  // namespace strata

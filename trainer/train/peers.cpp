// Sums and agreements over the ranks.
#include "trainer/train/peers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

namespace strata::trainer {
namespace {

template <class T>
Work sum_over(std::optional<Communicator>& communicator, std::span<T> values, std::int32_t priority) {
  if (!communicator) return Work();
  CallOptions options;
  options.priority = priority;
  return communicator->all_reduce(values.data(), values.data(), values.size(), data_type_of<T>, ReduceOp::sum,
                                  options);
}

// The same on all ranks of a host, and, as good as surely, on no other.
std::uint64_t host_fingerprint() {
  char name[256] = {};
  ::gethostname(name, sizeof(name) - 1);
  return std::hash<std::string>()(name);
}

}  // namespace

Expected<Peers> Peers::from_environment(const std::string& trace) {
  CommunicatorOptions options;
  options.rank = 0, options.size = 1;
  if (CommunicatorOptions::launched()) {
    auto read = CommunicatorOptions::from_environment();
    if (!read.ok()) return read.status();
    options = *std::move(read);
  }
  if (!trace.empty()) options.trace = trace;
  // Of one rank alone only a timeline needs a communicator.
  if (options.size == 1 && options.trace.empty()) return Peers();
  auto communicator = Communicator::create(options);
  if (!communicator.ok()) return communicator.status();
  return Peers(std::move(communicator).value());
}

Work Peers::sum(std::span<float> values, std::int32_t priority) {
  return sum_over(communicator_, values, priority);
}
Work Peers::sum(std::span<double> values, std::int32_t priority) {
  return sum_over(communicator_, values, priority);
}

Status Peers::agree(const Status& mine) {
  if (!communicator_) return mine;
  std::int32_t failed = mine.ok() ? size() : rank(), code = static_cast<std::int32_t>(mine.code()),
               lowest = 0;
  const Status reduced =
      communicator_->all_reduce(&failed, &lowest, 1, DataType::int32, ReduceOp::min).wait();
  if (!reduced.ok()) return mine.ok() ? reduced : mine;
  if (lowest == size()) return {};
  const Status told = communicator_->broadcast(&code, &code, 1, DataType::int32, lowest).wait();
  if (lowest == rank()) return mine;
  const auto theirs = told.ok() ? static_cast<ErrorCode>(code) : told.code();
  return {theirs, fmt::format("rank {} could not go on ({}) and says why", lowest, to_string(theirs))};
}

Status Peers::expect_equal(std::uint64_t value, std::string_view what) {
  if (!communicator_) return {};
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size()));
  const Status gathered = communicator_->all_gather(&value, all.data(), 1, DataType::uint64).wait();
  if (!gathered.ok()) return gathered;
  const auto other = std::find_if(all.begin(), all.end(), [&](std::uint64_t v) { return v != all[0]; });
  if (other == all.end()) return {};
  return {ErrorCode::mismatch, fmt::format("rank {} has {} other than rank 0's", other - all.begin(), what)};
}

Expected<int> Peers::ranks_on_host() {
  if (!communicator_) return 1;
  const std::uint64_t mine = host_fingerprint();
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size()));
  const Status gathered = communicator_->all_gather(&mine, all.data(), 1, DataType::uint64).wait();
  if (!gathered.ok()) return gathered;
  return static_cast<int>(std::count(all.begin(), all.end(), mine));
}

Status Peers::barrier() { return communicator_ ? communicator_->barrier().wait() : Status(); }

}  // namespace strata::trainer

// A user's program in C++ against the installed library: sums the ranks and checks the sum.
#include <cstdint>
#include <cstdio>
#include <span>
#include <strata/communicator.hpp>
#include <vector>

namespace {

int fail(const char* what, const strata::Status& status) {
  const auto message = status.message();
  std::fprintf(stderr, "%s: %.*s\n", what, static_cast<int>(message.size()), message.data());
  return 1;
}

}  // namespace

int main() {
  auto created = strata::Communicator::from_environment();
  if (!created) return fail("create", created.status());
  strata::Communicator& comm = *created;

  std::vector<std::int64_t> values(1000, comm.rank() + 1);
  const strata::Work sum = comm.all_reduce(values.data(), values.data(), values.size(),
                                           strata::data_type_of<std::int64_t>, strata::ReduceOp::sum);
  const strata::Work barrier = comm.barrier();
  const strata::Work works[] = {sum, barrier};
  if (const strata::Status s = strata::Work::wait_all(works); !s.ok()) return fail("all_reduce", s);

  const std::int64_t expected = std::int64_t{comm.size()} * (comm.size() + 1) / 2;
  for (const std::int64_t value : values)
    if (value != expected) return std::fprintf(stderr, "sum is %lld\n", static_cast<long long>(value)), 1;

  const strata::Status refused =
      comm.broadcast(values.data(), values.data(), 1, strata::DataType::int64, comm.size()).wait();
  if (refused.code() != strata::ErrorCode::invalid_argument)
    return fail("a root that does not exist", refused);
  std::printf("consumer: rank %d of %d: ok\n", comm.rank(), comm.size());
  return 0;
}

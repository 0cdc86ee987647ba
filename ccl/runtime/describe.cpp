#include "ccl/runtime/describe.hpp"

#include <fmt/format.h>

#include <bit>

#include "ccl/runtime/communicator_state.hpp"

namespace strata {
namespace {

bool reduces(Collective c) {
  return c == Collective::reduce || c == Collective::all_reduce || c == Collective::reduce_scatter;
}

}  // namespace

std::string describe(const Fingerprint& f) {
  const auto collective = static_cast<Collective>(f.collective);
  const auto op = static_cast<ReduceOp>(f.op);
  if (collective == Collective::barrier) return "barrier()";
  if (collective == Collective::send)
    return fmt::format("send/recv(count {}, {})", f.count, to_string(static_cast<DataType>(f.type)));
  const bool v = f.flags & 1;
  std::string text = fmt::format("{}{}(", to_string(collective), v ? "_v" : "");
  text += v ? fmt::format("counts with hash {:016x}", f.count) : fmt::format("count {}", f.count);
  text += fmt::format(", {}", to_string(static_cast<DataType>(f.type)));
  if (reduces(collective)) text += fmt::format(", {}", to_string(op));
  const bool rooted = collective == Collective::broadcast || collective == Collective::reduce ||
                      collective == Collective::gather || collective == Collective::scatter;
  if (rooted) text += fmt::format(", root {}", f.root);
  if (!rooted && reduces(collective) && op == ReduceOp::scaled_sum)
    text += fmt::format(", scale {}", std::bit_cast<float>(f.root));
  text += ")";
  if (f.flags >> 1) {
    const std::size_t index = static_cast<std::size_t>(f.flags >> 1) - 1;
    if (index < catalog().size()) text += fmt::format(" by {}", catalog()[index].name);
  }
  return text;
}

std::string operation_name(const CommunicatorState& communicator, const Fingerprint& f,
                           std::uint64_t operation) {
  const std::string name =
      is_named(operation) ? fmt::format(" '{}'", communicator.names.name_of(operation)) : std::string();
  if (is_point_to_point(operation)) return "send/recv" + name;
  return fmt::format("{}{}{} #{}", to_string(static_cast<Collective>(f.collective)), f.flags & 1 ? "_v" : "",
                     name, count_of(operation));
}

}  // namespace strata

#include "ccl/runtime/call.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

namespace strata {
namespace {

// Beside the names of the catalog: the collectives of ccl/local/, and anything but them.
constexpr std::string_view kSharedMemory = "shared_memory";
constexpr std::string_view kMessages = "messages";

// What an address space can hold; also keeps every product of ours inside 64 bits.
constexpr std::uint64_t kBytesMax = std::numeric_limits<std::int64_t>::max();

Status invalid(const Call& call, const std::string& what) {
  return {ErrorCode::invalid_argument,
          fmt::format("{}{}: {}", to_string(call.collective), call.v ? "_v" : "", what)};
}

bool rooted(Collective c) {
  return c == Collective::broadcast || c == Collective::reduce || c == Collective::gather ||
         c == Collective::scatter;
}
bool reduces(Collective c) {
  return c == Collective::reduce || c == Collective::all_reduce || c == Collective::reduce_scatter;
}
bool point_to_point(Collective c) { return c == Collective::send || c == Collective::recv; }

Status check_counts(const Call& call, std::span<const std::uint64_t> counts, const char* name, int size) {
  if (counts.size() != static_cast<std::size_t>(size))
    return invalid(call, fmt::format("{} has {} entries, but the communicator has {} ranks; give one a rank",
                                     name, counts.size(), size));
  std::uint64_t left = kBytesMax / size_of(call.type);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > left)
      return invalid(call,
                     fmt::format("{}[{}] = {} makes the buffer larger than 2^63 bytes", name, i, counts[i]));
    left -= counts[i];
  }
  return {};
}

Status check_receives(const Call& call, int me, int size) {
  if (Status s = check_counts(call, call.recv_counts, "recv_counts", size); !s.ok()) return s;
  const std::uint64_t to = call.counts[static_cast<std::size_t>(me)],
                      from = call.recv_counts[static_cast<std::size_t>(me)];
  if (to != from)
    return invalid(
        call,
        fmt::format("send_counts[{}] = {} and recv_counts[{}] = {} are what this rank sends to itself and "
                    "gets from itself; they must be equal",
                    me, to, me, from));
  return {};
}

Status check_values(const Call& call, int me, int size) {
  if (static_cast<int>(call.type) >= kDataTypes)
    return invalid(
        call, fmt::format("type = {} is not a DataType; the last is {} ({})", static_cast<int>(call.type),
                          kDataTypes - 1, to_string(static_cast<DataType>(kDataTypes - 1))));
  if (reduces(call.collective)) {
    if (static_cast<int>(call.op) >= kReduceOps)
      return invalid(call,
                     fmt::format("op = {} is not a ReduceOp; the last is {} ({})", static_cast<int>(call.op),
                                 kReduceOps - 1, to_string(static_cast<ReduceOp>(kReduceOps - 1))));
    if (!is_defined(call.op, call.type))
      return invalid(
          call, fmt::format("op = {} has no meaning on type = {}; bitwise operations need an integer type",
                            to_string(call.op), to_string(call.type)));
  }
  if ((rooted(call.collective) || point_to_point(call.collective)) && (call.root < 0 || call.root >= size))
    return invalid(call, fmt::format("{} = {} is not a rank of this communicator; it has ranks 0 to {}",
                                     point_to_point(call.collective) ? "peer" : "root", call.root, size - 1));
  if (call.v) {
    if (Status s = check_counts(call, call.counts,
                                call.collective == Collective::all_to_all ? "send_counts" : "counts", size);
        !s.ok())
      return s;
    if (call.collective == Collective::all_to_all) return check_receives(call, me, size);
    return {};
  }
  // Elements of 8 bytes on 2^20 ranks: no division is needed to see that they fit.
  constexpr std::uint64_t kSurelyFits = std::uint64_t{1} << 32;
  if (call.count > kSurelyFits &&
      call.count > kBytesMax / size_of(call.type) / static_cast<std::uint64_t>(size))
    return invalid(call, fmt::format("count = {} of {} for {} ranks is more than 2^63 bytes", call.count,
                                     to_string(call.type), size));
  return {};
}

// The bytes a call reads and writes here, and where the smaller buffer lies in the larger when in place.
struct Extent {
  std::uint64_t input = 0, output = 0;
  std::uint64_t input_in_output = 0, output_in_input = 0;
};

std::uint64_t sum(std::span<const std::uint64_t> counts) {
  std::uint64_t total = 0;
  for (const std::uint64_t c : counts) total += c;
  return total;
}

Extent extent(const Call& call, const CommunicatorState& communicator) {
  const std::uint64_t e = size_of(call.type);
  const auto me = static_cast<std::size_t>(communicator.me());
  const bool is_root = call.root == communicator.me();
  const std::uint64_t one = (call.v ? call.counts[me] : call.count) * e;
  const std::uint64_t all =
      (call.v ? sum(call.counts) : call.count * static_cast<std::uint64_t>(communicator.size())) * e;
  const std::uint64_t before = (call.v ? sum(call.counts.first(me)) : call.count * me) * e;
  switch (call.collective) {
    case Collective::broadcast: return {is_root ? one : 0, one, 0, 0};
    case Collective::reduce: return {one, is_root ? one : 0, 0, 0};
    case Collective::all_reduce: return {one, one, 0, 0};
    case Collective::reduce_scatter: return {all, one, 0, before};
    case Collective::all_gather: return {one, all, before, 0};
    case Collective::all_to_all: return {all, call.v ? sum(call.recv_counts) * e : all, 0, 0};
    case Collective::gather: return {one, is_root ? all : 0, before, 0};
    case Collective::scatter: return {is_root ? all : 0, one, 0, before};
    case Collective::send: return {one, 0, 0, 0};
    case Collective::recv: return {0, one, 0, 0};
    default: return {};
  }
}

Status check_pointers(const Call& call, const Extent& bytes) {
  const char* const input = call.collective == Collective::send ? "data" : "input";
  const char* const output = call.collective == Collective::recv ? "data" : "output";
  if (bytes.input > 0 && call.input == nullptr)
    return invalid(call, fmt::format("{} is null, but {} bytes are read from it", input, bytes.input));
  if (bytes.output > 0 && call.output == nullptr)
    return invalid(call, fmt::format("{} is null, but {} bytes are written to it", output, bytes.output));
  return {};
}

const char* in_place_form(Collective c) {
  switch (c) {
    case Collective::all_gather:
    case Collective::gather: return "input == output + the parts of lower ranks";
    case Collective::reduce_scatter:
    case Collective::scatter: return "output == input + the parts of lower ranks";
    default: return "input == output";
  }
}

// In place, apart, or (an error) anything between.
Expected<bool> in_place(const Call& call, const Extent& bytes) {
  if (bytes.input == 0 || bytes.output == 0) return false;
  const auto in = reinterpret_cast<std::uintptr_t>(call.input),
             out = reinterpret_cast<std::uintptr_t>(call.output);
  if (in + bytes.input <= out || out + bytes.output <= in) return false;
  if (call.v && call.collective == Collective::all_to_all)
    return invalid(call, "input and output overlap; all_to_all_v does not work in place");
  if (in + bytes.output_in_input == out + bytes.input_in_output) return true;
  return invalid(
      call, fmt::format("input ({}, {} bytes) and output ({}, {} bytes) overlap, but not as an in-place call "
                        "must: {}",
                        call.input, bytes.input, static_cast<const void*>(call.output), bytes.output,
                        in_place_form(call.collective)));
}

std::uint64_t hash_of(std::span<const std::uint64_t> counts) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::uint64_t count : counts)
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (count >> (8 * byte) & 0xff)) * 0x100000001b3u;
  return hash;
}

Fingerprint fingerprint(const Call& call, const CallOptions& options, const Choice& choice) {
  Fingerprint f;
  f.collective =
      static_cast<std::uint8_t>(call.collective == Collective::recv ? Collective::send : call.collective);
  if (call.collective == Collective::barrier) return f;
  f.type = static_cast<std::uint8_t>(call.type);
  f.count = call.count;
  if (point_to_point(call.collective)) return f;
  if (reduces(call.collective)) f.op = static_cast<std::uint8_t>(call.op);
  if (rooted(call.collective))
    f.root = call.root;
  else if (reduces(call.collective) && call.op == ReduceOp::scaled_sum)
    f.root = std::bit_cast<Rank>(static_cast<float>(options.scale));
  // All-to-all-v has other counts at each rank; its messages' lengths are compared one by one.
  if (call.v) f.count = call.collective == Collective::all_to_all ? 0 : hash_of(call.counts);
  const auto algorithm = choice.algorithm ? choice.algorithm - catalog().data() + 1 : 0;
  f.flags = static_cast<std::uint8_t>(algorithm << 1 | (call.v ? 1 : 0));
  return f;
}

Request request_of(const Call& call) {
  Request r;
  r.collective = call.collective;
  r.type = call.type;
  r.op = call.op;
  r.root = rooted(call.collective) ? call.root : kNoRank;
  r.count = call.count;
  r.counts.assign(call.counts.begin(), call.counts.end());
  r.recv_counts.assign(call.recv_counts.begin(), call.recv_counts.end());
  return r;
}

// Common memory, or messages: by an algorithm that was named, or any.
struct Way {
  bool local = false;
  std::string_view algorithm;
  bool required = false;  // the name comes from this very call
};

Expected<Way> way_of(const CommunicatorState& communicator, const Call& call, const CallOptions& options) {
  const bool here = !options.algorithm.empty();
  const std::string_view wanted = here ? options.algorithm : std::string_view(communicator.algorithm);
  // A group does its calls in one order.
  const bool able = communicator.neighbours != nullptr && options.name.empty() &&
                    ShmGroup::supports(call.collective, call.v);
  const bool group = wanted == kSharedMemory;
  if (able && (group || wanted.empty())) return Way{true, {}, false};
  if (group && here)
    return invalid(call, communicator.neighbours == nullptr
                             ? "algorithm 'shared_memory' needs all ranks on one host, reached by shm"
                         : !options.name.empty()
                             ? "algorithm 'shared_memory' does its calls in one order; give no name"
                             : "algorithm 'shared_memory' does not support this collective");
  return Way{false, group || wanted == kMessages ? std::string_view() : wanted, here};
}

Status choose(const Call& call, const CallOptions& options, Submission& s) {
  const auto way = way_of(*s.communicator, call, options);
  if (!way) return way.status();
  const bool in_place = s.request.in_place;
  s.request = request_of(call);
  s.request.in_place = in_place;
  s.local = way->local;
  if (s.local) return {};
  auto choice = s.communicator->selector->select(s.request, way->algorithm, way->required);
  if (!choice) return choice.status();
  s.choice = *choice;
  return {};
}

}  // namespace

Expected<Checked> check(const CommunicatorState& communicator, const Call& call, const CallOptions& options) {
  if (communicator.failed()) return communicator.status();
  if (Status s = check_values(call, communicator.me(), communicator.size()); !s.ok()) return s;
  const Extent bytes = extent(call, communicator);
  if (Status s = check_pointers(call, bytes); !s.ok()) return s;
  const auto same = in_place(call, bytes);
  if (!same) return same.status();
  if (!std::isfinite(options.scale))
    return invalid(call, fmt::format("scale = {} is not a finite number", options.scale));
  return Checked{*same, call.op == ReduceOp::average ? 1.0 / communicator.size() : options.scale};
}

bool small_and_local(const CommunicatorState& communicator, const Call& call, const CallOptions& options) {
  return communicator.neighbours != nullptr && !call.v && ShmGroup::supports(call.collective, false) &&
         options.algorithm.empty() && options.name.empty() && communicator.algorithm.empty() &&
         static_cast<int>(call.type) < kDataTypes &&
         call.count <= ShmGroup::kSmallBytesMax / size_of(call.type);
}

Fingerprint plain_fingerprint(const Call& call, const CallOptions& options) {
  return fingerprint(call, options, {});
}

Expected<std::unique_ptr<Submission>> prepare(const std::shared_ptr<CommunicatorState>& communicator,
                                              const Call& call, const CallOptions& options) {
  const auto checked = check(*communicator, call, options);
  if (!checked) return checked.status();
  auto s = std::make_unique<Submission>();
  s->communicator = communicator;
  s->input = call.input;
  s->output = call.output;
  s->priority = options.priority;
  s->timeout_ms = options.timeout_ms > 0 ? options.timeout_ms : communicator->timeout_ms;
  if (options.deadline_ms > 0) s->deadline = Clock::now() + std::chrono::milliseconds(options.deadline_ms);
  s->name = options.name;
  s->scale = checked->scale;
  if (point_to_point(call.collective)) {
    s->direction = call.collective;
    s->peer = call.root;
  } else {
    s->request.in_place = checked->in_place;
    if (Status status = choose(call, options, *s); !status.ok()) return status;
  }
  s->fingerprint = fingerprint(call, options, s->choice);
  return s;
}

Expected<std::vector<Estimate>> estimate(const CommunicatorState& communicator, const Call& call,
                                         const CallOptions& options) {
  if (point_to_point(call.collective) || static_cast<int>(call.collective) >= kCollectives)
    return invalid(call, "only collectives are estimated");
  if (Status s = check_values(call, communicator.me(), communicator.size()); !s.ok()) return s;
  const auto way = way_of(communicator, call, options);
  if (!way) return way.status();
  const auto candidates = communicator.selector->explain(request_of(call), way->algorithm);
  if (!candidates) return candidates.status();
  std::vector<Estimate> all;
  if (way->local) all.push_back({.algorithm = std::string(kSharedMemory), .chosen = true});
  for (const Candidate& c : *candidates)
    all.push_back({.algorithm = std::string(c.choice.algorithm->name),
                   .segment_bytes = c.choice.tuning.segment_bytes,
                   .time_us = static_cast<double>(c.predicted_ps) / kPicosecondsPerMicrosecond,
                   .chosen = all.empty()});
  return all;
}

}  // namespace strata

#include "ccl/runtime/trace_gathering.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ccl/trace/clock_offset.hpp"

namespace strata {
namespace {

using trace::ClockOffset;

constexpr int kRoundTrips = 16;

std::int64_t now_ns() { return static_cast<std::int64_t>(trace::monotonic_ns()); }

// Rank 0's end, and the other's.
Expected<ClockOffset> ask_clock(Communicator& c, Rank other) {
  std::array<trace::ClockSample, kRoundTrips> samples;
  for (trace::ClockSample& s : samples) {
    s.sent_ns = now_ns();
    if (Status sent = c.send(&s.sent_ns, 1, DataType::int64, other).wait(); !sent.ok()) return sent;
    if (Status got = c.recv(&s.theirs_ns, 1, DataType::int64, other).wait(); !got.ok()) return got;
    s.back_ns = now_ns();
  }
  return trace::estimate_offset(samples);
}

Status answer_clock(Communicator& c) {
  for (int i = 0; i < kRoundTrips; ++i) {
    std::int64_t time = 0;
    if (Status got = c.recv(&time, 1, DataType::int64, 0).wait(); !got.ok()) return got;
    time = now_ns();
    if (Status sent = c.send(&time, 1, DataType::int64, 0).wait(); !sent.ok()) return sent;
  }
  return {};
}

// The first rank of each host but rank 0's answers for all of it.
std::vector<Rank> speakers_of(std::span<const int> hosts) {
  std::vector<Rank> speakers;
  for (std::size_t r = 1; r < hosts.size(); ++r)
    if (std::find(hosts.begin(), hosts.end(), hosts[r]) == hosts.begin() + static_cast<std::ptrdiff_t>(r))
      speakers.push_back(static_cast<Rank>(r));
  return speakers;
}

// A part as it travels: the header, then so many records.
Status send_part(Communicator& c, const trace::Part& part) {
  const std::uint64_t count = part.records.size();
  const Work works[] = {c.send(&part.header, sizeof part.header, DataType::uint8, 0),
                        c.send(&count, 1, DataType::uint64, 0),
                        c.send(part.records.data(), count * sizeof(trace::Record), DataType::uint8, 0)};
  return Work::wait_all(works);
}

Expected<trace::Part> receive_part(Communicator& c, Rank from) {
  trace::Part part;
  std::uint64_t count = 0;
  if (Status s = c.recv(&part.header, sizeof part.header, DataType::uint8, from).wait(); !s.ok()) return s;
  if (Status s = c.recv(&count, 1, DataType::uint64, from).wait(); !s.ok()) return s;
  part.records.resize(count);
  if (Status s = c.recv(part.records.data(), count * sizeof(trace::Record), DataType::uint8, from).wait();
      !s.ok())
    return s;
  return part;
}

}  // namespace

Expected<std::vector<ClockOffset>> measure_clocks(Communicator& c, std::span<const int> hosts) {
  const std::vector<Rank> speakers = speakers_of(hosts);
  std::vector<ClockOffset> offsets;
  if (c.rank() != 0) {
    if (std::find(speakers.begin(), speakers.end(), c.rank()) == speakers.end()) return offsets;
    if (Status s = answer_clock(c); !s.ok()) return s;
    return offsets;
  }
  offsets.resize(hosts.size());
  for (ClockOffset& o : offsets) o.at_ns = now_ns();
  for (const Rank speaker : speakers) {
    const auto offset = ask_clock(c, speaker);
    if (!offset) return offset.status();
    for (std::size_t r = 0; r < hosts.size(); ++r)
      if (hosts[r] == hosts[static_cast<std::size_t>(speaker)]) offsets[r] = *offset;
  }
  return offsets;
}

Status gather_parts(Communicator& c, trace::Part mine, const std::function<void(trace::Part)>& take) {
  if (c.rank() != 0) return send_part(c, mine);
  take(std::move(mine));
  for (Rank r = 1; r < c.size(); ++r) {
    auto part = receive_part(c, r);
    if (!part) return part.status();
    take(*std::move(part));
  }
  return {};
}

}  // namespace strata

#include "ccl/runtime/locate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "ccl/base/environment.hpp"
#include "ccl/base/hash.hpp"
#include "ccl/base/log.hpp"
#include "ccl/runtime/place_report.hpp"
#include "ccl/topology/discover.hpp"
#include "ccl/topology/machine_text.hpp"
#include "ccl/topology/read_file.hpp"

namespace strata {
namespace {

using topology::Machine;
using topology::TopologyFile;

// Of a file that differs, so much is compared line by line.
constexpr std::size_t kComparedBytesMax = 1 << 20;

std::string hash_text(std::string_view text) { return fmt::format("{}-{:016x}", text.size(), hash_of(text)); }

// The one that a rank's environment leaves it; kNone: none, or several.
int visible_gpu() {
  const Environment environment = Environment::of_process();
  const std::string_view text = environment.text("CUDA_VISIBLE_DEVICES");
  int gpu = topology::kNone;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gpu);
  const bool one = error == std::errc() && end == text.data() + text.size() && gpu >= 0;
  return one ? gpu : topology::kNone;
}

// Its text for others; empty: it is not known.
std::string discovered_machine() {
  auto found = topology::discover();
  auto text = found ? topology::machine_text(found->topology.machines[0]) : found.status();
  if (!text)
    log::warn("what this host is made of is not known, so its ranks form no levels within it: {}",
              text.status().message());
  if (found)
    for (const std::string& note : found->notes) log::debug("{}", note);
  return text ? *text : std::string();
}

// One rank's side.
class Locating final {
 public:
  Locating(Exchange& exchange, std::vector<Seat> seats, const std::string& topology,
           const std::string& levels)
      : exchange_(exchange),
        seats_(std::move(seats)),
        host_(number_hosts(seats_)),
        path_(topology),
        levels_(levels) {}

  Expected<Whereabouts> run() {
    read_file();
    look_at_machine();
    if (Status s = tell(); !s.ok()) return s;
    if (Status s = compare(); !s.ok()) return s;
    if (file_ && !file_->ok()) return file_->status();
    const auto machines = share_machines();
    if (!machines) return machines.status();
    return whereabouts(seats_, *machines, file(), levels_);
  }

 private:
  std::size_t me() const { return static_cast<std::size_t>(exchange_.rank()); }
  const TopologyFile* file() const { return file_ && file_->ok() ? &**file_ : nullptr; }
  std::string name_of(std::size_t rank) const {
    return fmt::format("rank {} (host {})", rank, seats_[rank].host);
  }

  void read_file() {
    report_.file = path_;
    report_.levels = levels_;
    report_.gpu = visible_gpu();
    if (path_.empty()) return;
    auto text = topology::read_file(path_);
    if (!text) {
      report_.file_error = text.status().message();
      return;
    }
    text_ = *std::move(text);
    report_.file_hash = hash_text(text_);
    file_ = topology::parse_topology_file(text_, path_);
  }

  void look_at_machine() {
    if (exchange_.size() == 1) return;
    const bool first = std::find(host_.begin(), host_.end(), host_[me()]) - host_.begin() == exchange_.rank();
    if (!first || (file_ && !file_->ok()) || !is_open(file(), seats_[me()].host)) return;
    machine_ = discovered_machine();
    if (!machine_.empty()) report_.machine_hash = hash_text(machine_);
  }

  Status tell() {
    const auto texts = exchange_.all_gather(to_text(report_));
    if (!texts) return texts.status();
    for (const std::string& text : *texts) {
      auto report = parse_place_report(text);
      if (!report)
        return {
            ErrorCode::mismatch,
            fmt::format("{} says where it sits in a way that is not understood; do all ranks run the same "
                        "version?",
                        name_of(reports_.size()))};
      seats_[reports_.size()].gpu = report->gpu;
      reports_.push_back(*std::move(report));
    }
    return {};
  }

  Status compare() {
    const PlaceReport& zero = reports_[0];
    for (std::size_t r = 0; r < reports_.size(); ++r)
      if (const std::string& why = reports_[r].file_error; !why.empty())
        return {ErrorCode::unavailable,
                fmt::format("topology file: {}: {}; each rank reads its own copy", name_of(r), why)};
    for (std::size_t r = 1; r < reports_.size(); ++r) {
      const PlaceReport& other = reports_[r];
      if (other.levels != zero.levels)
        return {ErrorCode::mismatch,
                fmt::format("levels by hand: {} was given '{}', {} '{}'; all ranks must be given the same",
                            name_of(0), zero.levels, name_of(r), other.levels)};
      if (other.file.empty() != zero.file.empty())
        return {ErrorCode::mismatch,
                fmt::format("topology file: {} was given {}, {} {}; all ranks must be given the same",
                            name_of(0), zero.file.empty() ? "none" : zero.file, name_of(r),
                            other.file.empty() ? "none" : other.file)};
      if (other.file_hash != zero.file_hash) return first_difference(r);
    }
    return {};
  }

  // Collective: all ranks see that the files of rank 0 and of this one differ, and none has both.
  Status first_difference(std::size_t other) {
    const bool tells = me() == 0 || me() == other;
    const auto texts =
        exchange_.all_gather(tells ? std::string_view(text_).substr(0, kComparedBytesMax) : "");
    if (!texts) return texts.status();
    std::string_view a = (*texts)[0], b = (*texts)[other];
    int line = 1;
    for (; !a.empty() || !b.empty(); ++line) {
      const std::string_view of_a = a.substr(0, a.find('\n')), of_b = b.substr(0, b.find('\n'));
      if (of_a != of_b)
        return {ErrorCode::mismatch,
                fmt::format("{}:{}: the topology file of {} says \"{}\" there, {}:{} of {} \"{}\"; all ranks "
                            "must read the same",
                            reports_[0].file, line, name_of(0), of_a, reports_[other].file, line,
                            name_of(other), of_b)};
      a.remove_prefix(std::min(a.size(), of_a.size() + 1));
      b.remove_prefix(std::min(b.size(), of_b.size() + 1));
    }
    return {ErrorCode::mismatch,
            fmt::format("{}:{}: the topology file of {} differs from {} of {}; all ranks must read the same",
                        reports_[0].file, line, name_of(0), reports_[other].file, name_of(other))};
  }

  // Of each host, or nullopt. The first rank that has one of a kind tells it.
  Expected<std::vector<std::optional<Machine>>> share_machines() {
    std::map<std::string, std::size_t> teller;  // by hash
    for (std::size_t r = 0; r < reports_.size(); ++r)
      if (!reports_[r].machine_hash.empty()) teller.try_emplace(reports_[r].machine_hash, r);
    std::vector<std::optional<Machine>> machines(
        static_cast<std::size_t>(1 + *std::max_element(host_.begin(), host_.end())));
    if (teller.empty()) return machines;
    const auto mine = teller.find(report_.machine_hash);
    const bool tells = mine != teller.end() && mine->second == me();
    const auto texts = exchange_.all_gather(tells ? machine_ : "");
    if (!texts) return texts.status();
    std::map<std::string, Machine> known;
    for (const auto& [hash, rank] : teller) {
      auto machine = topology::parse_machine_text((*texts)[rank]);
      if (!machine)
        return Status(machine.status().code(),
                      fmt::format("{}: {}", name_of(rank), machine.status().message()));
      known[hash] = *std::move(machine);
    }
    for (std::size_t r = 0; r < reports_.size(); ++r)
      if (const auto own = known.find(reports_[r].machine_hash); own != known.end())
        machines[static_cast<std::size_t>(host_[r])] = own->second;
    return machines;
  }

  Exchange& exchange_;
  std::vector<Seat> seats_;
  const std::vector<int> host_;
  const std::string path_, levels_;
  PlaceReport report_;
  std::string text_;                            // the file's
  std::optional<Expected<TopologyFile>> file_;  // nullopt: none, or it cannot be read
  std::string machine_;                         // its text
  std::vector<PlaceReport> reports_;            // of all ranks
};

}  // namespace

Expected<Whereabouts> locate(Exchange& exchange, std::vector<Seat> seats, const std::string& topology,
                             const std::string& levels) {
  return Locating(exchange, std::move(seats), topology, levels).run();
}

}  // namespace strata

#include "ccl/runtime/tracing.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "ccl/algorithms/algorithm.hpp"
#include "ccl/base/environment.hpp"
#include "ccl/base/log.hpp"
#include "ccl/runtime/trace_gathering.hpp"
#include "ccl/trace/chrome.hpp"
#include "ccl/trace/spans.hpp"
#include "ccl/trace/usage.hpp"

namespace strata {
namespace {

using trace::Recorder;

// Beside the trace, or else among temporary files. null: in neither place.
Recorder* open_recorder(const TraceSettings& settings, Rank rank) {
  const trace::Identity identity{rank, static_cast<int>(settings.hosts.size()),
                                 settings.hosts[static_cast<std::size_t>(rank)]};
  Status first;
  for (const std::string& path : trace::part_places(settings.path, rank)) {
    auto made = Recorder::open(path, identity, settings.bytes);
    if (made) return *made;
    if (first.ok()) first = made.status();
  }
  log::warn("trace: {}; this rank records nothing", first.message());
  return nullptr;
}

std::vector<std::string_view> algorithm_names() {
  std::vector<std::string_view> names;
  for (const Algorithm& algorithm : catalog()) names.push_back(algorithm.name);
  return names;
}

// What levels a rank's messages crossed.
trace::Levels levels_of(const CostModel& model, Rank me) {
  trace::Levels levels;
  const int size = model.size();
  if (model.links == nullptr) {
    levels.names = {"host", "network"};
    for (Rank r = 0; r < size; ++r) levels.of_peer.push_back(model.host_of(r) == model.host_of(me) ? 0 : 1);
    return levels;
  }
  for (const LinkLevels::Level& level : model.links->levels) levels.names.push_back(level.name);
  for (Rank r = 0; r < size; ++r)
    levels.of_peer.push_back(static_cast<int>(&model.links->between(me, r) - model.links->levels.data()));
  return levels;
}

// From the beginning to the end of the job, on one rank.
class Tracing final {
 public:
  Tracing(TraceSettings settings, std::shared_ptr<Engine> engine, std::shared_ptr<const Selector> selector)
      : settings_(std::move(settings)),
        engine_(std::move(engine)),
        selector_(std::move(selector)),
        recorder_(open_recorder(settings_, engine_->me())) {}
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

  Status begin(Exchange& exchange, const CommunicatorState& first) {
    if (exchange.size() > 1)
      if (Status s = meet(exchange, first); !s.ok()) return s;
    if (recorder_ == nullptr) return {};
    recorder_->set_offset(offset_);
    engine_->observer().record_to(recorder_);
    TraceSpans::record_to(*recorder_);
    log::info("trace: recorded into {}; {} is written at the end", recorder_->path(), settings_.path);
    return {};
  }

  // Takes what was recorded; nothing is from here on.
  void finish() {
    engine_->observer().record_to(nullptr);
    if (recorder_) TraceSpans::stop(*recorder_);
    const Status written = settings_.hosts.size() == 1 ? write_alone() : write_together();
    communicator_.reset();
    if (!written.ok()) complain(written);
    if (recorder_) recorder_->close(!written.ok());
  }

  void give_up() {
    communicator_.reset();
    if (recorder_) recorder_->close(false);
  }

 private:
  Status meet(Exchange& exchange, const CommunicatorState& first) {
    auto state = std::make_shared<CommunicatorState>(kTraceCommunicator, first.ranks, first.me());
    state->selector = first.selector;
    state->group.hierarchy = first.group.hierarchy;
    state->timeout_ms = first.timeout_ms;
    state->algorithm = "messages";
    STRATA_CHECK(engine_->add(state));
    communicator_.emplace(std::make_shared<Communicator::Impl>(engine_, std::move(state)));
    // Nobody is sent anything before it knows the communicator.
    if (const auto all = exchange.all_gather(""); !all) return all.status();
    auto offsets = measure_clocks(*communicator_, settings_.clocks);
    if (!offsets) return offsets.status();
    offsets->resize(settings_.clocks.size());
    const std::size_t words = offsets->size() * sizeof(trace::ClockOffset) / sizeof(std::int64_t);
    if (Status s =
            communicator_->broadcast(offsets->data(), offsets->data(), words, DataType::int64, 0).wait();
        !s.ok())
      return s;
    offset_ = (*offsets)[static_cast<std::size_t>(engine_->me())];
    return {};
  }

  Status write_together() {
    if (Status s = communicator_->barrier().wait(); !s.ok()) return s;
    const auto offsets = measure_clocks(*communicator_, settings_.clocks);
    if (!offsets) return offsets.status();
    const bool writes = engine_->me() == 0;
    Status written = writes ? open() : Status();
    const Status gathered = gather_parts(*communicator_, snapshot(), [&](trace::Part part) {
      if (written.ok()) take(std::move(part), *offsets);
    });
    if (!gathered.ok()) return gathered;
    if (writes && written.ok()) written = file_->finish();
    std::uint8_t failed = written.ok() ? 0 : 1;
    if (Status s = communicator_->broadcast(&failed, &failed, 1, DataType::uint8, 0).wait(); !s.ok())
      return s;
    if (!writes && failed) return {ErrorCode::unavailable, "rank 0 could not write it and says why"};
    if (writes && written.ok()) report();
    return written;
  }

  Status write_alone() {
    if (Status s = open(); !s.ok()) return s;
    const std::int64_t now = static_cast<std::int64_t>(trace::monotonic_ns());
    const std::vector<trace::ClockOffset> offsets = {{now, 0, 0}};
    take(snapshot(), offsets);
    if (Status s = file_->finish(); !s.ok()) return s;
    report();
    return {};
  }

  trace::Part snapshot() { return recorder_ ? recorder_->snapshot() : trace::Part(); }

  Status open() {
    file_.emplace(settings_.path, names_);
    return file_->open();
  }

  void take(trace::Part part, const std::vector<trace::ClockOffset>& offsets) {
    if (part.header.magic != trace::kMagic) return;  // it could record nothing, and has said so
    part.header.last = offsets[static_cast<std::size_t>(part.header.rank)];
    const trace::Timeline timeline = trace::timeline_of(part);
    file_->add(timeline);
    const trace::Levels levels = levels_of(selector_->model(), timeline.rank);
    usage_.push_back({timeline.rank, timeline.host, timeline.dropped, trace::usage_of(timeline, levels)});
  }

  void report() const {
    const std::string text =
        trace::usage_table(usage_, levels_of(selector_->model(), 0).names) +
        fmt::format("\ntimeline: {} (open it with ui.perfetto.dev or chrome://tracing)\n", settings_.path);
    std::fputs(text.c_str(), stderr);
  }

  void complain(const Status& why) const {
    log::warn("trace: {} could not be written: {}{}", settings_.path, why.message(),
              recorder_ ? fmt::format("; this rank's part is left in {}", recorder_->path()) : "");
  }

  const TraceSettings settings_;
  const std::shared_ptr<Engine> engine_;
  const std::shared_ptr<const Selector> selector_;
  Recorder* const recorder_;
  const std::vector<std::string_view> names_ = algorithm_names();
  std::optional<Communicator> communicator_;  // of all ranks, for this alone
  trace::ClockOffset offset_;
  std::optional<trace::ChromeFile> file_;
  std::vector<trace::RankUsage> usage_;
};

}  // namespace

void begin_tracing(Exchange& exchange, const Communicator::Impl& first, TraceSettings settings) {
  auto tracing = std::make_shared<Tracing>(std::move(settings), first.engine, first.state->selector);
  if (const Status s = tracing->begin(exchange, *first.state); !s.ok()) {
    log::warn("trace: {}; there will be none", s.message());
    return tracing->give_up();
  }
  // Keeps the engine until then, as its communicators do.
  first.engine->at_the_end([tracing] { tracing->finish(); });
}

}  // namespace strata

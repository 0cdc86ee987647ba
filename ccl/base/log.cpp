#include "ccl/base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace strata::log {
namespace {

// Never destroyed: progress threads may still log while the process ends.
spdlog::logger& logger() {
  static auto* const instance = [] {
    auto* l = new spdlog::logger("strata", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    l->set_pattern("%H:%M:%S.%e strata %l: %v");
    l->set_level(spdlog::level::warn);
    l->flush_on(spdlog::level::trace);
    return l;
  }();
  return *instance;
}
spdlog::level::level_enum native(Level level) {
  return static_cast<spdlog::level::level_enum>(level == Level::off ? 6 : static_cast<int>(level));
}

}  // namespace

void set_level(Level level) { logger().set_level(native(level)); }
void set_rank(int rank) { logger().set_pattern(fmt::format("%H:%M:%S.%e strata {} %l: %v", rank)); }
bool enabled(Level level) { return logger().should_log(native(level)); }
void write(Level level, std::string_view text) { logger().log(native(level), text); }

}  // namespace strata::log

// The library's log: one line on standard error, at a level set by STRATA_LOG.
#pragma once
#include <fmt/format.h>

#include <string_view>

namespace strata::log {

enum class Level { trace, debug, info, warn, error, off };

void set_level(Level level);
void set_rank(int rank);  // shown in every line of the process, once known
bool enabled(Level level);
void write(Level level, std::string_view text);

template <class... A>
void debug(fmt::format_string<A...> format, A&&... a) {
  if (enabled(Level::debug)) write(Level::debug, fmt::format(format, std::forward<A>(a)...));
}
template <class... A>
void info(fmt::format_string<A...> format, A&&... a) {
  if (enabled(Level::info)) write(Level::info, fmt::format(format, std::forward<A>(a)...));
}
template <class... A>
void warn(fmt::format_string<A...> format, A&&... a) {
  if (enabled(Level::warn)) write(Level::warn, fmt::format(format, std::forward<A>(a)...));
}
template <class... A>
void error(fmt::format_string<A...> format, A&&... a) {
  if (enabled(Level::error)) write(Level::error, fmt::format(format, std::forward<A>(a)...));
}

}  // namespace strata::log

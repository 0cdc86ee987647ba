#include "tools/strata_run/prefix.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <string_view>

namespace strata::run {

std::string prefix_of(int rank, int last_rank, bool coloured) {
  static constexpr int kColours[] = {36, 32, 33, 35, 34, 31};
  const std::size_t width = std::to_string(last_rank).size();
  const std::string text = fmt::format("[{:>{}}]", rank, width);
  if (!coloured) return text + " ";
  return fmt::format("\x1b[{}m{}\x1b[0m ", kColours[static_cast<std::size_t>(rank) % std::size(kColours)],
                     text);
}

bool is_coloured(int fd, const Environment& environment) {
  const std::string_view terminal = environment.text("TERM");
  return ::isatty(fd) == 1 && !environment.has("NO_COLOR") && !terminal.empty() && terminal != "dumb";
}

}  // namespace strata::run

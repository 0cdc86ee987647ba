#include "tools/strata_run/line_cutter.hpp"

namespace strata::run {

void LineCutter::emit(std::string_view line, std::string& out) {
  out += prefix_;
  out += line;
}

void LineCutter::feed(std::string_view bytes, std::string& out) {
  std::size_t begin = 0, looked_at = rest_.size();
  // A carriage return at the very end had to wait: a line feed may belong to it.
  if (looked_at > 0 && rest_.back() == '\r') --looked_at;
  rest_ += bytes;
  const std::string_view all = rest_;
  for (std::size_t end = all.find_first_of("\r\n", looked_at); end != std::string_view::npos;
       end = all.find_first_of("\r\n", begin)) {
    if (all[end] == '\r' && end + 1 == all.size()) break;
    if (all[end] == '\r' && all[end + 1] == '\n') ++end;
    emit(all.substr(begin, end + 1 - begin), out);
    begin = end + 1;
  }
  rest_.erase(0, begin);
  if (rest_.size() < kLineBytesMax) return;
  emit(rest_, out);
  if (!prefix_.empty()) out += '\n';
  rest_.clear();
}

void LineCutter::finish(std::string& out) {
  if (rest_.empty()) return;
  const bool add_end = !prefix_.empty() && rest_.back() != '\r';
  emit(rest_, out);
  if (add_end) out += '\n';
  rest_.clear();
}

}  // namespace strata::run

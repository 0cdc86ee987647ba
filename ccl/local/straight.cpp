#include "ccl/local/straight.hpp"

namespace strata {

bool can_be_straight(Collective collective, bool in_place) {
  return collective != Collective::barrier && !(collective == Collective::all_to_all && in_place);
}

bool lends_input(const Shape& s, int member) {
  switch (s.collective) {
    case Collective::broadcast:
    case Collective::scatter: return member == s.root;
    case Collective::gather: return member != s.root;
    case Collective::barrier: return false;
    default: return true;
  }
}

bool lends_output(const Shape& s, int member) {
  return s.collective == Collective::all_reduce || (s.collective == Collective::reduce && member == s.root);
}

bool borrows(const Shape& s, int member) {
  if (member == s.me) return false;
  switch (s.collective) {
    case Collective::broadcast:
    case Collective::scatter: return member == s.root;
    case Collective::gather: return s.is_root();
    default: return true;
  }
}

Sources borrowers(const Shape& s) {
  switch (s.collective) {
    case Collective::broadcast:
    case Collective::scatter: return s.is_root() ? Sources::everybody : Sources::nobody;
    case Collective::gather: return s.is_root() ? Sources::nobody : Sources::root;
    default: return Sources::everybody;
  }
}

void list_fetches(const Shape& s, std::vector<Fetch>& fetches) {
  fetches.clear();
  const auto fetch = [&](int peer, std::uint64_t from, std::uint64_t length, std::uint64_t output) {
    if (length > 0) fetches.push_back({peer, from, length, output});
  };
  for (int k = 0; k < s.size; ++k) {
    const int q = (s.me + k) % s.size;
    switch (s.collective) {
      case Collective::all_gather: fetch(q, 0, s.length(q), s.begin(q)); break;
      case Collective::all_to_all: fetch(q, s.begin(s.me), s.length(q), s.begin(q)); break;
      case Collective::gather:
        if (s.is_root()) fetch(q, 0, s.length(q), s.begin(q));
        break;
      case Collective::broadcast:
        if (q == s.root) fetch(q, 0, s.total_bytes, 0);
        break;
      case Collective::scatter:
        if (q == s.root) fetch(q, s.begin(s.me), s.length(s.me), 0);
        break;
      default: break;
    }
  }
}

Share share_of(const Shape& s) {
  if (!s.reduces()) return {};
  const std::uint64_t begin = s.begin(s.me);
  return {begin, s.length(s.me), s.collective == Collective::reduce_scatter ? 0 : begin};
}

bool wants_share(const Shape& s, int member) {
  return s.collective == Collective::reduce_scatter ? member == s.me : lends_output(s, member);
}

namespace {

std::uint64_t piece_bytes(const Shape& s) { return s.total_bytes / static_cast<std::uint64_t>(s.size); }

}  // namespace

bool reading_pays(const Shape& s) {
  switch (s.collective) {
    case Collective::all_to_all: return piece_bytes(s) >= 32 << 10;
    case Collective::all_gather: return s.size == 2 && piece_bytes(s) >= 32 << 10;
    case Collective::scatter: return piece_bytes(s) >= 512 << 10;
    default: return false;
  }
}

bool reading_pays_on_shared_cores(const Shape& s) {
  return s.collective == Collective::all_to_all && piece_bytes(s) >= 256 << 10;
}

bool telling_pays(const Shape& s) { return s.total_bytes >= 8 << 10; }

bool telling_pays_on_shared_cores(const Shape& s) {
  return s.total_bytes >= (s.reduces() ? 32 << 10 : 128 << 10);
}

}  // namespace strata

// What a call's buffers look like to an algorithm: groups, parts and operands.
#include "ccl/algorithms/algorithm.hpp"

#include <algorithm>
#include <numeric>

#include "ccl/base/check.hpp"

namespace strata {

Group whole_group(int size, int me, std::shared_ptr<const topology::Hierarchy> hierarchy) {
  STRATA_CHECK(me >= 0 && me < size, me, size);
  Group group;
  group.ranks.resize(static_cast<std::size_t>(size));
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  group.me = me;
  group.hierarchy = std::move(hierarchy);
  return group;
}

bool Request::reduces() const {
  return collective == Collective::reduce || collective == Collective::all_reduce ||
         collective == Collective::reduce_scatter;
}

Parts::Parts(Slice whole_from, std::uint64_t element_bytes, int size, std::uint64_t count,
             std::span<const std::uint64_t> counts)
    : whole_(whole_from) {
  const auto n = static_cast<std::size_t>(size);
  STRATA_CHECK(counts.empty() || counts.size() == n, counts.size(), size);
  begin_.reserve(n + 1);
  begin_.push_back(0);
  for (std::size_t i = 0; i < n; ++i)
    begin_.push_back(begin_.back() + (counts.empty() ? count : counts[i]) * element_bytes);
  whole_.length = begin_.back();
}

Slice Parts::operator[](int i) const {
  const auto k = static_cast<std::size_t>(i);
  return {whole_.buffer, whole_.offset + begin_[k], begin_[k + 1] - begin_[k]};
}

Slice part(Slice whole, int index, int count, std::uint64_t element_bytes) {
  const std::uint64_t n = whole.length / element_bytes;
  const auto i = static_cast<std::uint64_t>(index), parts = static_cast<std::uint64_t>(count);
  const std::uint64_t each = n / parts, longer = n % parts;  // the first `longer` parts have one element more
  const std::uint64_t begin = i * each + std::min(i, longer);
  const std::uint64_t length = each + (i < longer ? 1 : 0);
  return {whole.buffer, whole.offset + begin * element_bytes, length * element_bytes};
}

namespace {

// `in` is every rank's one part, `out` the large buffer of all parts, or the other way round.
struct Shape {
  Slice large;
  Slice small;
};

// The large buffer is named `large`; in place the small one is rank me's part of it.
Shape shape(const Request& r, int size, int me, Buffer large, Buffer small) {
  const Parts parts({large, 0, 0}, r.element_bytes(), size, r.count, r.counts);
  const Slice mine = parts[me];
  return {parts.whole(), r.in_place ? mine : Slice{small, 0, mine.length}};
}

Operands all_to_all_operands(const Request& r, int size) {
  const auto whole = [&](Buffer buffer, const std::vector<std::uint64_t>& counts) {
    return Parts({buffer, 0, 0}, r.element_bytes(), size, r.count, counts).whole();
  };
  Operands o{whole(Buffer::input, r.counts),
             whole(Buffer::output, r.counts.empty() ? r.counts : r.recv_counts)};
  if (!r.in_place) return o;
  o.in.buffer = o.out.buffer = o.in.length > o.out.length ? Buffer::input : Buffer::output;
  return o;
}

}  // namespace

Operands operands(const Request& r, int size, int me) {
  const bool root = r.root == me;
  const std::uint64_t bytes = r.count * r.element_bytes();
  const Slice input{Buffer::input, 0, bytes}, output{Buffer::output, 0, bytes};
  const Slice same = r.in_place ? output : input;
  switch (r.collective) {
    case Collective::broadcast: return {root ? same : Slice{}, output};
    case Collective::reduce: return root ? Operands{same, output} : Operands{input, {}};
    case Collective::all_reduce: return {same, output};
    case Collective::all_to_all: return all_to_all_operands(r, size);
    case Collective::reduce_scatter: {
      const Shape s = shape(r, size, me, Buffer::input, Buffer::output);
      return {s.large, s.small};
    }
    case Collective::all_gather: {
      const Shape s = shape(r, size, me, Buffer::output, Buffer::input);
      return {s.small, s.large};
    }
    case Collective::gather: {
      const Shape s = shape(r, size, me, Buffer::output, Buffer::input);
      return root ? Operands{s.small, s.large} : Operands{{Buffer::input, 0, s.small.length}, {}};
    }
    case Collective::scatter: {
      const Shape s = shape(r, size, me, Buffer::input, Buffer::output);
      return root ? Operands{s.large, s.small} : Operands{{}, {Buffer::output, 0, s.small.length}};
    }
    case Collective::barrier:
    case Collective::send:
    case Collective::recv: return {};
  }
  return {};
}

}  // namespace strata

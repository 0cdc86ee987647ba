// Proves an algorithm for calls of every shape: roots, counts, v forms, operations, in place or not, cut in
// several ways.
#pragma once
#include <catch2/catch.hpp>
#include <random>

#include "tests/schedule/world.hpp"

namespace strata::test {

inline constexpr std::uint64_t kCounts[] = {0, 1, 2, 3, 7, 16, 33};
inline constexpr std::uint64_t kUnlimited = ~0ull;

// How the data is cut, and what the wire can do.
struct Variant {
  Tuning tuning;
  int fused_modulus;  // peers that are a multiple of it can reduce what they receive; 0: nobody
  std::uint64_t message_elements_max;
};
inline constexpr std::uint64_t kWhole = 1 << 20;
// Segments are given in bytes of one-byte elements and are scaled by the element's size.
inline constexpr Variant kVariants[] = {
    {{1, kWhole}, 1, kUnlimited}, {{1, 3}, 1, kUnlimited}, {{2, 4}, 1, kUnlimited},
    {{3, kWhole}, 0, kUnlimited}, {{1, kWhole}, 2, 5},     {{2, 3}, 0, 2},
};

inline bool is_rooted(Collective c) {
  return c == Collective::broadcast || c == Collective::reduce || c == Collective::gather ||
         c == Collective::scatter;
}
inline bool has_v_form(Collective c) {
  return c == Collective::reduce_scatter || c == Collective::all_gather || c == Collective::gather ||
         c == Collective::scatter || c == Collective::all_to_all;
}

class CatalogProof {
 public:
  CatalogProof(const Algorithm& algorithm, int size, std::uint64_t seed, Levels levels = nullptr)
      : algorithm_(algorithm), size_(size), random_(seed), levels_(std::move(levels)) {}

  // `thin`: a few shapes only.
  void run(bool thin = false) {
    const std::vector<Rank> roots = is_rooted(algorithm_.collective)
                                        ? std::vector<Rank>{0, size_ / 2, size_ - 1}
                                        : std::vector<Rank>{kNoRank};
    for (std::size_t i = 0; i < roots.size(); ++i) {
      if (i > 0 && roots[i] == roots[i - 1]) continue;
      for (const std::uint64_t count : kCounts) {
        if (thin && count != 7) continue;
        uniform(count, roots[i]);
        if (algorithm_.collective == Collective::barrier) return;
        if (has_v_form(algorithm_.collective)) v_form(count, roots[i]);
      }
    }
  }
  int proofs() const { return proofs_; }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  Request base(Rank root) {
    constexpr DataType kTypes[] = {DataType::uint8, DataType::bfloat16, DataType::float32, DataType::float64};
    Request r;
    r.collective = algorithm_.collective;
    r.type = algorithm_.collective == Collective::barrier ? DataType::uint8 : kTypes[below(4)];
    r.root = root;
    return r;
  }

  void uniform(std::uint64_t count, Rank root) {
    Request r = base(root);
    r.count = count;
    with_operations(same_on_all(r, size_));
  }

  std::vector<std::uint64_t> random_counts(std::uint64_t largest) {
    std::vector<std::uint64_t> counts;
    for (int i = 0; i < size_; ++i) counts.push_back(below(3) == 0 ? 0 : below(largest + 1));
    return counts;
  }

  void v_form(std::uint64_t largest, Rank root) {
    Requests requests = same_on_all(base(root), size_);
    if (algorithm_.collective == Collective::all_to_all) {
      const bool symmetric = below(2) == 0;  // equal counts both ways: what can be swapped in place
      for (Request& r : requests) r.counts = random_counts(largest);
      for (std::size_t i = 0; i < requests.size(); ++i)
        for (std::size_t j = 0; symmetric && j < i; ++j) requests[i].counts[j] = requests[j].counts[i];
      for (std::size_t i = 0; i < requests.size(); ++i)
        for (const Request& from : requests) requests[i].recv_counts.push_back(from.counts[i]);
    } else {
      const std::vector<std::uint64_t> counts = random_counts(largest);
      for (Request& r : requests) r.counts = counts;
    }
    with_operations(requests);
  }

  void with_operations(Requests requests) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average}) {
      for (Request& r : requests) r.op = op;
      if (op == ReduceOp::average && !requests[0].reduces()) break;
      if (!algorithm_.supports(requests[0], whole_group(size_, 0, levels_))) continue;
      with_places(requests);
    }
  }

  void with_places(Requests requests) {
    for (const int mode : {0, 1, 2}) {  // nobody in place, all, some
      if (mode > 0 && algorithm_.collective == Collective::barrier) break;
      for (Request& r : requests) r.in_place = mode == 1 || (mode == 2 && below(2) == 0);
      for (const Variant& variant : kVariants) prove(requests, variant);
    }
  }

  void prove(const Requests& requests, const Variant& variant) {
    const std::uint64_t element_bytes = requests[0].element_bytes();
    Tuning tuning = variant.tuning;
    tuning.segment_bytes *= element_bytes;
    Programs programs = build_all(algorithm_, requests, tuning, levels_);
    if (variant.fused_modulus != 1 || variant.message_elements_max != kUnlimited)
      programs = lower_all(programs, element_bytes, [&](Rank, Rank peer) {
        const bool limited = variant.message_elements_max != kUnlimited;
        return WireAbilities{
            variant.fused_modulus != 0 && peer % variant.fused_modulus == 0,
            limited ? variant.message_elements_max * element_bytes + element_bytes / 2 : kUnlimited};
      });
    const Verdict verdict = verify(derive_all(programs), requests, random_());
    ++proofs_;
    if (verdict.ok()) return;
    INFO(describe(algorithm_, requests, tuning));
    INFO("variant " << &variant - kVariants);
    FAIL(to_string(verdict.flaw) << ": " << verdict.message);
  }

  const Algorithm& algorithm_;
  int size_;
  std::mt19937_64 random_;
  const Levels levels_;
  int proofs_ = 0;
};

}  // namespace strata::test

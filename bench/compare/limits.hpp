// What the machine can do at best: all-reduces written by hand for exactly two ranks, and copies of memory.
#pragma once
#include "bench/compare/measure.hpp"
#include "bench/compare/pair.hpp"

namespace strata::compare {

inline constexpr std::uint64_t kSharedCountMax = (64 << 20) / sizeof(float);

// Made before the fork: an input and an output for each of the two.
struct SharedBuffers {
  Memory in[2], out[2];
};
SharedBuffers map_shared_buffers(std::uint64_t count);

// What all limits are made of. Every rank reduces one half of the elements.
class Limit {
 public:
  explicit Limit(Pair& pair) : pair_(pair) {}
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

  int rank() const { return pair_.rank(); }
  int size() const { return pair_.size(); }
  void barrier() { pair_.barrier(); }
  void slowest(std::span<double> numbers) { pair_.slowest(numbers); }

 protected:
  struct Range {
    std::uint64_t first, count;
  };
  Range half_of(int rank) const {
    const std::uint64_t middle = buffers_.out_count / 2;
    return rank == 0 ? Range{0, middle} : Range{middle, buffers_.out_count - middle};
  }
  Counter& mine(std::array<Counter, 2>& counters) { return counters[static_cast<std::size_t>(pair_.rank())]; }
  Counter& theirs(std::array<Counter, 2>& counters) {
    return counters[static_cast<std::size_t>(pair_.other())];
  }
  void take_private_buffers(Collective collective, std::uint64_t bytes);

  Pair& pair_;
  Memory in_, out_;
  Buffers buffers_;
};

// Private buffers. Each copies its input to a slot that both share, and adds the other's. For small sizes.
class Mailbox final : public Limit {
 public:
  using Limit::Limit;
  std::optional<Buffers> prepare(Collective collective, std::uint64_t bytes);
  void call(int root);

 private:
  std::uint64_t calls_ = 0;
};

// Private buffers. Pieces go through slots that both share: copied in, reduced, copied out, three at a time.
class Staged final : public Limit {
 public:
  Staged(Pair& pair, Memory slots, std::uint64_t piece_count)
      : Limit(pair), slots_(std::move(slots)), piece_count_(piece_count) {}
  static constexpr std::uint64_t kSlots = 4;
  static std::uint64_t slots_count(std::uint64_t piece_count) { return 2 * 2 * kSlots * piece_count; }
  std::optional<Buffers> prepare(Collective collective, std::uint64_t bytes);
  void call(int root);

 private:
  enum Kind { kInput, kResult };
  float* slot(Kind kind, int rank, std::uint64_t piece) const;
  Range piece_of(int rank, std::uint64_t piece) const;
  void copy_in(std::uint64_t piece);
  void reduce(std::uint64_t piece);
  void copy_out(std::uint64_t piece);

  Memory slots_;
  std::uint64_t piece_count_;
  std::uint64_t done_ = 0;  // pieces of earlier calls
};

// Buffers that both can reach.
enum class SharedWay {
  copy,            // each reduces its half into its own output, then copies the other's
  write,           // each writes its reduced half into both outputs
  write_streaming  // the same past the caches
};
class Shared final : public Limit {
 public:
  Shared(Pair& pair, const SharedBuffers& shared, SharedWay way) : Limit(pair), shared_(shared), way_(way) {}
  std::optional<Buffers> prepare(Collective collective, std::uint64_t bytes);
  void call(int root);

 private:
  const SharedBuffers& shared_;
  SharedWay way_;
};

// Private buffers, one TCP connection over loopback, both directions at once, polled.
class Tcp final : public Limit {
 public:
  // congestion_control: "" for the system's.
  Tcp(Pair& pair, const char* congestion_control);
  ~Tcp();
  std::optional<Buffers> prepare(Collective collective, std::uint64_t bytes);
  void call(int root);

 private:
  void exchange_whole();
  void exchange_halves();
  void send_what_is_ready(std::uint64_t half);
  void receive_and_reduce(std::uint64_t half);
  void receive_result(std::uint64_t half);
  // How many bytes were moved: none, if none can be now.
  std::uint64_t send_some(const std::byte* from, std::uint64_t bytes);
  std::uint64_t receive_some(std::byte* into, std::uint64_t bytes);

  int socket_ = -1;
  Memory scratch_;
  std::uint64_t sent_ = 0, received_ = 0, reduced_ = 0;  // bytes of one call
};

// Memory copied within each process, by one of them or by both at once.
class Copy final : public Limit {
 public:
  Copy(Pair& pair, int copiers, bool streaming) : Limit(pair), copiers_(copiers), streaming_(streaming) {}
  std::optional<Buffers> prepare(Collective collective, std::uint64_t bytes);
  void call(int root);

 private:
  int copiers_;
  bool streaming_;
};

}  // namespace strata::compare

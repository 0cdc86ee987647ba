// What the machine can do at best: a few primitives, each measured by as many processes at once as there are
// cores to work on. comparison/limits.py composes the limits of collectives from them.
#pragma once
#include <string>

#include "bench/compare/measure.hpp"
#include "bench/compare/team.hpp"

namespace strata::compare {

// A part of every primitive; each has prepare(bytes), call(root) and is_right(), of the last call.
class Primitive {
 public:
  explicit Primitive(Team& team) : team_(team) {}
  Primitive(const Primitive&) = delete;
  Primitive& operator=(const Primitive&) = delete;

  int rank() const { return team_.rank(); }
  int size() const { return team_.size(); }
  void barrier() { team_.barrier(); }
  void slowest(std::span<double> numbers) { team_.slowest(numbers); }

 protected:
  // Private memory of this worker: from_ holds numbers that tell its worker, into_ zeros.
  void take_buffers(std::uint64_t bytes);
  float value_at(int rank, std::uint64_t index) const;
  bool holds_what_was_from(int rank) const;

  Team& team_;
  Memory from_, into_;
  std::uint64_t count_ = 0;
};

// Each worker copies its memory, or adds its memory to itself read from another place: two reads, one write.
class Work final : public Primitive {
 public:
  enum Kind { kCopy, kAdd };
  Work(Team& team, Kind kind, bool streaming) : Primitive(team), kind_(kind), streaming_(streaming) {}
  void prepare(std::uint64_t bytes);
  void call(int);
  bool is_right() const;

 private:
  Kind kind_;
  bool streaming_;
  Memory again_;
};

// Each worker's memory goes to the one before it in pieces: copied into slots that all share, and from there.
class Pass final : public Primitive {
 public:
  static constexpr std::uint64_t kSlots = 4;
  // slots: room for kSlots pieces of each worker, mapped before the team was made.
  Pass(Team& team, Memory slots, std::uint64_t piece_count)
      : Primitive(team), slots_(std::move(slots)), piece_count_(piece_count) {}
  void prepare(std::uint64_t bytes) { take_buffers(bytes); }
  void call(int);
  bool is_right() const { return holds_what_was_from(team_.next()); }

 private:
  float* slot(int rank, std::uint64_t piece) const;
  std::uint64_t length_of(std::uint64_t piece) const;

  Memory slots_;
  std::uint64_t piece_count_;
  std::uint64_t done_ = 0;  // pieces of earlier calls
};

// The same by one copy of the kernel's: each reads the next one's memory.
class Pull final : public Primitive {
 public:
  using Primitive::Primitive;
  void prepare(std::uint64_t bytes);
  void call(int);
  bool is_right() const { return holds_what_was_from(team_.next()); }
  bool is_allowed();  // by the system; collective, and between prepare() and call()
};

// A number goes from the first worker to the second and back. yielding: who waits gives its core away.
class Hop final : public Primitive {
 public:
  Hop(Team& team, bool yielding) : Primitive(team), yielding_(yielding) {}
  static constexpr int kParts = 2;
  void prepare(std::uint64_t) {}
  void call(int);
  bool is_right() const { return true; }  // who waits for a number returns with it or not at all

 private:
  void wait(const Counter& counter) const;

  bool yielding_;
  std::uint64_t value_ = 0;
};

// Loopback TCP, polled, one connection for each two workers.
class Tcp final : public Primitive {
 public:
  // exchange: each sends its memory and receives the other's, at once. stream: one sends, the other receives.
  // hop: the other then sends back as much.
  enum Kind { kExchange, kStream, kHop };
  // congestion_control: "" for the system's.
  Tcp(Team& team, Kind kind, const std::string& congestion_control);
  ~Tcp();
  void prepare(std::uint64_t bytes) { take_buffers(bytes); }
  void call(int);
  bool is_right() const;

 private:
  bool sends_first() const { return rank() % 2 == 0; }
  void move(std::uint64_t send_bytes, std::uint64_t receive_bytes);

  Kind kind_;
  int socket_ = -1;
};

}  // namespace strata::compare

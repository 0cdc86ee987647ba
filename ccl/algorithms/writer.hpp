// Writes a program whose long messages are cut into pieces that travel over several channels.
#pragma once
#include <vector>

#include "ccl/algorithms/algorithm.hpp"

namespace strata {

// Piece i of a slice travels on channel i modulo channels. How a slice is cut depends on nothing but its
// length, so both ends of a message cut it alike. Steps on one piece wait for earlier steps on the same piece
// only: that is the pipeline.
class Writer final {
 public:
  Writer(Program& program, const Request& request, const Tuning& tuning);

  int pieces(std::uint64_t length) const;
  Slice piece(Slice whole, int i) const { return part(whole, i, pieces(whole.length), element_bytes_); }
  int channel(int piece) const { return piece % channels_; }
  std::uint64_t piece_bytes_max(std::uint64_t length) const;  // of slices so long or shorter
  std::uint64_t element_bytes() const { return element_bytes_; }

  void send(Rank to, Slice from);
  void recv(Rank from, Slice into);
  void recv_reduce(Rank from, Slice addend, Slice into);
  void copy(Slice from, Slice into);
  // The operation's last scaling, if it has one.
  void finish(Slice slice);
  bool finishes() const { return finishes_; }

  Program& program() { return program_; }

 private:
  Program& program_;
  std::uint64_t element_bytes_;
  std::uint64_t segment_bytes_;
  int channels_;
  bool finishes_;
};

// A few areas of scratch used in turn: what is longer than one may keep in memory goes through them. A step
// that takes an area again waits for those that still use it, as derivation sees.
class Slots final {
 public:
  // Four are enough for receiving, summing and sending to overlap.
  Slots(Program& program, std::uint64_t length, int count = 4);
  Slice next(std::uint64_t length);  // at most the length given

 private:
  std::vector<Slice> slots_;
  std::size_t next_ = 0;
};

inline Slice first_bytes(Slice slice, std::uint64_t length) { return {slice.buffer, slice.offset, length}; }

}  // namespace strata

// What a collective is expected to take, before it is called.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "strata/types.hpp"

namespace strata {

// One way to do a call.
struct Estimate {
  std::string algorithm;            // as CallOptions::algorithm takes it
  std::uint64_t segment_bytes = 0;  // its pieces; only the chosen one's can be had by name
  double time_us = -1;              // predicted by the cost model; -1: it has no model of this one
  bool chosen = false;              // what the call would take
};

// Groups of ranks that sit near each other, and what a message pays between two of them that no level further
// in has together.
struct LevelEstimate {
  std::string name;                       // "l3", "numa", "host", "rack", ..., "cluster"
  std::vector<std::vector<Rank>> groups;  // of all ranks
  std::string medium;                     // "shm" or "tcp"; empty: levels by hand, links of which may differ
  double latency_us = -1;                 // half a round trip of a few bytes; -1: not known
  double gigabits_per_second = -1;        // one way; -1: not known
  bool measured = false;  // now, before, or as the topology file says; else the built-in costs
  bool used = false;      // do hierarchical algorithms work on it?
};

}  // namespace strata

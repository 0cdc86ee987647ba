// The laws of pipes, whatever they are made of. Each law checks one kind of pipes.
#pragma once
#include <cstdint>

#include "tests/transport/shm_tcp_world.hpp"

namespace strata::test {

// Every byte arrives once and in order, between all pairs at once, however it is cut into writes, peeks and
// reads.
void check_streams(const PipeKind& kind, int size, std::uint64_t seed, std::uint64_t bytes);
void check_streams_between_processes(const PipeKind& kind, std::uint64_t seed, std::uint64_t bytes);
// Two ranks who sleep whenever they can lose no wake-up.
void check_wake_ups(const PipeKind& kind, std::uint64_t seed, int rounds, std::uint64_t bytes);
// A peer that is killed is found dead by a sleeping rank, after the last byte that it wrote; also if it had
// children.
void check_death(const PipeKind& kind, bool peer_has_child);
// A peer that ends its pipes is told from one that is silent.
void check_goodbye(const PipeKind& kind);
// Nor does a program that a rank starts inherit one.
void check_no_descriptor_is_left(const PipeKind& kind);
// Ranks with different session keys do not connect; the error says so.
void check_wrong_key(const PipeKind& kind);

}  // namespace strata::test

// A number for a text, to tell texts apart that nobody has made to be alike.
#pragma once
#include <cstdint>
#include <string_view>

namespace strata {

// FNV-1a, 64 bits: Fowler, Noll, Vo.
constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace strata

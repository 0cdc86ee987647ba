// Copies past the caches, by Highway's streaming stores.
#include "ccl/compute/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ccl/compute/copy.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first: it includes this file again for every other target.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "ccl/compute/copy.hpp"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace strata::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void stream(void* into, const void* from, std::size_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t step = hn::Lanes(d);
  auto* target = static_cast<std::uint8_t*>(into);
  const auto* source = static_cast<const std::uint8_t*>(from);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(target) % step;
  const std::size_t head = std::min(bytes, past == 0 ? 0 : step - past);  // up to an aligned target
  std::memcpy(target, source, head);
  std::size_t at = head;
  for (; at + 4 * step <= bytes; at += 4 * step) {
    const auto a = hn::LoadU(d, source + at), b = hn::LoadU(d, source + at + step);
    const auto c = hn::LoadU(d, source + at + 2 * step), e = hn::LoadU(d, source + at + 3 * step);
    hn::Stream(a, d, target + at);
    hn::Stream(b, d, target + at + step);
    hn::Stream(c, d, target + at + 2 * step);
    hn::Stream(e, d, target + at + 3 * step);
  }
  if (at < bytes) std::memcpy(target + at, source + at, bytes - at);
}

constexpr std::size_t kLine = 64;

void spread(void* const* into, std::size_t targets, const void* from, std::size_t bytes,
            const void* const* next, std::size_t sources) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t step = hn::Lanes(d);
  std::uintptr_t past = 0;
  for (std::size_t t = 0; t < targets; ++t) past |= reinterpret_cast<std::uintptr_t>(into[t]) % step;
  const auto* source = static_cast<const std::uint8_t*>(from);
  const std::size_t block = std::max(kLine, step);
  const std::size_t whole = past == 0 ? bytes / block * block : 0;
  for (std::size_t at = 0; at < whole; at += block) {
    for (std::size_t k = 0; k < sources; ++k) hwy::Prefetch(static_cast<const std::uint8_t*>(next[k]) + at);
    for (std::size_t v = at; v < at + block; v += step) {
      const auto data = hn::LoadU(d, source + v);
      for (std::size_t t = 0; t < targets; ++t) hn::Stream(data, d, static_cast<std::uint8_t*>(into[t]) + v);
    }
  }
  for (std::size_t t = 0; t < targets && whole < bytes; ++t)
    std::memcpy(static_cast<std::uint8_t*>(into[t]) + whole, source + whole, bytes - whole);
}

}  // namespace
}  // namespace strata::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata {

HWY_EXPORT(stream);
void copy_streaming(void* into, const void* from, std::size_t bytes) {
  HWY_DYNAMIC_DISPATCH(stream)(into, from, bytes);
}

HWY_EXPORT(spread);
void spread_streaming(void* const* into, std::size_t targets, const void* from, std::size_t bytes,
                      const void* const* next, std::size_t sources) {
  HWY_DYNAMIC_DISPATCH(spread)(into, targets, from, bytes, next, sources);
}

void flush_streams() { hwy::FlushStream(); }

}  // namespace strata
#endif

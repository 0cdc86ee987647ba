// Any bytes may come to the rendezvous: readers of messages and introductions must survive them all.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ccl/runtime/rendezvous_address.hpp"
#include "ccl/runtime/rendezvous_introduction.hpp"
#include "ccl/runtime/rendezvous_messages.hpp"

using namespace strata;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto message = rendezvous::decode(bytes)) {
    // What was understood can be said again, and means the same.
    const std::string frame = rendezvous::encode(*message);
    const auto again = rendezvous::decode(std::string_view(frame).substr(rendezvous::kLengthBytes));
    if (!again || !(*again == *message)) std::abort();
  }
  if (const auto who = rendezvous::parse_introduction(bytes)) {
    const auto again = rendezvous::parse_introduction(rendezvous::to_json(*who));
    if (!again || !(*again == *who)) std::abort();
  }
  (void)parse_rendezvous(bytes);
  return 0;
}

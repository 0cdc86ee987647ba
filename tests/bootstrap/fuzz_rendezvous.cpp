// Any bytes may come to the rendezvous: readers of messages and introductions must survive them all.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ccl/bootstrap/rendezvous_address.hpp"
#include "ccl/bootstrap/rendezvous_introduction.hpp"
#include "ccl/bootstrap/rendezvous_messages.hpp"
#include "ccl/runtime/place_report.hpp"

using namespace strata;

namespace {

void check_introduction(std::string_view json) {
  const auto who = rendezvous::parse_introduction(json);
  if (!who) return;
  const auto again = rendezvous::parse_introduction(rendezvous::to_json(*who));
  if (!again || !(*again == *who)) std::abort();
}

// A sound introduction with some bytes replaced: all but random bytes get past the JSON reader this way.
std::string altered(std::string_view bytes) {
  std::string json = rendezvous::to_json({"1.2.3", 1, 2, "host", 3, 4});
  const auto place = static_cast<unsigned char>(bytes[0]) % json.size();
  return json.replace(place, static_cast<unsigned char>(bytes[1]) % 16, bytes.substr(2));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto message = rendezvous::decode(bytes)) {
    // What was understood can be said again, and means the same.
    const std::string frame = rendezvous::encode(*message);
    const auto again = rendezvous::decode(std::string_view(frame).substr(rendezvous::kLengthBytes));
    if (!again || !(*again == *message)) std::abort();
  }
  check_introduction(bytes);
  if (size > 2) check_introduction(altered(bytes));
  (void)parse_rendezvous(bytes);
  if (const auto report = parse_place_report(bytes))
    if (to_text(*report) != bytes) std::abort();
  return 0;
}

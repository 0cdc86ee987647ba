// Messages between engines: who failed, who leaves, who is late. Ordinary messages of a reserved
// communicator, so that they need nothing of a transport that data does not.
#pragma once
#include <array>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ccl/runtime/router.hpp"
#include "strata/status.hpp"

namespace strata {

struct ControlMessage {
  enum class Kind : std::uint8_t {
    abort,          // communicator failed: code and text
    leave,          // the sender destroyed the communicator; it took part in operations before `operation`
    leave_names,    // before it: of names, `numbers` of the first calls it did not take part in
    probe,          // what do you know of this operation?
    answer,         // to probe: `progress` of `operation`, and the number of the next one to be started
    cancel_ask,     // hold `operation` for the sender, if that can be done
    cancel_answer,  // it is held (`progress` is running), or goes on (ended)
    cancel_do,      // all hold it: it ends, with code and text
    cancel_not,     // it goes on
    goodbye,        // the sender's engine ends; nothing more comes
    goodbye_seen,
  };
  enum class Progress : std::uint8_t { not_started, running, ended };
  static constexpr std::uint32_t kMagic = 0x53544354;  // "STCT"
  static constexpr std::size_t kTextMax = 960;

  std::uint32_t magic = kMagic;
  Kind kind = Kind::abort;
  ErrorCode code = ErrorCode::ok;
  Progress progress = Progress::not_started;
  std::uint8_t unused = 0;
  std::uint32_t communicator = 0;
  std::uint32_t text_length = 0;
  std::uint64_t operation = 0;
  std::uint64_t next_operation = 0;
  Fingerprint fingerprint;
  std::array<char, kTextMax> text{};

  std::string_view text_view() const { return {text.data(), std::min<std::size_t>(text_length, kTextMax)}; }
  void set_text(std::string_view t);
  static constexpr std::size_t kNumbersMax = kTextMax / sizeof(std::uint64_t);
  void set_numbers(std::span<const std::uint64_t> numbers);  // in place of a text
  std::vector<std::uint64_t> numbers() const;
  bool valid() const;
};
static_assert(std::is_trivially_copyable_v<ControlMessage>);

// Owned by the engine's owner, like everything under it.
class Control final {
 public:
  static constexpr std::uint32_t kReceiveSlot = 0xffffffff;  // cookies: slot << 32 | peer
  static constexpr std::uint32_t kSendSlot = 0xfffffffe;     // cookies: slot << 32 | index of the message

  Control(Router& router, Rank me);
  void start();  // posts a receive for every peer
  void send(Rank to, const ControlMessage& message);
  // What a completion of kReceiveSlot brought; posts the next receive. Nothing if the message is not valid.
  std::optional<ControlMessage> received(Rank from);
  void sent(std::uint32_t index);
  bool all_sent() const { return free_.size() == outgoing_.size(); }

 private:
  void post_receive(Rank from);

  Router& router_;
  const Rank me_;
  std::vector<ControlMessage> incoming_;           // by peer
  std::vector<std::uint32_t> next_in_, next_out_;  // by peer: message numbers
  std::deque<ControlMessage> outgoing_;            // stable addresses
  std::vector<std::uint32_t> free_;
};

}  // namespace strata

#include "ccl/bootstrap/rendezvous_messages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ccl/base/check.hpp"

namespace strata::rendezvous {
namespace {

void put_length(std::string& into, std::size_t length) {
  for (int shift = 0; shift < 32; shift += 8) into.push_back(static_cast<char>(length >> shift & 0xff));
}

// Takes bytes from the front of a body; once it is short it stays failed.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <std::size_t n>
  void take(std::array<char, n>& into) {
    const std::string_view bytes = take(n);
    if (!short_) std::copy(bytes.begin(), bytes.end(), into.begin());
  }
  std::string_view take(std::size_t n) {
    short_ = short_ || rest_.size() < n;
    if (short_) return {};
    const std::string_view bytes = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return bytes;
  }
  std::string_view take_part() {
    const std::string_view length = take(kLengthBytes);
    return short_ ? std::string_view{} : take(frame_length(length));
  }
  std::string take_all() { return std::string(take(rest_.size())); }
  bool empty() const { return rest_.empty(); }
  bool is_short() const { return short_; }
  bool consumed() const { return !short_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool short_ = false;
};

struct Writer {
  static constexpr std::size_t kTextBytesMax = 16 << 10;
  static std::string_view bounded(std::string_view text) { return text.substr(0, kTextBytesMax); }

  std::string& out;
  template <std::size_t n>
  void put(const std::array<char, n>& bytes) {
    out.append(bytes.data(), n);
  }
  void operator()(const Challenge& m) { put(m.nonce); }
  void operator()(const Hello& m) { put(m.nonce), put(m.proof), out += m.introduction; }
  void operator()(const Welcome& m) { put(m.proof), out += m.introduction; }
  void operator()(const Failure& m) { out.push_back(static_cast<char>(m.code)), out += bounded(m.text); }
  void operator()(const Report& m) { out += bounded(m.text); }
  void operator()(const Start& m) { put(m.session); }
  void operator()(const Contribution& m) { out += m.bytes; }
  void operator()(const Gathered& m) {
    for (const std::string& part : m.parts) put_length(out, part.size()), out += part;
  }
};

void parse(Reader& in, Challenge& m) { in.take(m.nonce); }
void parse(Reader& in, Hello& m) { in.take(m.nonce), in.take(m.proof), m.introduction = in.take_all(); }
void parse(Reader& in, Welcome& m) { in.take(m.proof), m.introduction = in.take_all(); }
void parse(Reader& in, Failure& m) {
  const std::string_view code = in.take(1);
  const int value = code.empty() ? 0 : static_cast<unsigned char>(code[0]);
  // "ok" would turn a failure into a success.
  const bool known = value > 0 && value <= static_cast<int>(ErrorCode::internal);
  m.code = known ? static_cast<ErrorCode>(value) : ErrorCode::internal;
  m.text = printable(in.take_all());
}
void parse(Reader& in, Report& m) { m.text = printable(in.take_all()); }
void parse(Reader& in, Start& m) { in.take(m.session); }
void parse(Reader& in, Contribution& m) { m.bytes = in.take_all(); }
void parse(Reader& in, Gathered& m) {
  while (!in.empty() && !in.is_short()) m.parts.emplace_back(in.take_part());
}

template <std::size_t kind = 0>
Expected<Message> decode_kind(std::size_t wanted, Reader& in) {
  if constexpr (kind == std::variant_size_v<Message>) {
    return Status(ErrorCode::mismatch, fmt::format("a rendezvous message of unknown kind {}", wanted));
  } else {
    if (wanted != kind) return decode_kind<kind + 1>(wanted, in);
    std::variant_alternative_t<kind, Message> message;
    parse(in, message);
    if (!in.consumed())
      return Status(ErrorCode::mismatch,
                    fmt::format("a rendezvous message of kind {} has the wrong length", wanted));
    return Message(std::move(message));
  }
}

}  // namespace

std::string encode(const Message& message) {
  std::string frame(kLengthBytes, '\0');
  frame.push_back(static_cast<char>(message.index()));
  std::visit(Writer{frame}, message);
  const std::size_t length = frame.size() - kLengthBytes;
  STRATA_CHECK(length <= kFrameBytesMax, length);
  std::string prefix;
  put_length(prefix, length);
  frame.replace(0, kLengthBytes, prefix);
  return frame;
}

std::uint32_t frame_length(std::string_view first_bytes) {
  STRATA_CHECK(first_bytes.size() == kLengthBytes, first_bytes.size());
  std::uint32_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(first_bytes[i]);
  return length;
}

Expected<Message> decode(std::string_view frame) {
  if (frame.empty()) return Status(ErrorCode::mismatch, "an empty rendezvous message");
  Reader in(frame.substr(1));
  return decode_kind(static_cast<unsigned char>(frame[0]), in);
}

std::string_view kind_of(const Message& message) {
  static constexpr std::string_view kNames[] = {"challenge", "hello", "welcome",      "failure",
                                                "report",    "start", "contribution", "gathered"};
  return kNames[message.index()];
}

std::vector<std::string> encode_gathered(const std::vector<std::string>& parts) {
  std::vector<std::string> frames;
  Gathered next;
  std::size_t bytes = 1;
  const auto flush = [&] {
    if (!next.parts.empty()) frames.push_back(encode(next));
    next.parts.clear(), bytes = 1;
  };
  for (const std::string& part : parts) {
    if (bytes + kLengthBytes + part.size() > kFrameBytesMax) flush();
    bytes += kLengthBytes + part.size();
    next.parts.push_back(part);
  }
  flush();
  return frames;
}

std::string printable(std::string_view text) {
  std::string clean(text);
  for (char& c : clean)
    if (c < ' ' || c > '~') c = '?';
  return clean;
}

}  // namespace strata::rendezvous

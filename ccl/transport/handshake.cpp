// Handshake records by OpenSSL's HMAC-SHA256.
#include "ccl/transport/handshake.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <bit>
#include <cstring>

#include "ccl/base/check.hpp"

namespace strata {
namespace {

static_assert(std::endian::native == std::endian::little, "records travel as they lie in memory");

enum class Speaker : std::uint8_t { answer = 1, confirm, welcome };

Proof prove(std::string_view key, Speaker speaker, const Hello& hello, const Nonce& nonce) {
  std::array<unsigned char, 1 + sizeof(Hello) + sizeof(Nonce)> text;
  text[0] = static_cast<unsigned char>(speaker);
  std::memcpy(&text[1], &hello, sizeof hello);
  std::memcpy(&text[1 + sizeof hello], nonce.data(), nonce.size());
  Proof proof;
  unsigned int length = 0;
  const unsigned char* const done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), text.data(), text.size(),
           reinterpret_cast<unsigned char*>(proof.data()), &length);
  STRATA_CHECK(done != nullptr && length == proof.size(), length);
  return proof;
}

bool same(const Proof& a, const Proof& b) { return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

Status fill(Nonce& nonce) {
  if (RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()), static_cast<int>(nonce.size())) == 1)
    return {};
  return {ErrorCode::unavailable, "OpenSSL has no random bytes for the handshake between ranks (RAND_bytes)"};
}

}  // namespace

Expected<Hello> make_hello(const Greeting& greeting, Rank from, Rank to, std::uint32_t stream) {
  Hello hello{greeting, from, to, stream, 0, {}};
  if (Status status = fill(hello.nonce); !status.ok()) return status;
  return hello;
}

Expected<Answer> make_answer(std::string_view key, const Hello& hello) {
  Answer answer;
  if (Status status = fill(answer.nonce); !status.ok()) return status;
  answer.proof = prove(key, Speaker::answer, hello, answer.nonce);
  return answer;
}

Confirm make_confirm(std::string_view key, const Hello& hello, const Answer& answer) {
  return {prove(key, Speaker::confirm, hello, answer.nonce)};
}

Welcome make_welcome(std::string_view key, const Hello& hello, const Answer& answer) {
  return {prove(key, Speaker::welcome, hello, answer.nonce)};
}

bool verify(std::string_view key, const Hello& hello, const Answer& answer) {
  return same(answer.proof, prove(key, Speaker::answer, hello, answer.nonce));
}

bool verify(std::string_view key, const Hello& hello, const Answer& answer, const Confirm& confirm) {
  return same(confirm.proof, make_confirm(key, hello, answer).proof);
}

bool verify(std::string_view key, const Hello& hello, const Answer& answer, const Welcome& welcome) {
  return same(welcome.proof, make_welcome(key, hello, answer).proof);
}

}  // namespace strata

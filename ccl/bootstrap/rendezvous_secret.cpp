#include "ccl/bootstrap/rendezvous_secret.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "ccl/base/check.hpp"

namespace strata::rendezvous {
namespace {

Proof hmac(std::string_view secret, const std::string& text) {
  // OpenSSL takes a null key for "the one of the last call"; an empty secret still needs an address.
  const char* const key = secret.empty() ? "" : secret.data();
  Proof proof{};
  unsigned int length = 0;
  const unsigned char* const done = HMAC(EVP_sha256(), key, static_cast<int>(secret.size()),
                                         reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                                         reinterpret_cast<unsigned char*>(proof.data()), &length);
  STRATA_CHECK(done != nullptr && length == proof.size(), length);
  return proof;
}

Proof prove(std::string_view secret, std::string_view speaker, const Nonces& nonces,
            std::string_view introduction) {
  std::string text(speaker);  // of one length, so that no field can flow into the next
  text.append(nonces.server.data(), nonces.server.size());
  text.append(nonces.client.data(), nonces.client.size());
  text.append(introduction);
  return hmac(secret, text);
}

}  // namespace

Expected<Nonce> make_nonce() {
  Nonce nonce;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()), static_cast<int>(nonce.size())) == 1)
    return nonce;
  return Status(ErrorCode::unavailable, "OpenSSL has no random bytes for the rendezvous (RAND_bytes)");
}

Proof client_proof(std::string_view secret, const Nonces& nonces, std::string_view introduction) {
  return prove(secret, "strata client: ", nonces, introduction);
}

Proof server_proof(std::string_view secret, const Nonces& nonces, std::string_view introduction) {
  return prove(secret, "strata server: ", nonces, introduction);
}

bool same(const Proof& a, const Proof& b) { return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

std::string session_key(std::string_view secret, const Nonce& session) {
  std::string text = "strata session:";
  text.append(session.data(), session.size());
  const Proof key = hmac(secret, text);
  return std::string(key.data(), key.size());
}

}  // namespace strata::rendezvous

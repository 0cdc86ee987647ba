// Proofs that a party knows the job's secret, and the key made from it.
#pragma once
#include <string>
#include <string_view>

#include "ccl/bootstrap/rendezvous_messages.hpp"
#include "strata/status.hpp"

namespace strata::rendezvous {

Expected<Nonce> make_nonce();

// Each proof covers who speaks, both nonces and the speaker's introduction, so nothing recorded, reflected or
// altered is of use.
struct Nonces {
  Nonce server{}, client{};
};
Proof client_proof(std::string_view secret, const Nonces& nonces, std::string_view introduction);
Proof server_proof(std::string_view secret, const Nonces& nonces, std::string_view introduction);
bool same(const Proof& a, const Proof& b);  // in constant time

// 32 bytes, the same on all ranks. Without a secret it is known to whoever saw the session's nonce.
std::string session_key(std::string_view secret, const Nonce& session);

}  // namespace strata::rendezvous

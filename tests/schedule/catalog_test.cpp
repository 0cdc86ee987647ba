// Every algorithm of the catalog is proved correct for every shape of call it supports.
#include "tests/schedule/catalog_proof.hpp"

namespace strata::test {

TEST_CASE("every algorithm is correct for every shape it supports") {
  constexpr int kRanksMax = 16;
  constexpr std::uint64_t kSeed = 20240611;
  CAPTURE(kSeed);
  int proofs = 0;
  for (const Algorithm& algorithm : catalog()) {
    for (int size = 1; size <= kRanksMax; ++size) {
      CatalogProof proof(algorithm, size, kSeed + static_cast<std::uint64_t>(size));
      proof.run();
      proofs += proof.proofs();
    }
  }
  CHECK(proofs > 10'000);
}

TEST_CASE("every algorithm is correct for more ranks") {
  constexpr std::uint64_t kSeed = 20240612;
  CAPTURE(kSeed);
  for (const Algorithm& algorithm : catalog())
    for (const int size : {17, 24, 32, 41}) CatalogProof(algorithm, size, kSeed).run(true);
}

}  // namespace strata::test

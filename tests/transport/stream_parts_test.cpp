// The parts under the stream protocol: tag table, stash, queue, batch, against simple models.
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <random>

#include "ccl/transport/stream/batch.hpp"
#include "ccl/transport/stream/fifo.hpp"
#include "ccl/transport/stream/stash.hpp"
#include "ccl/transport/stream/tag_table.hpp"
#include "tests/transport/scripted_pipe.hpp"

namespace strata::stream {
namespace {

using Random = std::mt19937_64;
std::size_t pick(Random& random, std::size_t from, std::size_t to) {
  return std::uniform_int_distribution<std::size_t>(from, to)(random);
}

TEST_CASE("the tag table finds what was put in, and nothing else") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    TagTable table;
    std::map<std::array<std::uint64_t, 4>, std::uint32_t> model;
    const std::size_t limit = pick(random, 10, 2000);
    for (std::uint32_t step = 0; step < 20'000; ++step) {
      // Few different values, so that there are hits, and clusters.
      const Tag tag{.operation = pick(random, 0, 5),
                    .communicator = static_cast<std::uint32_t>(pick(random, 0, 3)),
                    .message = static_cast<std::uint32_t>(pick(random, 0, 60))};
      const auto peer = static_cast<Rank>(pick(random, 0, 3));
      const std::array<std::uint64_t, 4> key{static_cast<std::uint64_t>(peer), tag.operation,
                                             tag.communicator, tag.message};
      const auto expected = model.find(key);
      REQUIRE(table.find(peer, tag) == (expected == model.end() ? TagTable::kNone : expected->second));
      if (expected != model.end()) {
        table.erase(peer, tag);
        model.erase(expected);
      } else if (model.size() < limit) {
        table.insert(peer, tag, step);
        model[key] = step;
      }
      REQUIRE(table.size() == model.size());
    }
  }
}

TEST_CASE("the stash gives back what was put in, and reuses its blocks") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Stash stash;
    std::vector<std::pair<Stash::Chain, std::vector<std::byte>>> kept(10);
    std::size_t high_water = 0;
    for (int step = 0; step < 2000; ++step) {
      auto& [chain, bytes] = kept[pick(random, 0, kept.size() - 1)];
      if (pick(random, 0, 5) > 0 && bytes.size() < 5000) {
        std::vector<std::byte> piece(pick(random, 0, 700));
        for (std::byte& b : piece) b = static_cast<std::byte>(random());
        stash.append(chain, piece);
        bytes.insert(bytes.end(), piece.begin(), piece.end());
      } else {
        std::vector<std::byte> back;
        stash.unload(chain, [&](std::span<const std::byte> piece) {
          back.insert(back.end(), piece.begin(), piece.end());
        });
        REQUIRE(back == bytes);
        bytes.clear();
      }
      if (step == 1000) high_water = stash.blocks();
    }
    CHECK(stash.blocks() <= std::max<std::size_t>(high_water, 256 * (10 * 5700 / (256 * 256) + 1)));
  }
}

TEST_CASE("the queue keeps order through growth, wrap and erasure") {
  Random random(1);
  Fifo<int> queue;
  std::deque<int> model;
  for (int step = 0; step < 50'000; ++step) {
    const std::size_t what = pick(random, 0, 100);
    if (what < 52) {
      queue.push(step);
      model.push_back(step);
    } else if (what < 99) {
      if (model.empty()) continue;
      REQUIRE(queue.front() == model.front());
      REQUIRE(queue.pop() == model.front());
      model.pop_front();
    } else {
      queue.erase_if([](int value) { return value % 3 == 0; });
      std::erase_if(model, [](int value) { return value % 3 == 0; });
    }
    REQUIRE(queue.size() == model.size());
  }
}

TEST_CASE("a batch resumes where the pipe stopped, also after a rescue") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto script = std::make_shared<test::Script>();
    test::ScriptedPipe pipe(script);
    Batch batch(128 << 10);
    std::vector<std::vector<std::byte>> payloads;
    std::vector<std::byte> expected;
    for (std::size_t frames = pick(random, 1, 16); frames > 0; --frames) {
      auto& payload =
          payloads.emplace_back(pick(random, 0, 1) * pick(random, 0, 3000), static_cast<std::byte>(frames));
      FrameHeader header;
      header.tag.communicator = static_cast<std::uint32_t>(frames % 2);
      header.length = header.fragment = static_cast<std::uint32_t>(payload.size());
      batch.add(header, payload.data(), {});
      const auto* bytes = reinterpret_cast<const std::byte*>(&header);
      expected.insert(expected.end(), bytes, bytes + kFrameBytes);
      expected.insert(expected.end(), payload.begin(), payload.end());
    }
    std::size_t done = 0;
    while (!batch.empty()) {
      script->room_bytes = pick(random, 0, 400);
      batch.write(pipe, [&](const Batch::Frame&) { ++done; });
      if (pick(random, 0, 20) > 0) continue;
      batch.rescue(0, {.communicator = 1});
      for (std::size_t i = 0; i < payloads.size(); ++i) {
        if ((payloads.size() - i) % 2 == 1) std::vector<std::byte>(payloads[i].size()).swap(payloads[i]);
      }
    }
    CHECK(done == payloads.size());
    CHECK(script->written == expected);
  }
}

}  // namespace
}  // namespace strata::stream

// Descriptors survive the journey, nonsense is refused, and the way to a peer follows from both sides'
// addresses.
#include "ccl/transport/tcp/tcp_descriptor.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "ccl/transport/factories.hpp"

namespace strata::tcp {
namespace {

const Endpoint kEth4{"10.1.2.3", 5000, false, false}, kEth6{"fd00::3", 5001, true, false};
const Endpoint kLo4{"127.0.0.1", 5002, false, true}, kLo6{"::1", 5003, true, true};

// Every subset of the four kinds of endpoints, on one of two hosts.
std::vector<TcpDescriptor> all_descriptors() {
  std::vector<TcpDescriptor> all;
  for (const char* host : {"a", "b"})
    for (unsigned subset = 0; subset < 16; ++subset) {
      TcpDescriptor d{std::string("id of ") + host, host, 1 + subset, {}};
      const Endpoint kinds[] = {kEth4, kEth6, kLo4, kLo6};
      for (unsigned i = 0; i < 4; ++i)
        if ((subset >> i & 1) != 0) d.endpoints.push_back(kinds[i]);
      all.push_back(d);
    }
  return all;
}

bool offers(const TcpDescriptor& d, const Endpoint& e) {
  return std::find(d.endpoints.begin(), d.endpoints.end(), e) != d.endpoints.end();
}

}  // namespace

TEST_CASE("a descriptor survives the journey as text") {
  for (const TcpDescriptor& d : all_descriptors()) {
    const Expected<TcpDescriptor> back = parse_tcp_descriptor(to_text(d));
    REQUIRE(back);
    CHECK(back->host_id == d.host_id);
    CHECK(back->host_name == d.host_name);
    CHECK(back->streams == d.streams);
    CHECK(back->endpoints == d.endpoints);
  }
}

TEST_CASE("what is no descriptor is refused") {
  const std::string good = to_text(all_descriptors()[15]);
  for (std::size_t length = 0; length < good.size(); ++length)
    if (const auto parsed = parse_tcp_descriptor(good.substr(0, length)))
      CHECK(parsed->endpoints.size() <= 4);  // cut after a whole field, or in a port
  for (const char* bad : {"",
                          "tcp3",
                          "tcp1\na\nb\n1",
                          "tcp3\na\nb",
                          "tcp3\na\nb\n",
                          "tcp3\na\nb\n17",
                          "tcp3\na\nb\n0",
                          "tcp3\na\nb\n-1",
                          "tcp3\na\nb\n1\n",
                          "tcp3\na\nb\n1\n1.2.3.4",
                          "tcp3\na\nb\n1\n1.2.3.4 0 0",
                          "tcp3\na\nb\n1\n1.2.3.4 65536 0",
                          "tcp3\na\nb\n1\n1.2.3.4 -1 0",
                          "tcp3\na\nb\n1\n1.2.3 80 0",
                          "tcp3\na\nb\n1\nlocalhost 80 0",
                          "tcp3\na\nb\n1\n1.2.3.4 80 ",
                          "tcp3\na\nb\n1\n1.2.3.4  80 0",
                          "tcp3\na\nb\n1\n1.2.3.4 80",
                          "tcp3\na\nb\n1\n1.2.3.4 80 16",
                          "tcp3\na\nb\n1\n1.2.3.4 80 0 0"}) {
    INFO(bad);
    CHECK(!parse_tcp_descriptor(bad));
  }
  std::minstd_rand random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string garbage = good;
    garbage[random() % garbage.size()] = static_cast<char>(random());
    const auto parsed = parse_tcp_descriptor(garbage);  // must not crash; may still be one
    if (parsed) CHECK(parsed->endpoints.size() <= 6);
  }
}

TEST_CASE("two ranks have as many connections as the one that wants fewer") {
  const TcpDescriptor few{"a", "a", 3, {}}, many{"b", "b", 16, {}};
  CHECK(streams(few, many) == 3);
  CHECK(streams(many, few) == 3);
  CHECK(streams(many, many) == 16);
}

TEST_CASE("rails are used in pairs, as many as both hosts have") {
  const auto host = [](const char* name, std::uint32_t rails, bool ipv6) {
    TcpDescriptor d{name, name, 2, {}};
    for (std::uint32_t rail = 0; rail < rails; ++rail)
      d.endpoints.push_back({(ipv6 && rail == 1 ? "fd00::" : "10.1.2.") + std::to_string(rail + 1), 5000,
                             ipv6 && rail == 1, false, rail});
    d.endpoints.push_back(kLo4);
    return d;
  };
  const TcpDescriptor three = host("a", 3, false), two = host("b", 2, false), odd = host("c", 2, true);
  CHECK(rails(three, two) == 2);
  CHECK(rails(two, three) == 2);
  CHECK(rails(three, three) == 1);  // one host
  CHECK(streams(three, two) == 4);
  CHECK(ways(three, two, 0) == std::vector<Endpoint>{two.endpoints[0]});
  CHECK(ways(three, two, 1) == std::vector<Endpoint>{two.endpoints[1]});
  CHECK(ways(two, three, 1) == std::vector<Endpoint>{three.endpoints[1]});
  CHECK(ways(three, three, 0) == std::vector<Endpoint>{kLo4});
  CHECK(reachable(three, two));
  CHECK(!reachable(two, odd));  // IPv4 and IPv6 on the second
  CHECK(why_unreachable(two, odd).find("number 2") != std::string::npos);
  CHECK(parse_tcp_descriptor(to_text(three))->endpoints == three.endpoints);
}

TEST_CASE("the way to a peer follows from both sides' addresses") {
  const auto factory = make_tcp_transport({});
  for (const TcpDescriptor& mine : all_descriptors())
    for (const TcpDescriptor& theirs : all_descriptors()) {
      CAPTURE(to_text(mine), to_text(theirs));
      const std::vector<Endpoint> found = ways(mine, theirs);
      const bool same_host = mine.host_id == theirs.host_id;
      const bool has_loopback = offers(theirs, kLo4) || offers(theirs, kLo6);
      for (const Endpoint& e : found) {
        CHECK(offers(theirs, e));
        CHECK((same_host || !e.loopback));
        if (same_host && has_loopback) CHECK(e.loopback);
        if (!same_host) CHECK(offers(mine, e.ipv6 ? kEth6 : kEth4));
      }
      const bool common =
          (offers(mine, kEth4) && offers(theirs, kEth4)) || (offers(mine, kEth6) && offers(theirs, kEth6));
      CHECK(found.empty() == (same_host ? theirs.endpoints.empty() : !common));
      const bool reached = factory->reaches(to_text(mine), to_text(theirs));
      CHECK(reached == factory->reaches(to_text(theirs), to_text(mine)));
      CHECK(reached == (!found.empty() && !ways(theirs, mine).empty()));
      if (!reached && !same_host)
        CHECK(why_unreachable(mine, theirs).find(theirs.host_name) != std::string::npos);
    }
  CHECK(parse_tcp_descriptor("tcp3\na\nb\n1\n1.2.3.4 80 0").ok());  // which the refused ones above nearly are
  CHECK(!factory->reaches("", to_text(all_descriptors()[15])));
}

}  // namespace strata::tcp

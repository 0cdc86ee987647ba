// Which interface is chosen, on machines that exist only here.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "ccl/base/host.hpp"
#include "ccl/base/network_interface.hpp"

using namespace strata;

namespace {

using List = std::vector<NetworkInterface>;

NetworkInterface make(std::string name, std::string address, bool up = true) {
  NetworkInterface i;
  i.name = std::move(name), i.address = std::move(address), i.up = up;
  i.ipv6 = i.address.find(':') != std::string::npos;
  i.loopback = i.name == "lo";
  i.link_local = i.address.starts_with("fe80") || i.address.starts_with("169.254");
  i.container_bridge = i.name.starts_with("docker") || i.name.starts_with("br-");
  return i;
}

const NetworkInterface kLo = make("lo", "127.0.0.1"), kLo6 = make("lo", "::1");
const NetworkInterface kEth0 = make("eth0", "10.0.0.1"), kEth06 = make("eth0", "fd00::1"),
                       kEth0Local = make("eth0", "fe80::1");
const NetworkInterface kEth1 = make("eth1", "10.1.0.1"), kEth2Down = make("eth2", "10.2.0.1", false);
const NetworkInterface kDocker = make("docker0", "172.17.0.1"), kBridge = make("br-12ab", "172.18.0.1");
const NetworkInterface kTunnel = make("tun0", "10.8.0.1"), kDirect = make("eth3", "169.254.3.4");

// What is chosen must not depend on the order of the list, unless two are equally good.
std::string chosen(List list, std::string_view spec = {}) {
  const auto by_address = [](const auto& a, const auto& b) { return a.address < b.address; };
  std::sort(list.begin(), list.end(), by_address);
  std::string address;
  do {
    const auto choice = choose_interface(list, spec);
    const std::string now = choice ? choice->interface.address : "error";
    if (address.empty()) address = now;
    CHECK(now == address);
    if (choice) CHECK_FALSE(choice->reason.empty());
  } while (std::next_permutation(list.begin(), list.end(), by_address));
  return address;
}

}  // namespace

TEST_CASE("automatic choice: a card, then a tunnel, a direct cable, a bridge, loopback; IPv4 before IPv6") {
  const List best_first = {kEth0, kEth06, kTunnel, kDirect, kDocker, kLo, kLo6};
  for (unsigned present = 1; present < 1u << best_first.size(); ++present) {
    List list = {kEth0Local, kEth2Down};  // never chosen
    std::string best;
    for (std::size_t i = 0; i < best_first.size(); ++i) {
      if ((present >> i & 1u) == 0) continue;
      list.push_back(best_first[i]);
      if (best.empty()) best = best_first[i].address;
    }
    if (list.size() > 5) continue;  // all orders of more take too long
    CAPTURE(present);
    CHECK(chosen(list) == best);
  }
}

TEST_CASE("nothing usable is an error that lists what there is") {
  CHECK(choose_interface({}, "").status().code() == ErrorCode::unavailable);
  const auto choice = choose_interface(List{kEth2Down, kEth0Local}, "");
  REQUIRE_FALSE(choice.ok());
  CHECK(choice.status().message().find("eth2 (10.2.0.1) which is down") != std::string_view::npos);
}

TEST_CASE("by name, prefix and address") {
  const List all = {kLo, kLo6, kEth0Local, kEth06, kEth0, kEth1, kEth2Down, kDocker, kBridge};
  CHECK(choose_interface(all, "eth0")->interface.address == "10.0.0.1");
  CHECK(choose_interface(all, "lo")->interface.address == "127.0.0.1");
  CHECK(choose_interface(all, "docker0")->interface.address == "172.17.0.1");
  CHECK(choose_interface(all, "br-*")->interface.address == "172.18.0.1");
  CHECK(choose_interface(all, "eth*")->interface.address == "10.0.0.1");
  CHECK(choose_interface(all, "*")->interface.address == "10.0.0.1");
  CHECK(choose_interface(all, "10.1.0.1")->interface.name == "eth1");
  CHECK(choose_interface(all, "fd00:0:0::0001")->interface.address == "fd00::1");
  CHECK(choose_interface(all, "fe80::1")->interface.address == "fe80::1");
  struct Wrong {
    std::string spec, why;
  };
  for (const Wrong& wrong :
       {Wrong{"eth", "does not exist"}, Wrong{"ib*", "does not exist"}, Wrong{"10.0.0.9", "does not exist"},
        Wrong{"eth2", "is down"}, Wrong{"10.2.0.1", "is down"}}) {
    const auto choice = choose_interface(all, wrong.spec);
    REQUIRE_FALSE(choice.ok());
    CAPTURE(choice.status().message());
    CHECK(choice.status().code() == ErrorCode::invalid_argument);
    for (const std::string& part : {"\"" + wrong.spec + "\"", wrong.why, std::string("eth1 (10.1.0.1)")})
      CHECK(choice.status().message().find(part) != std::string_view::npos);
  }
  CHECK(choose_interface(List{kEth0Local}, "eth0").status().message().find("link-local") !=
        std::string_view::npos);
}

TEST_CASE("several are chosen in the order asked for, each once") {
  const List all = {kLo, kEth0, kEth06, kEth1, kEth2Down};
  const auto names = [&](std::string_view specs) {
    std::vector<std::string> found;
    const std::vector<ChosenInterface> chosen_ones = choose_interfaces(all, specs).value();
    for (const ChosenInterface& c : chosen_ones) found.push_back(c.interface.name);
    return found;
  };
  using Names = std::vector<std::string>;
  CHECK(names("") == Names{"eth0"});
  CHECK(names("eth1") == Names{"eth1"});
  CHECK(names("eth1,10.0.0.1") == Names{"eth1", "eth0"});
  for (const auto& [wrong, why] : {std::pair{"eth0,fd00::1", "name eth0 twice"}, std::pair{"eth0,", "comma"},
                                   std::pair{",eth0", "comma"}, std::pair{"eth0,eth2", "is down"}}) {
    const auto choice = choose_interfaces(all, wrong);
    REQUIRE_FALSE(choice.ok());
    CAPTURE(choice.status().message());
    CHECK(choice.status().code() == ErrorCode::invalid_argument);
    CHECK(choice.status().message().find(why) != std::string_view::npos);
  }
}

TEST_CASE("a carrier is awaited where nothing else reaches other hosts") {
  NetworkInterface coming = kEth2Down, bridge = kDocker, veth = make("veth0", "10.3.0.1", false);
  bridge.up = false;
  coming.no_carrier = bridge.no_carrier = veth.no_carrier = true;
  const auto name = [](const List& list) { return awaited(list) == nullptr ? "" : awaited(list)->name; };
  CHECK(name({kLo, kLo6, coming}) == "eth2");
  CHECK(name({kLo, bridge, coming}) == "eth2");
  CHECK(name({kLo, kEth0Local, veth}) == "veth0");
  CHECK(name({kLo, coming, kEth1}).empty());
  CHECK(name({kLo, kEth2Down, bridge}).empty());
  CHECK(name({kLo}).empty());
  CHECK(choose_interface(List{kLo, coming}, "eth2").status().message().find("has no carrier") !=
        std::string_view::npos);
}

TEST_CASE("the reason says whether there was a choice") {
  const auto reason = [](const List& list) { return choose_interface(list, "")->reason; };
  CHECK(reason({kEth0, kEth06}) == "the only one that is up");
  CHECK(reason({kEth0, kEth1}).find("others: eth1 (10.1.0.1)") != std::string::npos);
  CHECK(reason({kLo}).find("no other host") != std::string::npos);
  CHECK(reason({kDocker, kLo}).find("bridges") != std::string::npos);
}

TEST_CASE("this machine: loopback is listed and marked, and the host has a name and an id") {
  const auto all = list_network_interfaces();
  REQUIRE(all.ok());
  const auto lo =
      std::find_if(all->begin(), all->end(), [](const auto& i) { return i.address == "127.0.0.1"; });
  REQUIRE(lo != all->end());
  CHECK(lo->loopback);
  const Host host = this_host();
  CHECK_FALSE(host.name.empty());
  CHECK(host.id == this_host().id);
  CHECK(host.pid > 0);
}

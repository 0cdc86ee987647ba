#include "ccl/runtime/connect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ccl/base/check.hpp"
#include "ccl/base/log.hpp"
#include "ccl/transport/factories.hpp"
#include "ccl/transport/self_transport.hpp"

namespace strata {
namespace {

constexpr std::uint8_t kNoRoute = 0xff;

struct Candidate {
  std::unique_ptr<TransportFactory> factory;
  std::vector<std::string> descriptors;  // by rank; empty: that rank does not have it
  std::vector<std::string> reasons;      // by rank: why not
  std::vector<Rank> peers;
};

std::vector<std::string> wanted_names(const std::string& list) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

Expected<std::vector<Candidate>> candidates(const CommunicatorOptions& options) {
  std::vector<Candidate> all(2);
  all[0].factory = make_shm_transport({});
  all[1].factory = make_tcp_transport({.interface = options.interface,
                                       .port_min = options.port_min,
                                       .port_max = options.port_max,
                                       .streams = options.tcp_streams,
                                       .credit_bytes = std::size_t{options.tcp_credit_kb} << 10,
                                       .fragment_bytes = std::size_t{options.tcp_fragment_kb} << 10});
  const std::vector<std::string> names = wanted_names(options.transport);
  for (const std::string& name : names)
    if (std::none_of(all.begin(), all.end(), [&](const Candidate& c) { return c.factory->name() == name; }))
      return Status(
          ErrorCode::invalid_argument,
          fmt::format("transport: '{}' does not exist; choose from shm, tcp (or a list, 'shm,tcp')", name));
  if (!names.empty())
    std::erase_if(all, [&](const Candidate& c) {
      return std::find(names.begin(), names.end(), c.factory->name()) == names.end();
    });
  return all;
}

// '+' and the descriptor, or '-' and why there is none.
Status exchange_descriptors(Exchange& exchange, Candidate& candidate) {
  auto mine = candidate.factory->descriptor();
  if (!mine) log::info("{} is not usable here: {}", candidate.factory->name(), mine.status().message());
  const auto all = exchange.all_gather(mine ? "+" + *mine : "-" + std::string(mine.status().message()));
  if (!all) return all.status();
  for (const std::string& one : *all) {
    const bool has = one.starts_with('+');
    candidate.descriptors.push_back(has ? one.substr(1) : std::string());
    candidate.reasons.push_back(has || one.empty() ? std::string() : one.substr(1));
  }
  return {};
}

bool reaches(const Candidate& c, Rank a, Rank b) {
  const std::string &mine = c.descriptors[static_cast<std::size_t>(a)],
                    &theirs = c.descriptors[static_cast<std::size_t>(b)];
  return !mine.empty() && !theirs.empty() && c.factory->reaches(mine, theirs);
}

std::string why_not(const Candidate& c, Rank a, Rank b) {
  for (const Rank r : {a, b})
    if (c.descriptors[static_cast<std::size_t>(r)].empty())
      return fmt::format("{} is not usable on rank {}: {}", c.factory->name(), r,
                         c.reasons[static_cast<std::size_t>(r)]);
  return fmt::format("{}: {}", c.factory->name(),
                     c.factory->why_unreachable(c.descriptors[static_cast<std::size_t>(a)],
                                                c.descriptors[static_cast<std::size_t>(b)]));
}

// Every rank looks at every pair, so that all find the same error.
Status assign(std::vector<Candidate>& all, Rank me, int size) {
  for (Rank a = 0; a < size; ++a)
    for (Rank b = a + 1; b < size; ++b) {
      const auto first =
          std::find_if(all.begin(), all.end(), [&](const Candidate& c) { return reaches(c, a, b); });
      if (first == all.end()) {
        std::string text = fmt::format("no transport between rank {} and rank {}", a, b);
        for (const Candidate& c : all) text += "; " + why_not(c, a, b);
        return {ErrorCode::unavailable, text};
      }
      if (a == me) first->peers.push_back(b);
      if (b == me) first->peers.push_back(a);
    }
  return {};
}

// All ranks learn whether all have connected; the lowest rank's trouble is everybody's.
Status agree(Exchange& exchange, const Status& mine) {
  const auto all = exchange.all_gather(mine.ok() ? std::string() : std::string(mine.message()));
  if (!all) return mine.ok() ? all.status() : mine;
  for (std::size_t r = 0; r < all->size(); ++r)
    if (!(*all)[r].empty())
      return {mine.ok() ? ErrorCode::unavailable : mine.code(),
              fmt::format("rank {} could not connect: {}", r, (*all)[r])};
  return {};
}

}  // namespace

Expected<std::unique_ptr<Router>> connect_all(Exchange& exchange, const CommunicatorOptions& options,
                                              Listener& listener) {
  auto all = candidates(options);
  if (!all) return all.status();
  for (Candidate& c : *all)
    if (Status s = exchange_descriptors(exchange, c); !s.ok()) return s;
  if (Status s = assign(*all, exchange.rank(), exchange.size()); !s.ok()) return s;

  std::vector<std::unique_ptr<Transport>> transports;
  std::vector<std::uint8_t> route(static_cast<std::size_t>(exchange.size()), kNoRoute);
  Status trouble;
  for (Candidate& c : *all) {
    if (c.peers.empty() || !trouble.ok()) continue;
    auto transport = c.factory->connect(exchange, c.descriptors, c.peers, listener);
    if (!transport) {
      trouble = transport.status();
      continue;
    }
    for (const Rank peer : c.peers) {
      route[static_cast<std::size_t>(peer)] = static_cast<std::uint8_t>(transports.size());
      log::debug("rank {} is reached by {}", peer, c.factory->name());
    }
    transports.push_back(*std::move(transport));
  }
  if (Status s = agree(exchange, trouble); !s.ok()) return s;
  route[static_cast<std::size_t>(exchange.rank())] = static_cast<std::uint8_t>(transports.size());
  transports.push_back(make_self_transport());
  return std::make_unique<Router>(std::move(transports), std::move(route));
}

}  // namespace strata

#include "ccl/transport/shm/shm_pipes.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>

#include "ccl/base/check.hpp"
#include "ccl/base/errno_status.hpp"
#include "ccl/base/host.hpp"
#include "ccl/shm/memory_file.hpp"
#include "ccl/transport/fd_limit.hpp"
#include "ccl/transport/shm/meeting.hpp"
#include "ccl/transport/shm/segment.hpp"
#include "ccl/transport/shm/shm_descriptor.hpp"
#include "ccl/transport/shm/shm_pipe_set.hpp"

namespace strata::shm {
namespace {

Expected<Fd> make_doorbell() {
  Fd doorbell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!doorbell.valid()) return errno_status("eventfd", "the doorbell of shared memory");
  return doorbell;
}

// Containers may refuse any of these; better to know before others count on them.
Status try_all() {
  const Expected<Fd> file = make_memory_file(kPageBytes);
  if (!file) return file.status();
  const Expected<Fd> doorbell = make_doorbell();
  if (!doorbell) return doorbell.status();
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return errno_status("socketpair", "AF_UNIX, SOCK_SEQPACKET");
  const Fd here(ends[0]), there(ends[1]);
  std::byte record{};
  const int fds[kPassedFds] = {file->get(), doorbell->get()};
  if (Status sent = send_record(here, {&record, 1}, fds); !sent.ok()) return sent;
  PassedFds passed;
  return receive_record(there, {&record, 1}, &passed);
}

}  // namespace

Expected<std::string> ShmPipes::descriptor() {
  if (const SegmentLayout layout{1, options_.ring_bytes}; !layout.valid())
    return Status(ErrorCode::invalid_argument,
                  fmt::format("ring_bytes of shared memory is {}; give a power of two from {} to {}",
                              options_.ring_bytes, kRingBytesMin, kRingBytesMax));
  if (Status status = try_all(); !status.ok()) return status;
  Expected<LocalListener> listener = listen_locally();
  if (!listener) return listener.status();
  listener_ = std::move(*listener);
  return to_text({this_host().id, current_user(), listener_.name});
}

Expected<std::unique_ptr<PipeSet>> ShmPipes::connect(Exchange& exchange,
                                                     std::span<const std::string> descriptors,
                                                     std::span<const Rank> peers) {
  STRATA_CHECK(listener_.socket.valid(), "descriptor() comes first");
  STRATA_CHECK(peers.size() <= kRingsMax, peers.size());
  std::vector<std::string> names;
  for (const Rank peer : peers) {
    STRATA_CHECK(peer != exchange.rank(), peer);
    Expected<ShmDescriptor> theirs = parse_shm_descriptor(descriptors[static_cast<std::size_t>(peer)]);
    if (!theirs)
      return Status(theirs.status().code(), fmt::format("rank {}: {}", peer, theirs.status().message()));
    names.push_back(std::move(theirs->socket));
  }
  const auto rings = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(peers.size()));
  Expected<Segment> segment = Segment::create({rings, options_.ring_bytes});
  if (!segment) return segment.status();
  Expected<Fd> doorbell = make_doorbell();
  if (!doorbell) return doorbell.status();
  Expected<std::vector<Neighbour>> neighbours =
      meet(exchange, {listener_.socket, *segment, *doorbell}, peers, names);
  if (!neighbours) return neighbours.status();
  listener_ = {};
  return ShmPipeSet::create(std::move(*segment), std::move(*doorbell), std::move(*neighbours));
}

}  // namespace strata::shm

// Gloo's collectives over its TCP transport, measured. One process a rank:
//   gloo_bench --rank R --ranks N --store EMPTY_FOLDER --collective all_reduce --sizes 8,1024
//              [--algorithm ring|bcube|ring-chunked|halving-doubling] [--sync 1] [--interface lo]
// ring and bcube are what gloo::allreduce() offers; ring-chunked and halving-doubling are the older classes,
// all in place. --sync 1: these do their I/O in the calling thread and poll, which is Gloo's lowest latency.
#include <gloo/algorithm.h>
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>

#include <chrono>
#include <functional>

#include "bench/compare/measure.hpp"
#include "bench/compare/memory.hpp"

namespace strata::compare {
namespace {

constexpr std::chrono::seconds kTimeout{200};

// How a rank meets the others.
struct Place {
  int rank, ranks;
  std::string folder, interface;
};

std::shared_ptr<gloo::Context> connect(const Place& place, const char* name) {
  gloo::transport::tcp::attr where;
  where.iface = place.interface;
  where.ai_family = AF_INET;
  gloo::rendezvous::FileStore files(place.folder);
  gloo::rendezvous::PrefixStore store(name, files);
  auto context = std::make_shared<gloo::rendezvous::Context>(place.rank, place.ranks);
  context->setTimeout(kTimeout);
  auto device = gloo::transport::tcp::CreateDevice(where);
  context->connectFullMesh(store, device);
  return context;
}

void sum(void* result, const void* a, const void* b, std::size_t count) {
  gloo::sum<float>(result, a, b, count);
}

void larger(void* result, const void* a, const void* b, std::size_t count) {
  gloo::max<double>(result, a, b, count);
}

class Gloo final {
 public:
  Gloo(const Place& place, const std::string& algorithm, bool sync)
      : control_(connect(place, "control")), data_(connect(place, "data")), algorithm_(algorithm) {
    for (int peer = 0; sync && peer < place.ranks; ++peer)
      if (peer != place.rank) data_->getPair(peer)->setSync(true, true);
  }
  Gloo(const Gloo&) = delete;
  Gloo& operator=(const Gloo&) = delete;

  int rank() const { return control_->rank; }
  int size() const { return control_->size; }

  void barrier() {
    gloo::BarrierOptions options(control_);
    options.setTag(1);
    gloo::barrier(options);
  }

  void slowest(std::span<double> numbers) {
    gloo::AllreduceOptions options(control_);
    options.setTag(2);
    options.setOutput(numbers.data(), numbers.size());
    options.setReduceFunction(larger);
    gloo::allreduce(options);
  }

  std::optional<Buffers> prepare(Collective collective, std::uint64_t bytes) {
    const Buffers counts = counts_of(collective, bytes, size());
    const std::uint64_t larger_count = std::max(counts.in_count, counts.out_count);
    run_ = nullptr;  // before the memory that it uses
    in_ = map_memory(larger_count, MAP_PRIVATE);
    out_ = map_memory(larger_count, MAP_PRIVATE);
    Buffers buffers = counts;
    buffers.in = in_.get(), buffers.out = out_.get();
    const bool in_place = make(collective, buffers);
    if (!run_) return std::nullopt;
    if (in_place) buffers.in = buffers.out;
    return buffers;
  }

  void call(int root) { run_(root); }

 private:
  // Makes run_; leaves it empty if there is no such collective. Tells whether it is in place, on the output.
  bool make(Collective collective, const Buffers& b) {
    switch (collective) {
      case Collective::all_reduce: return make_all_reduce(b);
      case Collective::reduce_scatter: return make_reduce_scatter(b);
      case Collective::all_gather: return make_all_gather(b), false;
      case Collective::broadcast: return make_broadcast(b), true;
      case Collective::reduce: return make_reduce(b), false;
      case Collective::all_to_all: return make_all_to_all(b), false;
      case Collective::barrier: return make_barrier(), false;
      case Collective::ping_pong:
      case Collective::send: break;
    }
    return false;
  }

  void keep(std::shared_ptr<gloo::Algorithm> algorithm) {
    run_ = [algorithm](int) { algorithm->run(); };
  }

  bool make_all_reduce(const Buffers& b) {
    const std::vector<float*> pointers = {b.out};
    const int count = static_cast<int>(b.out_count);
    if (algorithm_ == "halving-doubling") {
      keep(std::make_shared<gloo::AllreduceHalvingDoubling<float>>(data_, pointers, count));
      return true;
    }
    if (algorithm_ == "ring-chunked") {
      keep(std::make_shared<gloo::AllreduceRingChunked<float>>(data_, pointers, count));
      return true;
    }
    using Algorithm = gloo::AllreduceOptions::Algorithm;
    auto options = std::make_shared<gloo::AllreduceOptions>(data_);
    options->setAlgorithm(algorithm_ == "bcube" ? Algorithm::BCUBE : Algorithm::RING);
    options->setInput(b.in, b.in_count);
    options->setOutput(b.out, b.out_count);
    options->setReduceFunction(sum);
    run_ = [options](int) { gloo::allreduce(*options); };
    return false;
  }

  bool make_reduce_scatter(const Buffers& b) {
    const std::vector<int> parts(static_cast<std::size_t>(size()), static_cast<int>(b.out_count));
    keep(std::make_shared<gloo::ReduceScatterHalvingDoubling<float>>(data_, std::vector<float*>{b.out},
                                                                     static_cast<int>(b.in_count), parts));
    return true;
  }

  void make_all_gather(const Buffers& b) {
    auto options = std::make_shared<gloo::AllgatherOptions>(data_);
    options->setInput(b.in, b.in_count);
    options->setOutput(b.out, b.out_count);
    run_ = [options](int) { gloo::allgather(*options); };
  }

  void make_broadcast(const Buffers& b) {
    auto options = std::make_shared<gloo::BroadcastOptions>(data_);
    options->setOutput(b.out, b.out_count);
    run_ = [options](int root) {
      options->setRoot(root);
      gloo::broadcast(*options);
    };
  }

  void make_reduce(const Buffers& b) {
    auto options = std::make_shared<gloo::ReduceOptions>(data_);
    options->setInput(b.in, b.in_count);
    options->setOutput(b.out, b.out_count);
    options->setReduceFunction(sum);
    run_ = [options](int root) {
      options->setRoot(root);
      gloo::reduce(*options);
    };
  }

  void make_all_to_all(const Buffers& b) {
    auto options = std::make_shared<gloo::AlltoallOptions>(data_);
    options->setInput(b.in, b.in_count);
    options->setOutput(b.out, b.out_count);
    run_ = [options](int) { gloo::alltoall(*options); };
  }

  void make_barrier() {
    auto options = std::make_shared<gloo::BarrierOptions>(data_);
    run_ = [options](int) { gloo::barrier(*options); };
  }

  std::shared_ptr<gloo::Context> control_, data_;  // what is measured has connections of its own
  std::string algorithm_;
  Memory in_, out_;
  std::function<void(int root)> run_;
};

}  // namespace
}  // namespace strata::compare

int main(int argc, char** argv) {
  using namespace strata::compare;
  const Arguments a =
      parse_arguments(argc, argv, {"--rank", "--ranks", "--store", "--algorithm", "--sync", "--interface"});
  const Place place{std::stoi(a.own_or("--rank", "0")), std::stoi(a.own_or("--ranks", "1")),
                    a.own_or("--store", "."), a.own_or("--interface", "lo")};
  Gloo gloo(place, a.own_or("--algorithm", "ring"), a.own_or("--sync", "0") == "1");
  const int status = measure_all(gloo, a, "");
  gloo.barrier();
  return status;
}

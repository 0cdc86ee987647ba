#include "ccl/runtime/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ccl/base/log.hpp"
#include "ccl/base/nearest.hpp"
#include "ccl/bootstrap/rendezvous_address.hpp"
#include "ccl/runtime/metrics_server.hpp"
#include "ccl/transport/factories.hpp"

namespace strata {
namespace {

constexpr std::size_t kSecretBytesMax = 4096;
constexpr std::size_t kLevelsBytesMax = 1 << 20;
constexpr std::uint32_t kTraceMbMax = 65'536;
constexpr std::uint32_t kSpinUsMax = 1'000'000;
constexpr std::uint32_t kCreditKbMin = 16, kCreditKbMax = 64 << 10, kFragmentKbMax = 1024;
constexpr std::array<std::string_view, 2> kTransports = {"shm", "tcp"};
constexpr std::array<std::string_view, 3> kCalibrations = {"auto", "always", "off"};

template <class... A>
Status invalid(fmt::format_string<A...> format, A&&... a) {
  return {ErrorCode::invalid_argument, fmt::format(format, std::forward<A>(a)...)};
}

Status validate_transport(std::string_view list) {
  for (std::string_view rest = list; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view name = rest.substr(0, comma);
    if (std::find(kTransports.begin(), kTransports.end(), name) == kTransports.end())
      return invalid("transport is \"{}\": there is no transport \"{}\"; did you mean {}? There are: {}",
                     list, name, nearest(name, kTransports), fmt::join(kTransports, ", "));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return {};
}

// How the usual launchers tell a process its place. The first whose rank is set is believed, and only that
// one: mpirun inside a Slurm allocation leaves Slurm's variables of another step in place.
struct Launcher {
  std::string_view rank, size, local_rank;
};
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
};

Status read_place(const Environment& environment, CommunicatorOptions& options) {
  for (const Launcher& launcher : kLaunchers) {
    if (!environment.has(launcher.rank)) continue;
    if (Status s = environment.read(launcher.rank, options.rank); !s.ok()) return s;
    if (Status s = environment.read(launcher.size, options.size); !s.ok()) return s;
    if (Status s = environment.read(launcher.local_rank, options.local_rank); !s.ok()) return s;
    if (options.size < 0)
      return invalid("the environment variable {} is {}, but {} is not set; set it to the number of ranks",
                     launcher.rank, options.rank, launcher.size);
    if (options.rank >= options.size)
      return invalid("the environment variable {} is {}, but {} is {}; ranks go from 0 to {}", launcher.rank,
                     options.rank, launcher.size, options.size, options.size - 1);
    return {};
  }
  return invalid(
      "the environment variable RANK is not set, so this process does not know its place; start it with "
      "strata-run -n RANKS -- PROGRAM, or with torchrun, mpirun or srun, or set RANK, WORLD_SIZE and "
      "STRATA_RENDEZVOUS");
}

Status read_rendezvous(const Environment& environment, CommunicatorOptions& options) {
  if (environment.has("STRATA_RENDEZVOUS")) {
    options.rendezvous = environment.text("STRATA_RENDEZVOUS");
    const auto address = parse_rendezvous(options.rendezvous);
    if (!address)
      return invalid("the environment variable STRATA_RENDEZVOUS: {}", address.status().message());
    return {};
  }
  int port = 0;
  if (Status s = environment.read("MASTER_PORT", port); !s.ok()) return s;
  const std::string_view host = environment.text("MASTER_ADDR");
  if (options.size == 1) return {};
  if (host.empty() || port == 0)
    return invalid(
        "there are {} ranks, but neither STRATA_RENDEZVOUS nor both of MASTER_ADDR and MASTER_PORT say where "
        "they meet "
        "(MASTER_ADDR is \"{}\", MASTER_PORT is \"{}\"); set STRATA_RENDEZVOUS=HOST:PORT on all ranks, with "
        "rank 0's "
        "host and a free port there",
        options.size, host, environment.text("MASTER_PORT"));
  // torchrun listens on MASTER_PORT for its own store.
  if (environment.text("TORCHELASTIC_USE_AGENT_STORE") == "True") port += port == 65'535 ? -1 : 1;
  options.rendezvous = join_host_port(host, static_cast<std::uint16_t>(port));
  const auto address = parse_rendezvous(options.rendezvous);
  if (!address)
    return invalid("the environment variables MASTER_ADDR and MASTER_PORT: {}", address.status().message());
  return {};
}

Status read_settings(const Environment& environment, CommunicatorOptions& options) {
  options.secret = environment.text("STRATA_SECRET");
  options.interface = environment.text("STRATA_INTERFACE");
  options.algorithm = environment.text("STRATA_ALGORITHM");
  options.transport = environment.text("STRATA_TRANSPORT");
  options.topology = environment.text("STRATA_TOPOLOGY");
  options.levels = environment.text("STRATA_LEVELS");
  options.metrics = environment.text("STRATA_METRICS");
  options.trace = environment.text("STRATA_TRACE");
  if (Status s = environment.read("STRATA_TRACE_MB", options.trace_mb); !s.ok()) return s;
  if (Status s = environment.read("STRATA_CALIBRATE", options.calibrate); !s.ok()) return s;
  if (Status s = validate_transport(options.transport); !s.ok())
    return invalid("the environment variable STRATA_TRANSPORT: {}", s.message());
  if (Status s = environment.read_port_range("STRATA_PORT_RANGE", options.port_min, options.port_max);
      !s.ok())
    return s;
  if (Status s = environment.read("STRATA_TCP_STREAMS", options.tcp_streams); !s.ok()) return s;
  if (Status s = environment.read("STRATA_TCP_CREDIT_KB", options.tcp_credit_kb); !s.ok()) return s;
  if (Status s = environment.read("STRATA_TCP_FRAGMENT_KB", options.tcp_fragment_kb); !s.ok()) return s;
  if (Status s = environment.read("STRATA_TIMEOUT_MS", options.timeout_ms); !s.ok()) return s;
  if (Status s = environment.read("STRATA_RENDEZVOUS_TIMEOUT_MS", options.rendezvous_timeout_ms); !s.ok())
    return s;
  if (Status s = environment.read("STRATA_SPIN_US", options.spin_us); !s.ok()) return s;
  if (Status s = environment.read("STRATA_MEMORY_MB", options.memory_mb); !s.ok()) return s;
  if (Status s = environment.read("STRATA_SINGLE_COPY", options.single_copy); !s.ok()) return s;
  return environment.read("STRATA_PROGRESS_THREAD", options.progress_thread);
}

}  // namespace

Status validate(const CommunicatorOptions& o) {
  if (o.size < 1 || o.size > kRanksMax)
    return invalid("size is {}; it must be from 1 to {}", o.size, kRanksMax);
  if (o.rank < 0 || o.rank >= o.size)
    return invalid("rank is {} and size is {}; rank must be from 0 to {}", o.rank, o.size, o.size - 1);
  if (o.local_rank < -1 || o.local_rank >= o.size)
    return invalid(
        "local_rank is {} and size is {}; local_rank must be from 0 to {}, or -1 if it is not known",
        o.local_rank, o.size, o.size - 1);
  if (o.size > 1 || !o.rendezvous.empty())
    if (const auto address = parse_rendezvous(o.rendezvous); !address) return address.status();
  if (o.secret.size() > kSecretBytesMax)
    return invalid("secret has {} bytes; it may have at most {}", o.secret.size(), kSecretBytesMax);
  if (Status s = validate_transport(o.transport); !s.ok()) return s;
  if (o.levels.size() > kLevelsBytesMax)
    return invalid("levels has {} bytes; it may have at most {}", o.levels.size(), kLevelsBytesMax);
  if (!o.calibrate.empty() &&
      std::find(kCalibrations.begin(), kCalibrations.end(), o.calibrate) == kCalibrations.end())
    return invalid("calibrate is \"{}\"; it must be one of {}", o.calibrate, fmt::join(kCalibrations, ", "));
  if (o.port_min > o.port_max || (o.port_min == 0) != (o.port_max == 0))
    return invalid(
        "port_min is {} and port_max is {}; give 1 <= port_min <= port_max, or 0 and 0 for any port",
        o.port_min, o.port_max);
  if (o.tcp_streams < 1 || o.tcp_streams > kStreamsMax)
    return invalid("tcp_streams is {}; it must be from 1 to {}", o.tcp_streams, kStreamsMax);
  if (o.tcp_credit_kb != 0 && (o.tcp_credit_kb < kCreditKbMin || o.tcp_credit_kb > kCreditKbMax))
    return invalid("tcp_credit_kb is {}; it must be from {} to {}, or 0: tuned", o.tcp_credit_kb,
                   kCreditKbMin, kCreditKbMax);
  if (o.tcp_fragment_kb > kFragmentKbMax)
    return invalid("tcp_fragment_kb is {}; it may be at most {}; 0: tuned", o.tcp_fragment_kb,
                   kFragmentKbMax);
  if (o.rendezvous_timeout_ms == 0)
    return invalid("rendezvous_timeout_ms is 0; ranks need some time to meet, for example 60000");
  if (!o.metrics.empty())
    if (const auto address = parse_metrics_address(o.metrics); !address) return address.status();
  if (o.trace.find('\n') != std::string::npos)
    return invalid("trace is \"{}\"; it must be one line", o.trace);
  if (o.trace_mb < 1 || o.trace_mb > kTraceMbMax)
    return invalid("trace_mb is {}; it must be from 1 to {}", o.trace_mb, kTraceMbMax);
  if (o.spin_us > kSpinUsMax) return invalid("spin_us is {}; it may be at most {}", o.spin_us, kSpinUsMax);
  return {};
}

Expected<CommunicatorOptions> options_from(const Environment& environment) {
  CommunicatorOptions options;
  if (Status s = environment.check_names(); !s.ok()) return s;
  if (Status s = read_place(environment, options); !s.ok()) return s;
  if (Status s = read_rendezvous(environment, options); !s.ok()) return s;
  if (Status s = read_settings(environment, options); !s.ok()) return s;
  if (Status s = validate(options); !s.ok()) return s;
  return options;
}

Status configure_log(const Environment& environment) {
  static constexpr std::string_view kNames[] = {"trace", "debug", "info", "warn", "error", "off"};
  std::string name;
  if (Status s = environment.read("STRATA_LOG", name); !s.ok()) return s;
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i]) log::set_level(static_cast<log::Level>(i));
  return {};
}

Expected<CommunicatorOptions> CommunicatorOptions::from_environment() {
  const Environment environment = Environment::of_process();
  if (Status s = configure_log(environment); !s.ok()) return s;
  return options_from(environment);
}

bool CommunicatorOptions::launched() {
  const Environment environment = Environment::of_process();
  return std::any_of(std::begin(kLaunchers), std::end(kLaunchers),
                     [&](const Launcher& launcher) { return environment.has(launcher.rank); });
}

}  // namespace strata

#include "ccl/topology/nccl_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <pugixml.hpp>

#include "ccl/topology/cpu_list.hpp"
#include "ccl/topology/nvlink.hpp"
#include "ccl/topology/pcie.hpp"

namespace strata::topology {
namespace {

constexpr int kDepthMax = 32;  // of switches below switches
constexpr int kLanesMax = 64;  // of one GPU to one other
constexpr int kMegabitsMax = 100'000'000;

// Decimal, or hexadecimal after 0x; the whole text.
std::optional<long> integer(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "00000000,0000ffff": words of 32 bits, the highest first. nullopt: it is no such mask.
std::optional<std::vector<int>> cpus_of_mask(std::string_view mask) {
  std::vector<int> cpus;
  for (int base = 0;; base += 32) {
    const std::size_t comma = mask.rfind(',');
    std::string_view word = comma == mask.npos ? mask : mask.substr(comma + 1);
    if (word.starts_with("0x")) word.remove_prefix(2);
    std::uint32_t bits = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bits, 16);
    if (error != std::errc() || end != word.data() + word.size() || base >= kCpusMax) return std::nullopt;
    for (int bit = 0; bit < 32; ++bit)
      if ((bits >> bit & 1) != 0) cpus.push_back(base + bit);
    if (comma == mask.npos) return cpus;
    mask = mask.substr(0, comma);
  }
}

// What the file says of a place in the tree, for all below it.
struct Above {
  int numa = kNone, pcie_switch = kNone;
  std::string address;  // of the device, for what it contains
  BitsPerSecond pcie_rate = 0;
  int depth = 0;
};

class Reader final {
 public:
  Reader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  Expected<Machine> run() {
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(text_.data(), text_.size());
    if (!parsed)
      return wrong(parsed.offset,
                   fmt::format("this is no XML: {}; write the file anew", parsed.description()));
    const pugi::xml_node system = document.document_element();
    if (std::string_view(system.name()) != "system")
      return wrong(
          system, "",
          fmt::format("the first element is <{}>; NCCL's topology begins with <system>", system.name()));
    if (const std::string_view version = system.attribute("version").value(); version != "1")
      return wrong(system, "version", "only version 1 of the format is known");
    for (const pugi::xml_node cpu : system.children("cpu"))
      if (Status s = read_cpu(cpu); !s.ok()) return s;
    add_cores();
    add_nvlinks(lanes_, machine_);
    keep_joining_switches(machine_);
    return std::move(machine_);
  }

 private:
  Status wrong(std::ptrdiff_t offset, const std::string& what) const {
    const auto end = text_.begin() + std::clamp<std::ptrdiff_t>(offset, 0, std::ssize(text_));
    return {ErrorCode::invalid_argument,
            fmt::format("{}:{}: {}", path_, 1 + std::count(text_.begin(), end, '\n'), what)};
  }
  Status wrong(pugi::xml_node node, const char* attribute, const std::string& what) const {
    if (*attribute == '\0') return wrong(node.offset_debug(), what);
    return wrong(node.offset_debug(), fmt::format("{}=\"{}\" of <{}>: {}", attribute,
                                                  node.attribute(attribute).value(), node.name(), what));
  }

  // A whole number in the range; what there is instead if the attribute is missing or empty.
  Status read(pugi::xml_node node, const char* attribute, long min, long max, long otherwise,
              long& value) const {
    value = otherwise;
    const std::string_view given = node.attribute(attribute).value();
    if (given.empty()) return {};
    const auto read = integer(given);
    if (!read || *read < min || *read > max)
      return wrong(node, attribute, fmt::format("must be a whole number from {} to {}", min, max));
    value = *read;
    return {};
  }

  bool is_gpu(const std::string& address) const {
    return std::any_of(machine_.gpus.begin(), machine_.gpus.end(),
                       [&](const Gpu& gpu) { return gpu.address == address; });
  }

  bool is_switch_at(const std::string& address) const {
    return std::any_of(machine_.pcie_switches.begin(), machine_.pcie_switches.end(),
                       [&](const PcieSwitch& other) { return other.address == address; });
  }

  Status read_cpu(pugi::xml_node cpu) {
    long number = kNone;
    if (Status s = read(cpu, "numaid", kNone, kCpusMax, kNone, number); !s.ok()) return s;
    const int numa = static_cast<int>(machine_.numa_nodes.size());
    machine_.numa_nodes.push_back({static_cast<int>(number), 0});
    if (const std::string_view mask = cpu.attribute("affinity").value(); !mask.empty()) {
      const auto cpus = cpus_of_mask(mask);
      if (!cpus) return wrong(cpu, "affinity", "must be a mask of CPUs as in 00000000,0000ffff");
      for (const int c : *cpus) {
        const auto [claim, first] = numa_of_cpu_.try_emplace(c, numa);
        if (!first) claim->second = kNone;
      }
    }
    return read_children(cpu, {numa, kNone, "", 0, 0});
  }

  void add_cores() {
    for (const auto& [cpu, numa] : numa_of_cpu_) machine_.cores.push_back({kNone, numa, kNone, {cpu}});
  }

  Status read_children(pugi::xml_node node, const Above& above) {
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      Status s;
      if (name == "pci") s = read_pci(child, above);
      if (name == "gpu") s = read_gpu(child, above);
      if (name == "nic") s = read_children(child, above);
      if (name == "net") s = read_net(child, above);
      if (!s.ok()) return s;
    }
    return {};
  }

  static BitsPerSecond rate_of(pugi::xml_node pci) {
    const std::string_view speed =
        pci.attribute("link_speed").value();  // "16 GT/s", "32.0 GT/s PCIe", "Unknown", ""
    double gigatransfers = 0;
    const auto [end, error] = std::from_chars(speed.data(), speed.data() + speed.size(), gigatransfers);
    if (error != std::errc() ||
        !speed.substr(static_cast<std::size_t>(end - speed.data())).starts_with(" GT/s"))
      return 0;
    return pcie_rate(gigatransfers, pci.attribute("link_width").as_int());
  }

  Status read_pci(pugi::xml_node pci, Above above) {
    const auto address = pcie_address(pci.attribute("busid").value());
    if (!address) return wrong(pci, "busid", "must be a PCIe address as in 0000:07:00.0");
    if (++above.depth > kDepthMax)
      return wrong(pci, "busid",
                   fmt::format("switches are nested more than {} deep; flatten them", kDepthMax));
    above.address = *address;
    above.pcie_rate = rate_of(pci);
    const std::string_view kind = std::string_view(pci.attribute("class").value()).substr(0, 6);
    const bool is_switch = kind == "0x0604";
    if (is_switch) {
      if (is_switch_at(*address))
        return wrong(pci, "busid", "there are two switches at this address; give one its own");
      machine_.pcie_switches.push_back({*address, above.numa, above.pcie_switch, above.pcie_rate});
      above.pcie_switch = static_cast<int>(machine_.pcie_switches.size()) - 1;
    }
    // Files for virtual machines name devices, and leave it to NCCL to find what they are.
    if (!pci.first_child() && (kind == "0x0302" || kind == "0x0300")) return read_gpu(pci, above);
    if (!pci.first_child() && (kind == "0x0200" || kind == "0x0207")) return read_net(pci, above);
    return read_children(pci, above);
  }

  Status read_gpu(pugi::xml_node gpu, const Above& above) {
    long capability = 0;
    if (Status s = read(gpu, "sm", 0, 1000, 0, capability); !s.ok()) return s;
    if (above.address.empty())
      return wrong(gpu, "", "<gpu> is in no <pci>; put it into the one that has its address");
    if (is_gpu(above.address))
      return wrong(gpu, "", fmt::format("there are two GPUs at {}; leave one out", above.address));
    const int index = static_cast<int>(machine_.gpus.size());
    machine_.gpus.push_back({above.address, "", above.numa, above.pcie_switch, above.pcie_rate});
    for (const pugi::xml_node link : gpu.children("nvlink")) {
      long lanes = 1;
      if (Status s = read(link, "count", 1, kLanesMax, 1, lanes); !s.ok()) return s;
      const std::string_view target = link.attribute("target").value();
      if (target.empty()) return wrong(link, "target", "must be the PCIe address of a GPU or of a switch");
      const bool to_switch = std::string_view(link.attribute("tclass").value()).starts_with("0x0680");
      lanes_.push_back({index, pcie_address(target).value_or(""), static_cast<int>(lanes),
                        static_cast<int>(capability), to_switch});
    }
    return {};
  }

  Status read_net(pugi::xml_node net, const Above& above) {
    long megabits = 0;
    if (Status s = read(net, "speed", 0, kMegabitsMax, 0, megabits); !s.ok()) return s;
    Nic nic{net.attribute("name").value(),
            "",
            above.address,
            static_cast<BitsPerSecond>(megabits) * 1'000'000,
            above.numa,
            above.pcie_switch,
            kNone,
            above.pcie_rate};
    if (nic.name.empty()) nic.name = above.address;
    if (nic.name.empty()) return wrong(net, "name", "a network card needs a name or a <pci> around it");
    machine_.nics.push_back(std::move(nic));
    return {};
  }

  const std::string_view text_;
  const std::string& path_;
  Machine machine_;
  std::map<int, int> numa_of_cpu_;  // kNone: several claim it
  std::vector<NvLanes> lanes_;
};

}  // namespace

Expected<Machine> parse_nccl_xml(std::string_view text, const std::string& path) {
  return Reader(text, path).run();
}

}  // namespace strata::topology

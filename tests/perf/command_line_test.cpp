// The command line: sizes, names, and what is said about what cannot be.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tools/strata_perf/byte_size.hpp"
#include "tools/strata_perf/options.hpp"

namespace strata::perf {
namespace {

ParsedCommandLine parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "strata-perf");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

bool mentions(const ParsedCommandLine& parsed, const std::string& text) {
  return parsed.message.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("sizes") {
  CHECK(parse_byte_size("0") == 0u);
  CHECK(parse_byte_size("64") == 64u);
  CHECK(parse_byte_size("1K") == 1024u);
  CHECK(parse_byte_size("1.5k") == 1536u);
  CHECK(parse_byte_size("32M") == 32u << 20);
  CHECK(parse_byte_size("0.5G") == 512u << 20);
  CHECK(parse_byte_size("2GB") == 2ull << 30);
  CHECK(parse_byte_size("1T") == 1ull << 40);
  for (const char* bad :
       {"", "K", "-1", "1Q", "1 K", "1KK", "nan", "inf", "0x10", "1e30T", "9999999T", "1,5M"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_byte_size(bad));
  }
  for (std::uint64_t bytes : {0ull, 1ull, 1023ull, 1024ull, 1536ull, 32ull << 20, 3ull << 40}) {
    CAPTURE(bytes);
    CHECK(parse_byte_size(format_byte_size(bytes)) == bytes);
  }
}

TEST_CASE("defaults are nccl-tests', and one bound moves the other") {
  const Options o = parse({"all_reduce"}).options;
  CHECK(sizes_of(o) == std::vector<std::uint64_t>{32 << 20});
  CHECK((o.iterations == 20 && o.warmups == 1 && o.calls_per_iteration == 1 && o.checks == 1 && o.root == 0));
  CHECK(sizes_of(parse({"all_reduce", "-e", "8"}).options) == std::vector<std::uint64_t>{8});
  CHECK(sizes_of(parse({"all_reduce", "-b", "64M"}).options) == std::vector<std::uint64_t>{64 << 20});
}

TEST_CASE("sweeps") {
  CHECK(sizes_of(parse({"all_reduce", "-b", "8", "-e", "64", "-f", "2"}).options) ==
        std::vector<std::uint64_t>{8, 16, 32, 64});
  CHECK(sizes_of(parse({"all_reduce", "-b", "0", "-e", "20", "-i", "8"}).options) ==
        std::vector<std::uint64_t>{0, 8, 16});
  CHECK(sizes_of(parse({"all_reduce", "-b", "0", "-e", "4", "-f", "1.5"}).options) ==
        std::vector<std::uint64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("a list of sizes") {
  const Options o = parse({"all_reduce", "--sizes", "64K,8,1K"}).options;
  CHECK(sizes_of(o) == std::vector<std::uint64_t>{64 << 10, 8, 1 << 10});
  CHECK(o.bytes_max == 64 << 10);
}

TEST_CASE("samples and memory") {
  const Options o = parse({"all_reduce", "--sampled", "0.25", "--untouched", "--memory", "shared"}).options;
  CHECK((o.sampled_s == 0.25 && !o.touched && o.shared_memory));
  CHECK_FALSE(parse({"all_reduce", "--memory", "private"}).options.shared_memory);
}

TEST_CASE("explanations") {
  const Options one = parse({"all_reduce", "--explain", "--algorithm", "ring"}).options;
  CHECK((one.explain && !one.all_algorithms && one.algorithm == "ring"));
  const Options all = parse({"all_reduce", "--algorithm", "all"}).options;
  CHECK((all.explain && all.all_algorithms && all.algorithm.empty()));
  CHECK_FALSE(parse({"all_reduce"}).options.explain);
}

TEST_CASE("types and operations go by nccl-tests' names and by ours") {
  CHECK(parse({"all_reduce", "-d", "half"}).options.types == std::vector{DataType::float16});
  CHECK(parse({"all_reduce", "-d", "float16"}).options.types == std::vector{DataType::float16});
  CHECK(parse({"all_reduce", "-o", "prod"}).options.ops == std::vector{ReduceOp::product});
  CHECK(parse({"all_reduce", "-o", "product"}).options.ops == std::vector{ReduceOp::product});
  CHECK(parse({"all_reduce", "-d", "all", "-o", "all"}).options.types.size() == kDataTypes);
  CHECK(parse({"all", "--timeout", "5"}).options.timeout_ms == 5000);
  CHECK(parse({"all"}).options.tests.size() == test_cases().size());
}

TEST_CASE("a refusal names the flag, the value and the choices") {
  const std::vector<std::pair<std::vector<const char*>, std::vector<std::string>>> cases = {
      {{}, {"COLLECTIVE is required"}},
      {{"all_redce"}, {"'all_redce'", "all_reduce", "barrier"}},
      {{"all_reduce", "-b", "12Q"}, {"-b", "'12Q'", "32M"}},
      {{"all_reduce", "-b", "2M", "-e", "1M"}, {"-b", "2M", "1M"}},
      {{"all_reduce", "-f", "1"}, {"-f", "'1'", "above 1"}},
      {{"all_reduce", "-i", "0"}, {"-i", "'0'"}},
      {{"all_reduce", "-n", "0"}, {"-n", "'0'", "from 1"}},
      {{"all_reduce", "-n", "2x"}, {"-n", "'2x'"}},
      {{"all_reduce", "-d", "flot"}, {"-d", "'flot'", "float (float32)"}},
      {{"all_reduce", "-o", "xor"}, {"-o", "'xor'", "bxor (bit_xor)"}},
      {{"all_reduce", "-o", "bxor"}, {"bit_xor is not defined on float32"}},
      {{"all_reduce", "-a", "4"}, {"-a", "'4'", "0 to 3"}},
      {{"all_reduce", "-z", "0"}, {"-z", "--untouched"}},
      {{"all_reduce", "--sizes", "8,12Q"}, {"--sizes", "'12Q'"}},
      {{"all_reduce", "--sizes", "8", "-e", "16"}, {"--sizes", "-e"}},
      {{"all_reduce", "--sampled", "0"}, {"--sampled", "'0'", "above 0"}},
      {{"all_reduce", "--sampled", "1", "-m", "2"}, {"--sampled", "-m"}},
      {{"all_reduce", "--memory", "pinned"}, {"--memory", "'pinned'", "private, shared"}},
      {{"all_reduce", "-g", "1"}, {"-g", "strata-run"}},
      {{"all_reduce", "-t", "2"}, {"-t", "strata-run -n 2"}},
      {{"all_reduce", "--bogus"}, {"--bogus"}},
  };
  for (const auto& [arguments, words] : cases) {
    const ParsedCommandLine parsed = parse(arguments);
    CAPTURE(parsed.message);
    CHECK(parsed.exit_code == 2);
    for (const std::string& word : words) CHECK(mentions(parsed, word));
    CHECK(mentions(parsed, "--help"));
  }
}

TEST_CASE("help lists every collective and shows examples") {
  const ParsedCommandLine parsed = parse({"--help"});
  CHECK(parsed.exit_code == 0);
  for (const TestCase& test : test_cases()) CHECK(mentions(parsed, "  " + std::string(test.name) + " "));
  CHECK(mentions(parsed, "strata-run -n 4 -- strata-perf all_reduce"));
}

}  // namespace strata::perf

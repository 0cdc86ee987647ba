// Checkpoints: what is saved comes back, bit for bit, and what is damaged is refused with a reason.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "trainer/checkpoint/checkpoint.hpp"
#include "trainer/checkpoint/safetensors.hpp"
#include "trainer/model/initialize.hpp"

using namespace strata::trainer;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

// A directory of the test's own, gone afterwards.
struct Directory {
  Directory() : path(fs::temp_directory_path() / ("strata_checkpoint_test_" + std::to_string(::getpid()))) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Directory() { fs::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
  fs::path path;
};

std::unique_ptr<Gpt> small_model(Device& device, std::uint64_t seed) {
  auto gpt = Gpt::create({2, 3, 12, 6, 256}, 1, device);
  REQUIRE(gpt.ok());
  initialize_weights((*gpt)->table(), seed, (*gpt)->weights());
  return std::move(gpt).value();
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
void write_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

TEST_CASE("a saved model comes back bit for bit, with what is known of it") {
  const Directory directory;
  const auto device = make_cpu_device(1);
  const auto gpt = small_model(*device, 5);
  const std::string path = directory.file("model.safetensors");
  REQUIRE(save_checkpoint(path, *gpt, {77, 1.25}).ok());
  CHECK(directory.files() == 1);  // nothing temporary stays
  auto loaded = load_checkpoint(path, 1, *device);
  INFO(loaded.status().message());
  REQUIRE(loaded.ok());
  CHECK(loaded->gpt->table().shape() == gpt->table().shape());
  CHECK(std::memcmp(loaded->gpt->weights(), gpt->weights(), gpt->table().floats() * sizeof(float)) == 0);
  CHECK(loaded->info.step == 77);
  CHECK(loaded->info.validation_loss == 1.25);
}

TEST_CASE("a save replaces the file that was there") {
  const Directory directory;
  const auto device = make_cpu_device(1);
  const auto first = small_model(*device, 1), second = small_model(*device, 2);
  const std::string path = directory.file("model.safetensors");
  REQUIRE(save_checkpoint(path, *first, {1, 0}).ok());
  REQUIRE(save_checkpoint(path, *second, {2, 0}).ok());
  const auto loaded = load_checkpoint(path, 1, *device);
  REQUIRE(loaded.ok());
  CHECK(loaded->info.step == 2);
  CHECK(directory.files() == 1);
}

TEST_CASE("a save that fails says why and leaves the old file") {
  const Directory directory;
  const auto device = make_cpu_device(1);
  const auto gpt = small_model(*device, 1);
  const auto missing = save_checkpoint(directory.file("none/model.safetensors"), *gpt, {});
  CHECK_THAT(std::string(missing.message()), Contains("none/model.safetensors") && Contains("No such file"));
  const std::string path = directory.file("model.safetensors");
  fs::create_directory(path);  // cannot be replaced by a file
  CHECK_THAT(std::string(save_checkpoint(path, *gpt, {}).message()), Contains("cannot publish"));
  CHECK(directory.files() == 1);
}

TEST_CASE("the names are Hugging Face's, and theirs with a prefix are read too") {
  const Directory directory;
  const auto device = make_cpu_device(1);
  const auto gpt = small_model(*device, 5);
  std::vector<StoredTensor> tensors;
  for (const Tensor& t : gpt->table().tensors())
    tensors.push_back({"transformer." + t.name, "F32", t.dimensions,
                       std::as_bytes(std::span(gpt->weights() + t.offset, t.count))});
  const std::string path = directory.file("hf.safetensors");
  REQUIRE(write_safetensors(path, tensors, {{"format", "pt"}, {"strata.heads", "3"}}).ok());
  const auto loaded = load_checkpoint(path, 1, *device);
  INFO(loaded.status().message());
  REQUIRE(loaded.ok());
  CHECK(std::memcmp(loaded->gpt->weights(), gpt->weights(), gpt->table().floats() * sizeof(float)) == 0);
  CHECK(gpt->table().find("h.1.attn.c_attn.weight")->dimensions == std::vector<std::size_t>{12, 36});
}

TEST_CASE("a model with a tensor missing, or of another size or type, is refused by name") {
  const Directory directory;
  const auto device = make_cpu_device(1);
  const auto gpt = small_model(*device, 5);
  const std::string path = directory.file("model.safetensors");
  std::vector<StoredTensor> good;
  for (const Tensor& t : gpt->table().tensors())
    good.push_back(
        {t.name, "F32", t.dimensions, std::as_bytes(std::span(gpt->weights() + t.offset, t.count))});
  const auto message = [&](std::vector<StoredTensor> tensors) {
    REQUIRE(write_safetensors(path, tensors, {{"strata.heads", "3"}}).ok());
    return std::string(load_checkpoint(path, 1, *device).status().message());
  };
  CHECK(message(good).empty());
  auto tensors = good;
  std::erase_if(tensors, [](const StoredTensor& t) { return t.name == "h.1.mlp.c_fc.bias"; });
  CHECK_THAT(message(tensors), Contains(path) && Contains("'h.1.mlp.c_fc.bias' is missing"));
  tensors = good;
  std::swap(tensors[2].dimensions[0], tensors[2].dimensions[1]);
  CHECK_THAT(message(tensors), Contains(tensors[2].name) && Contains("it should be [48, 12]"));
  tensors = good;
  tensors[0].type = "I32";
  CHECK_THAT(message(tensors), Contains(tensors[0].name) && Contains("I32") && Contains("only F32"));
  CHECK_THAT(message({}), Contains("holds no GPT-2"));
}

TEST_CASE("a file cut short anywhere is refused, and never believed") {
  const Directory directory;
  const auto device = make_cpu_device(1);
  const auto gpt = small_model(*device, 5);
  const std::string path = directory.file("model.safetensors"), cut = directory.file("cut.safetensors");
  REQUIRE(save_checkpoint(path, *gpt, {}).ok());
  const std::string bytes = read_bytes(path);
  for (std::size_t length = 0; length < bytes.size(); length += length < 64 ? 1 : 1009) {
    write_bytes(cut, std::string_view(bytes).substr(0, length));
    const auto loaded = load_checkpoint(cut, 1, *device);
    CAPTURE(length);
    REQUIRE_FALSE(loaded.ok());
    REQUIRE_THAT(std::string(loaded.status().message()), Contains("cut.safetensors"));
  }
}

TEST_CASE("random damage to the header never crashes the reader") {
  const Directory directory;
  const auto device = make_cpu_device(1);
  const auto gpt = small_model(*device, 5);
  const std::string path = directory.file("model.safetensors");
  REQUIRE(save_checkpoint(path, *gpt, {}).ok());
  const std::string bytes = read_bytes(path);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  for (unsigned seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::string damaged = bytes.substr(0, 8 + header);  // the tensors' bytes are then beyond the end
    const bool keep_data = random() % 2;
    if (keep_data) damaged = bytes;
    for (unsigned i = 0; i <= random() % 4; ++i)
      damaged[random() % (8 + header)] = static_cast<char>(random());
    write_bytes(path, damaged);
    const auto file = SafetensorsFile::open(path);
    if (!file.ok()) continue;
    for (const StoredTensor& tensor : file->tensors()) {
      std::uint64_t sum = 0;
      for (const std::byte b : tensor.bytes)
        sum += static_cast<std::uint64_t>(b);  // every byte is really there
      CHECK(sum < UINT64_MAX);
    }
  }
}

TEST_CASE("files of other kinds are refused with a reason") {
  const Directory directory;
  const std::string path = directory.file("x");
  const auto message = [&](std::string_view bytes) {
    write_bytes(path, bytes);
    return std::string(SafetensorsFile::open(path).status().message());
  };
  const auto header = [](std::string_view json) {
    const std::uint64_t length = json.size();
    return std::string(reinterpret_cast<const char*>(&length), 8) + std::string(json);
  };
  CHECK_THAT(message("PK\3\4 is a zip file, not ours"), Contains("header claims"));
  CHECK_THAT(message(header("[]")), Contains("no JSON object"));
  CHECK_THAT(message(header("{\"a\": 3}")), Contains("tensor 'a'") && Contains("no dtype"));
  CHECK_THAT(message(header(R"({"a": {"dtype": "F99", "shape": [1], "data_offsets": [0, 4]}})")),
             Contains("unknown dtype"));
  CHECK_THAT(message(header(R"({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}})")),
             Contains("impossible shape"));
  CHECK_THAT(message(header(
                 R"({"a": {"dtype": "F32", "shape": [9223372036854775807, 16], "data_offsets": [0, 4]}})")),
             Contains("impossible shape"));
  CHECK_THAT(message(header(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})")),
             Contains("beyond the end"));
  CHECK_THAT(message(header(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}})")),
             Contains("beyond the end"));
  CHECK_THAT(std::string(SafetensorsFile::open("/tmp").status().message()), Contains("no regular file"));
  CHECK_THAT(std::string(SafetensorsFile::open("/no/such").status().message()), Contains("No such file"));
}

// Settings: what files and flags may say, and what is said about what they may not.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "trainer/config/config_file.hpp"
#include "trainer/config/options.hpp"

using namespace strata::trainer;
using Catch::Contains;

namespace {

std::string error_of(std::string_view text) {
  Config config;
  const auto status = read_config_text(text, "dir/run.toml", config);
  return std::string(status.message());
}

const Option& option_named(std::string_view name) {
  for (const Option& option : options())
    if (option.name == name) return option;
  FAIL("no option " << name);
  return options()[0];
}

Config valid() {
  Config config;
  config.text = "text";
  return config;
}

}  // namespace

TEST_CASE("a file sets what it names and leaves the rest") {
  Config config;
  const auto status = read_config_text(
      "[model]\nlayers = 7\n[optimizer]\nlearning_rate = 0.5\nclip_norm = 2\n[data]\ntext = "
      "'a/b.txt'\n[sample]\nprompt = \"x\\ty\"\n",
      "dir/run.toml", config);
  REQUIRE(status.ok());
  CHECK(config.layers == 7);
  CHECK(config.learning_rate == 0.5);
  CHECK(config.clip_norm == 2.0);
  CHECK(config.text == "dir/a/b.txt");  // from where the file is
  CHECK(config.prompt == "x\ty");
  CHECK(config.width == Config().width);
}

TEST_CASE("absolute paths stay") {
  Config config;
  REQUIRE(read_config_text("[data]\ntext = '/a/b.txt'\n", "dir/run.toml", config).ok());
  CHECK(config.text == "/a/b.txt");
}

TEST_CASE("what is wrong in a file is named with line, key, value and choices") {
  CHECK_THAT(error_of("[model]\n\nlayer = 3\n"), Contains("dir/run.toml:3:") && Contains("'layer'") &&
                                                     Contains("did you mean 'layers'?") &&
                                                     Contains("heads, width"));
  CHECK_THAT(error_of("[modle]\nlayers = 3\n"), Contains("dir/run.toml:1:") && Contains("'modle'") &&
                                                    Contains("did you mean 'model'?") &&
                                                    Contains("optimizer"));
  CHECK_THAT(error_of("[model]\nxqzjw = 3\n"), !Contains("did you mean") && Contains("it may be: layers"));
  CHECK_THAT(error_of("model = 3\n"), Contains("dir/run.toml:1:") && Contains("[model]"));
  CHECK_THAT(error_of("[model]\nlayers = 0\n"),
             Contains("dir/run.toml:2: model.layers = 0") && Contains("from 1 to 1000"));
  CHECK_THAT(error_of("[model]\nlayers = 2.5\n"), Contains("model.layers = 2.5") && Contains("whole number"));
  CHECK_THAT(error_of("[model]\nlayers = 'two'\n"),
             Contains("model.layers = two") && Contains("must be a whole number"));
  CHECK_THAT(error_of("[data]\ntext = 5\n"), Contains("data.text = 5") && Contains("must be text"));
  CHECK_THAT(error_of("[model]\nlayers = [1, 2]\n"),
             Contains("model.layers") && Contains("must be a number, text, true or false"));
  CHECK_THAT(error_of("[model]\nlayers = true\n"),
             Contains("model.layers = true") && Contains("must be a whole number"));
  CHECK_THAT(error_of("[communication]\noverlap = 1\n"),
             Contains("communication.overlap = 1") && Contains("must be true or false"));
  CHECK_THAT(error_of("[communication]\noverlap = 'no'\n"), Contains("must be true or false"));
  CHECK_THAT(error_of("[optimizer]\nlearning_rate = nan\n"),
             Contains("optimizer.learning_rate") && Contains("from 0 to 10"));
  CHECK_THAT(error_of("[optimizer]\nbeta1 = 1.0\n"), Contains("optimizer.beta1 = 1.0"));
  CHECK_THAT(error_of("[model\nlayers = 1\n"), Contains("dir/run.toml:1:"));
  CHECK_THAT(error_of("[model]\nlayers = 1\nlayers = 2\n"), Contains("dir/run.toml:3:"));
}

TEST_CASE("a file that is not there is named") {
  Config config;
  CHECK_THAT(std::string(read_config("/no/such.toml", config).message()), Contains("/no/such.toml"));
  CHECK_FALSE(read_config("/tmp", config).ok());
}

TEST_CASE("every setting can be given as a flag, and says so when it cannot be read") {
  for (const Option& option : options()) {
    INFO(option.key());
    Config config;
    CHECK(option.flag().starts_with("--"));
    CHECK(option.flag().find('_') == std::string::npos);
    CHECK(set_from_flag(option, value_of(option, config), config).ok() == true);
    if (std::holds_alternative<std::string Config::*>(option.member)) continue;
    CHECK_THAT(std::string(set_from_flag(option, "many", config).message()),
               Contains(option.flag()) && Contains(option.key()) && Contains("many") && Contains("must be "));
    CHECK_FALSE(set_from_flag(option, "-1", config).ok());
    CHECK_FALSE(set_from_flag(option, "1e300", config).ok());
    CHECK_FALSE(set_from_flag(option, "nan", config).ok());
    CHECK_FALSE(set_from_flag(option, "", config).ok());
    CHECK_FALSE(set_from_flag(option, "1x", config).ok());
  }
  Config config;
  REQUIRE(set_from_flag(option_named("steps"), "12", config).ok());
  CHECK(config.steps == 12);
  CHECK_THAT(std::string(set_from_flag(option_named("steps"), "1.5", config).message()),
             Contains("whole number"));
  REQUIRE(set_from_flag(option_named("crossing"), "false", config).ok());
  CHECK_FALSE(config.crossing);
  CHECK_THAT(std::string(set_from_flag(option_named("steps"), "true", config).message()),
             Contains("--steps: training.steps = true: must be a whole number"));
  REQUIRE(set_from_flag(option_named("learning_rate"), "2", config).ok());
  CHECK(config.learning_rate == 2);
}

TEST_CASE("no two settings share a flag") {
  for (std::size_t i = 0; i < options().size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(options()[i].flag() != options()[j].flag());
}

TEST_CASE("settings that do not fit together are refused with the cure") {
  const auto message = [](const Config& config, int ranks = 1) {
    return std::string(check_config(config, ranks).message());
  };
  CHECK(check_config(valid(), 4).ok());
  Config config;
  CHECK_THAT(message(config), Contains("data.text") && Contains("--text"));
  config = valid();
  config.heads = 5;
  CHECK_THAT(message(config),
             Contains("model.heads = 5") && Contains("width = 128") && Contains("1, 2, 4, 8"));
  config = valid();
  config.batch = 3;
  CHECK_THAT(message(config, 4), Contains("training.batch = 3") && Contains("4 ranks"));
  config = valid();
  config.minimum_learning_rate = 1;
  CHECK_THAT(message(config), Contains("minimum_learning_rate = 1") && Contains("learning_rate = 0.001"));
  config = valid();
  config.warmup_steps = config.steps;
  CHECK_THAT(message(config), Contains("warmup_steps"));
  config = valid();
  config.checkpoint_every = 5;
  CHECK_THAT(message(config), Contains("output.checkpoint"));
}

TEST_CASE("the configurations that come along can be read") {
  for (const char* name : {"quickstart.toml", "full.toml"}) {
    Config config;
    const auto status = read_config(std::string(STRATA_SOURCE_DIR "/trainer/configs/") + name, config);
    INFO(status.message());
    CHECK(status.ok());
    CHECK(check_config(config, 4).ok());
    CHECK(std::filesystem::exists(config.text));
  }
}

TEST_CASE("the nearest word") {
  const std::string_view choices[] = {"layers", "heads", "learning_rate"};
  CHECK(nearest("layer", choices) == "layers");
  CHECK(nearest("learningrate", choices) == "learning_rate");
  CHECK(nearest("head", choices) == "heads");
  CHECK(nearest("zzzzzzzzz", choices).empty());
}

// Prints what is trained on what, and how it went.
#include "trainer/commands/summary.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "trainer/device/products.hpp"
#include "trainer/kernels/kernels.hpp"
#include "trainer/report/progress.hpp"
#include "trainer/sample/generate.hpp"

namespace strata::trainer {
namespace {

std::string plural(std::int64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void print_losses(const Config& config, double first, double last) {
  fmt::print("validation loss: {:.4f}, at the start {:.4f}\n", last, first);
  if (config.reference_loss <= 0) return;
  const double way = first > config.reference_loss ? (first - last) / (first - config.reference_loss) : 1;
  fmt::print("trained to the end, the same model reaches {:.4f}: this run came {:.0f} % of the way\n",
             config.reference_loss, 100 * way);
  if (!config.reference_command.empty()) fmt::print("  (found by: {})\n", config.reference_command);
}

// What the settings of [communication] come to.
std::string order_of_sums(const Session& s) {
  const Config& c = s.config;
  const std::string when = fmt::format("{}, {}", c.overlap ? "during backward" : "after backward",
                                       c.priority ? "front layers first" : "first come, first served");
  if (s.update->crosses()) return when + "; forward waits for each layer's own";
  if (!c.crossing) return when + "; forward waits for all";
  return when + fmt::format(
                    "; forward waits for all: crossing has no effect, since clip_norm = {:g} needs the norm "
                    "of the whole gradient first (--clip-norm 0 turns that off)",
                    c.clip_norm);
}

}  // namespace

void print_header(const Session& s) {
  const Config& c = s.config;
  fmt::print("model: {}parameters ({}, {}, width {}, sequence {})\n",
             format_count(static_cast<double>(s.gpt->table().parameters())) + " ", plural(c.layers, "layer"),
             plural(c.heads, "head"), c.width, c.sequence);
  fmt::print("ranks: {}, each with {} ({}, {}); gradients in {}\n", s.peers.size(),
             plural(s.threads, "thread"), products_library(), kernels::vector_target(),
             plural(static_cast<std::int64_t>(s.update->bucket_count()), "bucket"));
  if (s.peers.size() > 1) fmt::print("sums: {}\n", order_of_sums(s));
  const double tokens = static_cast<double>(c.batch * c.sequence);
  fmt::print("text: {}, {}bytes to train on, {}to judge by\n", c.text,
             format_count(static_cast<double>(s.corpus.train().size())) + " ",
             format_count(static_cast<double>(s.corpus.validation().size())) + " ");
  fmt::print("plan: {} of {} tokens, {:.1f} times through the text\n", plural(c.steps, "step"),
             c.batch * c.sequence,
             tokens * static_cast<double>(c.steps) / static_cast<double>(s.corpus.train().size()));
  std::fflush(stdout);
}

void print_summary(Session& s, const History& history) {
  fmt::print("\n{}\n",
             draw_curve(history.train.points(), history.validation.points(), {64, 16, locale_is_utf8()}));
  const double tokens =
      static_cast<double>(history.train.added()) * static_cast<double>(s.config.batch * s.config.sequence);
  fmt::print("{} tokens in {}: {} tokens/s\n", format_count(tokens), format_duration(history.seconds),
             format_count(history.seconds > 0 ? tokens / history.seconds : 0));
  print_losses(s.config, history.first_validation, history.last_validation);
  if (s.config.sample_tokens > 0) {
    fmt::print("\na sample of its text:\n\n{}", s.config.prompt);
    const SampleOptions options{s.config.temperature, static_cast<std::size_t>(s.config.top_k),
                                static_cast<std::uint64_t>(s.config.seed),
                                static_cast<std::size_t>(s.config.sample_tokens)};
    generate(*s.gpt, s.config.prompt, options, [](char c) { std::fputc(c, stdout); });
    fmt::print("\n");
  }
  std::fflush(stdout);
}

}  // namespace strata::trainer

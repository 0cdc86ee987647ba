// How errors travel: as values. Nothing in Strata throws across its interface.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace strata {

enum class ErrorCode : std::uint8_t {
  ok,
  invalid_argument,  // the caller's mistake; the message names the argument, its value and the cure
  unavailable,       // the machine or network refused something (a port, a file, a limit)
  timeout,           // the deadline passed; the message says who was waited for
  peer_lost,         // another rank died or its connection broke
  aborted,           // ended by the user's own abort() or by the communicator's destruction
  mismatch,          // ranks called different things; the message names both sides
  out_of_memory,
  unauthenticated,  // the job's secret was wrong
  internal,
  cancelled,  // ended by Work::cancel(), on all ranks
};

constexpr std::string_view to_string(ErrorCode code) {
  constexpr std::string_view kNames[] = {
      "ok",       "invalid_argument", "unavailable",     "timeout",  "peer_lost", "aborted",
      "mismatch", "out_of_memory",    "unauthenticated", "internal", "cancelled"};
  const auto i = static_cast<std::size_t>(code);
  return i < std::size(kNames) ? kNames[i] : "?";
}

// Success costs one null pointer. Copies share the immutable detail, so they may cross threads.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(ErrorCode code, std::string message)
      : detail_(code == ErrorCode::ok ? nullptr
                                      : std::make_shared<const Detail>(Detail{code, std::move(message)})) {}
  bool ok() const { return detail_ == nullptr; }
  ErrorCode code() const { return ok() ? ErrorCode::ok : detail_->code; }
  std::string_view message() const { return ok() ? std::string_view{} : std::string_view{detail_->message}; }

 private:
  struct Detail {
    ErrorCode code;
    std::string message;
  };
  std::shared_ptr<const Detail> detail_;
};

// A value, or the Status that says why there is none. value() of a failed one is a programming error.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}          // NOLINT: conversion is the point
  Expected(Status status) : status_(std::move(status)) {}  // NOLINT
  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace strata

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/progress_line.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

#include <fmt/core.h>

namespace krysol::apps {
namespace {

constexpr int caught_signals[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<int> caught{0};  // 0: none

void on_signal(int signal) { caught = signal; }

}  // namespace

CatchInterrupt::CatchInterrupt() {
  for (const int signal : caught_signals) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;  // nohup
    action = {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal, &action, nullptr);
  }
}

CatchInterrupt::~CatchInterrupt() {
  for (const int signal : caught_signals) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == on_signal) std::signal(signal, SIG_DFL);
  }
}

bool CatchInterrupt::happened() { return caught != 0; }

void CatchInterrupt::raise_again() {
  const int signal = caught;
  if (signal != SIGTERM && signal != SIGHUP) return;
  std::fflush(nullptr);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

ProgressLine::ProgressLine(bool wanted) : active_(wanted && isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const Progress& p, double b_norm) {
  if (!active_ || p.seconds < next_) return;
  next_ = p.seconds + 0.2;
  shown_ = true;
  fmt::print(stderr, "\r\033[Kiteration {}, |r| = {:.2e} |b|, {:.1f} s", p.iteration,
             b_norm > 0 ? p.residual / b_norm : p.residual, p.seconds);
  if (p.iterations_left >= 0) {
    fmt::print(stderr, "; about {} iteration{} and {:.1f} s left", p.iterations_left,
               p.iterations_left == 1 ? "" : "s", p.seconds_left);
  }
  if (out_of_reach(p.target, p.rounding)) {
    fmt::print(stderr, "; the tolerance is below what rounding x makes, {:.1e} |b|",
               b_norm > 0 ? p.rounding / b_norm : p.rounding);
  }
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace krysol::apps

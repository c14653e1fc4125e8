// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "common/progress_line.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

#include <fmt/core.h>

namespace krysol::apps {
namespace {

std::atomic<bool> interrupted{false};

void on_interrupt(int) { interrupted = true; }

}  // namespace

CatchInterrupt::CatchInterrupt() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
}

CatchInterrupt::~CatchInterrupt() { std::signal(SIGINT, SIG_DFL); }

bool CatchInterrupt::happened() { return interrupted; }

ProgressLine::ProgressLine(bool wanted) : active_(wanted && isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const Progress& p, double b_norm) {
  if (!active_ || p.seconds < next_) return;
  next_ = p.seconds + 0.2;
  shown_ = true;
  fmt::print(stderr, "\r\033[Kiteration {}, |r| = {:.2e} |b|, {:.1f} s", p.iteration,
             b_norm > 0 ? p.residual / b_norm : p.residual, p.seconds);
  if (p.iterations_left >= 0) {
    fmt::print(stderr, "; about {} iterations and {:.1f} s left", p.iterations_left,
               p.seconds_left);
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

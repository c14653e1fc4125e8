// What a program shows while it solves, and how Ctrl-C ends it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <krysol/solver/outcome/solver.hpp>

namespace krysol::apps {

/// A line on the terminal that is written over; nothing where standard error is not one.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const Progress& p, double b_norm);
  void clear();

 private:
  bool active_;
  bool shown_ = false;
  double next_ = 0.5;
};

/// While it lives the first SIGINT (Ctrl-C), SIGTERM (batch systems) or SIGHUP (a terminal that is
/// gone) makes happened() true; a second one of its kind ends the program.
class CatchInterrupt {
 public:
  CatchInterrupt();
  ~CatchInterrupt();
  CatchInterrupt(const CatchInterrupt&) = delete;
  CatchInterrupt& operator=(const CatchInterrupt&) = delete;

  static bool happened();

  /// Ends the program by the SIGTERM or SIGHUP that was caught, as whoever sent it expects: 128 +
  /// 15 or 128 + 1 for a shell. Returns after Ctrl-C, or where there was none.
  static void raise_again();
};

}  // namespace krysol::apps

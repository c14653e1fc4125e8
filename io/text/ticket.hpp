// Threads that take blocks of a file as they arrive and deliver them in the order of the file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>

namespace krysol {

/// Whose turn it is: pieces are numbered from 0, and piece k waits for all before it, whichever
/// thread has it. A thread that fails must call `stop`, or others wait for ever.
class TicketOrder {
 public:
  /// Waits for the pieces before; false where all was stopped.
  bool wait_for(std::size_t piece) {
    for (std::size_t turn = turn_; turn != piece; turn = turn_) {
      if (turn == none) return false;
      turn_.wait(turn);
    }
    return true;
  }

  /// The next piece's, unless all was stopped meanwhile.
  void pass_on(std::size_t piece) {
    turn_.compare_exchange_strong(piece, piece + 1);
    turn_.notify_all();
  }

  /// Ends the work of all.
  void stop() {
    turn_ = none;
    turn_.notify_all();
  }

  bool stopped() const { return turn_ == none; }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  std::atomic<std::size_t> turn_{0};
};

}  // namespace krysol

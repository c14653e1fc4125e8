// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/ordered_blocks.hpp>

#include <exception>
#include <mutex>

#include <krysol/io/team.hpp>

namespace krysol {
namespace {

/// Whose turn it is to write.
class Turns {
 public:
  /// False where all was stopped.
  bool wait_for(std::size_t block) {
    for (std::size_t turn = turn_; turn != block; turn = turn_) {
      if (turn == stop_turn) return false;
      turn_.wait(turn);
    }
    return true;
  }
  void pass_on(std::size_t block) {
    turn_.compare_exchange_strong(block, block + 1);  // unless all was stopped meanwhile
    turn_.notify_all();
  }
  void stop() {
    turn_ = stop_turn;
    turn_.notify_all();
  }
  bool stopped() const { return turn_ == stop_turn; }

 private:
  static constexpr std::size_t stop_turn = ~std::size_t{0};
  std::atomic<std::size_t> turn_{0};
};

}  // namespace

void on_threads(int threads, const std::function<void()>& work) {
  std::mutex mutex;
  std::exception_ptr error;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  run_team(threads, guarded);
  if (error) std::rethrow_exception(error);
}

void write_in_order(OutputFile& file, std::size_t blocks, int threads,
                    const std::function<void(std::size_t, Array<char>&)>& make) {
  const bool packed = blocks > 1 && made_of_streams(file.compression());
  std::atomic<std::size_t> next{0};
  Turns turns;
  const auto work = [&] {
    Array<char> text;
    Array<char> stream;
    const auto write = [&](std::size_t block) {
      make(block, text);
      if (packed) pack(file.compression(), {text.data(), text.size()}, stream);
      if (!turns.wait_for(block)) return false;
      if (packed) {
        file.write_packed({stream.data(), stream.size()});
      } else {
        file.write({text.data(), text.size()});
      }
      turns.pass_on(block);
      return true;
    };
    try {
      for (std::size_t block = next++; block < blocks && !turns.stopped(); block = next++) {
        if (!write(block)) return;
      }
    } catch (...) {
      turns.stop();
      throw;
    }
  };
  on_threads(static_cast<int>(std::min(blocks, static_cast<std::size_t>(threads))), work);
}

}  // namespace krysol

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <krysol/io/text/ordered_blocks.hpp>

#include <krysol/io/text/threads.hpp>
#include <krysol/io/text/ticket.hpp>

namespace krysol {
void write_in_order(OutputFile& file, std::size_t blocks, int threads,
                    const std::function<void(std::size_t, Array<char>&)>& make) {
  const bool packed = blocks > 1 && made_of_streams(file.compression());
  std::atomic<std::size_t> next{0};
  TicketOrder turns;
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

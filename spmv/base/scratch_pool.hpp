// Scratch memory of a const object that several host threads use at once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

#include <krysol/spmv/base/vector.hpp>

namespace krysol {

/// Objects of type Scratch, each held by one caller at a time. `take` hands out one that is free,
/// and makes another only where all of them are held, so there are as many as callers have ever met
/// at once, and a single caller always gets the same. Copies of a pool share its objects. They live
/// as long as the last copy.
///
/// On a host kernels are done when their launch returns, so what was given back is free. On a
/// device they may still run: work queued on one instance of Exec is done in order, so the next
/// caller on that instance may take the object as it is; one on another instance waits for the
/// former first. Taking and giving back cost one atomic operation each, and no lock.
template <class Scratch, class Exec>
class ScratchPool {
  struct Entry {
    Scratch scratch;
    Exec last_user;  // where its kernels were queued
    std::atomic<bool> held{true};
    Entry* next = nullptr;

    Entry(Scratch&& s, const Exec& exec) : scratch(std::move(s)), last_user(exec) {}
  };

 public:
  /// The right to use one object. Gives it back when it goes out of scope, which must be after the
  /// last kernel that uses it was launched.
  class Lease {
   public:
    explicit Lease(Entry* entry) : entry_(entry) {}
    ~Lease() {
      if (entry_ != nullptr) entry_->held.store(false, std::memory_order_release);
    }
    Lease(Lease&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
    Lease& operator=(Lease&&) = delete;

    Scratch& operator*() const { return entry_->scratch; }
    Scratch* operator->() const { return &entry_->scratch; }

   private:
    Entry* entry_;
  };

  ScratchPool() : shelf_(std::make_shared<Shelf>()) {}

  /// An object that no other caller has; make() returns a Scratch where there is none. Throws what
  /// make throws, and changes nothing then.
  template <class Make>
  Lease take(const Exec& exec, const Make& make) const {
    Entry* found = hold(exec, true);
    if (!on_host<Exec> && found == nullptr) {
      found = hold(exec, false);
      if (found != nullptr) {
        found->last_user.fence("krysol::ScratchPool (another instance of the space)");
        found->last_user = exec;
      }
    }
    if (found == nullptr) {
      found = new Entry(make(), exec);
      Entry*& next = found->next;
      next = shelf_->first.load(std::memory_order_relaxed);
      while (!shelf_->first.compare_exchange_weak(next, found, std::memory_order_release,
                                                  std::memory_order_relaxed)) {
      }
    }
    return Lease(found);
  }

 private:
  struct Shelf {
    std::atomic<Entry*> first{nullptr};  // entries are added in front, and stay

    Shelf() = default;
    Shelf(const Shelf&) = delete;
    Shelf& operator=(const Shelf&) = delete;
    ~Shelf() {
      for (Entry* e = first.load(); e != nullptr;) delete std::exchange(e, e->next);
    }
  };

  /// A free entry, from then on held; with `same`, one that was last used on `exec`.
  Entry* hold(const Exec& exec, bool same) const {
    for (Entry* e = shelf_->first.load(std::memory_order_acquire); e != nullptr; e = e->next) {
      if (e->held.exchange(true, std::memory_order_acquire)) continue;
      if (on_host<Exec> || !same || e->last_user == exec) return e;
      e->held.store(false, std::memory_order_release);
    }
    return nullptr;
  }

  std::shared_ptr<Shelf> shelf_;
};

}  // namespace krysol

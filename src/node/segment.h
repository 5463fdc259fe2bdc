// SPDX-License-Identifier: Apache-2.0
// The file that the processes of a node share: made by the first that comes, removed by the last that leaves.
#pragma once

#include <cstddef>

#include "node/layout.h"

namespace weft::node {

// Why something could not be had, for the user.
struct Reason {
  char text[256] = "";
  [[gnu::format(printf, 2, 3)]] void say(const char* format, ...) noexcept;
};

// Where the processes of this user meet, as far as they see each other's numbers.
struct Path {
  char text[96];
};
Path default_path() noexcept;

platform::CpuSet cpus_of(const Record& record) noexcept;

// A mutex that threads of any process may lock, and whose next owner learns when its last one has died.
bool init_shared(pthread_mutex_t* mutex) noexcept;

// Wakes the process's monitor.
void ring(Record& record) noexcept;

class Segment {
 public:
  enum class Missing { make, leave };  // what to do when there is no file

  // Maps the file, if it is what it should be: the caller's own, of this layout and size. Null, and why in `reason`;
  // or null and no reason when there is no file and none was to be made.
  static Segment* open(const char* path, Missing missing, Reason& reason) noexcept;
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  Layout& layout() const noexcept { return *layout_; }

  // The lock of membership. The first that gets it after its holder was killed removes what that left. False when it
  // could not be had for a second in which nobody has come or gone: somebody who has it is stopped.
  bool lock() noexcept;
  bool try_lock() noexcept;
  void unlock() noexcept;

  // The lock of the queue before regions: what it guards is never half done. False when it could not be had for so
  // long.
  bool lock_queue(int64_t longest_ns) noexcept;
  void unlock_queue() noexcept;

  // The rest is done with the lock held.

  enum class Check { marks, processes };
  // Frees the records and slots of processes that are no more: those that the kernel has marked, or also those whose
  // number and start are no longer alive, which takes longer. Returns how many slots were freed.
  int remove_dead(Check check) noexcept;
  int live_count() const noexcept;
  // Frees the slots of `record` and the record.
  int clear(int record) noexcept;
  // Nobody finds the segment any more; who is in leaves when it sees that.
  void close_and_remove() noexcept;

  bool closed() const noexcept { return layout_->header.closed.load(std::memory_order_relaxed) != 0; }

 private:
  Segment(Layout* layout, const char* path, dev_t device, ino_t inode) noexcept;
  static Segment* map(int file, const char* path, Reason& reason) noexcept;
  static bool make(const char* path, Reason& reason) noexcept;
  bool has_ended(Record& record, Check check) const noexcept;
  bool taken_over(int error) noexcept;
  // A number that changes when a process comes or goes. Relaxed: an old one makes somebody wait longer, or ask again.
  uint64_t memberships() const noexcept;
  int free_orphans() noexcept;

  Layout* const layout_;
  Path path_;
  const dev_t device_;
  const ino_t inode_;
};

}  // namespace weft::node

// SPDX-License-Identifier: Apache-2.0
// What the collector leaves for `weft numa`: a file that it maps and writes while the program runs, so that it is whole
// however the program ends. One file for each program of a process. Times are nanoseconds of CLOCK_MONOTONIC.
//
// The file has holes: room for entries is taken when there are to be some. Readers look at those that the header
// counts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::numa {

inline constexpr uint64_t kMagic = 0x314d554e54464557;  // "WEFTNUM1"
inline constexpr uint32_t kLayout = 2;

inline constexpr uint32_t kFrames = 20;
inline constexpr uint32_t kSites = 1024;
inline constexpr uint32_t kArrays = 1024;
inline constexpr uint32_t kPlaces = 1024;  // pages of an array whose node is looked up
inline constexpr uint32_t kTouches = 1U << 16;

// What of touches is recorded.
enum class Touching : uint32_t { off, first, sample };

// Why touches are no longer sampled, or never were.
enum class Stop : uint32_t {
  none,
  asked,  // nobody wants pages to be protected
  own_handler,  // the program has handled a fault of its own
  peers,  // other processes or devices reach into the memory: MPI, RDMA, GPUs, io_uring
  foreign_handler,  // the handler of faults is not the collector's: set past the C library
  full,  // there is no more room for touches
  no_thread,  // the thread that samples could not be started
  locked,  // mlockall
  small_stack,  // a stack for handlers that has no room for the collector's
  sandbox,  // the program has given up system calls (seccomp)
  namespaces,  // the program has changed its namespaces, which forbids threads
  past_libc,  // the program's system calls do not go through the C library
};

// How an array came to be.
enum class How : uint8_t { malloc, calloc, realloc, aligned, mapped };

// A place in the program that allocates, by the addresses that its calls return to, innermost first.
struct Site {
  uint64_t hash;
  uint32_t frames;
  uint32_t reserved;
  std::atomic<uint64_t> calls;
  std::atomic<uint64_t> bytes;
  uint64_t frame[kFrames];
};

enum class ArrayState : uint32_t { none, live, freed };

// A reader must bound what stands here: the program may have written anywhere.
struct Array {
  std::atomic<ArrayState> state;
  std::atomic<uint32_t> number;  // in the order of allocation, from 1; changes when the entry is used again
  uint64_t begin;
  uint64_t bytes;
  int64_t born;
  int64_t died;
  uint32_t site;
  int32_t thread;  // that has allocated it
  How how;
  uint8_t reserved[3];
  uint32_t placed;  // how many of `node` were looked up; 0: none
  int64_t placed_at;
  int32_t policy;  // of memory, then; -1: not known
  uint32_t policy_nodes;  // the first 32
  int16_t node[kPlaces];  // of the pages of place_of(); -1: touched by nobody yet
};

enum class Access : uint8_t { read, write, call, unknown };

struct Touch {
  int64_t time;  // 0: not written yet
  uint32_t array;
  uint32_t position;  // in the array: of 2^32
  int32_t thread;
  int16_t node;  // that the thread ran on
  int16_t cpu;
  uint16_t site;
  Access access;
  uint8_t first;  // since the allocation
  uint32_t reserved;
  uint64_t code;  // the instruction; 0: a system call
};

struct Header {
  uint64_t magic;
  uint32_t layout;
  std::atomic<uint32_t> ready;  // 1: the rest can be read
  int32_t pid;
  uint32_t page_size;
  int64_t began;
  std::atomic<int64_t> ended;  // 0: by something that nobody could see, or not yet
  Touching touching;
  std::atomic<Stop> stop;
  uint64_t least_size;
  std::atomic<uint32_t> sites;
  std::atomic<uint32_t> arrays;  // numbers given
  std::atomic<uint32_t> touches;  // that happened; what exceeds kTouches is not written
  std::atomic<uint32_t> lost;  // arrays without an entry
  std::atomic<uint32_t> left_out;  // blocks that came when looking had taken the time that it may take
  std::atomic<uint32_t> entries;  // of `array` that have been used
  std::atomic<uint32_t> touch_room;  // entries of `touch` that may have been used
  std::atomic<uint32_t> full;  // 1: the disk had no room for more
  std::atomic<uint32_t>
      peers;  // set by the command, which has seen files or mappings by which others reach into memory
  int32_t sampler;  // its thread
  std::atomic<uint32_t> rounds;
  std::atomic<uint32_t> paused;  // of them: a call forbade to protect anything
  std::atomic<int64_t> spent;  // time that looking up and sampling took
  int32_t query_error;  // the errno of the call that finds the nodes of pages; 0: it works
};

struct Record {
  Header header;
  alignas(4096) Site site[kSites];
  alignas(4096) Array array[kArrays];
  alignas(4096) Touch touch[kTouches];
};

inline uint32_t position_of(uint64_t offset, uint64_t bytes) noexcept {
  if (offset >= bytes) return UINT32_MAX;
  return static_cast<uint32_t>(static_cast<double>(offset) / static_cast<double>(bytes) * 0x1p32);
}

// Which page of `pages` is looked up as number `index` of `count`: a random one of each of `count` equal parts. Evenly
// spaced ones would all lie on one node of an interleaved array.
inline uint64_t place_of(uint32_t index, uint32_t count, uint64_t pages) noexcept {
  const uint64_t from = pages * index / count;
  const uint64_t to = pages * (index + 1) / count;
  uint64_t mixed = (index + 1) * 0x9E3779B97F4A7C15ULL;
  mixed ^= mixed >> 29;
  mixed *= 0xBF58476D1CE4E5B9ULL;
  mixed ^= mixed >> 32;
  return to > from ? from + mixed % (to - from) : from;
}

inline uint32_t places_of(uint64_t pages) noexcept { return pages < kPlaces ? static_cast<uint32_t>(pages) : kPlaces; }

// The name of the file with the settings, in the folder of the records.
inline constexpr char kSettingsFile[] = "settings";
struct Settings {
  uint64_t magic = kMagic;
  uint64_t least_size = 1 << 20;
  Touching touching = Touching::sample;
  uint32_t layout = kLayout;
  int32_t command = 0;  // the process of `weft numa`
  int32_t reserved = 0;
  // The CPUs that the program may use, before it binds threads; the first 1024.
  uint64_t cpus[16] = {};
};

}  // namespace weft::numa

// SPDX-License-Identifier: Apache-2.0
#include "numa/recorded.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::tools::numa {

namespace {

using weft::numa::ArrayState;
using weft::numa::Record;

RecordedArray copy(const weft::numa::Array& array, uint64_t page_size) {
  RecordedArray copied;
  copied.number = array.number.load(std::memory_order_relaxed);
  copied.live = array.state.load(std::memory_order_relaxed) == ArrayState::live;
  copied.begin = array.begin;
  copied.bytes = array.bytes;
  copied.born = array.born;
  copied.died = array.died;
  copied.site = array.site;
  copied.thread = array.thread;
  copied.how = array.how;
  copied.policy = array.policy;
  copied.policy_nodes = array.policy_nodes;
  const uint64_t pages = copied.bytes / page_size + 1;
  const uint64_t placed = std::min<uint64_t>({array.placed, weft::numa::kPlaces, pages});
  for (uint64_t i = 0; i < placed; ++i) copied.node.push_back(std::clamp<int>(array.node[i], -1, 1023));
  return copied;
}

RecordedTouch copy(const weft::numa::Touch& touch) {
  return {
      touch.time, touch.array,  touch.position * 0x1p-32, touch.thread, std::clamp<int>(touch.node, 0, 1023), touch.cpu,
      touch.site, touch.access, touch.first != 0,         touch.code};
}

uint32_t entries_of(const weft::numa::Header& header) {
  return std::min(header.entries.load(std::memory_order_acquire), weft::numa::kArrays);
}

uint32_t touches_of(const weft::numa::Header& header) {
  return std::min({header.touches.load(std::memory_order_relaxed), header.touch_room.load(std::memory_order_acquire),
                   weft::numa::kTouches});
}

// Memory that is there when it is written.
struct Unmap {
  void operator()(Record* record) const { munmap(record, sizeof *record); }
};
std::unique_ptr<Record, Unmap> room_for_record() {
  void* room =
      mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return std::unique_ptr<Record, Unmap>(room != MAP_FAILED ? static_cast<Record*>(room) : nullptr);
}

// A part of the record, from its place in the file to its place in memory.
bool copy_part(int file, Record& record, const void* part, size_t bytes) {
  auto* to = const_cast<char*>(static_cast<const char*>(part));
  auto at = static_cast<off_t>(to - reinterpret_cast<char*>(&record));
  while (bytes > 0) {
    const ssize_t got = pread(file, to, bytes, at);
    if (got <= 0) return false;
    to += got;
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

bool copy_parts(int file, Record& record, Depth depth) {
  const weft::numa::Header& header = record.header;
  if (!copy_part(file, record, &header, sizeof header)) return false;
  if (depth == Depth::header) return true;
  const uint32_t sites = std::min(header.sites.load(std::memory_order_acquire), weft::numa::kSites);
  if (!copy_part(file, record, record.site, sites * sizeof *record.site)) return false;
  if (!copy_part(file, record, record.array, entries_of(header) * sizeof *record.array)) return false;
  return depth == Depth::arrays || copy_part(file, record, record.touch, touches_of(header) * sizeof *record.touch);
}

}  // namespace

bool read_record(const Record& record, Recorded& recorded, Depth depth) {
  const weft::numa::Header& header = record.header;
  if (header.ready.load(std::memory_order_acquire) != 1 || header.magic != weft::numa::kMagic) return false;
  if (header.layout != weft::numa::kLayout) return false;
  constexpr uint64_t kLeastPage = 512;
  recorded.pid = header.pid;
  recorded.page_size = std::max<uint64_t>(header.page_size, kLeastPage);
  recorded.began = header.began;
  recorded.ended = header.ended.load(std::memory_order_relaxed);
  recorded.touching = header.touching;
  recorded.stop = header.stop.load(std::memory_order_relaxed);
  recorded.least_size = header.least_size;
  recorded.allocated = header.arrays.load(std::memory_order_relaxed);
  recorded.lost = header.lost.load(std::memory_order_relaxed);
  recorded.left_out = header.left_out.load(std::memory_order_relaxed);
  recorded.full = header.full.load(std::memory_order_relaxed) != 0;
  recorded.rounds = header.rounds.load(std::memory_order_relaxed);
  recorded.paused = header.paused.load(std::memory_order_relaxed);
  recorded.spent = header.spent.load(std::memory_order_relaxed);
  recorded.sampler = header.sampler;
  recorded.query_error = header.query_error;
  if (depth == Depth::header) return true;
  const uint32_t sites = std::min(header.sites.load(std::memory_order_acquire), weft::numa::kSites);
  for (uint32_t i = 0; i < sites; ++i) {
    const weft::numa::Site& site = record.site[i];
    RecordedSite copied{site.calls.load(std::memory_order_relaxed), site.bytes.load(std::memory_order_relaxed), {}};
    copied.frames.assign(site.frame, site.frame + std::min(site.frames, weft::numa::kFrames));
    recorded.sites.push_back(std::move(copied));
  }
  const uint32_t entries = entries_of(header);
  for (uint32_t i = 0; i < entries; ++i) {
    const weft::numa::Array& array = record.array[i];
    const ArrayState state = array.state.load(std::memory_order_acquire);
    if (state != ArrayState::live && state != ArrayState::freed) continue;
    RecordedArray found = copy(array, recorded.page_size);
    if (found.bytes > 0 && found.site < sites) recorded.arrays.push_back(std::move(found));
  }
  if (depth == Depth::arrays) return true;
  const uint32_t touches = touches_of(header);
  for (uint32_t i = 0; i < touches; ++i) {
    const weft::numa::Touch& touch = record.touch[i];
    if (__atomic_load_n(&touch.time, __ATOMIC_ACQUIRE) != 0) recorded.touches.push_back(copy(touch));
  }
  return true;
}

// By reading: to look at a hole of a mapping fills it, which ends the process when the disk is full.
bool read_record(const std::string& file, Recorded& recorded, Depth depth) {
  const int opened = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) return false;
  struct stat status{};
  const auto record = room_for_record();
  const bool copied = record != nullptr && fstat(opened, &status) == 0 &&
                      status.st_size >= static_cast<off_t>(sizeof(Record)) && copy_parts(opened, *record, depth);
  close(opened);
  recorded.file = file;
  return copied && read_record(*record, recorded, depth);
}

void note_peers(const std::string& file) {
  const int opened = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (opened < 0) return;
  constexpr uint32_t kYes = 1;
  // A collector that does not hear of it goes on as before.
  [[maybe_unused]] const ssize_t written =
      pwrite(opened, &kYes, sizeof kYes, static_cast<off_t>(offsetof(weft::numa::Header, peers)));
  close(opened);
}

}  // namespace weft::tools::numa

// SPDX-License-Identifier: Apache-2.0
#include "numa/faults.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <tuple>
#include <utility>

#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/cpu_set.h"

namespace weft::tools::numa {

namespace {

// Of each CPU; a power of two of pages. A ring is emptied when it is half full: some 600 faults.
constexpr size_t kRingPages = 16;
// Of each thread, in a second: where there are more the kernel takes one of several.
constexpr uint64_t kFaultsPerSecond = 4000;
constexpr size_t kMostKept = 1 << 20;
constexpr int kPatienceMs = 500;

size_t page_size() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
size_t ring_bytes() { return kRingPages * page_size(); }

// As the attributes below make the kernel write it.
struct Sample {
  perf_event_header header;
  uint64_t code;
  uint32_t process;
  uint32_t thread;
  uint64_t time;
  uint64_t address;
  uint32_t cpu;
  uint32_t reserved;
};

perf_event_attr attributes(uint64_t frequency) {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_SOFTWARE;
  wanted.config = PERF_COUNT_SW_PAGE_FAULTS;
  wanted.freq = 1;
  wanted.sample_freq = frequency;
  wanted.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU;
  wanted.inherit = 1;
  // Faults in system calls too, if that is allowed: read() into a new array touches it first.
  wanted.exclude_kernel = 0;
  wanted.watermark = 1;
  wanted.wakeup_watermark = static_cast<uint32_t>(ring_bytes() / 2);
  // As all times of the record.
  wanted.use_clockid = 1;
  wanted.clockid = CLOCK_MONOTONIC;
  return wanted;
}

int open_event(perf_event_attr& wanted, int cpu) {
  constexpr int kThisThread = 0;
  return static_cast<int>(syscall(SYS_perf_event_open, &wanted, kThisThread, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

uint64_t highest_frequency() {
  uint64_t most = 0;
  // Above it the kernel refuses.
  if (!(std::ifstream("/proc/sys/kernel/perf_event_max_sample_rate") >> most)) return kFaultsPerSecond;
  return std::clamp<uint64_t>(most, 1, kFaultsPerSecond);
}

}  // namespace

Faults::Faults() {
  error_ = open_all();
  if (error_ != 0) return;
  // The signals of the command go to those who wait for them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// A ring for each CPU that the program may use: events that children inherit have no other.
int Faults::open_all() {
  wake_ = eventfd(0, EFD_CLOEXEC);
  if (wake_ < 0) return errno;
  perf_event_attr wanted = attributes(highest_frequency());
  int error = ENODEV;
  const platform::CpuSet cpus = platform::thread_cpus();
  for (const int cpu : platform::each(cpus)) {
    Ring ring;
    ring.file = open_event(wanted, cpu);
    if (ring.file < 0 && (errno == EACCES || errno == EPERM) && wanted.exclude_kernel == 0) {
      wanted.exclude_kernel = 1;
      ring.file = open_event(wanted, cpu);
    }
    if (ring.file < 0) {
      if (errno == ENODEV) continue;  // a CPU that is offline
      return errno;
    }
    error = 0;
    ring.memory = mmap(nullptr, page_size() + ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, ring.file, 0);
    if (ring.memory == MAP_FAILED) {
      error = errno;
      ring.memory = nullptr;
    }
    rings_.push_back(ring);
    if (error != 0) return error;
  }
  return error;
}

Faults::~Faults() {
  take();
  for (const Ring& ring : rings_) {
    if (ring.memory != nullptr) munmap(ring.memory, page_size() + ring_bytes());
    close(ring.file);
  }
  if (wake_ >= 0) close(wake_);
}

std::vector<PageFault> Faults::take() {
  if (thread_.joinable()) {
    for (const Ring& ring : rings_) ioctl(ring.file, PERF_EVENT_IOC_DISABLE, 0);
    over_ = true;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
    thread_.join();
  }
  return std::exchange(kept_, {});
}

void Faults::run() {
  std::vector<pollfd> files;
  for (const Ring& ring : rings_) files.push_back({ring.file, POLLIN, 0});
  files.push_back({wake_, POLLIN, 0});
  bool is_last = false;
  while (!is_last) {
    poll(files.data(), files.size(), kPatienceMs);
    is_last = over_;
    for (Ring& ring : rings_) drain(ring);
    // A program that has ended hangs up, for good.
    for (pollfd& file : files) {
      if ((file.revents & (POLLHUP | POLLERR)) != 0) file.fd = -1;
    }
  }
}

void Faults::drain(Ring& ring) {
  auto* control = static_cast<perf_event_mmap_page*>(ring.memory);
  const char* data = static_cast<char*>(ring.memory) + page_size();
  const size_t bytes = ring_bytes();
  // Acquire pairs with the kernel's release: what lies before the head is complete.
  const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = control->data_tail;
  while (tail + sizeof(perf_event_header) <= head) {
    Sample sample{};
    // It may go on at the beginning of the ring.
    const auto copy = [&](size_t size) {
      const size_t at = tail % bytes;
      const size_t first = std::min(size, bytes - at);
      std::memcpy(&sample, data + at, first);
      std::memcpy(reinterpret_cast<char*>(&sample) + first, data, size - first);
    };
    copy(sizeof sample.header);
    const size_t size = sample.header.size;
    if (size < sizeof sample.header || tail + size > head) break;
    if (sample.header.type == PERF_RECORD_SAMPLE && size == sizeof sample) {
      copy(sizeof sample);
      // Addresses of the kernel: the program was in a system call.
      const bool in_kernel = (sample.header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
      keep({static_cast<int64_t>(sample.time), sample.address, in_kernel ? 0 : sample.code,
            static_cast<int>(sample.process), static_cast<int>(sample.thread), static_cast<int>(sample.cpu)});
    }
    tail += size;
  }
  // Release: the kernel may write over it only when it has been read.
  __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
}

// Of a program with very many, one of two, four, eight ...
void Faults::keep(const PageFault& fault) {
  if (seen_++ % stride_ != 0) return;
  kept_.push_back(fault);
  if (kept_.size() < kMostKept) return;
  for (size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
  kept_.resize((kept_.size() + 1) / 2);
  stride_ *= 2;
}

namespace {

// When all pages were found that there were in the end.
int64_t filled_at(const History& history) {
  int64_t filled = 0;
  for (size_t i = 0; i < history.last.size(); ++i) {
    if (history.last[i] < 0) continue;
    if (i >= history.since.size() || history.since[i] == 0) return INT64_MAX;
    filled = std::max(filled, history.since[i]);
  }
  return filled > 0 ? filled : INT64_MAX;
}

}  // namespace

void add_faults(const std::vector<PageFault>& faults, const platform::NumaNodes& nodes, Evidence& evidence) {
  Recorded& recorded = evidence.recorded;
  std::vector<PageFault> own;
  std::copy_if(faults.begin(), faults.end(), std::back_inserter(own), [&](const PageFault& fault) {
    return fault.process == recorded.pid && fault.time >= recorded.began &&
           (recorded.ended == 0 || fault.time <= recorded.ended);
  });
  std::sort(own.begin(), own.end(), [](const PageFault& a, const PageFault& b) {
    return std::tie(a.address, a.time) < std::tie(b.address, b.time);
  });
  const auto at = [&](uint64_t address) {
    return std::lower_bound(own.begin(), own.end(), address,
                            [](const PageFault& fault, uint64_t wanted) { return fault.address < wanted; });
  };
  const uint64_t page = recorded.page_size;
  std::vector<PageFault> here;
  for (const RecordedArray& array : recorded.arrays) {
    // The pages at the edges hold other blocks too.
    const uint64_t begin = (array.begin + page - 1) / page * page;
    const uint64_t end = (array.begin + array.bytes) / page * page;
    if (begin >= end) continue;
    here.clear();
    std::copy_if(at(begin), at(end), std::back_inserter(here), [&](const PageFault& fault) {
      return fault.time >= array.born && (array.live || array.died == 0 || fault.time <= array.died);
    });
    std::sort(here.begin(), here.end(), [](const PageFault& a, const PageFault& b) { return a.time < b.time; });
    const auto history = evidence.history.find(array.number);
    const int64_t filled = history != evidence.history.end() ? filled_at(history->second) : INT64_MAX;
    std::set<uint64_t> touched;
    for (const PageFault& fault : here) {
      RecordedTouch touch;
      touch.time = fault.time;
      touch.array = array.number;
      touch.position = static_cast<double>(fault.address - array.begin) / static_cast<double>(array.bytes);
      touch.thread = fault.thread;
      touch.cpu = fault.cpu;
      touch.node = std::max(nodes.node_of_cpu(fault.cpu), 0);
      touch.site = array.site;
      // Of a page that is there the kernel has made the fault, to know who uses it.
      touch.first = touched.insert(fault.address / page).second && fault.time < filled;
      touch.code = fault.code;
      recorded.touches.push_back(touch);
    }
  }
  std::sort(recorded.touches.begin(), recorded.touches.end(),
            [](const RecordedTouch& a, const RecordedTouch& b) { return a.time < b.time; });
}

void forget_later_touches(Evidence& evidence) {
  std::erase_if(evidence.recorded.touches, [](const RecordedTouch& touch) { return !touch.first; });
}

std::string why_no_faults(const Kernel& kernel, int error) {
  std::string text;
  if ((error == EACCES || error == EPERM) && kernel.read("/proc/sys/kernel/perf_event_paranoid", text) == 0 &&
      std::atoi(text.c_str()) > 2) {
    return "kernel.perf_event_paranoid is " + std::to_string(std::atoi(text.c_str())) + ", 2 allows it to all users";
  }
  if (error == EACCES || error == EPERM || error == ENOSYS) {
    return std::string("perf_event_open: ") + std::strerror(error) +
           "; a sandbox may forbid it, PERFMON allows it in "
           "containers";
  }
  return std::string("perf_event_open: ") + std::strerror(error);
}

}  // namespace weft::tools::numa

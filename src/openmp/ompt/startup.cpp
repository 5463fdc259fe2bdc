// SPDX-License-Identifier: Apache-2.0
// Finding a tool and starting it (OpenMP 5.2, section 19.2), and its end.
#include "openmp/settings/startup.h"

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <strings.h>

#include "base/keep_errno.h"
#include "base/message.h"
#include "base/options.h"
#include "openmp/lock/lock.h"
#include "openmp/ompt/callbacks.h"
#include "openmp/ompt/library.h"
#include "openmp/record/team.h"
#include "openmp/tool/event_bodies.h"
#include "platform/futex_lock.h"

// A program's own tool. The linker exports a function of the program where a library asks for it by name; a program
// that is linked with weft, as by weftcc, has no other library that does.
extern "C" [[gnu::weak, gnu::visibility("default")]] ompt_start_tool_result_t* ompt_start_tool(unsigned, const char*);

namespace weft::openmp::ompt {

std::array<std::atomic<ompt_callback_t>, kEventEnd> g_callbacks{};
std::atomic<weft_callback_loop_t> g_loop_callback{nullptr};
std::atomic<weft_callback_call_t> g_call_callback{nullptr};
std::atomic<weft_callback_library_t> g_library_callback{nullptr};
std::atomic<weft_callback_region_wanted_t> g_region_wanted{nullptr};
std::atomic<weft_callback_region_after_t> g_region_after{nullptr};
std::atomic<weft_callback_chunks_untold_t> g_chunks_unreported{nullptr};
std::atomic<weft_callback_chunks_left_t> g_chunks_left{nullptr};
constinit thread_local Thread t_thread;

namespace {

using StartTool = ompt_start_tool_result_t* (*)(unsigned, const char*);

platform::FutexLock g_lock;  // of the search and of the end
thread_local bool t_searching = false;
ompt_start_tool_result_t* g_tool = nullptr;

// What OMP_TOOL_VERBOSE_INIT asks for.
class Log {
 public:
  Log() noexcept {
    const char* wanted = base::options().tool_verbose_init.value;
    if (wanted == nullptr || strcasecmp(wanted, "disabled") == 0) return;
    if (strcasecmp(wanted, "stdout") == 0) {
      file_ = stdout;
    } else if (strcasecmp(wanted, "stderr") == 0) {
      file_ = stderr;
    } else if ((file_ = std::fopen(wanted, "we")) == nullptr) {
      base::warn("OMP_TOOL_VERBOSE_INIT=%s: %s; disabled, stdout, stderr or a file that can be written is wanted",
                 wanted, std::strerror(errno));
    } else {
      own_ = true;
    }
  }
  ~Log() {
    if (own_) std::fclose(file_);
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  [[gnu::format(printf, 2, 3)]] void say(const char* format, ...) const noexcept {
    if (file_ == nullptr) return;
    std::va_list list;
    va_start(list, format);
    std::fputs("weft: tools: ", file_);
    std::vfprintf(file_, format, list);
    std::fputc('\n', file_);
    std::fflush(file_);
    va_end(list);
  }

 private:
  std::FILE* file_ = nullptr;
  bool own_ = false;
};

// Whether the tool behind `start` wants this process.
bool ask(StartTool start, const char* where, const Log& log) noexcept {
  g_tool = start(kOpenmpVersion, "weft " WEFT_VERSION);
  log.say("%s: ompt_start_tool %s", where, g_tool != nullptr ? "found; it takes part" : "found; it declines");
  return g_tool != nullptr;
}

bool ask_library(const char* name, const Log& log) noexcept {
  void* library = dlopen(name, RTLD_LAZY);
  if (library == nullptr) {
    // The linker's words say why.
    base::warn("OMP_TOOL_LIBRARIES: %s; the program runs without this tool", dlerror());
    log.say("%s: cannot be loaded", name);
    return false;
  }
  auto start = reinterpret_cast<StartTool>(dlsym(library, "ompt_start_tool"));
  if (start == nullptr) {
    base::warn("OMP_TOOL_LIBRARIES: %s has no ompt_start_tool, so it is no tool of OpenMP; it is left out", name);
    log.say("%s: no ompt_start_tool", name);
    dlclose(library);
    return false;
  }
  if (ask(start, name, log)) return true;
  dlclose(library);
  return false;
}

// The tools of a list with colons between, in turn, until one takes part.
bool ask_libraries(const char* list, const Log& log) noexcept {
  for (const char* at = list; *at != '\0';) {
    const size_t length = std::strcspn(at, ":");
    if (length > 0) {
      char* name = strndup(at, length);
      const bool found = name != nullptr && ask_library(name, log);
      std::free(name);
      if (found) return true;
    }
    at += length + (at[length] == ':' ? 1 : 0);
  }
  return false;
}

bool find(const Log& log) noexcept {
  const base::Options& options = base::options();
  if (options.tool == base::ToolUse::disabled) {
    log.say("OMP_TOOL=disabled");
    return false;
  }
  // In the program and its libraries first.
  StartTool start = ompt_start_tool;
  if (start == nullptr) start = reinterpret_cast<StartTool>(dlsym(RTLD_DEFAULT, "ompt_start_tool"));
  if (start != nullptr) {
    if (ask(start, "the program or its libraries", log)) return true;
  } else {
    log.say("the program and its libraries: no ompt_start_tool");
  }
  return options.tool_libraries.value != nullptr && ask_libraries(options.tool_libraries.value, log);
}

}  // namespace

void enter_call() noexcept { tell_call(weft_call_enter); }
void leave_call() noexcept { tell_call(weft_call_leave); }

void tell_library(weft_library_t what, bool begins, const void* caller, int jobs, uint64_t* data) noexcept {
  const weft_callback_library_t callback = g_library_callback.load(std::memory_order_acquire);
  if (callback == nullptr) return;
  const base::KeepErrno keep;
  callback(what, begins ? 1 : 0, caller, jobs, data);
}

namespace {

// Relaxed: the thread alone writes it. Release: a thread that sees the word sees what the tool had put behind it.
void toggle(const weft_region_skip_t& skip) noexcept {
  const std::atomic_ref shown(*skip.shown);
  shown.store(shown.load(std::memory_order_relaxed) ^ skip.toggles, std::memory_order_release);
}

// Whether the tool has said before that it does not want the region.
bool is_skipped(weft_region_skip_t* skip, const void* caller) noexcept {
  if (skip == nullptr || skip->codeptr_ra != caller) return false;
  // Relaxed: a thread that sees late that it does not hold any more skips a region more.
  if (std::atomic_ref(*skip->valid).load(std::memory_order_relaxed) != skip->expected) return false;
  // Relaxed: a number that others read for a report.
  const std::atomic_ref left(skip->left);
  const uint32_t before = left.load(std::memory_order_relaxed);
  if (before == 0) return false;
  left.store(before - 1, std::memory_order_relaxed);
  skip->inside = 1;
  toggle(*skip);
  return true;
}

}  // namespace

}  // namespace weft::openmp::ompt

namespace weft::openmp::tool {

using namespace ompt;  // what this file and callbacks.h have there

Presence g_presence;

bool start() noexcept {
  // What the tool calls while it starts makes no events.
  if (t_searching) return false;
  const base::KeepErrno keep;
  g_lock.lock();
  if (g_presence.state.load(std::memory_order_relaxed) == kUnknown) {
    t_searching = true;
    const Log log;
    bool active = find(log);
    if (active) {
      active = g_tool->initialize(lookup, 0, &g_tool->tool_data) != 0;
      log.say("the tool's initializer says %s", active ? "yes" : "no: it is left alone");
      if (!active) g_tool = nullptr;
    } else {
      log.say("no tool");
    }
    // Before the handlers of the program that are registered already: these may use OpenMP after the tool's end.
    if (active) std::atexit(finalize);
    g_presence.state.store(active ? kActive : kNone, std::memory_order_relaxed);
    if (!active) g_free_word.store(kFree, std::memory_order_relaxed);
    t_searching = false;
  }
  g_lock.unlock();
  if (g_presence.state.load(std::memory_order_relaxed) != kActive) return false;
  // What the tool has called while it started may have made a member, of which it does not know.
  if (Member* member = t_member) {
    member->team->tool.reported = true;
    make_current(member);
    ompt::begin_root(member);
  }
  return true;
}

void finalize() noexcept {
  if (g_presence.state.load(std::memory_order_relaxed) != kActive) return;
  // The caller's thread ends to the tool, if nothing of the program's is open in it. Others go on, unseen.
  Member* member = current_member();
  if (member != nullptr && member->team->root != nullptr) ompt::end_root(member);
  g_lock.lock();
  ompt_start_tool_result_t* tool = g_tool;
  g_tool = nullptr;
  g_presence.state.store(kNone, std::memory_order_relaxed);
  g_lock.unlock();
  if (tool != nullptr && tool->finalize != nullptr) tool->finalize(&tool->tool_data);
}

void UnwantedRegion::begin(const void* caller) noexcept {
  const weft_callback_region_wanted_t wanted = g_region_wanted.load(std::memory_order_acquire);
  if (wanted == nullptr) return;
  Member* member = self();
  if (!is_skipped(t_thread.skip, caller) && wanted(caller, &t_thread.skip) != 0) return;
  member_ = member;
  t_member = member;
}

void UnwantedRegion::end() noexcept {
  put_current_member(member_);
  weft_region_skip_t* skip = t_thread.skip;
  if (skip != nullptr && skip->inside != 0) {
    skip->inside = 0;
    return toggle(*skip);
  }
  if (const weft_callback_region_after_t after = g_region_after.load(std::memory_order_acquire)) after();
}

const void* Entry::enter(const void* caller, int requested) noexcept {
  Member* member = self();
  const void* outer = t_thread.caller;
  t_thread.caller = caller;
  t_thread.requested = requested;
  ompt_frame_t& frame = member->task->tool.frame;
  frame.enter_frame.ptr = __builtin_dwarf_cfa();
  frame.enter_frame_flags = ompt_frame_runtime | ompt_frame_stackaddress;
  tell_call(weft_call_enter);
  return outer;
}

void Entry::leave(const void* outer) noexcept {
  t_thread.caller = outer;
  self()->task->tool.frame.enter_frame.ptr = nullptr;
  tell_call(weft_call_leave);
}

}  // namespace weft::openmp::tool

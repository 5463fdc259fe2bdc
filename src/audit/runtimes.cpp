// SPDX-License-Identifier: Apache-2.0
#include "audit/runtimes.h"

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <strings.h>
#include <unistd.h>

#include "audit/interpose.h"
#include "audit/mapped_file.h"
#include "audit/room.h"
#include "audit/say.h"
#include "audit/start.h"
#include "platform/loaded_object.h"
#include "platform/openmp_runtime.h"

namespace weft::audit {

namespace {

using platform::LoadedObject;

LoadedObject symbols_of(const link_map* object) noexcept { return {object->l_addr, object->l_ld}; }

// By its path, as it is known where it was the first of its link namespace; or, where the path is that of the place in
// which it was found instead, by its functions.
bool is_weft(const link_map* object, const char* library) noexcept {
  if (std::strcmp(object->l_name, library) == 0) return true;
  return platform::has_runtime_name(object->l_name) && platform::is_weft(symbols_of(object));
}

// Another runtime than weft's, and how it came; kept for the end.
struct Other {
  char path[PATH_MAX];
  const char* why;
  char detail[32];  // at the end of that
};
constexpr int kMostKept = 8;
Other g_others[kMostKept];
int g_other_count = 0;

bool g_started = false;
bool g_starts_threads = false;  // the program, itself
bool g_seen_weft = false;  // something of weft's that prints statistics itself
bool g_wants_statistics = false;
int g_run_by_weft = 0;  // this process, if it is not one that such a process has started

// Once, also where it is closed and opened again and again.
void tell(const char* path, const char* why, const char* detail = "") noexcept {
  for (int i = 0; i < g_other_count; ++i) {
    if (std::strcmp(g_others[i].path, path) == 0) return;
  }
  if (g_other_count == kMostKept) return;
  if (g_started) say({"weft: ", path, " ", why, detail, "\n"});
  Other& kept = g_others[g_other_count++];
  const size_t length = std::strlen(path);
  std::memcpy(kept.path, path, length < sizeof kept.path ? length : sizeof kept.path - 1);
  kept.why = why;
  for (size_t i = 0; i + 1 < sizeof kept.detail && detail[i] != '\0'; ++i) kept.detail[i] = detail[i];
}

// Without a system call: the program may have forbidden itself those with paths.
const char* program_name() noexcept {
  const auto* path = reinterpret_cast<const char*>(auxiliary(AT_EXECFN));
  if (path == nullptr) return "?";
  return path + platform::folder_length(path);
}

void tell_statistics(const char* why) noexcept {
  char number[kDecimal];
  say({"weft statistics: ", program_name(), " (process ", decimal(static_cast<unsigned long>(getpid()), number),
       ")\n  nothing ran on weft: ", why, "\n"});
  for (int i = 0; i < g_other_count; ++i) say({"  ", g_others[i].path, " ", g_others[i].why, g_others[i].detail, "\n"});
}

}  // namespace

bool is_on_weft(const link_map* object, const char* library) noexcept {
  while (object->l_prev != nullptr) object = object->l_prev;
  for (; object != nullptr; object = object->l_next) {
    if (is_weft(object, library)) return true;
  }
  return false;
}

void look_for_runtime(const link_map* object, Lmid_t space, const char* library) noexcept {
  if (object->l_name[0] == '\0') {
    g_starts_threads |= symbols_of(object).needs("pthread_create");
    return;
  }
  if (!platform::defines_runtime(symbols_of(object))) return;
  if (is_weft(object, library)) {
    g_seen_weft = true;
    if (space != LM_ID_BASE) {
      tell(object->l_name,
           "is mapped a second time: a link namespace of its own (dlmopen) has a copy of weft, which shares neither "
           "threads nor CPUs with the program's");
    } else {
      note_runtime();
    }
  } else if (space != LM_ID_BASE) {
    tell(object->l_name,
         "is mapped beside weft, in a link namespace of its own: for a path, dlmopen asks nobody; give it the name "
         "alone");
  } else if (platform::has_runtime_name(object->l_name)) {
    tell(object->l_name,
         "is mapped beside weft: for a path, dlmopen asks nobody; open it by dlopen, or give dlmopen the name alone");
  } else {
    tell(object->l_name,
         "has an OpenMP runtime inside: its own regions run on that, beside weft; link it with the shared one");
  }
}

void look_inside_program() noexcept {
  g_started = true;
  for (int i = 0; i < g_other_count; ++i)
    say({"weft: ", g_others[i].path, " ", g_others[i].why, g_others[i].detail, "\n"});
  // A runtime starts threads. Most programs end here.
  if (!g_starts_threads) return;
  char path[PATH_MAX];
  const char* file = program_file(path, sizeof path);
  const char* archive = file != nullptr ? MappedFile(file).elf().inner_runtime() : nullptr;
  if (archive == nullptr) return;
  tell(file, std::strcmp(archive, "libgomp.a") == 0
                 ? "has an OpenMP runtime inside (libgomp.a): its own regions run on that, beside weft; link it with "
                   "the shared one"
                 : "has an OpenMP runtime inside (libomp.a): its own regions run on that, beside weft; link it with "
                   "the shared one");
}

void tell_missing_version(const link_map* object, const char* version) noexcept {
  tell(object->l_name, "needs functions of a newer runtime that weft lacks, and fails where it calls them: ", version);
}

void note_permits() noexcept { g_seen_weft = true; }

void tell_at_end() noexcept {
  if (!g_wants_statistics || g_seen_weft) return;
  if (g_other_count > 0) {
    tell_statistics("what it has of OpenMP runs on a runtime of its own");
  } else if (g_run_by_weft == getpid()) {
    // Whatever a script starts need not say so.
    tell_statistics("no part of the program has asked for an OpenMP runtime");
  }
}

void remember_wishes() noexcept {
  const char* wanted = std::getenv("WEFT_STATS");
  for (const char* word : {"true", "yes", "on", "1", "all"}) {
    if (wanted != nullptr && strcasecmp(wanted, word) == 0) g_wants_statistics = true;
  }
  char number[kDecimal];
  const char* process = std::getenv("WEFT_RUN_PROCESS");
  const int self = getpid();
  if (process != nullptr && std::strcmp(process, decimal(static_cast<unsigned long>(self), number)) == 0) {
    g_run_by_weft = self;
  }
}

}  // namespace weft::audit

// SPDX-License-Identifier: Apache-2.0
// Answers every search for an OpenMP runtime in a process with weft's library (rtld-audit(7)): that of a linked
// library, of dlopen, and those for the renamed copies inside Python wheels. So one runtime is mapped, and whatever
// asks for versions or symbols of any of those names gets them from it. So it does with the library by which oneTBB
// asks how many threads it may have. And it has copies of OpenBLAS adopted (adopt.h).
//
// When a search is answered matters. Objects with version needs ("GOMP_4.0 from libomp-1a2b.so.5") look among the
// loaded objects for one known by that very name, and the dynamic linker aborts when there is none.
// - As long as weft is not mapped, a search is answered before the linker looks anywhere (LA_SER_ORIG). It then opens
//   weft's file under its own path, and adds the name asked for to the names that file is known by. Or it opens
//   nothing: some searches only ask what is there (RTLD_NOLOAD).
// - Once weft is mapped, searches lead to a file that is loaded already. There the linker adds the name it goes on
//   searching with, which an answer to LA_SER_ORIG would replace by weft's path. So they keep their name, and the first
//   place that the linker looks in is answered instead.
// - For a path the linker looks in no places, and asks by LA_SER_ORIG alone. Nothing needs to be known by a path: an
//   object that needs a runtime by one is made to ask for the name alone when it is mapped (shorten_needed).
// So it is from glibc 2.35 to 2.43.
#include <climits>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <link.h>
#include <strings.h>
#include <unistd.h>

#include "audit/interpose.h"
#include "audit/needed.h"
#include "audit/room.h"
#include "audit/runtimes.h"
#include "audit/say.h"
#include "audit/spin_waits.h"
#include "audit/start.h"
#include "audit/valgrind.h"
#include "audit/yield.h"
#include "platform/openmp_runtime.h"

namespace {

// A copy: programs that set their title overwrite the environment they were started with.
char g_library[PATH_MAX];
// Why the runtime cannot be used, if it cannot. Then nothing is answered or adopted, and a search for a runtime gets
// this message.
const char* g_fault = nullptr;
bool g_adopts = true;
// In which objects loops that wait are looked for.
bool g_sees_waits_of_libraries = true;
bool g_sees_waits_of_program = false;

// The library of weft's that oneTBB is given, beside the runtime; empty: there is none, or it is not wanted.
char g_permits[PATH_MAX];

// As the runtime reads them (base/options.cpp), which warns of what is neither.
bool is_one_of(const char* text, std::initializer_list<const char*> words) noexcept {
  if (text == nullptr) return false;
  for (const char* word : words) {
    if (strcasecmp(text, word) == 0) return true;
  }
  return false;
}
bool is_false(const char* text) noexcept { return is_one_of(text, {"false", "no", "off", "0"}); }
bool is_true(const char* text) noexcept { return is_one_of(text, {"true", "yes", "on", "1"}); }

// Of libraries with oneTBB's interface for permits (src/tcm).
constexpr const char* kPermits[] = {"libtcm", "libtcm_debug"};

void find_permits() noexcept {
  constexpr char kName[] = "libtcm.so.1";
  const size_t folder = weft::platform::folder_length(g_library);
  if (!g_adopts || folder + sizeof kName > sizeof g_permits) return;
  std::memcpy(g_permits, g_library, folder);
  std::memcpy(g_permits + folder, kName, sizeof kName);
  if (access(g_permits, R_OK) != 0) g_permits[0] = '\0';
}

// Why `library` cannot be used; null: it can.
const char* fault(const char* library) noexcept {
  if (library == nullptr || *library == '\0') return "is not set";
  if (*library != '/') return "is not an absolute path";
  if (std::strlen(library) >= sizeof g_library) return "is too long";
  return access(library, R_OK) == 0 ? nullptr : "cannot be read";
}

// Whether the runtime comes by LD_PRELOAD as well.
bool is_preloaded() noexcept {
  const char* preloaded = std::getenv("LD_PRELOAD");
  const char* library = std::getenv("WEFT_LIBRARY");
  if (preloaded == nullptr || library == nullptr || *library == '\0') return false;
  const size_t length = std::strlen(library);
  for (; *preloaded != '\0'; ++preloaded) {
    if (std::strncmp(preloaded, library, length) == 0) return true;
  }
  return false;
}

// Once in a program, and only in one that uses OpenMP: whatever else is started in such an environment need not say so.
void tell_fault() noexcept {
  static bool said = false;
  if (said) return;
  said = true;
  weft::audit::say({"weft: WEFT_LIBRARY", g_library[0] != '\0' ? "=" : "", g_library, " ", g_fault,
                    "; the program runs on its own OpenMP runtime\n"});
}

// If an object needs a version of a runtime that weft does not have, the program keeps its own runtimes; where weft is
// mapped already, it goes on without that version.
void look_for_versions(const link_map* object) noexcept {
  const weft::audit::MissingVersion missing = weft::audit::find_missing_version(object, g_library);
  if (missing.version == nullptr) return;
  if (weft::audit::is_on_weft(object, g_library)) {
    weft::audit::excuse_missing_versions(object, g_library);
    weft::audit::tell_missing_version(object, missing.version);
    return;
  }
  static char fault[PATH_MAX + 128];
  size_t length = 0;
  const char* who = object->l_name[0] != '\0' ? object->l_name : "the program";
  for (const char* part : {"lacks ", missing.version, " of ", missing.runtime, ", which ", who, " needs"}) {
    for (; *part != '\0' && length + 1 < sizeof fault; ++part) fault[length++] = *part;
  }
  g_fault = fault;
  g_adopts = false;
  g_permits[0] = '\0';
  weft::audit::lengthen_needed();
}

}  // namespace

extern "C" {

// 0 makes the dynamic linker go on without this library.
[[gnu::visibility("default")]] unsigned la_version(unsigned version) {
  weft::audit::remember_start();
  // The interface's version since glibc 2.35, of which the runtime needs _dl_find_object. With an older one the dynamic
  // linker would end the program over the answer that names the runtime.
  constexpr unsigned kSinceFindObject = 2;
  if (version < kSinceFindObject) {
    // Once where it matters: such an environment may have come into an older system's container, of whose programs most
    // use no OpenMP.
    if (!is_preloaded() && weft::audit::program_needs_runtime()) {
      weft::audit::say({"weft: glibc 2.35 or later is needed; the program runs on its own OpenMP runtime\n"});
    }
    return 0;
  }
  const char* library = std::getenv("WEFT_LIBRARY");
  g_fault = fault(library);
  const size_t length = library != nullptr ? std::strlen(library) : 0;
  if (library != nullptr) std::memcpy(g_library, library, length < sizeof g_library ? length : sizeof g_library - 1);
  g_adopts = g_fault == nullptr && !is_false(std::getenv("WEFT_ADOPT_LIBRARIES"));
  g_sees_waits_of_libraries = !is_false(std::getenv("WEFT_SPIN_WAITS"));
  g_sees_waits_of_program = is_true(std::getenv("WEFT_SPIN_WAITS"));
  find_permits();
  weft::audit::remember_wishes();
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

// Called before the object's own code runs. What it binds is of no interest here.
[[gnu::visibility("default")]] unsigned la_objopen(link_map* object, Lmid_t space, uintptr_t*) {
  if (g_fault == nullptr && space == LM_ID_BASE) look_for_versions(object);
  if (g_fault == nullptr) {
    weft::audit::shorten_needed(object);
    weft::audit::look_for_runtime(object, space, g_library);
  }
  if (space != LM_ID_BASE) return 0;
  weft::audit::make_room(object);
  weft::audit::look_for_freeres(object);
  if (g_adopts) {
    weft::audit::look_at(object, g_library);
    weft::audit::look_for_yield(object, g_library);
    const bool is_program = object->l_name[0] == '\0';
    if (is_program ? g_sees_waits_of_program : g_sees_waits_of_libraries) {
      weft::audit::look_for_spin_waits(object, g_library);
    }
  }
  return 0;
}

// Called when all objects that the program starts with are mapped, before any of its code runs.
[[gnu::visibility("default")]] void la_preinit(uintptr_t*) {
  weft::audit::end_start();
  weft::audit::forget_shortened();
  if (g_fault == nullptr) weft::audit::look_inside_program();
}

// The cookie is the object's link_map as long as nobody writes another one. When the process ends, all objects that are
// still there are closed too, the program among them.
[[gnu::visibility("default")]] unsigned la_objclose(uintptr_t* cookie) {
  const auto* object = reinterpret_cast<const link_map*>(*cookie);
  weft::audit::forget_yield(object, g_library);
  weft::audit::forget_spin_waits(object, g_library);
  weft::audit::forget_copy(object);
  if (object->l_name[0] == '\0') weft::audit::tell_at_end();
  return 0;
}

[[gnu::visibility("default")]] char* la_objsearch(const char* name, uintptr_t* cookie, unsigned flag) {
  // Nobody asks this one for versions, so that its path does for every search.
  if (g_permits[0] != '\0' && weft::platform::is_one_of(kPermits, name)) {
    weft::audit::note_permits();
    return g_permits;
  }
  if (!weft::platform::has_runtime_name(name)) return const_cast<char*>(name);
  if (g_fault != nullptr) {
    tell_fault();
    return const_cast<char*>(name);
  }
  // The object that asks.
  const auto* object = reinterpret_cast<const link_map*>(*cookie);
  if (flag == LA_SER_ORIG && weft::audit::is_on_weft(object, g_library)) {
    const bool has_places = weft::platform::folder_length(name) == 0;
    if (has_places || weft::audit::needs_path(object, name)) return const_cast<char*>(name);
  }
  return g_library;
}
}

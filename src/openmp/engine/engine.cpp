// SPDX-License-Identifier: Apache-2.0
#include "openmp/engine/engine.h"

#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "base/message.h"
#include "base/options.h"
#include "openmp/affinity/affinity.h"
#include "openmp/settings/icv.h"
#include "platform/generation.h"

namespace weft::openmp {

namespace {

// The second is that of earlier versions, for which others may have built engines.
constexpr const char* kPrefixes[] = {"libweft-engine-", "libweft_engine_"};
constexpr char kSuffix[] = ".so";
constexpr char kOwnName[] = "weft";

// Where the runtime lies; empty: it cannot be told.
struct Folder {
  char path[PATH_MAX] = "";

  Folder() noexcept {
    Dl_info own;
    if (dladdr(reinterpret_cast<void*>(&engine), &own) == 0 || own.dli_fname == nullptr) return;
    const char* slash = std::strrchr(own.dli_fname, '/');
    if (slash == nullptr) return;
    const auto length = static_cast<size_t>(slash - own.dli_fname);
    if (length >= sizeof path) return;
    std::memcpy(path, own.dli_fname, length);
    path[length] = '\0';
  }
};

// The engines in `folder`, in the order of the system, with commas between.
struct Names {
  char text[512];

  explicit Names(const Folder& folder) noexcept {
    int size = std::snprintf(text, sizeof text, "%s", kOwnName);
    DIR* files = opendir(folder.path);
    if (files == nullptr) return;
    while (const dirent* file = readdir(files)) {
      const std::string_view name = name_in(file->d_name);
      const size_t room = sizeof text - static_cast<size_t>(size);
      if (name.empty()) continue;
      if (name.size() + 3 > room) break;
      size += std::snprintf(text + size, room, ", %.*s", static_cast<int>(name.size()), name.data());
    }
    closedir(files);
  }

  // That of the engine in this file; empty: it is none's.
  static std::string_view name_in(std::string_view file) noexcept {
    if (!file.ends_with(kSuffix)) return {};
    file.remove_suffix(sizeof kSuffix - 1);
    for (const std::string_view prefix : kPrefixes) {
      if (file.starts_with(prefix)) return file.substr(prefix.size());
    }
    return {};
  }
};

// Warns that the variable cannot be followed.
[[gnu::format(printf, 2, 3)]] const weft_engine* refuse(const char* name, const char* format, ...) noexcept {
  char why[1024];
  std::va_list list;
  va_start(list, format);
  std::vsnprintf(why, sizeof why, format, list);
  va_end(list);
  base::warn("WEFT_ENGINE=%.*s: %s; loops run on weft", base::kShownOfValue, name, why);
  return nullptr;
}

const weft_engine* load() noexcept {
  const base::KeepErrno keep;
  const char* name = base::options().engine.value;
  const Folder folder;
  char path[PATH_MAX + 64];
  // Before the linker is asked: its words about a name that was mistyped would not help.
  bool found = false;
  for (const char* prefix : kPrefixes) {
    const int length = std::snprintf(path, sizeof path, "%s/%s%s%s", folder.path, prefix, name, kSuffix);
    const bool is_name = std::strchr(name, '/') == nullptr && static_cast<size_t>(length) < sizeof path;
    found = is_name && access(path, F_OK) == 0;
    if (found) break;
  }
  if (!found) {
    return refuse(name, "there is no such engine in %s; there are %s", folder.path, Names(folder).text);
  }
  if (affinity().on) return refuse(name, "threads are to be bound, and an engine's threads are not weft's to bind");
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return refuse(name, "%s", dlerror());
  auto* entry = reinterpret_cast<weft_engine_entry_function*>(dlsym(library, "weft_engine_entry"));
  if (entry == nullptr) return refuse(name, "%s has no weft_engine_entry, so it is no engine", path);
  const weft_engine* engine = entry();
  if (engine->version != WEFT_ENGINE_VERSION) {
    return refuse(name, "%s is of version %u of the interface, and the runtime of %u", path, engine->version,
                  static_cast<unsigned>(WEFT_ENGINE_VERSION));
  }
  const char* fault = engine->start(num_procs());
  return fault == nullptr ? engine : refuse(name, "%s", fault);
}

struct Loaded {
  const weft_engine* engine = load();
  uint32_t generation = platform::generation();
};

}  // namespace

bool wants_engine() noexcept {
  const char* name = base::options().engine.value;
  return name != nullptr && *name != '\0' && std::strcmp(name, kOwnName) != 0;
}

const weft_engine* engine() noexcept {
  static const Loaded loaded;
  return loaded.generation == platform::generation() ? loaded.engine : nullptr;
}

}  // namespace weft::openmp

// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <cstdlib>
#include <vector>

#include <sys/auxv.h>

#include "base/message.h"

namespace weft::tools {

namespace fs = std::filesystem;

namespace {

// The package `weft` of a wheel whose scripts lie in PREFIX/bin: what pip calls purelib, for each Python of that
// prefix; or PREFIX itself (pip install --target).
std::vector<fs::path> packages(const fs::path& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const char* library : {"lib", "lib64"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(prefix / library, error)) {
      if (entry.path().filename().string().rfind("python3", 0) != 0) continue;
      for (const char* packages : {"site-packages", "dist-packages"}) found.push_back(entry.path() / packages / "weft");
    }
  }
  found.push_back(prefix / "weft");
  return found;
}

bool complete(const Libraries& libraries) {
  std::error_code error;
  return fs::exists(libraries.runtime, error) && fs::exists(libraries.audit, error);
}

Libraries in(const fs::path& folder, const fs::path& package) {
  std::error_code error;
  const fs::path python = package / "_site";
  // A wheel has it in the package.
  const fs::path tune = fs::exists(folder / "tune", error) ? folder / "tune" : package / "tune";
  return {folder / "libgomp.so.1",
          folder / "libweft-audit.so",
          folder / "libweft-preload.so",
          folder / "libweft-observe.so",
          folder / "report/report-page.html",
          folder / "libweft-mpi.so",
          folder / "libweft-numa.so",
          tune,
          folder / "mca_coll_weft.so",
          folder / "libweft-coll.so",
          fs::exists(python, error) ? python : fs::path()};
}

}  // namespace

fs::path own_path() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (!error) return path;
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return started != nullptr ? fs::weakly_canonical(started, error) : fs::path();
}

Libraries find_libraries() {
  std::error_code error;
  const fs::path prefix = own_path().parent_path().parent_path();
  for (const char* folder : {"lib/weft", WEFT_INSTALLED_LIBRARY_DIR}) {
    Libraries found = in(prefix / folder, prefix);
    if (complete(found)) return found;
  }
  for (const fs::path& package : packages(prefix)) {
    Libraries found = in(package / "lib/weft", package);
    if (complete(found)) return found;
  }
  base::warn(
      "no runtime library in %s/%s: the command may have been copied or moved away from its libraries; build or "
      "install "
      "weft again",
      prefix.c_str(), WEFT_INSTALLED_LIBRARY_DIR);
  std::exit(EXIT_FAILURE);
}

}  // namespace weft::tools

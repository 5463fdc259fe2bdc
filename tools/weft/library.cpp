// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <cstdlib>

#include "base/message.h"

namespace weft::tools {

namespace fs = std::filesystem;

Libraries find_libraries() {
  std::error_code error;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  for (const char* folder : {"lib/weft", WEFT_INSTALLED_LIBRARY_DIR}) {
    Libraries found{prefix / folder / "libgomp.so.1", prefix / folder / "libweft_audit.so",
                    prefix / folder / "libweft_trace.so"};
    if (fs::exists(found.runtime, error) && fs::exists(found.audit, error)) return found;
  }
  base::warn("no runtime library in %s/lib/weft or %s/%s; build or install weft again", prefix.c_str(), prefix.c_str(),
             WEFT_INSTALLED_LIBRARY_DIR);
  std::exit(EXIT_FAILURE);
}

}  // namespace weft::tools

// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "openmp/abi/abi.h"

namespace {

struct Line {
  char text[256];
  size_t length = 0;

  void append(const char* part) noexcept {
    size_t size = std::strlen(part);
    if (size > sizeof text - length) size = sizeof text - length;
    std::memcpy(text + length, part, size);
    length += size;
  }
};

}  // namespace

void weft_abi_missing(const char* name) noexcept {
  constexpr const char* kForOpenacc[] = {"acc_", "GOACC_", "GOMP_PLUGIN_"};
  bool of_openacc = false;
  for (const char* prefix : kForOpenacc)
    of_openacc = of_openacc || std::strncmp(name, prefix, std::strlen(prefix)) == 0;
  // One write, so that the lines of several threads and processes stay whole.
  Line line;
  line.append("weft: ");
  line.append(name);
  if (of_openacc) {
    line.append(" belongs to OpenACC and offloading, which weft has no part of:");
    line.append(" it is a runtime of OpenMP on the host; run the program with its compiler's libgomp (without weft)\n");
  } else {
    line.append(" is not supported yet by this version;");
    line.append(" run the program with the runtime it was built for (without weft)\n");
  }
  if (write(STDERR_FILENO, line.text, line.length) < 0) {
    // The abort still tells.
  }
  std::abort();
}

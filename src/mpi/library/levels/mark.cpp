// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/levels/mark.h"

#include <climits>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "base/quiet_options.h"

namespace weft::mpi {

namespace {

// Empty where there is no report. A child that has been forked has another one.
struct Name {
  char text[PATH_MAX] = "";

  Name() noexcept {
    const char* folder = base::quiet_options().profile_folder.value;
    if (folder == nullptr) return;
    const int length = std::snprintf(text, sizeof text, "%s/%d.in-mpi", folder, getpid());
    if (length < 0 || static_cast<size_t>(length) >= sizeof text) text[0] = '\0';
  }
};

}  // namespace

void leave_mark() noexcept {
  const Name name;
  if (name.text[0] == '\0') return;
  const int descriptor = open(name.text, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor >= 0) close(descriptor);
}

void remove_mark() noexcept {
  const Name name;
  if (name.text[0] != '\0') unlink(name.text);
}

}  // namespace weft::mpi

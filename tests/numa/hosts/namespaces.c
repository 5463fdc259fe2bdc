// SPDX-License-Identifier: Apache-2.0
// It has one thread, so that it may have a user namespace of its own, where the system allows it.
#include "busy.h"

#include <errno.h>
#include <sched.h>

int main(int count, char **arguments) {
  begin(count, arguments);
  char *array = make_array();
  while (goes_on()) {
    for (size_t i = 0; i < SIZE; i += 64) ++array[i];
  }
  CHECK(unshare(CLONE_NEWUSER) == 0 || errno != EINVAL);
  for (size_t i = 0; i < SIZE; i += 64) ++array[i];
  return 0;
}

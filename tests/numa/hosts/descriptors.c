// SPDX-License-Identifier: Apache-2.0
// The lowest number that is free is the next file's, and files that it has opened stay open, whatever it closes.
#include "busy.h"

#include <fcntl.h>

int main(int count, char **arguments) {
  begin(count, arguments);
  volatile char *array = make_array();
  for (int i = 0; i < 50; ++i) CHECK(open("/dev/null", O_RDONLY) >= 0);
  close(0);
  for (size_t i = 0; goes_on(); i = (i + 64) % SIZE) {
    const int file = open("/dev/null", O_RDONLY);
    CHECK(file == 0);
    ++array[i];
    for (int other = 3; other < 20; ++other) close(other);
    CHECK(fcntl(file, F_GETFD) >= 0);
    close(file);
  }
  return 0;
}

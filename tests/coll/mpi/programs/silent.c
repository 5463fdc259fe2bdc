// SPDX-License-Identifier: Apache-2.0
// No collective at all.
#include "check.h"

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  check_begin();
  return check_end();
}

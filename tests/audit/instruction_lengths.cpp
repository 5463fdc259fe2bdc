// SPDX-License-Identifier: Apache-2.0
// The bytes of an instruction in each line of stdin, in hexadecimal: prints those whose length is taken for another one,
// and how many lines there were.
#include <array>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include "audit/x86_instruction.h"

int main() {
  long count = 0;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::array<unsigned char, 32> bytes;
    bytes.fill(0x90);  // what stands behind it is of no interest
    size_t size = 0;
    for (std::string word; size < 15 && words >> word; ++size) {
      bytes[size] = static_cast<unsigned char>(std::stoi(word, nullptr, 16));
    }
    if (size == 0) continue;
    ++count;
    const size_t length = weft::audit::decode(bytes.data(), bytes.data() + bytes.size()).length;
    if (length != size) std::printf("%zu: %s\n", length, line.c_str());
  }
  std::printf("%ld instructions\n", count);
  return 0;
}

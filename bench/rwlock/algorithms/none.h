// SPDX-License-Identifier: Apache-2.0
// No lock: the verification must find it out.
#pragma once

#include <cstddef>

namespace bench {

class None {
 public:
  static size_t size(int) { return 1; }
  static void make(void*, int) {}

  class Reader {
   public:
    Reader(void*, int, int) {}
    template <typename Body>
    void read(const Body& body) {
      body();
    }
  };

  class Writer {
   public:
    Writer(void*, int) {}
    void lock() {}
    void unlock() {}
  };
};

}  // namespace bench

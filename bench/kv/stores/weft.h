// SPDX-License-Identifier: Apache-2.0
// weft/kv.h.
#pragma once

#include <cerrno>
#include <string_view>

#include "kv/stores/place.h"
#include "weft/kv.h"

namespace bench {

class WeftKv {
  static void check(int error, const char* call) {
    if (__builtin_expect(error != 0, 0)) store_failed(call, weft_shm_error());
  }
  static weft_kv* open(const Place& place, unsigned flags) {
    const size_t needed = static_cast<size_t>(place.keys) * static_cast<size_t>(place.value_size + 256) * 4;
    weft_kv* kv = nullptr;
    check(weft_kv_open(&kv, (place.folder + "/weft").c_str(), needed + (size_t{64} << 20), flags), "weft_kv_open");
    return kv;
  }

 public:
  static size_t size(const Place&) { return 0; }
  static void make(const Place& place) { weft_kv_close(open(place, WEFT_KV_CREATE)); }

  class Reader {
   public:
    explicit Reader(const Place& place) : kv_(open(place, WEFT_KV_READ_ONLY)) {}
    bool get(std::string_view key, char* into, size_t size) {
      const int error = weft_kv_get(kv_, key.data(), key.size(), into, size, nullptr, nullptr);
      if (error != ENOENT) check(error, "weft_kv_get");
      return error == 0;
    }

   private:
    const weft_kv* kv_;
  };

  class Writer {
   public:
    explicit Writer(const Place& place) : kv_(open(place, 0)) {}
    void put(std::string_view key, std::string_view value) {
      check(weft_kv_put(kv_, key.data(), key.size(), value.data(), value.size(), nullptr), "weft_kv_put");
    }

   private:
    weft_kv* kv_;
  };
};

}  // namespace bench

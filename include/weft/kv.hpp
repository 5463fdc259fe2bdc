/* SPDX-License-Identifier: Apache-2.0 */
/* weft/kv.h for C++17: a store as an object. What cannot be done is thrown as std::system_error, with the text of
 * weft_shm_error(). */
#ifndef WEFT_KV_HPP
#define WEFT_KV_HPP

#if __cplusplus < 201703L
#error "weft's headers for C++ need C++17: compile with -std=c++17 or later"
#endif

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "kv.h"

namespace weft {

class Kv {
 public:
  struct Versioned {
    std::string value;
    uint64_t version;
  };

  explicit Kv(const std::string& name, size_t max_bytes = 0, unsigned flags = WEFT_KV_CREATE) {
    check(weft_kv_open(&store_, name.c_str(), max_bytes, flags));
  }
  ~Kv() {
    if (store_ != nullptr) weft_kv_close(store_);
  }
  Kv(Kv&& other) noexcept : store_(std::exchange(other.store_, nullptr)) {}
  Kv& operator=(Kv&& other) noexcept {
    std::swap(store_, other.store_);
    return *this;
  }
  Kv(const Kv&) = delete;
  Kv& operator=(const Kv&) = delete;

  weft_kv* native_handle() const noexcept { return store_; }

  // Nothing: there is no such key.
  std::optional<Versioned> find(std::string_view key) const {
    Versioned found{std::string(kUsualBytes, '\0'), 0};
    for (;;) {
      size_t length = 0;
      const int error = weft_kv_get(store_, key.data(), key.size(), found.value.data(), found.value.size(), &length,
                                    &found.version);
      if (error == ENOENT) return std::nullopt;
      if (error != ERANGE) check(error);
      found.value.resize(length);
      if (error == 0) return found;
    }
  }
  std::optional<std::string> get(std::string_view key) const {
    std::optional<Versioned> found = find(key);
    if (!found) return std::nullopt;
    return std::move(found->value);
  }

  uint64_t put(std::string_view key, std::string_view value) {
    uint64_t version = 0;
    check(weft_kv_put(store_, key.data(), key.size(), value.data(), value.size(), &version));
    return version;
  }
  // If the key has the version `expected`; 0: if it does not exist. Nothing: it has another one.
  std::optional<uint64_t> put_if(std::string_view key, std::string_view value, uint64_t expected) {
    uint64_t version = 0;
    const int error =
        weft_kv_put_if(store_, key.data(), key.size(), value.data(), value.size(), expected, &version);
    if (error == EAGAIN || error == EEXIST || error == ENOENT) return std::nullopt;
    check(error);
    return version;
  }
  // False: there was no such key.
  bool erase(std::string_view key) {
    const int error = weft_kv_delete(store_, key.data(), key.size());
    if (error == ENOENT) return false;
    check(error);
    return true;
  }
  // If the key has the version `expected`. False: it has another one, or does not exist.
  bool erase_if(std::string_view key, uint64_t expected) {
    const int error = weft_kv_delete_if(store_, key.data(), key.size(), expected);
    if (error == EAGAIN || error == ENOENT) return false;
    check(error);
    return true;
  }

  // Calls visit(key) for each key; see weft_kv_next().
  template <class Visit>
  void for_each_key(Visit&& visit) const {
    std::string key(kUsualBytes, '\0');
    size_t length = 0;
    size_t before = 0;
    bool first = true;
    for (;;) {
      length = before;
      const int error = first ? weft_kv_first(store_, key.data(), key.size(), &length)
                              : weft_kv_next(store_, key.data(), key.size(), &length);
      if (error == ENOENT) return;
      if (error == ERANGE) {
        key.resize(length);
        continue;
      }
      check(error);
      first = false;
      before = length;
      visit(std::string_view(key.data(), length));
    }
  }

  weft_kv_stat stat() const {
    weft_kv_stat found{};
    check(weft_kv_stat_get(store_, &found));
    return found;
  }

  static void unlink(const std::string& name) { check(weft_kv_unlink(name.c_str())); }

 private:
  static constexpr size_t kUsualBytes = 256;

  static void check(int error) {
    if (error != 0) throw std::system_error(error, std::generic_category(), weft_shm_error());
  }

  weft_kv* store_ = nullptr;
};

}  // namespace weft

#endif

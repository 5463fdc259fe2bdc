// SPDX-License-Identifier: Apache-2.0
// LMDB without sync to disk, which weft's store does not have either, and with a writable map: its fastest way to
// write.
#pragma once

#include <cstring>
#include <string_view>

#include <lmdb.h>

#include "kv/stores/place.h"

namespace bench {

// What a reader does for each get: a transaction of its own, one that is renewed (LMDB's advice), or nothing: it looks
// at one old state, which no writer's puts reach.
enum class LmdbRead { kBegin, kRenew, kHeld };

template <LmdbRead kRead>
class Lmdb {
 public:
  static size_t size(const Place&) { return 0; }
  static void make(const Place&) {}

  class Base {
   public:
    explicit Base(const Place& place) {
      check(mdb_env_create(&environment_), "mdb_env_create");
      const size_t needed = static_cast<size_t>(place.keys) * static_cast<size_t>(place.value_size + 4096) * 4;
      check(mdb_env_set_mapsize(environment_, needed + (size_t{64} << 20)), "mdb_env_set_mapsize");
      check(mdb_env_open(environment_, place.folder.c_str(), MDB_NOSYNC | MDB_WRITEMAP | MDB_NOTLS, 0600),
            "mdb_env_open");
      MDB_txn* transaction = nullptr;
      check(mdb_txn_begin(environment_, nullptr, 0, &transaction), "mdb_txn_begin");
      check(mdb_dbi_open(transaction, nullptr, 0, &table_), "mdb_dbi_open");
      check(mdb_txn_commit(transaction), "mdb_txn_commit");
    }
    Base(const Base&) = delete;
    Base& operator=(const Base&) = delete;
    ~Base() { mdb_env_close(environment_); }

   protected:
    static void check(int error, const char* call) {
      if (error != 0) store_failed(call, mdb_strerror(error));
    }
    static MDB_val value_of(std::string_view text) { return {text.size(), const_cast<char*>(text.data())}; }

    MDB_env* environment_ = nullptr;
    MDB_dbi table_ = 0;
  };

  class Reader : Base {
   public:
    explicit Reader(const Place& place) : Base(place) {
      if (kRead == LmdbRead::kBegin) return;
      Base::check(mdb_txn_begin(this->environment_, nullptr, MDB_RDONLY, &transaction_), "mdb_txn_begin");
      if (kRead == LmdbRead::kRenew) mdb_txn_reset(transaction_);
    }
    ~Reader() {
      if (transaction_ != nullptr) mdb_txn_abort(transaction_);
    }
    bool get(std::string_view key, char* into, size_t size) {
      if (kRead == LmdbRead::kBegin)
        Base::check(mdb_txn_begin(this->environment_, nullptr, MDB_RDONLY, &transaction_), "mdb_txn_begin");
      if (kRead == LmdbRead::kRenew) Base::check(mdb_txn_renew(transaction_), "mdb_txn_renew");
      MDB_val name = Base::value_of(key);
      MDB_val found;
      const int error = mdb_get(transaction_, this->table_, &name, &found);
      if (error == 0)
        std::memcpy(into, found.mv_data, found.mv_size < size ? found.mv_size : size);
      else if (error != MDB_NOTFOUND)
        Base::check(error, "mdb_get");
      if (kRead == LmdbRead::kRenew) mdb_txn_reset(transaction_);
      if (kRead == LmdbRead::kBegin) {
        mdb_txn_abort(transaction_);
        transaction_ = nullptr;
      }
      return error == 0;
    }

   private:
    MDB_txn* transaction_ = nullptr;
  };

  class Writer : Base {
   public:
    using Base::Base;
    void put(std::string_view key, std::string_view value) {
      MDB_txn* transaction = nullptr;
      Base::check(mdb_txn_begin(this->environment_, nullptr, 0, &transaction), "mdb_txn_begin");
      MDB_val name = Base::value_of(key);
      MDB_val data = Base::value_of(value);
      Base::check(mdb_put(transaction, this->table_, &name, &data, 0), "mdb_put");
      Base::check(mdb_txn_commit(transaction), "mdb_txn_commit");
    }
  };
};

}  // namespace bench

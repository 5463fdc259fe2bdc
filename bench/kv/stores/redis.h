// SPDX-License-Identifier: Apache-2.0
// A server behind a local socket, for scale: each get and put is a message there and one back.
#pragma once

#include <cstring>
#include <string_view>

#include <hiredis/hiredis.h>

#include "kv/stores/place.h"

namespace bench {

class Redis {
 public:
  static size_t size(const Place&) { return 0; }
  static void make(const Place&) {}

  class Base {
   public:
    explicit Base(const Place& place) : context_(redisConnectUnix(place.socket.c_str())) {
      if (context_ == nullptr || context_->err != 0)
        store_failed("redisConnectUnix", context_ == nullptr ? "no memory" : context_->errstr);
    }
    Base(const Base&) = delete;
    Base& operator=(const Base&) = delete;
    ~Base() { redisFree(context_); }

   protected:
    redisReply* command(int count, const char** words, const size_t* sizes) {
      auto* reply = static_cast<redisReply*>(redisCommandArgv(context_, count, words, sizes));
      if (reply == nullptr || reply->type == REDIS_REPLY_ERROR)
        store_failed(words[0], reply == nullptr ? context_->errstr : reply->str);
      return reply;
    }

    redisContext* context_;
  };

  class Reader : Base {
   public:
    using Base::Base;
    bool get(std::string_view key, char* into, size_t size) {
      const char* words[] = {"GET", key.data()};
      const size_t sizes[] = {3, key.size()};
      redisReply* reply = command(2, words, sizes);
      const bool found = reply->type == REDIS_REPLY_STRING;
      if (found) std::memcpy(into, reply->str, reply->len < size ? reply->len : size);
      freeReplyObject(reply);
      return found;
    }
  };

  class Writer : Base {
   public:
    using Base::Base;
    void put(std::string_view key, std::string_view value) {
      const char* words[] = {"SET", key.data(), value.data()};
      const size_t sizes[] = {3, key.size(), value.size()};
      freeReplyObject(command(3, words, sizes));
    }
  };
};

}  // namespace bench

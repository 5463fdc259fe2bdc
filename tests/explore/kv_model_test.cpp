// SPDX-License-Identifier: Apache-2.0
// The store of keys and values, by its very code, on the model.
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "exhaustive.h"
#include "model_ops.h"
#include "shm/kv/reader.h"
#include "shm/kv/writer.h"

namespace weft::explore {

namespace {

using Reader = shm::KvReader<ModelOps>;
using Writer = shm::KvWriter<ModelOps>;
using Layout = shm::KvLayout<ModelOps>;

constexpr uint64_t kBytes = 64 << 10;

struct Case {
  int readers = 1;
  int puts = 2;  // of one key, by the writer
  bool removes = false;  // between two of them
  bool grows = false;  // the table, at the first put of another key
  bool recovers = false;  // a second writer, which finds what a dead one has left
  bool iterates = false;  // readers go from key to key
};

class NoFile final : public shm::KvBacking {
 public:
  int commit(uint64_t, uint64_t) noexcept override { return 0; }
};

// Two words, so that half of it can be seen; by the number of its put.
struct Value {
  uint64_t first;
  uint64_t second;
};

class Model {
 public:
  explicit Model(Case wanted) : case_(wanted), memory_(new char[kBytes + 128]), first_(new char[kBytes]) {
    begin_ = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory_.get()) + 127) / 128 * 128);
  }

  // The store with its first keys, made once.
  void prepare() {
    std::memset(begin_, 0, kBytes);
    Writer::make(layout(), kBytes, kBytes);
    put("key", 0);
    put("other", 7);
    // So that the next new key is too many for the table.
    for (int i = 0; case_.grows && i < 46; ++i) put("filler " + std::to_string(i), 1);
    std::memcpy(first_.get(), begin_, kBytes);
    prepared_ = true;
  }

  void set_up(Exhaustive& machine) {
    if (!prepared_) prepare();
    std::memcpy(begin_, first_.get(), kBytes);
    begun_ = done_ = 0;
    removing_ = false;
    for (int i = 0; i < case_.readers; ++i) {
      machine.add(i == 0 ? "reader" : "reader 2", i + 1, [this] { case_.iterates ? iterate() : read(); });
    }
    machine.add("writer", 10, [this] { write(); });
    if (case_.recovers) machine.add("writer 2", 0, [this] { write_another(); });
  }

  void check(Exhaustive& machine) {
    // Whoever writes next finds the store whole, and each key as it was or as it was to be.
    if (put("after", 9) != 0) return machine.fail("nobody can write any more");
    uint64_t number = 0;
    const int code = get("key", &number);
    if (code == ENOENT ? !removing_ : code != 0) return machine.fail("a key is lost: " + std::to_string(code));
    if (code == 0 && (number < done_ || number > begun_)) return machine.fail("a key has a value that is not its own");
    if (get("other", &number) != 0 || number != 7) return machine.fail("a key that nobody has changed has changed");
    if (case_.recovers && (get("another", &number) != 0 || number != 5)) return machine.fail("a put is lost");
    // All blocks are in use or free, and none is both: what gathering anew finds is what was counted.
    const uint64_t used = layout().used.load();
    const uint64_t keys = layout().keys.load();
    layout().untidy.store(1);
    if (put("after", 9) != 0) return machine.fail("the blocks overlap");
    if (layout().used.load() != used || layout().keys.load() != keys) machine.fail("the counts were wrong");
  }

 private:
  static Exhaustive& machine() { return Exhaustive::running(); }
  Layout& layout() const { return *reinterpret_cast<Layout*>(begin_); }
  // Few keys: their hashes lie apart, or side by side where the table is small.
  static shm::KvKey key_of(const std::string& name) {
    uint64_t hash = 1469598103934665603u;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return {name.data(), name.size(), hash * 0x9e3779b97f4a7c15u};
  }

  int put(const std::string& name, uint64_t number) {
    const Value value{number, number};
    uint64_t version = 0;
    return Writer(layout(), kBytes, file_).put(key_of(name), &value, sizeof value, Writer::If::always, 0, &version);
  }

  int get(const std::string& name, uint64_t* number) {
    Value value{};
    uint64_t length = 0;
    uint64_t version = 0;
    const int code = Reader(layout(), kBytes).get(key_of(name), &value, sizeof value, &length, &version);
    if (code != 0) return code;
    if (length != sizeof value || value.first != value.second) machine().fail("a value is torn");
    *number = value.first;
    return 0;
  }

  void read() {
    const uint64_t least = done_;
    const bool may_miss = removing_;
    uint64_t number = 0;
    const int code = get("key", &number);
    if (code == ENOENT ? !(may_miss || removing_) : code != 0) machine().fail("a reader got " + std::to_string(code));
    if (code == 0 && (number < least || number > begun_)) {
      machine().fail("a reader got the value of put " + std::to_string(number) + ", of " + std::to_string(least) +
                     " to " + std::to_string(begun_));
    }
    if (get("other", &number) != 0 || number != 7) machine().fail("a reader misses a key that stays");
  }

  void iterate() {
    char name[32];
    uint64_t length = 0;
    int times = 0;
    const Reader reader(layout(), kBytes);
    std::string before;
    int code = reader.next(nullptr, name, sizeof name, &length);
    for (int steps = 0; code == 0; ++steps) {
      before.assign(name, length);
      times += before == "other" ? 1 : 0;
      if (steps > 200) return machine().fail("the keys have no end");
      const shm::KvKey key = key_of(before);
      code = reader.next(&key, name, sizeof name, &length);
    }
    if (code != ENOENT) machine().fail("a reader got " + std::to_string(code));
    if (times != 1) machine().fail("a key that stays comes " + std::to_string(times) + " times");
  }

  void write() {
    for (int i = 1; i <= case_.puts; ++i) {
      begun_ = static_cast<uint64_t>(i);
      if (put("key", begun_) != 0) machine().fail("a put fails");
      done_ = begun_;
      if (case_.removes && i < case_.puts) {
        removing_ = true;
        if (Writer(layout(), kBytes, file_).remove(key_of("key")) != 0) machine().fail("a key cannot be removed");
      }
      if (case_.grows && i == 1 && put("one too many", 3) != 0) machine().fail("the table does not grow");
    }
  }

  void write_another() {
    if (put("another", 5) != 0) machine().fail("a put fails");
  }

  const Case case_;
  std::unique_ptr<char[]> memory_;
  std::unique_ptr<char[]> first_;
  char* begin_ = nullptr;
  bool prepared_ = false;
  NoFile file_;
  uint64_t begun_ = 0;
  uint64_t done_ = 0;
  bool removing_ = false;  // a reader may find the key missing from now on
};

std::string explore(const char* what, Case wanted, Options options) {
  options.most_executions = long_run() ? 400'000 : 60'000;
  Model model(wanted);
  return explore(std::string("store, ") + what, model, options);
}

TEST(KvModel, ReadersBesideAWriter) {
  EXPECT_EQ(explore("a key is put again", {.puts = 3}, {.deviations = 2}), "");
  // So often that blocks are used again.
  EXPECT_EQ(explore("a key is put nine times", {.puts = 9}, {.deviations = 2}), "");
  EXPECT_EQ(explore("two readers", {.readers = 2}, {.deviations = 1}), "");
  EXPECT_EQ(explore("a key is removed and comes back", {.puts = 2, .removes = true}, {.deviations = 2}), "");
}

TEST(KvModel, ReadersBesideATableThatGrows) {
  EXPECT_EQ(explore("the table grows", {.puts = 1, .grows = true}, {.deviations = 1}), "");
}

TEST(KvModel, IterationBesideAWriter) {
  EXPECT_EQ(explore("from key to key", {.puts = 1, .removes = true, .iterates = true}, {.deviations = 2}), "");
}

TEST(KvModel, AWriterIsKilledAnywhere) {
  EXPECT_EQ(
      explore("a writer is killed", {.puts = 2, .removes = true, .recovers = true}, {.deviations = 1, .kills = 1}), "");
  EXPECT_EQ(explore("killed while the table grows", {.puts = 1, .grows = true, .recovers = true},
                    {.deviations = 1, .kills = 1}),
            "");
  EXPECT_EQ(explore("killed, beside a reader", {.puts = 2}, {.deviations = 2, .kills = 1}), "");
}

// What the checker must find.
class KvMutation : public testing::Test {
 protected:
  ~KvMutation() override { g_mutation = {}; }
};

TEST_F(KvMutation, AReaderThatDoesNotLookAgainIsFound) {
  g_mutation.no_second_look = true;
  EXPECT_NE(explore("a key is put nine times", {.puts = 9}, {.deviations = 2}), "");
}

TEST_F(KvMutation, DeathsThatNobodyMarksAreFound) {
  g_mutation.no_death_mark = true;
  EXPECT_NE(explore("a writer is killed", {.puts = 2, .recovers = true}, {.deviations = 1, .kills = 1}), "");
}

}  // namespace

}  // namespace weft::explore

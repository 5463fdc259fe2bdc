// SPDX-License-Identifier: Apache-2.0
// Records of this process, and what becomes of them if any of their bytes is another one.
#include "top/runtime_record.h"

#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/monitor/layout.h"
#include "openmp/record/layout.h"
#include "openmp/record/team.h"
#include "openmp/task/task_deque.h"
#include "top/root_teams.h"

namespace weft::tools {
namespace {

// Bytes of a record: zeros, and what a test puts there.
template <class Record>
class Bytes {
 public:
  template <class Field, class Value>
  void put(Field Record::* field, Value value) {
    put_at(offset_of(field), value);
  }
  template <class Value>
  void put_at(uint64_t offset, Value value) {
    std::memcpy(room_->bytes + offset, &value, sizeof value);
  }
  uint64_t address() const { return address_of(room_->bytes); }
  char* begin() { return room_->bytes; }
  size_t size() const { return sizeof(Record); }

 private:
  struct Room {
    alignas(Record) char bytes[sizeof(Record)] = {};
  };
  std::unique_ptr<Room> room_ = std::make_unique<Room>();
};

// As a runtime has them, with a root in a region of two members, and a worker.
class RuntimeRecordTest : public testing::Test {
 protected:
  RuntimeRecordTest() {
    start_.start.layout = core::kCoreLayout ^ openmp::kOpenmpLayout;
    start_.start.pool = pool_.address();
    start_.start.members = {0, 8};
    start_.start.wanted = address_of(&wanted_);
    start_.start.pending = address_of(&pending_);
    start_.start.process = getpid();
    pool_.put_at(offset_of(&core::Pool::settings) + offset_of(&core::Settings::slots), 2);
    pool_.put(&core::Pool::carrier_count, 2);
    const uint64_t carriers = offset_of(&core::Pool::carriers);
    pool_.put_at(carriers, root_.address());
    pool_.put_at(carriers + 8, worker_.address());
    root_.put(&core::Carrier::worker, -1);
    root_.put(&core::Carrier::thread_id, getpid());
    root_.put(&core::Carrier::regions_open, 1);
    root_.put(&core::Carrier::regions_seen, 100U);
    root_.put_at(offset_of(&core::Carrier::own_context) + offset_of(&core::Context::thread_pointer),
                 address_of(&words_));
    worker_.put(&core::Carrier::index, 1);
    worker_.put(&core::Carrier::thread_id, getpid());
    words_ = {member_.address(), 0};
    member_.put(&openmp::Member::team, team_.address());
    team_.put(&openmp::Team::size, 2);
    team_.put(&openmp::Team::level, 1);
    team_.put_at(offset_of(&openmp::Team::tasks) + offset_of(&openmp::TeamTasks::tasked), char{1});
    const uint64_t tables = offset_of(&openmp::Team::members);
    team_.put_at(tables + offset_of(&openmp::MemberTables::capacity), 2);
    team_.put_at(tables + offset_of(&openmp::MemberTables::deques), address_of(&deques_));
    deques_ = {address_of(&deque_), 0};
    for (int i = 0; i < 5; ++i) deque_.push(nullptr);
  }

  MappedRuntime mapped() const {
    return {true, {{address_of(&start_), address_of(&start_) + sizeof start_}}};
  }
  RecordState look(RuntimeCounts& counts) { return record_.look(mapped(), counts); }
  RecordState state() {
    RuntimeCounts counts;
    return RuntimeRecord(getpid()).look(mapped(), counts);
  }

  struct {
    std::array<char, 24> before{};
    core::InspectionStart start;
  } start_;
  uint32_t wanted_ = 1;
  int64_t pending_ = 3;
  Bytes<core::Pool> pool_;
  Bytes<core::Carrier> root_;
  Bytes<core::Carrier> worker_;
  std::array<uint64_t, 2> words_{};
  Bytes<openmp::Member> member_;
  Bytes<openmp::Team> team_;
  std::array<uint64_t, 2> deques_{};
  openmp::TaskDeque deque_;
  RuntimeRecord record_{getpid()};
};

TEST_F(RuntimeRecordTest, CountsWhatIsThere) {
  RuntimeCounts counts;
  ASSERT_EQ(look(counts), RecordState::known);
  EXPECT_EQ(counts.slots, 2);
  EXPECT_EQ(counts.regions, 0U);
  EXPECT_EQ(counts.tasks, 5);
  EXPECT_EQ(counts.messages, 3);
  const std::optional<WorkSample> sample = record_.sample();
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->members, 2);
  EXPECT_EQ(sample->at_work, 2);
}

TEST_F(RuntimeRecordTest, RegionsAreCountedFromTheFirstLookOnAndWrapAround) {
  RuntimeCounts counts;
  root_.put(&core::Carrier::regions_seen, 0xfffffffeU);
  look(counts);
  root_.put(&core::Carrier::regions_seen, 3U);
  worker_.put(&core::Carrier::regions_seen, 7U);
  look(counts);
  EXPECT_EQ(counts.regions, 12U);
}

TEST_F(RuntimeRecordTest, MessagesCountWhileServicesLook) {
  RuntimeCounts counts;
  wanted_ = 0;
  look(counts);
  EXPECT_EQ(counts.messages, 0);
}

TEST_F(RuntimeRecordTest, ThoseThatWaitAreNotAtWork) {
  RuntimeCounts counts;
  look(counts);
  worker_.put(&core::Carrier::waiting, true);
  EXPECT_EQ(record_.sample()->at_work, 1);
  worker_.put(&core::Carrier::waiting, false);
  pool_.put_at(offset_of(&core::Pool::idle), uint64_t{2});
  EXPECT_EQ(record_.sample()->at_work, 1);
  // Outside of regions nobody is asked.
  root_.put(&core::Carrier::regions_open, 0);
  EXPECT_EQ(record_.sample()->members, 0);
}

TEST_F(RuntimeRecordTest, SaysWhyNothingIsKnown) {
  EXPECT_EQ(state(), RecordState::known);
  start_.start.process = 1;
  EXPECT_EQ(state(), RecordState::not_yet);
  start_.start.layout += 1;
  EXPECT_EQ(state(), RecordState::other_version);
  start_.start.layout = 0;
  EXPECT_EQ(state(), RecordState::not_yet);
  start_.start.magic[7] = '0';
  EXPECT_EQ(state(), RecordState::other_version);
}

TEST_F(RuntimeRecordTest, ARecordMayGo) {
  RuntimeCounts counts;
  ASSERT_EQ(look(counts), RecordState::known);
  start_.start.magic[0] = 'x';
  EXPECT_EQ(look(counts), RecordState::missing);
  EXPECT_EQ(RuntimeRecord(INT32_MAX).look(mapped(), counts), RecordState::missing);
}

// Copies of the records with other bytes: numbers of any size, and pointers that lead nowhere, back, or to others.
TEST_F(RuntimeRecordTest, AnyBytesAreBounded) {
  std::mt19937_64 random(1);
  struct Part {
    char* begin;
    size_t size;
  };
  const std::vector<Part> parts = {{reinterpret_cast<char*>(&start_.start), sizeof start_.start},
                                   {pool_.begin(), 4096},
                                   {root_.begin(), root_.size()},
                                   {worker_.begin(), worker_.size()},
                                   {reinterpret_cast<char*>(&words_), sizeof words_},
                                   {member_.begin(), member_.size()},
                                   {team_.begin(), team_.size()},
                                   {reinterpret_cast<char*>(&deques_), sizeof deques_},
                                   {reinterpret_cast<char*>(&deque_), 256}};
  const std::array<uint64_t, 8> wild = {0, 1, UINT64_MAX, uint64_t{1} << 63, 0x7fffffff, pool_.address(),
                                        member_.address(), team_.address()};
  // The fields that are followed are hit more often than by chance.
  const std::vector<char*> followed = {
      member_.begin() + offset_of(&openmp::Member::outer), member_.begin() + offset_of(&openmp::Member::team),
      team_.begin() + offset_of(&openmp::Team::size),
      team_.begin() + offset_of(&openmp::Team::members) + offset_of(&openmp::MemberTables::capacity),
      team_.begin() + offset_of(&openmp::Team::members) + offset_of(&openmp::MemberTables::deques),
      pool_.begin() + offset_of(&core::Pool::carrier_count), pool_.begin() + offset_of(&core::Pool::carriers)};
  int known = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::pair<char*, uint64_t>> undo;
    const auto change = [&](char* at) {
      uint64_t before = 0;
      std::memcpy(&before, at, sizeof before);
      undo.emplace_back(at, before);
      const uint64_t value = random() % 2 == 0 ? random() : wild[random() % wild.size()];
      std::memcpy(at, &value, sizeof value);
    };
    for (uint64_t changes = random() % 6; changes > 0; --changes) {
      const Part& part = parts[random() % parts.size()];
      change(random() % 2 == 0 ? followed[random() % followed.size()]
                               : part.begin + random() % (part.size / 8) * 8);
    }
    RuntimeRecord record(getpid());
    RuntimeCounts counts;
    for (int look = 0; look < 2; ++look) {
      if (record.look(mapped(), counts) != RecordState::known) break;
      ++known;
      EXPECT_GE(counts.slots, 1);
      EXPECT_GE(counts.messages, 0);
      EXPECT_GE(counts.tasks, 0);
      const std::optional<WorkSample> sample = record.sample();
      if (!sample) continue;
      EXPECT_GE(sample->at_work, 0);
      EXPECT_LE(sample->at_work, sample->members);
      EXPECT_LE(sample->members, counts.slots);
    }
    for (auto at = undo.rbegin(); at != undo.rend(); ++at) std::memcpy(at->first, &at->second, sizeof at->second);
  }
  EXPECT_GT(known, 500);
}

// A process changes what is read at any time.
TEST_F(RuntimeRecordTest, TeamsThatLieInsideOfThemselvesEnd) {
  member_.put(&openmp::Member::outer, member_.address());
  RuntimeCounts counts;
  EXPECT_EQ(look(counts), RecordState::known);
  EXPECT_EQ(record_.sample()->members, 2);
}

TEST_F(RuntimeRecordTest, PagesMayEndAnywhere) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const pages = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(munmap(static_cast<char*>(pages) + page, page), 0);
  RuntimeCounts counts;
  for (size_t left = 8; left < 400; left += 8) {
    words_[0] = address_of(pages) + page - left;
    EXPECT_EQ(look(counts), RecordState::known);
    deques_[0] = words_[0];
    look(counts);
  }
  munmap(pages, page);
}

}  // namespace
}  // namespace weft::tools

// SPDX-License-Identifier: Apache-2.0
#include "observe/record/trace/writer.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <time.h>
#include <unistd.h>

#include "observe/format/events.h"
#include "observe/format/files.h"
#include "observe/record/process/process.h"
#include "platform/code_name.h"
#include "platform/cycles.h"
#include "weft/omp-tools.h"

namespace weft::observe::trace {

namespace {

using observe::Category;
using observe::EventRow;
using observe::kCallTracks;
using observe::kMutexes;
using observe::kThreadTracks;

// A record that has begun something, on one track from one time to another.
struct Slice {
  const Record* what;
  int track;
  int64_t begin;
  int64_t end;
  int depth;
  int context;   // the number of its log
  bool paused;   // the context has left its carrier at the end, and goes on later
  int64_t held;  // of a wait for a critical or ordered region: how long the context was in it then
};

// Follows one context: what it has open is cut into slices at each change of its carrier.
class Replay {
 public:
  Replay(const Log& log, std::vector<Slice>& slices) : log_(log), slices_(slices) {}

  void run(int64_t now) {
    log_.visit([this](const Record& record) { take(record); });
    while (!open_.empty()) close(now);
    while (!entered_.empty()) release(now);
  }

 private:
  struct Open {
    const Record* what;
    int64_t since;
  };

  int track(int carrier) const { return carrier >= 0 ? carrier : kThreadTracks + log_.number; }

  void add(size_t index, int64_t until, bool paused) {
    const Open& open = open_[index];
    if (until >= open.since) {
      slices_.push_back(
          {open.what, track(carrier_), open.since, until, static_cast<int>(index), log_.number, paused, 0});
    }
  }

  void close(int64_t time) {
    if (open_.empty()) return;
    const Record& what = *open_.back().what;
    if (running_) add(open_.size() - 1, time, false);
    open_.pop_back();
    const bool enters = what.what == What::wait &&
                        (what.kind == kMutexes + ompt_mutex_critical || what.kind == kMutexes + ompt_mutex_ordered);
    if (enters && running_ && !slices_.empty()) entered_.push_back(slices_.size() - 1);
  }

  void release(int64_t time) {
    if (entered_.empty()) return;
    Slice& wait = slices_[entered_.back()];
    wait.held = time - wait.end;
    entered_.pop_back();
  }

  void pause(int64_t time) {
    if (!running_) return;
    for (size_t i = 0; i < open_.size(); ++i) add(i, time, true);
    running_ = false;
  }

  void resume(int64_t time, int carrier) {
    carrier_ = carrier;
    running_ = true;
    for (Open& open : open_) open.since = time;
  }

  void take(const Record& record) {
    if (record.what == What::loop || record.what == What::call || record.what == What::region) return;
    if (record.what == What::release) return release(record.time);
    if (record.what == What::leave) return pause(record.time);
    if (record.what == What::resume) return resume(record.time, record.carrier);
    // A thread that has just been given a carrier, or a context that runs for the first time.
    if (!running_ || record.carrier != carrier_) {
      pause(record.time);
      resume(record.time, record.carrier);
    }
    if (record.what == What::end) return close(record.time);
    open_.push_back({&record, record.time});
  }

  const Log& log_;
  std::vector<Slice>& slices_;
  std::vector<Open> open_;
  std::vector<size_t> entered_;  // slices behind which a critical or ordered region has begun
  int carrier_ = -1;
  bool running_ = true;
};

// What is known of the regions that were one loop, by their numbers.
using Loops = std::unordered_map<uint64_t, const weft_loop_totals_t*>;

Loops loops_of(const Log* logs) {
  Loops loops;
  for (const Log* log = logs; log != nullptr; log = log->next) {
    log->visit([&](const Record& record) {
      if (record.what == What::loop) loops.emplace(record.id, record.loop);
    });
  }
  return loops;
}

// By the number of a region: when the region was opened, and what was asked for.
using Openings = std::unordered_map<uint64_t, const Record*>;

Openings openings_of(const Log* logs) {
  Openings openings;
  for (const Log* log = logs; log != nullptr; log = log->next) {
    log->visit([&](const Record& record) {
      if (record.what == What::region) openings.emplace(record.id, &record);
    });
  }
  return openings;
}

// Each on the first track on which no other call waits then, by the time of their beginning.
struct CallSlice {
  const base::TracedCall* call;
  int context;
  int track;
};

std::vector<CallSlice> calls_of(const Log* logs) {
  std::vector<CallSlice> calls;
  for (const Log* log = logs; log != nullptr; log = log->next) {
    log->visit([&](const Record& record) {
      if (record.what == What::call) calls.push_back({record.call, log->number, 0});
    });
  }
  std::sort(calls.begin(), calls.end(),
            [](const CallSlice& a, const CallSlice& b) { return a.call->began < b.call->began; });
  // The tracks on which a call waits, by its end; and those that are free.
  std::set<std::pair<int64_t, int>> taken;
  std::set<int> free;
  int tracks = 0;
  for (CallSlice& slice : calls) {
    while (!taken.empty() && taken.begin()->first <= slice.call->began) {
      free.insert(taken.begin()->second);
      taken.erase(taken.begin());
    }
    slice.track = free.empty() ? tracks++ : *free.begin();
    free.erase(slice.track);
    taken.emplace(slice.call->ended, slice.track);
  }
  return calls;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

// Each address has a name of its own, by which a reader of the file finds it again.
class CodePlaces {
 public:
  struct CodePlace {
    const void* address;
    const char* schedule = "";  // of a loop there
  };

  const std::string& name(const void* address) {
    auto [at, is_new] = known_.try_emplace(address);
    if (!is_new) return at->second;
    char text[512];
    platform::name_code(address, text, sizeof text);
    std::string name = escaped(text);
    // Functions that are static may have the same name.
    for (int number = 2; !places_.try_emplace(name, CodePlace{address}).second; ++number) {
      name = escaped(text) + " #" + std::to_string(number);
    }
    return at->second = name;
  }
  void set_schedule(const void* address, const char* schedule) { places_.at(name(address)).schedule = schedule; }

  const std::map<std::string, CodePlace>& all() const { return places_; }

 private:
  std::unordered_map<const void*, std::string> known_;
  std::map<std::string, CodePlace> places_;
};

class Json {
 public:
  Json(std::FILE* file, const Process& process, const Log* logs)
      : file_(file),
        process_(process),
        number_(std::max(0, process.rank) + 1),
        loops_(loops_of(logs)),
        openings_(openings_of(logs)) {
    std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file);
    char name[64] = "weft";
    if (process.rank >= 0) std::snprintf(name, sizeof name, "rank %d of %d", process.rank, process.ranks);
    std::fprintf(file, "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}", number_, name);
  }

  void name_track(int track) {
    const char* name = track >= kCallTracks ? "calls of MPI" : track >= kThreadTracks ? "thread" : "carrier";
    const int first = track >= kCallTracks ? kCallTracks : track >= kThreadTracks ? kThreadTracks : 0;
    std::fprintf(file_,
                 ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"%s %d\"}}",
                 number_, track, name, track - first);
    std::fprintf(file_,
                 ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%d}}",
                 number_, track, track);
  }

  void call(const CallSlice& slice) {
    const base::TracedCall& call = *slice.call;
    const int track = kCallTracks + slice.track;
    open(call.name, observe::kCallCategory, track, call.began, call.ended);
    std::fputs(",\"args\":{", file_);
    const char* comma = "";
    const auto number = [&](const char* name, long long value) {
      std::fprintf(file_, "%s\"%s\":%lld", comma, name, value);
      comma = ",";
    };
    const auto text = [&](const char* name, const std::string& value) {
      std::fprintf(file_, "%s\"%s\":\"%s\"", comma, name, escaped(value).c_str());
      comma = ",";
    };
    if (call.peer != base::TracedCall::kNone) number("peer", call.peer);
    if (call.tag != base::TracedCall::kNone) number("tag", call.tag);
    if (call.bytes >= 0) number("bytes", call.bytes);
    if (call.requests >= 0) number("requests", call.requests);
    if (call.communicator[0] != '\0') text("communicator", call.communicator);
    if (call.caller != nullptr) text("at", places_.name(call.caller));
    number("context", slice.context);
    std::fputs("}}", file_);
    // An arrow from the beginning of one to the end of the other, inside of both.
    if (call.sent != 0) arrow("s", call.sent, track, call.began);
    if (call.received != 0) arrow("f", call.received, track, std::max(call.began, call.ended - 1));
  }

  void idle(int track, int64_t begin, int64_t end) {
    open("idle", observe::kIdleCategory, track, begin, end);
    std::fputc('}', file_);
  }

  void slice(const Slice& slice) {
    const Record& r = *slice.what;
    char name[80];
    switch (r.what) {
      case What::member: member(slice); break;
      case What::task:
        std::snprintf(name, sizeof name, "task %llu", static_cast<unsigned long long>(r.id));
        open(name, Category::task, slice);
        std::fprintf(file_, ",\"args\":{\"task\":%llu,\"team\":%llu", static_cast<unsigned long long>(r.id),
                     static_cast<unsigned long long>(r.team()));
        break;
      default: work_or_wait(slice); break;
    }
    if (r.caller != nullptr) std::fprintf(file_, ",\"at\":\"%s\"", places_.name(r.caller).c_str());
    // What is inside of it is of the same context.
    if (slice.depth == 0)
      std::fprintf(file_, ",\"context\":%d%s", slice.context, slice.paused ? ",\"paused\":true" : "");
    std::fputs("}}", file_);
  }

  // Behind the events: what `weft merge` and `weft report` want to know besides.
  bool finish(const Log* logs, uint64_t lost, int64_t now, bool is_cut_off) {
    char host[128] = "";
    gethostname(host, sizeof host - 1);
    std::fprintf(file_,
                 "\n],\"otherData\":{\"lost\":%llu,\"rank\":%d,\"ranks\":%d,\"host\":\"%s\",\"began\":%lld,"
                 "\"together\":%lld,\"run\":",
                 static_cast<unsigned long long>(lost), process_.rank, process_.ranks, escaped(host).c_str(),
                 static_cast<long long>(process_.began), static_cast<long long>(process_.together));
    write_run(logs, now);
    write_places();
    std::fputs(is_cut_off ? ",\"cut_off\":true}}\n" : "}}\n", file_);
    return std::ferror(file_) == 0;
  }

 private:
  void write_run(const Log* logs, int64_t now) {
    const int64_t before = process_.began - observe::process_began();
    std::vector<int> roots;
    for (const Log* log = logs; log != nullptr; log = log->next) {
      if (log->thread != 0) roots.push_back(log->thread);
    }
    observe::Threads threads;
    threads.look();
    const double unix_now = static_cast<double>(platform::clock_ns(CLOCK_REALTIME)) / 1e9;
    observe::Json json(file_);
    json.open('{');
    json.field("format", std::string(observe::kTraceFormat));
    json.field("nanoseconds", static_cast<double>(now - process_.began));
    json.field("nanoseconds_before", static_cast<double>(std::max<int64_t>(0, before)));
    json.field("cpu_before", static_cast<double>(process_.cpu_before));
    json.field("cpu", static_cast<double>(process_.cpu));
    observe::write_process(json, {.version = "weft " WEFT_VERSION,
                                  .title = nullptr,
                                  .unix_began = unix_now - static_cast<double>(now - process_.began + before) / 1e9,
                                  .cpus = process_.cpus,
                                  .others_cpu = process_.others_cpu,
                                  .memory = observe::memory_spread(),
                                  .threads = threads,
                                  .carriers = {},
                                  .roots = roots});
    json.field("runtime", address(process_.runtime));
    write_roots(json, logs, now);
    json.close('}');
  }

  // Threads of the program's: the context of each, and when it called OpenMP first and ended.
  void write_roots(observe::Json& json, const Log* logs, int64_t now) {
    json.key("roots");
    json.open('[');
    for (const Log* log = logs; log != nullptr; log = log->next) {
      if (log->thread == 0) continue;
      const int64_t ended = log->ended.load(std::memory_order_relaxed);
      json.open('[');
      json.value(log->number);
      json.value(static_cast<double>(log->began - process_.began));
      json.value(static_cast<double>((ended != 0 ? ended : now) - process_.began));
      json.close(']');
    }
    json.close(']');
  }

  // Writes the places by the names that slices have as "at".
  void write_places() {
    std::fputs(",\"places\":[", file_);
    const char* comma = "";
    for (const auto& [name, place] : places_.all()) {
      std::fprintf(file_, "%s\n[\"%s\",%llu,\"%s\"]", comma, name.c_str(),
                   static_cast<unsigned long long>(address(place.address)), place.schedule);
      comma = ",";
    }
    std::fputc(']', file_);
  }
  static uint64_t address(const void* place) { return reinterpret_cast<uintptr_t>(place); }

  void microseconds(const char* name, int64_t ns) {
    std::fprintf(file_, ",\"%s\":%.3f", name, static_cast<double>(ns) / 1e3);
  }

  void work_or_wait(const Slice& slice) {
    const Record& r = *slice.what;
    const Category category = r.what == What::wait ? Category::wait : Category::work;
    const EventRow* row = observe::row_of(category, r.kind);
    char number[32];
    // A reader names it as a word that it does not know.
    std::snprintf(number, sizeof number, "%s %d", observe::word_of(category), r.kind);
    open(row != nullptr ? row->word : number, category, slice);
    std::fprintf(file_, ",\"args\":{\"level\":%d", r.level);
    if (slice.held > 0) microseconds("held", slice.held);
    if (row == nullptr || row->event != observe::Event::loop) return;
    std::fprintf(file_, ",\"iterations\":%llu", static_cast<unsigned long long>(r.id));
    if (r.caller != nullptr) places_.set_schedule(r.caller, observe::word_of(row->schedule));
  }

  void member(const Slice& slice) {
    const Record& r = *slice.what;
    const auto found = loops_.find(r.id);
    const weft_loop_totals_t* loop = found != loops_.end() ? found->second : nullptr;
    const auto id = static_cast<unsigned long long>(r.id);
    char name[80];
    std::snprintf(name, sizeof name, "%s %llu, member %d of %d", loop != nullptr ? "loop region" : "team", id, r.number,
                  r.size);
    open(name, Category::member, slice);
    std::fprintf(file_, ",\"args\":{\"team\":%llu,\"level\":%d,\"member\":%d,\"of\":%d", id, r.level, r.number, r.size);
    const auto opening = r.number == 0 ? openings_.find(r.id) : openings_.end();
    if (opening != openings_.end()) {
      std::fprintf(file_, ",\"requested\":%d", opening->second->number);
      microseconds("opened", opening->second->time - process_.began);
    }
    if (loop == nullptr) return;
    std::fprintf(
        file_, ",\"loop\":{\"iterations\":%llu,\"ranges\":%llu,\"taken by others\":%llu,\"members\":%d,\"whole\":%s}",
        static_cast<unsigned long long>(loop->iterations), static_cast<unsigned long long>(loop->ranges),
        static_cast<unsigned long long>(loop->ranges_of_others), loop->members, loop->whole != 0 ? "true" : "false");
  }

  void open(const char* name, Category category, const Slice& slice) {
    open(name, observe::word_of(category), slice.track, slice.begin, slice.end);
  }

  void open(const char* name, const char* category, int track, int64_t begin, int64_t end) {
    std::fprintf(file_,
                 ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"cat\":\"%s\",\"ts\":%.3f,\"dur\":%.3f",
                 number_, track, name, category, static_cast<double>(begin - process_.began) / 1e3,
                 static_cast<double>(end - begin) / 1e3);
  }

  void arrow(const char* end, uint64_t message, int track, int64_t time) {
    std::fprintf(
        file_,
        ",\n{\"ph\":\"%s\",\"bp\":\"e\",\"pid\":%d,\"tid\":%d,\"name\":\"message\",\"cat\":\"message\",\"id\":%llu,"
        "\"ts\":%.3f}",
        end, number_, track, static_cast<unsigned long long>(message),
        static_cast<double>(time - process_.began) / 1e3);
  }

  std::FILE* file_;
  const Process process_;
  const int number_;  // of the process in the file
  const Loops loops_;
  const Openings openings_;
  CodePlaces places_;
};

}  // namespace

bool write(std::FILE* file, const Log* logs, const Process& process, int64_t now, bool is_cut_off) {
  std::vector<Slice> slices;
  uint64_t lost = 0;
  for (const Log* log = logs; log != nullptr; log = log->next) {
    Replay(*log, slices).run(now);
    lost += log->lost();
  }
  // By track and time; what holds another comes first.
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    if (a.track != b.track) return a.track < b.track;
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.end != b.end) return a.end > b.end;
    return a.depth < b.depth;
  });
  const observe::PlainNumbers plain;
  Json json(file, process, logs);
  int track = -1;
  int64_t covered = 0;
  // Shorter gaps are the scheduler's own work.
  constexpr int64_t kShortestIdle = 1000;
  for (const Slice& slice : slices) {
    if (slice.track != track) {
      track = slice.track;
      covered = process.began;
      json.name_track(track);
    }
    if (slice.begin > covered + kShortestIdle && track < kThreadTracks) json.idle(track, covered, slice.begin);
    covered = std::max(covered, slice.end);
    json.slice(slice);
  }
  const std::vector<CallSlice> calls = calls_of(logs);
  int named = 0;
  for (const CallSlice& slice : calls) {
    if (slice.track == named) json.name_track(kCallTracks + named++);
    json.call(slice);
  }
  return json.finish(logs, lost, now, is_cut_off);
}

}  // namespace weft::observe::trace

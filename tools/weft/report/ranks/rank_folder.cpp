// SPDX-License-Identifier: Apache-2.0
#include "report/ranks/rank_folder.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <set>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/message.h"
#include "platform/cpu_set.h"
#include "platform/process.h"
#include "report/ranks/own_files.h"

namespace weft::tools {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int64_t kSecond = 1'000'000'000;
// How long ranks that have ended wait for others: MPI_Finalize lets them end together, and launchers end those that
// remain after one has failed.
constexpr int64_t kPatience = 5 * kSecond;
// Ranks of a job start within this time; what is older or younger is of another job that had the same name.
constexpr int64_t kSameStart = 600 * kSecond;
constexpr int64_t kDay = 86'400 * kSecond;
// How often a rank says that it is there, and without which it is not there any more. Only for those of other machines.
constexpr int64_t kSaid = 5 * kSecond;
constexpr int64_t kSilent = 60 * kSecond;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

// By the clock of this machine, near to that of the file system.
int64_t today() { return static_cast<int64_t>(std::time(nullptr)) * kSecond; }

std::string cpus_here() {
  const platform::CpuSet cpus = platform::thread_cpus();
  std::string list(platform::format_cpu_list(cpus, nullptr, 0) + 1, '\0');
  platform::format_cpu_list(cpus, list.data(), list.size());
  list.pop_back();
  return list;
}

// What numbers of processes are the same on: a start of a kernel, and a container there.
std::string this_machine() {
  std::string id = text_in("/proc/sys/kernel/random/boot_id");
  char container[64] = "";
  const ssize_t length = readlink("/proc/self/ns/pid", container, sizeof container - 1);
  if (length > 0) id.append(container, static_cast<size_t>(length));
  id.erase(std::remove(id.begin(), id.end(), '\n'), id.end());
  return id;
}

// Of a `.here`: whether the process that has written it is known to be gone. What is damaged says nothing.
bool is_dead(const Json& here, const std::string& machine) {
  try {
    if (here.at("machine").get<std::string>() != machine) return false;
    const pid_t process = here.at("process");
    return process <= 0 || platform::process_start(process) != here.at("start").get<uint64_t>();
  } catch (const Json::exception&) {
    return false;
  }
}

Json said_in(const fs::path& here) { return Json::parse(text_in(here), nullptr, false); }

// Of a `.here`: when its rank came, by the clock of the file system. It may just have come.
int64_t coming_of(const Json& here) {
  try {
    return here.at("came");
  } catch (const Json::exception&) {
    return INT64_MAX;
  }
}

// Whether a `weft report` runs that came to this folder until then, as far as can be known from outside of it.
bool has_somebody(const fs::path& folder, const std::string& machine, int64_t until) {
  std::error_code error;
  for (fs::directory_iterator each(folder, error); !error && each != fs::directory_iterator(); each.increment(error)) {
    const fs::path& here = each->path();
    if (here.extension() != ".here" || today() - time_of(here) >= kSameStart) continue;
    const Json said = said_in(here);
    if (!is_dead(said, machine) && coming_of(said) <= until) return true;
  }
  return false;
}

// A file that others can be beside of.
bool is_plain(const std::string& name) {
  struct stat status{};
  if (name.empty() || name == "-") return false;
  return stat(name.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

// The files of the report, of which the first is the page. Without one that is a file the ranks meet where the program
// runs.
fs::path place_of(const std::vector<std::string>& names, const std::string& job) {
  const auto plain = std::find_if(names.begin(), names.end(), is_plain);
  std::error_code error;
  const fs::path named = fs::absolute(plain != names.end() ? *plain : "weft-report", error);
  const fs::path real = fs::weakly_canonical(named, error);
  constexpr size_t kMostOfName = 200;
  return real.parent_path() / ("." + real.filename().string().substr(0, kMostOfName) + "." + job);
}

}  // namespace

RankFolder::RankFolder(const std::vector<std::string>& names, Job job)
    : job_(std::move(job)),
      place_(place_of(names, job_.name)),
      machine_(this_machine()),
      come_(static_cast<size_t>(job_.ranks)) {
  if (job_.rank == 0) sweep();
  choose_run();
  // The first one makes it. Another one may take an old one away meanwhile.
  constexpr int kTries = 3;
  bool made = true;
  for (int i = 0; i < kTries && made && !good_; ++i) {
    made = make_own_folder(path_);
    if (made) stay();
  }
  if (!good_) {
    base::warn("report: %s, in which the ranks meet: %s; name a page (-o) in a folder that all ranks can write",
               path_.c_str(),
               errno != 0 ? std::strerror(errno) : "it is no folder of this user's own, which no other may write");
  }
}

RankFolder::~RankFolder() {
  if (!good_) return;
  if (has_failed_) unlink(file(job_.rank, "part").c_str());
  unlink(file(job_.rank, "here").c_str());
  // Does nothing where there is anything in it.
  rmdir(path_.c_str());
}

fs::path RankFolder::file(int rank, const char* kind) const { return path_ / (std::to_string(rank) + "." + kind); }

// What jobs have left that were killed before this one, with the same page.
void RankFolder::sweep() const {
  constexpr size_t kOfJob = 16;
  const std::string name = place_.filename();
  const std::string page = name.substr(0, name.size() - kOfJob);
  std::error_code error;
  fs::directory_iterator each(place_.parent_path(), error);
  for (; !error && each != fs::directory_iterator(); each.increment(error)) {
    const std::string other = each->path().filename();
    if (other.rfind(page, 0) != 0 || other.size() < name.size() || other.rfind(name, 0) == 0) continue;
    const auto job = other.begin() + static_cast<ptrdiff_t>(page.size());
    const auto rest = job + static_cast<ptrdiff_t>(kOfJob);
    const bool is_name = std::all_of(job, rest, [](unsigned char c) { return std::isxdigit(c) != 0; }) &&
                         (rest == other.end() || *rest == '.' || *rest == '-');
    if (is_name && is_own_folder(each->path()) && is_abandoned(each->path())) remove_folder(each->path());
  }
}

bool RankFolder::is_abandoned(const fs::path& folder) const {
  std::error_code error;
  bool recent = today() - time_of(folder) < kSameStart;
  for (fs::directory_iterator each(folder, error); !error && each != fs::directory_iterator(); each.increment(error)) {
    const fs::path& here = each->path();
    if (here.extension() != ".here") continue;
    if (today() - time_of(here) <= kDay && !is_dead(said_in(here), machine_)) return false;
    recent = false;
  }
  return !recent;
}

fs::path RankFolder::folder_of(int run) const {
  return run == 1 ? place_ : fs::path(place_.string() + "-" + std::to_string(run));
}

// In order.
std::set<int> RankFolder::runs_there() const {
  std::set<int> runs;
  const std::string first = place_.filename();
  std::error_code error;
  fs::directory_iterator each(place_.parent_path(), error);
  for (; !error && each != fs::directory_iterator(); each.increment(error)) {
    const std::string name = each->path().filename();
    int run = 1;
    if (name.rfind(first, 0) != 0) continue;
    if (name.size() > first.size()) {
      const char* digits = name.data() + first.size() + 1;
      if (name[first.size()] != '-' || std::from_chars(digits, name.data() + name.size(), run).ec != std::errc()) {
        continue;
      }
    }
    if (run >= 1 && name == folder_of(run).filename()) runs.insert(run);
  }
  return runs;
}

// The one behind the last one in which this rank has been and which has not been gathered yet. A rank that has been in
// none of those comes to the first one: it has not been there yet, or the ones before have been gathered.
void RankFolder::choose_run() {
  const std::set<int> runs = runs_there();
  int last = 0;
  for (const int run : runs) {
    const fs::path folder = folder_of(run);
    const fs::path part = folder / (std::to_string(job_.rank) + ".part");
    if (!is_there(part)) continue;
    if (!is_own_folder(folder)) continue;
    const int64_t left = time_of(part);
    const bool is_recent = today() - left < kSameStart;
    // Nobody has waited longer for one that came later.
    if (has_somebody(folder, machine_, left + 2 * kPatience)) {
      last = run;
    } else if (unlink(part.c_str()) == 0 && is_recent) {
      base::warn(
          "report: what rank %d has left of its last program is in no report: weft report was killed where the other "
          "ranks were",
          job_.rank);
    }
  }
  run_ = last > 0 ? last + 1 : runs.empty() ? 1 : *runs.begin();
  path_ = folder_of(run_);
  for (const int run : runs) {
    if (run < run_) earlier_.push_back(folder_of(run));
  }
}

void RankFolder::stay() {
  Json here = {{"machine", machine_}, {"process", getpid()}, {"start", platform::process_start(getpid())}};
  const fs::path mine = file(job_.rank, "here");
  good_ = put_file(mine, here.dump());
  if (!good_) return;
  // As the file system says.
  began_ = time_of(mine);
  here["came"] = began_;
  good_ = put_file(mine, here.dump());
  touched_ = now();
}

int64_t RankFolder::same_start() const { return run_ == 1 ? kSameStart : kDay; }

bool RankFolder::is_of_this_job(const fs::path& file) const {
  const int64_t time = time_of(file);
  return time != 0 && time > began_ - same_start();
}

// The folder may be that of the job's next program already, which has the same name.
bool RankFolder::is_mine() const { return is_there(file(job_.rank, "here")); }

bool RankFolder::look() {
  if (!is_mine()) return false;
  if (now() - touched_ > kSaid) {
    utimensat(AT_FDCWD, file(job_.rank, "here").c_str(), nullptr, 0);
    touched_ = now();
  }
  return rank_that_failed() >= 0;
}

int RankFolder::rank_that_failed() const {
  const fs::path ending = path_ / "ending";
  if (!is_of_this_job(ending)) return -1;
  return std::atoi(text_in(ending).c_str());
}

RankFolder::Left RankFolder::leave(RankPart part) {
  if (!is_mine() && errno == ENOENT) return Left::late;
  part.rank = job_.rank;
  part.began = began_;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  part.host = host;
  part.cpus = cpus_here();
  const fs::path mine = file(job_.rank, "part");
  if (put_file(mine, to_text(part))) return Left::all;
  if (errno == ENOENT) return Left::late;
  const std::string error = std::strerror(errno);
  base::warn("report: %s: %s; name a page (-o) where there is room, in a folder that all ranks can write",
             path_.c_str(), error.c_str());
  // There may be room for so much.
  part.why = "what it knows could not be left beside the page: " + error;
  part.report.clear();
  put_file(mine, to_text(part));
  return Left::not_all;
}

// What another job of this name has left is nobody's.
bool RankFolder::has_come(int rank) {
  char& come = come_[static_cast<size_t>(rank)];
  if (come != 0) return true;
  const std::optional<RankPart> part = part_of(text_in(file(rank, "part"), true));
  come = part && std::abs(part->began - began_) < same_start() ? 1 : 0;
  return come != 0;
}

// Whether its `weft report` runs, as far as can be known from here.
bool RankFolder::is_alive(int rank) const {
  const fs::path here = file(rank, "here");
  if (!is_of_this_job(here)) return false;
  if (is_dead(said_in(here), machine_)) return false;
  return time_of(file(job_.rank, "here")) - time_of(here) < kSilent;
}

// It is in a program that the job runs before this one, and will come.
bool RankFolder::is_behind(int rank) const {
  return std::any_of(earlier_.begin(), earlier_.end(), [&](const fs::path& folder) {
    const fs::path here = folder / (std::to_string(rank) + ".here");
    return is_there(here) && !is_dead(said_in(here), machine_) && today() - time_of(here) < kSameStart;
  });
}

void RankFolder::say_failed() {
  if (rank_that_failed() < 0) put_file(path_ / "ending", std::to_string(job_.rank));
}

std::optional<RankParts> RankFolder::gather(End end) {
  const int64_t began = now();
  const fs::path mine = file(job_.rank, "part");
  if (end == End::failed && is_mine()) say_failed();
  for (int64_t rests = 1;; rests = std::min<int64_t>(rests + 1, 10)) {
    if (!is_there(mine)) return std::nullopt;
    look();
    const Others others = look_at_others();
    if (others == Others::ended) return take();
    // Ranks that have ended leave it to the last one, unless the job ends.
    if (now() - began >= kPatience) {
      return others != Others::alive || rank_that_failed() >= 0 ? take() : std::nullopt;
    }
    for (int64_t i = 0; i < rests; ++i) rest();
  }
}

// Looks cost little also where there are many ranks: up to the first one that is waited for.
RankFolder::Others RankFolder::look_at_others() {
  while (next_ < job_.ranks && has_come(next_)) ++next_;
  Others others = Others::ended;
  for (int rank = next_; rank < job_.ranks; ++rank) {
    if (has_come(rank)) continue;
    if (is_alive(rank) || is_behind(rank)) return Others::alive;
    if (!is_there(file(rank, "here"))) others = Others::unseen;
  }
  return others;
}

std::optional<RankParts> RankFolder::take() {
  RankParts found;
  found.failed = rank_that_failed();
  std::set<int> unseen;
  for (int rank = 0; rank < job_.ranks; ++rank) {
    if (!has_come(rank) && (is_alive(rank) || is_behind(rank))) {
      found.running.push_back(rank);
    } else if (!has_come(rank) && is_there(file(rank, "here"))) {
      found.gone.push_back(rank);
    } else {
      // But for those whose part is found.
      unseen.insert(rank);
    }
  }
  const fs::path taken = rename_away();
  if (taken.empty()) return std::nullopt;
  for (int rank = 0; rank < job_.ranks; ++rank) {
    std::optional<RankPart> part = part_of(text_in(taken / (std::to_string(rank) + ".part")));
    if (!part || part->rank != rank || std::abs(part->began - began_) >= same_start()) continue;
    // It may have come just now.
    for (std::vector<int>* others : {&found.running, &found.gone}) std::erase(*others, rank);
    unseen.erase(rank);
    found.parts.push_back(std::move(*part));
  }
  found.unseen.assign(unseen.begin(), unseen.end());
  remove_folder(taken);
  return found;
}

// Where to; empty: others have gathered. Nobody else has made a folder of this name.
fs::path RankFolder::rename_away() {
  std::string taken = path_.string() + ".XXXXXX";
  if (mkdtemp(taken.data()) == nullptr) {
    say_not_gathered();
    return {};
  }
  if (std::rename(path_.c_str(), taken.c_str()) != 0) {
    if (errno != ENOENT) say_not_gathered();
    rmdir(taken.c_str());
    return {};
  }
  if (is_there(fs::path(taken) / (std::to_string(job_.rank) + ".part"))) {
    good_ = false;
    return taken;
  }
  // It was that of the job's next program. Where that has made another one meanwhile they become one.
  if (std::rename(taken.c_str(), path_.c_str()) != 0) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(taken, error)) {
      fs::rename(entry.path(), path_ / entry.path().filename(), error);
    }
    remove_folder(taken);
  }
  return {};
}

void RankFolder::say_not_gathered() {
  base::warn("report: %s: the parts of the ranks cannot be gathered: %s", path_.c_str(), std::strerror(errno));
  has_failed_ = true;
}

}  // namespace weft::tools

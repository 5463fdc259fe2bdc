// SPDX-License-Identifier: Apache-2.0
#include "report/rank_folder.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/message.h"
#include "platform/process.h"

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
// How often a rank says that it is there, and without which it is not there any more. Only for those of other machines.
constexpr int64_t kSaid = 5 * kSecond;
constexpr int64_t kSilent = 60 * kSecond;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

std::string contents_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// By the clock of the file system, in nanoseconds; 0: there is no such file.
int64_t time_of(const fs::path& file) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) return 0;
  return static_cast<int64_t>(status.st_mtim.tv_sec) * kSecond + status.st_mtim.tv_nsec;
}

// What numbers of processes are the same on: a start of a kernel, and a container there.
std::string this_machine() {
  std::string id = contents_of("/proc/sys/kernel/random/boot_id");
  char container[64] = "";
  const ssize_t length = readlink("/proc/self/ns/pid", container, sizeof container - 1);
  if (length > 0) id.append(container, static_cast<size_t>(length));
  id.erase(std::remove(id.begin(), id.end(), '\n'), id.end());
  return id;
}

// In place at once. False: errno says why.
bool put(const fs::path& file, const std::string& text) {
  const fs::path made = file.string() + ".new";
  std::FILE* out = std::fopen(made.c_str(), "we");
  if (out == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  const int error = errno;
  if (std::fclose(out) == 0 && written) return std::rename(made.c_str(), file.c_str()) == 0;
  if (!written) errno = error;
  return false;
}

std::string to_text(const RankPart& part) {
  const Json head = {{"rank", part.rank},         {"exit_code", part.exit_code}, {"why", part.why},
                     {"is_early", part.is_early}, {"host", part.host},           {"host_cpus", part.host_cpus},
                     {"began", part.began}};
  return head.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" + part.report;
}

// None: it is damaged.
std::optional<RankPart> part_of(const std::string& text) {
  const size_t line = std::min(text.find('\n'), text.size());
  const Json head = Json::parse(text.substr(0, line), nullptr, false);
  try {
    RankPart part;
    part.rank = head.at("rank");
    part.exit_code = head.at("exit_code");
    part.why = head.at("why");
    part.is_early = head.at("is_early");
    part.host = head.at("host");
    part.host_cpus = head.at("host_cpus");
    part.began = head.at("began");
    part.report = line < text.size() ? text.substr(line + 1) : "";
    return part;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

// Of a `.here`: whether who has written it is known to be gone.
bool is_dead(const Json& here, const std::string& machine) {
  if (!here.is_object() || here.value("machine", "") != machine) return false;
  const auto process = static_cast<pid_t>(here.value("process", 0));
  return process <= 0 || platform::process_start(process) != here.value("start", uint64_t{0});
}

void remove_folder(const fs::path& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
}

}  // namespace

// A page that goes to stdout has its folder where the program runs.
RankFolder::RankFolder(const fs::path& page, Job job)
    : job_(std::move(job)), machine_(this_machine()), come_(static_cast<size_t>(job_.ranks)) {
  std::error_code error;
  const fs::path named = fs::absolute(page == "-" ? "stdout" : page, error);
  const fs::path real = fs::weakly_canonical(named, error);
  constexpr size_t kMostOfName = 200;
  path_ = real.parent_path() / ("." + real.filename().string().substr(0, kMostOfName) + "." + job_.name);
  if (job_.rank == 0) sweep();
  wait_for_earlier_run();
  // The first one makes it. Another job's rank may take an old one away meanwhile.
  constexpr int kTries = 3;
  for (int i = 0; i < kTries && !good_; ++i) {
    fs::create_directory(path_, error);
    stay();
  }
  if (!good_) base::warn("report: %s: %s", path_.c_str(), std::strerror(errno));
  began_ = time_of(file(job_.rank, "here"));
}

RankFolder::~RankFolder() {
  if (!good_) return;
  unlink(file(job_.rank, "here").c_str());
  // Does nothing where there is anything in it.
  rmdir(path_.c_str());
}

fs::path RankFolder::file(int rank, const char* kind) const { return path_ / (std::to_string(rank) + "." + kind); }

// What jobs have left that were killed before this one, with the same page.
void RankFolder::sweep() const {
  constexpr size_t kOfJob = 16;
  const std::string name = path_.filename();
  const std::string page = name.substr(0, name.size() - kOfJob);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_.parent_path(), error)) {
    const std::string other = entry.path().filename();
    if (other.rfind(page, 0) != 0 || other.size() < name.size() || other.rfind(name, 0) == 0) continue;
    const bool is_name = std::all_of(other.begin() + static_cast<ptrdiff_t>(page.size()), other.end(),
                                     [](unsigned char c) { return std::isxdigit(c) != 0 || c == '.'; });
    if (is_name && entry.is_directory(error) && is_abandoned(entry.path())) remove_folder(entry.path());
  }
}

bool RankFolder::is_abandoned(const fs::path& folder) const {
  const int64_t today = static_cast<int64_t>(std::time(nullptr)) * kSecond;
  std::error_code error;
  bool recent = today - time_of(folder) < kSameStart;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".here") continue;
    constexpr int64_t kDay = 86'400 * kSecond;
    const bool is_silent = today - time_of(entry.path()) > kDay;
    const Json said = Json::parse(contents_of(entry.path()), nullptr, false);
    if (!is_silent && !is_dead(said, machine_)) return false;
    recent = false;
  }
  return !recent;
}

// A job may run several programs one after the other, each under `weft report` with one page: what the last one has
// left may not be gathered yet. What no job gathers has been left by one that was killed.
void RankFolder::wait_for_earlier_run() {
  const fs::path part = file(job_.rank, "part");
  const int64_t began = now();
  const int64_t left = time_of(part);
  const bool is_old = left == 0 || static_cast<int64_t>(std::time(nullptr)) * kSecond - left > kSameStart;
  while (!is_old && access(part.c_str(), F_OK) == 0 && now() - began < 2 * kPatience) rest();
  unlink(part.c_str());
}

void RankFolder::stay() {
  const Json here = {{"machine", machine_}, {"process", getpid()}, {"start", platform::process_start(getpid())}};
  good_ = put(file(job_.rank, "here"), here.dump());
  touched_ = now();
}

bool RankFolder::is_of_this_job(const fs::path& file) const {
  const int64_t time = time_of(file);
  return time != 0 && time > began_ - kSameStart;
}

bool RankFolder::look() {
  if (now() - touched_ > kSaid) {
    utimensat(AT_FDCWD, file(job_.rank, "here").c_str(), nullptr, 0);
    touched_ = now();
  }
  return rank_that_failed() >= 0;
}

int RankFolder::rank_that_failed() const {
  const fs::path ending = path_ / "ending";
  if (!is_of_this_job(ending)) return -1;
  return std::atoi(contents_of(ending).c_str());
}

bool RankFolder::leave(RankPart part) {
  part.rank = job_.rank;
  part.began = began_;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  part.host = host;
  part.host_cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (put(file(job_.rank, "part"), to_text(part))) return true;
  if (errno != ENOENT) base::warn("report: %s: %s", path_.c_str(), std::strerror(errno));
  return false;
}

// What another job of this name has left is nobody's.
bool RankFolder::has_come(int rank) {
  char& come = come_[static_cast<size_t>(rank)];
  if (come != 0) return true;
  std::ifstream in(file(rank, "part"), std::ios::binary);
  std::string head;
  if (!std::getline(in, head)) return false;
  const std::optional<RankPart> part = part_of(head);
  come = part && std::abs(part->began - began_) < kSameStart ? 1 : 0;
  return come != 0;
}

// Whether its `weft report` runs, as far as can be known from here.
bool RankFolder::is_alive(int rank) const {
  const fs::path here = file(rank, "here");
  if (!is_of_this_job(here)) return false;
  const Json said = Json::parse(contents_of(here), nullptr, false);
  if (is_dead(said, machine_)) return false;
  return time_of(file(job_.rank, "here")) - time_of(here) < kSilent;
}

void RankFolder::say_failed() {
  if (rank_that_failed() < 0) put(path_ / "ending", std::to_string(job_.rank));
}

std::optional<RankParts> RankFolder::gather(End end) {
  int64_t began = now();
  if (end == End::failed) say_failed();
  for (int64_t rests = 1;; rests = std::min<int64_t>(rests + 1, 10)) {
    if (access(path_.c_str(), F_OK) != 0) return std::nullopt;
    look();
    const Others others = look_at_others();
    if (others == Others::ended) return take();
    if (now() - began >= kPatience) {
      const bool ends_now = rank_that_failed() >= 0;
      if (others != Others::alive || ends_now) return take();
      // Those who have ended leave it to the last one, unless the job ends.
      if (end != End::doubtful) return std::nullopt;
      // It has not been finalized, it seems.
      say_failed();
      began = now();
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
    if (is_alive(rank)) return Others::alive;
    if (access(file(rank, "here").c_str(), F_OK) != 0) others = Others::unseen;
  }
  return others;
}

std::optional<RankParts> RankFolder::take() {
  RankParts found;
  found.failed = rank_that_failed();
  for (int rank = 0; rank < job_.ranks; ++rank) {
    if (has_come(rank)) continue;
    const bool here = access(file(rank, "here").c_str(), F_OK) == 0;
    (is_alive(rank) ? found.running : here ? found.gone : found.unseen).push_back(rank);
  }
  const fs::path taken = path_.string() + "." + std::to_string(job_.rank);
  remove_folder(taken);
  if (std::rename(path_.c_str(), taken.c_str()) != 0) return std::nullopt;
  good_ = false;
  for (int rank = 0; rank < job_.ranks; ++rank) {
    std::optional<RankPart> part = part_of(contents_of(taken / (std::to_string(rank) + ".part")));
    if (!part || part->rank != rank || std::abs(part->began - began_) >= kSameStart) continue;
    // It may have come just now.
    for (std::vector<int>* others : {&found.running, &found.gone, &found.unseen}) std::erase(*others, rank);
    found.parts.push_back(std::move(*part));
  }
  remove_folder(taken);
  return found;
}

}  // namespace weft::tools

// SPDX-License-Identifier: Apache-2.0
// PMIx's Get by phases: pmix_get [--clients N] [--gets N] [--keys N]. The process is a PMIx server; its clients each
// put keys of 50 characters, meet in a fence, and get the keys of the next client. PMIX_MCA_gds says how the library
// stores them.
//
// The library is not rebuilt: its phases are seen by the calls that it makes. P1 and P7 stand around PMIx_Get; P2, P3,
// P5 and P6 around its calls of pthread_mutex_lock, pthread_mutex_unlock and their like for the locks between
// processes, which these functions, found before the system's, look at. P4, a key found but not unpacked, cannot be
// seen so.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kv/phases_report.h"
#include "weft/phase_counter.h"

namespace {

constexpr int kPoints = 7;
constexpr int kBeforeLock = 2, kAfterLock = 3, kBeforeUnlock = 5, kAfterUnlock = 6;

// What each client has seen.
struct Seen {
  weft_phase_counter whole;     // P1 and P7 alone
  weft_phase_counter phases;    // all of them
  weft_phase_counter unlocked;  // between P3 and P5, two points
  uint64_t locks;               // of the gets of `phases`
  uint64_t unlocks;
};

Seen seen;
thread_local bool watched = false;  // the caller is in a get whose phases are marked

bool between_processes(const pthread_mutex_t* mutex) {
  constexpr int kShared = 128;  // PTHREAD_MUTEX_PSHARED_BIT of glibc
  return (mutex->__data.__kind & kShared) != 0;
}
bool between_processes(const pthread_rwlock_t* lock) { return lock->__data.__shared != 0; }

template <typename Function>
Function* system_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <typename Lock>
int lock(Lock* lock, int (*call)(Lock*)) {
  if (!watched || !between_processes(lock)) return call(lock);
  if ((seen.phases.passed >> (kBeforeLock - 1) & 1u) == 0) WEFT_PHASE(&seen.phases, kBeforeLock);
  const int result = call(lock);
  WEFT_PHASE(&seen.phases, kAfterLock);
  ++seen.locks;
  return result;
}

template <typename Lock>
int unlock(Lock* lock, int (*call)(Lock*)) {
  if (!watched || !between_processes(lock)) return call(lock);
  WEFT_PHASE(&seen.phases, kBeforeUnlock);
  const int result = call(lock);
  WEFT_PHASE(&seen.phases, kAfterUnlock);
  ++seen.unlocks;
  return result;
}

}  // namespace

extern "C" {
int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static auto* const call = system_function<int(pthread_mutex_t*)>("pthread_mutex_lock");
  return lock(mutex, call);
}
int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  static auto* const call = system_function<int(pthread_mutex_t*)>("pthread_mutex_unlock");
  return unlock(mutex, call);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* rwlock) {
  static auto* const call = system_function<int(pthread_rwlock_t*)>("pthread_rwlock_rdlock");
  return lock(rwlock, call);
}
int pthread_rwlock_unlock(pthread_rwlock_t* rwlock) {
  static auto* const call = system_function<int(pthread_rwlock_t*)>("pthread_rwlock_unlock");
  return unlock(rwlock, call);
}
}

namespace {

constexpr const char* kNamespace = "weft-bench";

[[noreturn]] void fail(const char* call, pmix_status_t status) {
  std::fprintf(stderr, "pmix_get: %s: %s\n", call, PMIx_Error_string(status));
  std::exit(1);
}
void check(const char* call, pmix_status_t status) {
  if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) fail(call, status);
}

// 50 characters, as in the paper.
std::string key_of(uint32_t rank, int number) {
  char text[64];
  std::snprintf(text, sizeof(text), "weft.benchmark.of.keys.with.fifty.characters.%02u%03d", rank % 100, number % 1000);
  return text;
}

struct Plan {
  int clients = 2;
  int gets = 2000;
  int keys = 10;
};

void get(const pmix_proc_t& owner, const std::string& key) {
  pmix_value_t* value = nullptr;
  check("PMIx_Get", PMIx_Get(&owner, key.c_str(), nullptr, 0, &value));
  PMIX_VALUE_RELEASE(value);
}

int be_client(const Plan& plan, const char* file) {
  pmix_proc_t self;
  check("PMIx_Init", PMIx_Init(&self, nullptr, 0));
  for (int i = 0; i < plan.keys; ++i) {
    pmix_value_t value;
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_UINT32;
    value.data.uint32 = self.rank * 1000 + static_cast<uint32_t>(i);
    check("PMIx_Put", PMIx_Put(PMIX_GLOBAL, key_of(self.rank, i).c_str(), &value));
  }
  check("PMIx_Commit", PMIx_Commit());
  bool collect = true;
  pmix_info_t info;
  PMIX_INFO_CONSTRUCT(&info);
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
  check("PMIx_Fence", PMIx_Fence(nullptr, 0, &info, 1));

  pmix_proc_t owner;
  PMIX_LOAD_PROCID(&owner, self.nspace, (self.rank + 1) % static_cast<uint32_t>(plan.clients));
  std::vector<std::string> keys;
  for (int i = 0; i < plan.keys; ++i) keys.push_back(key_of(owner.rank, i));
  weft_phase_init(&seen.whole, 2);
  weft_phase_init(&seen.phases, kPoints);
  weft_phase_init(&seen.unlocked, 2);
  for (const std::string& key : keys) get(owner, key);
  for (int i = 0; i < plan.gets; ++i) {
    const std::string& key = keys[static_cast<size_t>(i % plan.keys)];
    pmix_value_t* value = nullptr;
    WEFT_PHASE(&seen.whole, 1);
    pmix_status_t status = PMIx_Get(&owner, key.c_str(), nullptr, 0, &value);
    WEFT_PHASE(&seen.whole, 2);
    check("PMIx_Get", status);
    weft_phase_record(&seen.whole);
    if (value->data.uint32 != owner.rank * 1000 + static_cast<uint32_t>(i % plan.keys)) fail("PMIx_Get", PMIX_ERROR);
    PMIX_VALUE_RELEASE(value);

    watched = true;
    WEFT_PHASE(&seen.phases, 1);
    status = PMIx_Get(&owner, key.c_str(), nullptr, 0, &value);
    WEFT_PHASE(&seen.phases, kPoints);
    watched = false;
    check("PMIx_Get", status);
    if ((seen.phases.passed >> (kAfterLock - 1) & 1u) != 0) {
      seen.unlocked.stamps[0] = seen.phases.stamps[kAfterLock - 1];
      seen.unlocked.stamps[1] = seen.phases.stamps[kBeforeUnlock - 1];
      seen.unlocked.passed = 3;
      weft_phase_record(&seen.unlocked);
    }
    weft_phase_record(&seen.phases);
    PMIX_VALUE_RELEASE(value);
  }
  FILE* out = std::fopen(file, "w");
  if (out == nullptr || std::fwrite(&seen, sizeof(seen), 1, out) != 1 || std::fclose(out) != 0) {
    std::perror(file);
    return 1;
  }
  check("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
  return 0;
}

// What the library asks of its host; all clients are here, so that a fence has nothing to wait for.
pmix_status_t connected(const pmix_proc_t*, void*, pmix_op_cbfunc_t done, void* data) {
  if (done != nullptr) done(PMIX_SUCCESS, data);
  return PMIX_SUCCESS;
}
pmix_status_t fence(const pmix_proc_t[], size_t, const pmix_info_t[], size_t, char* data, size_t size,
                    pmix_modex_cbfunc_t done, void* argument) {
  if (done != nullptr) done(PMIX_SUCCESS, data, size, argument, nullptr, nullptr);
  return PMIX_SUCCESS;
}

std::atomic<int> ended{0};
void end_of_call(pmix_status_t, void*) { ended.fetch_add(1); }
void wait_for_call(pmix_status_t status, const char* call) {
  check(call, status);
  if (status == PMIX_SUCCESS)
    while (ended.exchange(0) == 0) usleep(100);
}

void register_job(const Plan& plan) {
  char host[256] = "localhost";
  gethostname(host, sizeof(host) - 1);
  std::string ranks;
  for (int i = 0; i < plan.clients; ++i) ranks += (i == 0 ? "" : ",") + std::to_string(i);
  char* nodes = nullptr;
  char* procs = nullptr;
  check("PMIx_generate_regex", PMIx_generate_regex(host, &nodes));
  check("PMIx_generate_ppn", PMIx_generate_ppn(ranks.c_str(), &procs));
  const auto count = static_cast<uint32_t>(plan.clients);
  pmix_info_t info[6];
  for (pmix_info_t& each : info) PMIX_INFO_CONSTRUCT(&each);
  PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, nodes, PMIX_REGEX);
  PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, procs, PMIX_REGEX);
  PMIX_INFO_LOAD(&info[2], PMIX_UNIV_SIZE, &count, PMIX_UINT32);
  PMIX_INFO_LOAD(&info[3], PMIX_JOB_SIZE, &count, PMIX_UINT32);
  PMIX_INFO_LOAD(&info[4], PMIX_LOCAL_SIZE, &count, PMIX_UINT32);
  PMIX_INFO_LOAD(&info[5], PMIX_LOCAL_PEERS, ranks.c_str(), PMIX_STRING);
  wait_for_call(PMIx_server_register_nspace(kNamespace, plan.clients, info, 6, end_of_call, nullptr),
                "PMIx_server_register_nspace");
}

int be_server(const Plan& plan, char** arguments, int count) {
  char folder[] = "/tmp/weft-pmix-XXXXXX";
  if (mkdtemp(folder) == nullptr) {
    std::perror(folder);
    return 1;
  }
  static pmix_server_module_t module{};
  module.client_connected = connected;
  module.client_finalized = connected;
  module.fence_nb = fence;
  pmix_info_t info[2];
  PMIX_INFO_CONSTRUCT(&info[0]);
  PMIX_INFO_CONSTRUCT(&info[1]);
  PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, folder, PMIX_STRING);
  PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, folder, PMIX_STRING);
  check("PMIx_server_init", PMIx_server_init(&module, info, 2));
  register_job(plan);
  bool failed = false;
  std::vector<std::string> files;
  for (int i = 0; i < plan.clients; ++i) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, kNamespace, static_cast<uint32_t>(i));
    wait_for_call(PMIx_server_register_client(&proc, getuid(), getgid(), nullptr, end_of_call, nullptr),
                  "PMIx_server_register_client");
    char** variables = nullptr;
    for (char** each = environ; *each != nullptr; ++each) PMIX_ARGV_APPEND(failed, variables, *each);
    check("PMIx_server_setup_fork", PMIx_server_setup_fork(&proc, &variables));
    files.push_back(std::string(folder) + "/seen." + std::to_string(i));
    std::vector<char*> words(arguments, arguments + count);
    std::string option = "--client";
    words.push_back(option.data());
    words.push_back(files.back().data());
    words.push_back(nullptr);
    if (fork() == 0) {
      alarm(120);
      execve("/proc/self/exe", words.data(), variables);
      _exit(1);
    }
  }
  failed = false;
  for (int i = 0; i < plan.clients; ++i) {
    int status = 0;
    wait(&status);
    failed = failed || status != 0;
  }
  Seen all;
  weft_phase_init(&all.whole, 2);
  weft_phase_init(&all.phases, kPoints);
  weft_phase_init(&all.unlocked, 2);
  all.locks = all.unlocks = 0;
  for (const std::string& file : files) {
    Seen one;
    FILE* in = std::fopen(file.c_str(), "r");
    if (in == nullptr || std::fread(&one, sizeof(one), 1, in) != 1) {
      failed = true;
      break;
    }
    std::fclose(in);
    weft_phase_merge(&all.whole, &one.whole);
    weft_phase_merge(&all.phases, &one.phases);
    weft_phase_merge(&all.unlocked, &one.unlocked);
    all.locks += one.locks;
    all.unlocks += one.unlocks;
  }
  PMIx_server_finalize();
  const std::string remove = std::string("rm -rf ") + folder;
  if (std::system(remove.c_str()) != 0 || failed) {
    std::fprintf(stderr, "pmix_get: a client has failed\n");
    return 1;
  }
  const double gets = static_cast<double>(all.phases.whole.count);
  std::printf("{\"version\":\"%s\",\"gets\":%.0f,\"locks\":%.3f,\"unlocks\":%.3f", PMIx_Get_version(), gets,
              static_cast<double>(all.locks) / gets, static_cast<double>(all.unlocks) / gets);
  bench::print_phase("P7-P1", all.whole, all.whole.whole);
  bench::print_phases(all.phases);
  bench::print_phase("P5-P3", all.unlocked, all.unlocked.whole);
  std::printf("}\n");
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  Plan plan;
  const char* file = nullptr;
  for (int i = 1; i < count; ++i) {
    const std::string option = arguments[i];
    const char* value = i + 1 < count ? arguments[++i] : "";
    const int number = std::atoi(value);
    if (option == "--client") {
      file = value;
      continue;
    }
    int* place = option == "--clients" ? &plan.clients
                 : option == "--gets"  ? &plan.gets
                 : option == "--keys"  ? &plan.keys
                                       : nullptr;
    if (place == nullptr || number < 1 || number > 1'000'000) {
      std::fprintf(stderr, "usage: pmix_get [--clients N] [--gets N] [--keys N]\n");
      return 2;
    }
    *place = number;
  }
  return file != nullptr ? be_client(plan, file) : be_server(plan, arguments, count);
}

// SPDX-License-Identifier: Apache-2.0
#include "stack_limit.h"

#include <algorithm>

#include <pthread.h>
#include <sys/resource.h>

#include "base/message.h"

namespace weft::tools {

namespace {

constexpr rlim_t kLeastForLinker = rlim_t{32} << 10;
constexpr rlim_t kEnoughForLinker = rlim_t{64} << 10;
constexpr rlim_t kEnoughForCommand = rlim_t{1} << 20;

rlimit limit() {
  rlimit now{RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_STACK, &now);
  return now;
}

unsigned long in_kib(rlim_t bytes) { return static_cast<unsigned long>(bytes >> 10); }

struct Call {
  int (*command)(int, char**);
  int count;
  char** arguments;
  int result;
};

void* run(void* argument) {
  auto* call = static_cast<Call*>(argument);
  call->result = call->command(call->count, call->arguments);
  return nullptr;
}

}  // namespace

int run_with_room(int (*command)(int, char**), int count, char** arguments) {
  if (limit().rlim_cur >= kEnoughForCommand) return command(count, arguments);
  Call call{command, count, arguments, 0};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kEnoughForCommand);
  pthread_t thread;
  const bool refused = pthread_create(&thread, &attributes, run, &call) != 0;
  pthread_attr_destroy(&attributes);
  if (refused) return command(count, arguments);
  pthread_join(thread, nullptr);
  return call.result;
}

void leave_room_for_linker() {
  const rlimit now = limit();
  if (now.rlim_cur >= kLeastForLinker) return;
  // Only root may raise the upper limit.
  const rlimit wanted{kEnoughForLinker, std::max(now.rlim_max, kEnoughForLinker)};
  const rlimit allowed{now.rlim_max, now.rlim_max};
  const bool raised = setrlimit(RLIMIT_STACK, &wanted) == 0 ||
                      (now.rlim_max >= kLeastForLinker && setrlimit(RLIMIT_STACK, &allowed) == 0);
  base::warn("ulimit -s %lu: too little for the dynamic linker to load weft %s ulimit -s %lu", in_kib(now.rlim_cur),
             raised ? "into the program, which runs with" : "safely, and it may not be raised; enough is",
             in_kib(raised ? limit().rlim_cur : kEnoughForLinker));
}

}  // namespace weft::tools

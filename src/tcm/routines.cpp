// SPDX-License-Identifier: Apache-2.0
// The functions that clients resolve (exports.map). They only translate.
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "tcm/abi.h"
#include "tcm/permits.h"
#include "tcm/pool.h"

using namespace weft;
using tcm::Result;

#define WEFT_TCM extern "C" [[gnu::visibility("default")]]

namespace {

constexpr unsigned kMajor = 1;
constexpr unsigned kMinor = 6;
constexpr char kVersion[] = "1.6.0";

Result done(bool success) noexcept { return success ? Result::success : Result::invalid_argument; }

tcm::Client* client_of(uint64_t id) noexcept { return reinterpret_cast<tcm::Client*>(static_cast<uintptr_t>(id)); }

void print_statistics() noexcept {
  const tcm::Counts counts = tcm::counts();
  char text[256];
  const int size =
      std::snprintf(text, sizeof text,
                    "weft statistics of oneTBB: %s (process %d)\n  permits: %d, most threads at once: %d, "
                    "raised: %llu, lowered: %llu\n",
                    program_invocation_short_name, getpid(), counts.permits, counts.most_granted,
                    static_cast<unsigned long long>(counts.raised), static_cast<unsigned long long>(counts.lowered));
  if (write(STDERR_FILENO, text, static_cast<size_t>(size)) < 0) return;
}

}  // namespace

// A client that is refused does without TCM.
WEFT_TCM Result tcmConnect(tcm::Callback callback, uint64_t* id) {
  if (callback == nullptr || id == nullptr) return Result::invalid_argument;
  if (!tcm::welcome()) return Result::unknown;
  static const bool once = [] {
    if (tcm::statistics()) std::atexit([] { print_statistics(); });
    return true;
  }();
  static_cast<void>(once);
  if (const core::PoolSide* side = tcm::pool()) side->start();
  const tcm::Client* client = tcm::connect(callback);
  if (client == nullptr) return Result::unknown;
  *id = reinterpret_cast<uintptr_t>(client);
  return Result::success;
}

WEFT_TCM Result tcmDisconnect(uint64_t id) { return done(tcm::disconnect(client_of(id))); }

WEFT_TCM Result tcmRequestPermit(uint64_t id, tcm::Request request, void* argument, tcm::Permit** permit,
                                 tcm::Grant* grant) {
  if (permit == nullptr || !tcm::is_connected(client_of(id))) return Result::invalid_argument;
  if (request.least >= 0 && request.most >= 0 && request.least > request.most) return Result::invalid_argument;
  tcm::Permit* given = tcm::request(client_of(id), request, argument, *permit);
  if (given == nullptr) return Result::unknown;
  *permit = given;
  return grant != nullptr ? done(tcm::read(given, grant)) : Result::success;
}

WEFT_TCM Result tcmGetPermitData(tcm::Permit* permit, tcm::Grant* grant) {
  return done(grant != nullptr && tcm::read(permit, grant));
}

WEFT_TCM Result tcmReleasePermit(tcm::Permit* permit) { return done(tcm::release(permit)); }
WEFT_TCM Result tcmIdlePermit(tcm::Permit* permit) { return done(tcm::set_state(permit, tcm::State::idle)); }
WEFT_TCM Result tcmDeactivatePermit(tcm::Permit* permit) { return done(tcm::set_state(permit, tcm::State::inactive)); }
WEFT_TCM Result tcmActivatePermit(tcm::Permit* permit) { return done(tcm::set_state(permit, tcm::State::active)); }

WEFT_TCM Result tcmRegisterThread(tcm::Permit* permit) { return done(tcm::enter(permit)); }
WEFT_TCM Result tcmUnregisterThread() { return done(tcm::leave()); }

WEFT_TCM Result tcmGetVersionInfo(char* text, uint32_t size) {
  if (text == nullptr) return Result::invalid_argument;
  std::snprintf(text, size, "TCM: VERSION            %s, of weft\n", kVersion);
  return Result::success;
}

WEFT_TCM unsigned tcmGetVersion() { return 10000 * kMajor + 100 * kMinor; }
WEFT_TCM const char* tcmRuntimeVersion() { return kVersion; }
WEFT_TCM unsigned tcmRuntimeInterfaceVersion() { return 1000 * kMajor + 10 * kMinor; }

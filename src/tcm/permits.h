// SPDX-License-Identifier: Apache-2.0
// Permits: how many threads each client has asked for, how many it was given, and which threads are at work for it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "tcm/abi.h"
#include "tcm/division.h"

namespace weft::core {
struct GuestLoad;
enum class GuestPart : uint8_t;
}  // namespace weft::core

namespace weft::tcm {

// Records of clients and permits are never given back to the system: a handle that is used too late finds one.
struct Client {
  explicit Client(Callback called) noexcept : callback(called) {}
  const Callback callback;
  std::atomic<bool> connected{true};  // relaxed: a use of a disconnected client has no right to anything
  Client* next = nullptr;
};

struct Permit {
  static constexpr int kMostParts = 16;

  unsigned generation = 0;  // of the process that has asked for the permit
  const Client* client = nullptr;
  void* argument = nullptr;  // for the callback
  State state = State::none;
  bool rigid = false;
  Demand demand;
  // The most that was asked for, for each constraint of the request; a request without constraints has one part.
  std::array<int, kMostParts> parts{};
  int part_count = 1;

  // How many threads are inside of the client and have come in by this permit; relaxed counts.
  std::atomic<int> primaries{0};
  std::atomic<int> workers{0};
  // The permit's last primary has gone while others want the CPUs: its workers will follow in a moment, and count as
  // gone. Written with the lock held; relaxed, since a reader without the lock looks again with it.
  std::atomic<bool> left{false};
  int quiet_ticks = 0;   // ticks since it was left or deactivated
  int steady_ticks = 0;  // ticks since what is granted has changed

  // What the client knows of `demand.granted` and `state`. Where these are different by now, the client is called.
  int known_granted = 0;
  State known_state = State::none;
  int calls = 0;          // how many calls for the permit run
  bool released = false;  // the permit is gone when these calls have ended
  Permit* next = nullptr;
};

// Counts for WEFT_STATS.
struct Counts {
  uint64_t lowered = 0;
  uint64_t raised = 0;
  int permits = 0;
  int most_granted = 0;  // at once
};

Client* connect(Callback callback) noexcept;
bool disconnect(Client* client) noexcept;
bool is_connected(const Client* client) noexcept;

// Makes a permit (null: there is no memory), or changes `permit` if that is not null.
Permit* request(const Client* client, const Request& request, void* argument, Permit* permit) noexcept;
bool read(Permit* permit, Grant* grant) noexcept;
bool release(Permit* permit) noexcept;
bool set_state(Permit* permit, State state) noexcept;

bool enter(Permit* permit) noexcept;
bool leave() noexcept;
core::GuestPart part_of_caller() noexcept;

// Called by the pool's monitor at each tick.
void tick(const core::GuestLoad& load) noexcept;

Counts counts() noexcept;

}  // namespace weft::tcm

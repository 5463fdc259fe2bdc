// SPDX-License-Identifier: Apache-2.0
#include "machine/trace.h"

#include <array>
#include <map>

#include "machine/places.h"

namespace weft::machine {

std::vector<Event> Trace::events() const {
  std::vector<Event> found;
  for (size_t i = 0; i < ring_.size(); ++i) {
    const Event& event = ring_[(at_ + i) % ring_.size()];
    if (event.operation != Operation::none) found.push_back(event);
  }
  return found;
}

const char* name_of(Operation operation) {
  constexpr std::array<const char*, 14> kNames = {
      "load",        "store",         "update", "fence", "wait",   "wake",        "race",
      "heavy fence", "store is seen", "take",   "give",  "killed", "time passes", ""};
  return kNames[static_cast<size_t>(operation)];
}

std::string text_of(const std::vector<Event>& events, const std::vector<std::string>& names) {
  std::vector<const void*> sought;
  for (const Event& event : events) sought.push_back(event.place);
  const auto places = names_of(sought);
  std::map<uintptr_t, int> words;
  std::string text;
  for (const Event& event : events) {
    const std::string name =
        names.empty() ? "thread " + std::to_string(event.thread) : names[static_cast<size_t>(event.thread)];
    text += "  " + name + ": " + name_of(event.operation);
    if (event.address != 0) {
      const int word = words.emplace(event.address, static_cast<int>(words.size())).first->second;
      // Addresses depend on what has been allocated in earlier runs.
      constexpr uint64_t kAddresses = uint64_t{1} << 40;
      text += " word " + std::to_string(word) + ": ";
      text += event.value < kAddresses ? std::to_string(event.value) : "an address";
    }
    if (event.stale > 0) text += " (" + std::to_string(event.stale) + " newer)";
    const auto place = places.find(event.place);
    if (place != places.end()) text += "  at " + place->second;
    text += "\n";
  }
  return text;
}

}  // namespace weft::machine

// SPDX-License-Identifier: Apache-2.0
// What the report says, in whatever form.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "numa/evidence.h"
#include "symbols/symbols.h"

namespace weft::tools::numa {

// What is said of an array, for programs: these words are the `verdict` of the JSON.
enum class Verdict : uint8_t {
  one_node,       // the machine has one node: nothing to place
  untouched,      // nobody has touched it
  unknown,        // too little is known
  local,          // it lies where it is used
  interleaved,    // it is spread over nodes page by page
  shared,         // all nodes use all of it: no placement would make it local
  serial_init,    // one thread has initialised what several nodes use
  wrong_node,     // it lies on one node and is used from another
  mismatched,     // its parts lie on other nodes than those that use them
  balanced_away,  // the kernel has moved pages away from those that use them
};
const char* word_of(Verdict verdict);

// By node; -1 is "touched by nobody".
using Shares = std::map<int, double>;

inline constexpr int kStrip = 128;  // parts of an array in the picture

struct ArrayRow {
  std::string name;      // where it was allocated
  std::string function;  // the function there
  std::vector<std::string> stack;
  std::string first_line;  // where it is touched first, and where most of the other touches come from; empty: not known
  std::string use_line;
  std::string how;
  uint64_t bytes = 0;
  uint64_t instances = 0;  // blocks of this size from this place
  bool live = false;
  std::string policy;  // of its memory; "default": where it is touched first
  Shares pages;  // parts of its pages by node
  bool pages_known = false;
  Shares first_touch;  // parts, by the node of the thread that touched first
  int first_threads = 0;  // that have touched first
  Shares use;  // touches behind the initialisation, by node
  int touches = 0;
  int writes = 0;  // of them
  double remote = 0;  // part of them from another node than the page's
  double expected_remote = -1;  // with a static schedule; -1: no expectation
  double mixing = 0;  // 1: its pages are dealt out to nodes one by one; 0: in large parts
  double shared = 0;  // part of it that all nodes use alike
  double decided = 0;  // part of it of which it is known who uses it
  double misplaced = 0;  // part of the pages that lie elsewhere than whoever uses that part
  double moved = 0;  // part of the pages whose node has changed
  double recycled =
      0;  // part of the first touches whose page lay elsewhere already: others had used that memory before
  bool serial = false;  // the initial thread has allocated it, and was seen to touch it first
  bool modelled = false;  // the verdict stands on the model of a static schedule, not on touches
  // By position: the node of the pages, of the users, as expected; -1: none, or not known; -2: several.
  std::array<int, kStrip> lies{};
  std::array<int, kStrip> used{};
  std::array<int, kStrip> expected{};
  Verdict verdict = Verdict::unknown;
  std::string text;
};

// Whether it costs time for certain: what the model alone says is a hint.
bool is_fault(const ArrayRow& row);

struct MappingRow {
  std::string kind;  // arrays, heap, stack, anonymous, or the file
  uint64_t sum = 0;  // bytes
  std::map<int, uint64_t> bytes;  // by node
  std::string policy;
};

struct Report {
  int pid = 0;
  std::string command;
  double seconds = 0;
  std::vector<int> nodes;
  std::vector<std::string> node_lines;
  std::vector<ArrayRow> arrays;
  std::vector<MappingRow> mappings;
  std::vector<Thread> threads;
  int bound = 0;  // threads that cannot leave their node
  Balancing balancing;
  std::vector<std::string> notes;
  const Evidence* evidence = nullptr;
};

// `symbols` may be null.
Report analyse(const Kernel& kernel, const Evidence& evidence, Symbols* symbols);

// What has told of the pages and who touches them, for programs.
std::vector<std::string> sources_of(const Evidence& evidence);

// The verdict of a row whose numbers are known, and its text.
struct Machine {
  int memory_nodes = 1;
  bool floating = false;  // threads are not bound to nodes
  bool sampled = true;  // later touches are, so that few of them say that the array is used little
};
void judge(const Machine& machine, ArrayRow& row);

std::string to_text(const Report& report);
std::string to_json(const std::vector<Report>& reports);
std::string to_picture(const std::vector<Report>& reports);

}  // namespace weft::tools::numa

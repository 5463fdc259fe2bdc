// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace weft::tune {

namespace {

std::string contents(const char* file, int rank) {
  std::string text;
  if (rank == 0) {
    std::ifstream in(file);
    if (!in) {
      std::fprintf(stderr, "weft: tune: %s: %s\n", file, std::strerror(errno));
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    std::ostringstream all;
    all << in.rdbuf();
    text = all.str();
  }
  int size = static_cast<int>(text.size());
  MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(size);
  MPI_Bcast(text.data(), size, MPI_BYTE, 0, MPI_COMM_WORLD);
  return text;
}

bool parse(const std::string& line, Entry& entry) {
  std::istringstream in(line);
  std::string operation;
  if (!(in >> entry.number >> operation >> entry.bytes >> entry.calls >> entry.settings >> entry.way)) return false;
  entry.operation = find_operation(operation);
  return entry.operation != nullptr && entry.calls > 0 && parse_settings(entry.settings, entry.parsed);
}

}  // namespace

std::vector<Entry> read_plan(const char* file, int rank) {
  std::istringstream in(contents(file, rank));
  std::vector<Entry> plan;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    if (!parse(line, plan.emplace_back())) {
      if (rank == 0) std::fprintf(stderr, "weft: tune: %s: not a line of a plan: %s\n", file, line.c_str());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  return plan;
}

}  // namespace weft::tune

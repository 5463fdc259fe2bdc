// SPDX-License-Identifier: Apache-2.0
#include "variables.h"

#include <cstring>
#include <string>

#include <dlfcn.h>
#include <mpi.h>

namespace weft::tune {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= ' ') {
      out += c;
    } else {
      out += "\\n";
    }
  }
  return out + '"';
}

}  // namespace

void describe_job(std::FILE* out) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(version, &length);
  Dl_info library{};
  dladdr(dlsym(RTLD_DEFAULT, "MPI_Init"), &library);
  std::fprintf(out, "{\"ranks\":%d,\"library\":%s,\"path\":%s}\n", ranks, quoted(version).c_str(),
               quoted(library.dli_fname != nullptr ? library.dli_fname : "").c_str());
  std::fflush(out);
}

namespace {

void write_items(std::FILE* out, MPI_T_enum items) {
  int count = 0;
  if (items == MPI_T_ENUM_NULL || MPI_T_enum_get_info(items, &count, nullptr, nullptr) != MPI_SUCCESS) return;
  const char* comma = "";
  for (int i = 0; i < count; ++i) {
    char name[128] = {};
    int length = sizeof name;
    int value = 0;
    if (MPI_T_enum_get_item(items, i, &value, name, &length) != MPI_SUCCESS) continue;
    std::fprintf(out, "%s[%d,%s]", comma, value, quoted(name).c_str());
    comma = ",";
  }
}

void describe(std::FILE* out, const char* name) {
  int index = 0;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return;
  char own_name[256] = {};
  char text[8192] = {};
  int name_length = sizeof own_name;
  int text_length = sizeof text;
  int verbosity = 0;
  int bind = 0;
  int scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum items = MPI_T_ENUM_NULL;
  if (MPI_T_cvar_get_info(index, own_name, &name_length, &verbosity, &type, &items, text, &text_length, &bind,
                          &scope) != MPI_SUCCESS) {
    return;
  }
  std::fprintf(out, "{\"name\":%s,\"text\":%s,\"items\":[", quoted(name).c_str(), quoted(text).c_str());
  write_items(out, items);
  std::fprintf(out, "]}\n");
}

}  // namespace

void describe_variables(std::FILE* out, char** names) {
  for (; *names != nullptr; ++names) describe(out, *names);
}

}  // namespace weft::tune

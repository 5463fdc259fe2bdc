// SPDX-License-Identifier: Apache-2.0
// weft-tune-openmpi and weft-tune-mpich: they load the MPI that is there, then the measuring program for its ABI, which
// lies beside them. So weft's packages need no MPI, and a program for one version also measures others with the same
// ABI.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include <dlfcn.h>

namespace {

constexpr int kNotFound = 127;

// The first of these names, with spaces between, that can be loaded.
bool load_mpi(const std::string& names) {
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(' ', begin), names.size());
    if (dlopen(names.substr(begin, end - begin).c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

int main(int count, char** arguments) {
  std::string abi = WEFT_TUNE_FAMILY;
  if (!load_mpi(WEFT_TUNE_MPI)) {
    const std::string why = dlerror();
    // An MPI may have the standard's ABI alone.
    if (!load_mpi("libmpi_abi.so.1")) {
      std::fprintf(stderr, "weft: tune: %s; load your MPI's module, or set LD_LIBRARY_PATH\n", why.c_str());
      return kNotFound;
    }
    abi = "abi";
  }
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
  const std::string module = own.parent_path() / ("libweft-tune-" + abi + ".so");
  void* handle = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
  using Main = int (*)(int, char**);
  const auto run = reinterpret_cast<Main>(handle != nullptr ? dlsym(handle, "weft_tune_main") : nullptr);
  if (run == nullptr) {
    std::fprintf(stderr, "weft: tune: %s\n", dlerror());
    return kNotFound;
  }
  return run(count, arguments);
}

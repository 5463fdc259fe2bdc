// SPDX-License-Identifier: Apache-2.0
#include "controls.h"

#include <algorithm>
#include <cstdlib>

#include "mpi/errors_return.h"

namespace weft::tune {

namespace {

// Beyond that some are freed: each one costs memory and a number of its own.
constexpr size_t kMostCommunicators = 64;
constexpr char kDefault[] = "-";

class Variable {
 public:
  explicit Variable(const std::string& name) {
    int index = 0;
    int count = 0;
    if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int verbosity = 0;
    int bind = 0;
    int scope = 0;
    int no_name = 0;
    int no_text = 0;
    if (MPI_T_cvar_get_info(index, nullptr, &no_name, &verbosity, &type, nullptr, nullptr, &no_text, &bind, &scope) !=
            MPI_SUCCESS ||
        type != MPI_INT) {
      return;
    }
    found_ = MPI_T_cvar_handle_alloc(index, nullptr, &handle_, &count) == MPI_SUCCESS && count == 1;
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (found_) MPI_T_cvar_handle_free(&handle_);
  }

  bool found() const { return found_; }
  bool read(int& value) { return MPI_T_cvar_read(handle_, &value) == MPI_SUCCESS; }
  // Some MPIs say that they have written what they have not.
  bool write(int value) {
    int now = 0;
    return MPI_T_cvar_write(handle_, &value) == MPI_SUCCESS && read(now) && now == value;
  }

 private:
  MPI_T_cvar_handle handle_ = nullptr;
  bool found_ = false;
};

}  // namespace

bool parse_settings(const std::string& text, std::vector<Setting>& settings) {
  settings.clear();
  if (text == kDefault) return true;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const size_t equals = text.find('=', begin);
    if (equals == std::string::npos || equals >= end) return false;
    settings.push_back({text.substr(begin, equals - begin), std::atoi(text.c_str() + equals + 1)});
    begin = end + 1;
  }
  return true;
}

std::string Controls::apply(const std::vector<Setting>& settings) {
  std::map<std::string, int> wanted = before_;
  for (const Setting& setting : settings) wanted[setting.name] = setting.value;
  for (const auto& [name, value] : wanted) {
    Variable variable(name);
    if (!variable.found()) return "this MPI has no variable " + name;
    int old = 0;
    if (!variable.read(old)) return name + " cannot be read";
    before_.try_emplace(name, old);
    if (old != value && !variable.write(value)) return name + " cannot be set to " + std::to_string(value);
  }
  return {};
}

MPI_Comm Communicators::get(const std::string& settings) {
  const auto found = made_.find(settings);
  if (found != made_.end()) return found->second;
  if (made_.size() >= kMostCommunicators) {
    // Not the default's, which all operations need again and again.
    const auto other = std::find_if(made_.begin(), made_.end(), [](const auto& one) { return one.first != kDefault; });
    MPI_Comm_free(&other->second);
    made_.erase(other);
  }
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_set_errhandler(made, mpi::errors_return());
  return made_[settings] = made;
}

}  // namespace weft::tune

// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/threadprivate.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "base/address_hash.h"
#include "base/message.h"
#include "platform/futex_lock.h"

namespace weft::openmp::threadprivate {

namespace {

// What is known of a variable; kept for good.
struct Variable {
  const void* address;
  Construct construct = nullptr;
  CopyConstruct copy_construct = nullptr;
  Destroy destroy = nullptr;
  ConstructAll construct_all = nullptr;
  CopyConstructAll copy_construct_all = nullptr;
  DestroyAll destroy_all = nullptr;
  size_t count = 0;
  void* original = nullptr;  // as it was before its first use
  Variable* next = nullptr;

  bool has_constructor() const noexcept { return construct != nullptr || construct_all != nullptr; }
};

constexpr unsigned kListBits = 8;
constexpr size_t kLists = size_t{1} << kListBits;

size_t list_of(const void* address) noexcept { return base::address_hash<kListBits>(address); }

platform::FutexLock g_lock;
Variable* g_variables[kLists];

// The variable's record, made if there is none. Holding the lock.
Variable* record_of(const void* address) noexcept {
  Variable*& list = g_variables[list_of(address)];
  for (Variable* at = list; at != nullptr; at = at->next) {
    if (at->address == address) return at;
  }
  auto* made = new (std::nothrow) Variable{.address = address};
  if (made == nullptr) base::lacking("no memory for a threadprivate variable");
  made->next = list;
  return list = made;
}

// Set in the thread that loads the library: the initial one, as a rule.
thread_local bool t_is_initial = false;
[[gnu::constructor]] void on_load() { t_is_initial = true; }

void* allocate(size_t size) noexcept {
  constexpr size_t kAlignment = 64;
  void* memory = std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  if (memory == nullptr) base::lacking("no memory for a copy of a threadprivate variable of %zu bytes", size);
  return memory;
}

// Makes `to` a copy of what `from` is now.
void copy_value(const Variable& variable, void* to, void* from, size_t size) {
  if (variable.copy_construct_all != nullptr) {
    variable.copy_construct_all(to, from, variable.count);
  } else if (variable.copy_construct != nullptr) {
    variable.copy_construct(to, from);
  } else {
    std::memcpy(to, from, size);
  }
}

class Copies {
 public:
  Copies() noexcept = default;
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  // The thread ends. In the reverse order of their making.
  ~Copies() {
    while (Copy* copy = newest_) {
      newest_ = copy->made_before;
      if (copy->copy != copy->variable) {
        const Variable variable = description(copy->variable);
        if (variable.destroy_all != nullptr) {
          variable.destroy_all(copy->copy, variable.count);
        } else if (variable.destroy != nullptr) {
          variable.destroy(copy->copy);
        }
        std::free(copy->copy);
      }
      delete copy;
    }
  }

  Copy* find(const void* variable) const noexcept {
    Copy* at = lists_[list_of(variable)];
    while (at != nullptr && at->variable != variable) at = at->next;
    return at;
  }

  // `from`: what the variable was before its first use.
  Copy* make(void* address, void* from, size_t size) {
    const Variable variable = prepare(address, from, size);
    void* place = address;
    if (!t_is_initial) {
      place = allocate(size);
      if (variable.construct_all != nullptr) {
        variable.construct_all(place, variable.count);
      } else if (variable.construct != nullptr) {
        variable.construct(place);
      } else {
        copy_value(variable, place, variable.original, size);
      }
    }
    Copy*& list = lists_[list_of(address)];
    auto* made = new (std::nothrow) Copy{list, newest_, address, place, size};
    if (made == nullptr) base::lacking("no memory for a threadprivate variable");
    list = made;
    return newest_ = made;
  }

  // Notes what the variable is before its first use, unless that has been.
  static Variable prepare(void* address, void* from, size_t size) {
    const Variable seen = description(address);
    if (seen.original != nullptr || seen.has_constructor()) return seen;
    // The program's function may do anything: it is called without the lock. The second thread frees what it has made.
    void* original = allocate(size);
    copy_value(seen, original, from, size);
    const std::lock_guard guard(g_lock);
    Variable* variable = record_of(address);
    if (variable->original == nullptr) {
      variable->original = original;
    } else {
      std::free(original);
    }
    return *variable;
  }

 private:
  static Variable description(const void* address) noexcept {
    const std::lock_guard guard(g_lock);
    return *record_of(address);
  }

  Copy* lists_[kLists] = {};
  Copy* newest_ = nullptr;
};

// By pointer: room for thread-local variables is scarce in a library that may be loaded late.
struct Holder {
  Copies* copies = nullptr;
  ~Holder() {
    delete copies;
    copies = nullptr;
  }
};
thread_local Holder t_holder;

}  // namespace

void describe(const void* address, Construct construct, CopyConstruct copy_construct, Destroy destroy) noexcept {
  const std::lock_guard guard(g_lock);
  Variable* variable = record_of(address);
  variable->construct = construct;
  variable->copy_construct = copy_construct;
  variable->destroy = destroy;
}

void describe_array(const void* address, ConstructAll construct, CopyConstructAll copy_construct, DestroyAll destroy,
                    size_t count) noexcept {
  const std::lock_guard guard(g_lock);
  Variable* variable = record_of(address);
  variable->construct_all = construct;
  variable->copy_construct_all = copy_construct;
  variable->destroy_all = destroy;
  variable->count = count;
}

Copy* copy_of(void* address, void* from, size_t size) {
  if (t_holder.copies == nullptr) {
    t_holder.copies = new (std::nothrow) Copies;
    if (t_holder.copies == nullptr) base::lacking("no memory for threadprivate variables");
  }
  Copy* copy = t_holder.copies->find(address);
  return copy != nullptr ? copy : t_holder.copies->make(address, from, size);
}

void note_original(void* address, void* from, size_t size) { static_cast<void>(Copies::prepare(address, from, size)); }

}  // namespace weft::openmp::threadprivate

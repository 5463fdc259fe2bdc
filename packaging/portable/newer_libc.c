// SPDX-License-Identifier: Apache-2.0
// What weft, libstdc++ and libgcc call of glibc that 2.28 lacks. Each file that is linked against the old symbols gets
// what it needs of these, hidden. A function that a newer glibc does better is looked up there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

// glibc 2.30.
HIDDEN pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

// glibc 2.29. It asks the vDSO, ten times as fast as the kernel.
typedef int (*get_cpu)(unsigned*, unsigned*);
static get_cpu g_get_cpu;
HIDDEN int getcpu(unsigned* cpu, unsigned* node) {
  return g_get_cpu != NULL ? g_get_cpu(cpu, node) : (int)syscall(SYS_getcpu, cpu, node, NULL);
}

// glibc 2.32. Of an older one the text is in the language of the locale.
typedef const char* (*describe_error)(int);
HIDDEN const char* strerrordesc_np(int error) {
  const describe_error describe = (describe_error)dlsym(RTLD_DEFAULT, "strerrordesc_np");
  return describe != NULL ? describe(error) : strerror(error);
}

// glibc 2.32. libstdc++ leaves out atomic operations where it is true. False is right always.
HIDDEN char __libc_single_threaded;

// glibc 2.35. libgcc finds with it the tables of a function that an exception passes, and looks nowhere else. Of an older
// one they are those of the object that has the address.
typedef int (*find_object)(void*, struct dl_find_object*);
static find_object g_find_object;

struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

// The name is a part of the link map's record.
static struct link_map* map_of(const struct dl_phdr_info* object) {
  struct link_map* map = _r_debug.r_map;
  while (map != NULL && map->l_name != object->dlpi_name) map = map->l_next;
  return map;
}

static int look_at(struct dl_phdr_info* object, size_t size, void* argument) {
  (void)size;
  const struct search* search = argument;
  struct dl_find_object* found = search->found;
  const uintptr_t base = object->dlpi_addr;
  int has_address = 0;
  found->dlfo_eh_frame = NULL;
  for (const ElfW(Phdr)* segment = object->dlpi_phdr; segment < object->dlpi_phdr + object->dlpi_phnum; ++segment) {
    const uintptr_t start = base + segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME) found->dlfo_eh_frame = (void*)start;
    if (segment->p_type != PT_LOAD || search->address - start >= segment->p_memsz) continue;
    has_address = 1;
    found->dlfo_map_start = (void*)base;
    found->dlfo_map_end = (void*)(start + segment->p_memsz);
  }
  found->dlfo_link_map = has_address ? map_of(object) : NULL;
  return has_address;
}

HIDDEN int _dl_find_object(void* address, struct dl_find_object* found) {
  if (g_find_object != NULL) return g_find_object(address, found);
  *found = (struct dl_find_object){0};
  struct search search = {(uintptr_t)address, found};
  if (dl_iterate_phdr(look_at, &search) == 0) return -1;
  // Of a name space of its own (dlmopen).
  Dl_info info;
  if (found->dlfo_link_map == NULL) dladdr1(address, &info, (void**)&found->dlfo_link_map, RTLD_DL_LINKMAP);
  return 0;
}

// glibc 2.36. For std::random_device.
HIDDEN uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
  }
  return number;
}

// When the file is loaded, since both are called where no lock may be waited for.
__attribute__((constructor)) static void look_up(void) {
  g_get_cpu = (get_cpu)dlsym(RTLD_DEFAULT, "getcpu");
  g_find_object = (find_object)dlsym(RTLD_DEFAULT, "_dl_find_object");
}

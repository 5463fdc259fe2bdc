/* SPDX-License-Identifier: Apache-2.0 */
/* Loads plugins, none of them into the global scope, and calls one after the other. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int (*plugs[8])(void);
  for (int i = 1; i < argc; ++i) {
    void *plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) return puts(dlerror());
    plugs[i] = (int (*)(void))dlsym(plugin, "plug");
  }
  for (int i = 1; i < argc; ++i) printf("%d\n", plugs[i]());
  return 0;
}

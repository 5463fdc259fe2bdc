/* SPDX-License-Identifier: Apache-2.0 */
/* A parent publishes settings; its child reads them without a lock, and changes one if nobody else has.
 *
 *   cc store.c $(pkg-config --cflags --libs weft-shm) && ./a.out */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/kv.h>

static void check(int error) {
  if (error == 0) return;
  fprintf(stderr, "%s\n", weft_shm_error());
  exit(1);
}

int main(void) {
  char name[64];
  snprintf(name, sizeof name, "example-%d", (int)getpid());
  weft_kv *kv;
  check(weft_kv_open(&kv, name, 1 << 20, WEFT_KV_CREATE | WEFT_KV_EXCLUSIVE));
  double rate = 0.5;
  check(weft_kv_put(kv, "rate", 4, &rate, sizeof rate, NULL));

  const pid_t child = fork();
  if (child == 0) {
    size_t length;
    uint64_t version;
    check(weft_kv_get(kv, "rate", 4, &rate, sizeof rate, &length, &version));
    rate /= 2;
    check(weft_kv_put_if(kv, "rate", 4, &rate, sizeof rate, version, NULL));
    return 0;
  }
  int status = 1;
  waitpid(child, &status, 0);
  check(weft_kv_get(kv, "rate", 4, &rate, sizeof rate, NULL, NULL));
  printf("rate %g\n", rate);
  check(weft_kv_close(kv));
  check(weft_kv_unlink(name));
  return status;
}

// SPDX-License-Identifier: Apache-2.0
// The kernel reads and writes the array by every kind of call.
#include "busy.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

int main(int count, char **arguments) {
  begin(count, arguments);
  char *array = make_array();
  char name[] = "/tmp/weft-numa-test-XXXXXX";
  const int file = mkstemp(name);
  CHECK(file >= 0);
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  enum { PIECE = 1 << 18 };
  for (size_t turn = 0; goes_on(); ++turn) {
    char *at = array + turn * 7919 * PAGE % (SIZE - 4 * PIECE);
    CHECK(pwrite(file, at, PIECE, 0) == PIECE);
    CHECK(pread(file, at, PIECE, 0) == PIECE);
    CHECK(lseek(file, 0, SEEK_SET) == 0);
    CHECK(read(file, at + PIECE, PIECE) == PIECE);
    struct iovec parts[2] = {{at, PIECE / 4}, {at + 2 * PIECE, PIECE / 4}};
    CHECK(preadv(file, parts, 2, 0) == PIECE / 2);
    CHECK(pwritev(file, parts, 2, 0) == PIECE / 2);
    CHECK(syscall(SYS_pread64, file, at, (size_t)PIECE, 0L) == PIECE);
    FILE *stream = fopen(name, "r+");
    CHECK(stream != NULL);
    CHECK(fread(at, 1, PIECE, stream) == PIECE);
    rewind(stream);
    CHECK(fwrite(at, 1, PIECE, stream) == PIECE);
    memset(at, 'x', PIECE - 1);
    at[PIECE - 1] = '\0';
    rewind(stream);
    CHECK(fputs(at, stream) >= 0);
    rewind(stream);
    CHECK(fprintf(stream, "%d %s\n", 5, at) == PIECE + 2);
    CHECK(fclose(stream) == 0);
    enum { MESSAGE = 8192 };
    CHECK(send(ends[0], at, MESSAGE, 0) == MESSAGE);
    CHECK(recv(ends[1], at + PIECE, MESSAGE, MSG_WAITALL) == MESSAGE);
    struct iovec part = {at + PAGE, MESSAGE};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    CHECK(sendmsg(ends[0], &message, 0) == MESSAGE);
    CHECK(recvmsg(ends[1], &message, MSG_WAITALL) == MESSAGE);
    CHECK(getrandom(at, MESSAGE, 0) == MESSAGE);
    // Names and records that lie in the array.
    char *path = strcpy(at, name);
    struct stat *status = (struct stat *)(at + 2 * PAGE);
    CHECK(stat(path, status) == 0 && S_ISREG(status->st_mode));
    CHECK(access(path, R_OK) == 0);
    const int again = open(path, O_RDONLY);
    CHECK(again >= 0 && fstat(again, status) == 0 && close(again) == 0);
    CHECK(getcwd(at + PAGE, PAGE) != NULL);
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, (struct timespec *)(at + 3 * PAGE)) == 0);
  }
  unlink(name);
  return 0;
}

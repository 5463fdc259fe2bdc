/* SPDX-License-Identifier: Apache-2.0 */
/* One-sided communication, and files. */
#include "say.h"

static void windows(void) {
  MPI_Win window;
  int memory[8], got = -1, added = rank + 1;
  for (int i = 0; i < 8; ++i) memory[i] = 10 * rank + i;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  come_late();
  say("fence %s", name_of(MPI_Win_fence(0, window)));
  MPI_Get(&got, 1, MPI_INT, peer, 3, 1, MPI_INT, window);
  come_early();
  MPI_Win_fence(0, window);
  say("got %d", got);

  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Accumulate(&added, 1, MPI_INT, 0, 5, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_flush(0, window);
  MPI_Win_unlock(0, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  MPI_Request request;
  MPI_Rget(&got, 1, MPI_INT, 0, 5, 1, MPI_INT, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush_all(window);
  MPI_Win_unlock_all(window);
  say("sum %d", got);
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Group world, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &peer, &other);
  if (rank % 2 == 0) {
    MPI_Win_post(other, 0, window);
    say("wait %s", name_of(MPI_Win_wait(window)));
    say("put %d", memory[7]);
  } else {
    come_late();
    MPI_Win_start(other, 0, window);
    MPI_Put(&added, 1, MPI_INT, peer, 7, 1, MPI_INT, window);
    come_late();
    say("complete %s", name_of(MPI_Win_complete(window)));
  }
  MPI_Group_free(&other);
  MPI_Group_free(&world);
  say("free %s", name_of(MPI_Win_free(&window)));
}

/* Of a status of a file's only the count is said. */
static void say_count(const char *what, int code, const MPI_Status *status) {
  int count;
  MPI_Get_count(status, MPI_INT, &count);
  say("%s: %s, count %d", what, name_of(code), count);
}

static void files(const char *path) {
  MPI_File file;
  MPI_Status status;
  MPI_Offset bytes;
  int numbers[4] = {rank, rank + 1, rank + 2, rank + 3}, read[4] = {-1, -1, -1, -1};
  const MPI_Offset mine = rank * (MPI_Offset)sizeof numbers;
  say("no such file: %s",
      name_of(MPI_File_open(MPI_COMM_WORLD, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)));
  come_late();
  say("open %s", name_of(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file)));
  MPI_File_set_size(file, 0);
  say_count("write_at", MPI_File_write_at(file, mine, numbers, 4, MPI_INT, &status), &status);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  say_count("read_at", MPI_File_read_at(file, mine, read, 4, MPI_INT, &status), &status);
  say("read %d %d", read[0], read[3]);
  come_late();
  say_count("read_at_all", MPI_File_read_at_all(file, mine, read, 2, MPI_INT, &status), &status);
  come_early();
  say_count("write_at_all", MPI_File_write_at_all(file, mine, numbers, 4, MPI_INT, &status), &status);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  say_count("read", MPI_File_read(file, read, 1, MPI_INT, &status), &status);
  say("read %d", read[0]);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  come_late();
  say_count("write_all", MPI_File_write_all(file, numbers, 3, MPI_INT, &status), &status);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  say_count("read_all", MPI_File_read_all(file, read, 3, MPI_INT, &status), &status);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  say_count("write", MPI_File_write(file, numbers, 4, MPI_INT, &status), &status);
  MPI_File_get_size(file, &bytes);
  say("size %d", (int)bytes);
  say_count("beyond the end", MPI_File_read_at(file, 1 << 20, read, 1, MPI_INT, &status), &status);
  say("close %s", name_of(MPI_File_close(&file)));
  say("open %s", name_of(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file)));
  say("not for writing: %s", MPI_File_write_at(file, 0, numbers, 1, MPI_INT, &status) == MPI_SUCCESS ? "written" : "error");
  MPI_File_close(&file);
  if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
}

int main(int argc, char **argv) {
  start(argc, argv);
  windows();
  files(argc > 2 ? argv[2] : "weft_mpi_file");
  MPI_Finalize();
  return 0;
}

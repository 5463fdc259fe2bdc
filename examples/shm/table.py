# SPDX-License-Identifier: Apache-2.0
"""Processes read a table that one of them changes; a writer is killed inside, and who locks next mends the table.

python table.py
"""

import multiprocessing
import multiprocessing.shared_memory
import os
import signal

import weft

ROWS = 8
ROUNDS = 200


def set_rows(table, version):
    for row in range(ROWS):
        table.buf[row] = version


def mend(name):
    """The first row is changed first: take the others to where it is."""
    table = multiprocessing.shared_memory.SharedMemory(name)
    set_rows(table, table.buf[0])
    table.close()


def read(lock, table):
    seen = 0
    while seen < ROUNDS:
        with lock.read():
            rows = bytes(table.buf[:ROWS])
        assert len(set(rows)) == 1, rows
        seen = rows[0]


def die_inside(lock, table):
    lock.acquire_write()
    table.buf[0] = 1
    os.kill(os.getpid(), signal.SIGKILL)


def main():
    table = multiprocessing.shared_memory.SharedMemory(create=True, size=ROWS)
    lock = weft.RWLock(readers=4, mend=lambda: mend(table.name))
    context = multiprocessing.get_context("fork")
    writer = context.Process(target=die_inside, args=(lock, table))
    writer.start()
    writer.join()
    readers = [context.Process(target=read, args=(lock, table)) for _ in range(3)]
    for reader in readers:
        reader.start()
    for version in range(2, ROUNDS + 1):
        with lock.write():
            set_rows(table, version)
    for reader in readers:
        reader.join()
    print(f"{ROUNDS} versions; readers ended with {[reader.exitcode for reader in readers]}")
    table.close()
    table.unlink()


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the tests of this folder share. It is sourced; `file` is what they are given, `folder` goes with them.
test=$(basename "$0")
tree=$(realpath "$(dirname "$0")/../../..")
skip() { echo "$test: skipped: $*"; exit 77; }
fail() { echo "$test: $*" >&2; exit 1; }

# what it is, the script's arguments
given() {
  [ $# -eq 2 ] && [ -f "$2" ] || { echo "usage: $test $1" >&2; exit 2; }
  # shellcheck disable=SC2034
  file=$(realpath "$2")
  folder=$(mktemp -d)
  trap clean_up EXIT
}
mounted=()
clean_up() {
  for place in "${mounted[@]}"; do umount --recursive --lazy "$place"; done
  rm -rf --one-file-system "$folder"
}
mount_at() { # place, words of mount before it
  mkdir -p "$1"
  mount "${@:2}" "$1"
  mounted=("$1" "${mounted[@]}")
}

# Starts the script again where what it mounts is seen by nobody else. Its arguments.
own_mounts() {
  [ -z "${WEFT_TEST_OWN_MOUNTS:-}" ] || return 0
  [ "$(id -u)" -eq 0 ] || skip "needs root"
  unshare --mount true 2>/dev/null || skip "no mount namespaces"
  WEFT_TEST_OWN_MOUNTS=1 exec unshare --mount "$0" "$@"
}

# Makes $root, a Debian that scripts/setup-system has made; what is written there stays in memory.
debian() { # name
  [ -e "$tree/build/systems/$1/made" ] || skip "no build/systems/$1; scripts/setup-system $1 makes it"
  mount_at "$folder/memory" -t tmpfs tmpfs
  mkdir "$folder/memory/upper" "$folder/memory/work"
  root=$folder/root
  mount_at "$root" -t overlay -o "lowerdir=$tree/build/systems/$1,upperdir=$folder/memory/upper,workdir=$folder/memory/work" overlay
  mount_at "$root/proc" -t proc proc
  mount_at "$root/dev" --rbind /dev
}
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }

# Makes $folder/program, which prints the number of its members. With an argument, the name of a file, it opens regions until that
# is there.
program() {
  cat >"$folder/program.c" <<'PROGRAM'
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words) {
  int members;
  do {
    members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
    members++;
  } while (count > 1 && access(words[1], F_OK) != 0);
  printf("%d\n", members);
}
PROGRAM
  gcc -O1 -fopenmp "$folder/program.c" -o "$folder/program"
}
# A file with all that the program has said.
on_weft() {
  grep -qx 4 "$1" && grep -q 'it ran on weft' "$1" || fail "the program did not run on weft: $(cat "$1")"
}

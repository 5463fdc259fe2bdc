# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# What the tests with podman share, after own_mounts and given: podman() with a store of its own, the image `weft` of
# packaging/container/Dockerfile, and `program`, of the lines that docs/how-to/containers.md has. The base image is a Debian of this
# machine's mirror in the place of Docker's, so no registry is asked.
command -v podman >/dev/null || skip "no podman; scripts/setup-install installs it"
base=$tree/build/systems/bookworm-services
[ -e "$base/made" ] || skip "no $base; scripts/setup-system makes it"

# crun does not run where control groups are those of v1 and v2 at once.
! mountpoint --quiet /sys/fs/cgroup/unified || umount /sys/fs/cgroup/unified
# All that podman keeps, half a gigabyte, is in memory and goes with the test: neither images nor settings of this machine have a part
# in it, and each layer is a mount and no copy, whatever lies below the folder.
mount_at "$folder/memory" -t tmpfs tmpfs
# This machine's root may not be allowed to raise limits, and podman asks for more than there is.
export CONTAINERS_CONF=$folder/containers.conf
cat >"$CONTAINERS_CONF" <<'CONF'
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
CONF
store=(--root "$folder/memory/images" --runroot "$folder/memory/run" --storage-driver overlay)
podman() { command podman "${store[@]}" --cgroup-manager cgroupfs --events-backend none "$@"; }
build() { podman build --quiet --isolation chroot --pull=never "$@" >"$folder/said" 2>&1 || fail "podman build: $(cat "$folder/said")"; }
run() { podman run --rm --network none "$@"; }
# Looks from a container until two processes share the node.
await_two() { # container
  for ((tries = 600; tries > 0; tries--)); do
    podman exec "$1" weft node status >"$folder/said" 2>&1 || fail "weft node status: $(cat "$folder/said")"
    [ "$(grep -c ' program ' "$folder/said")" -ne 2 ] || return 0
    sleep 0.1
  done
  fail "two containers do not share a node: $(cat "$folder/said")"
}

tar c -C "$base" --exclude='./proc/*' --exclude='./sys/*' --exclude='./dev/*' . |
  podman import --quiet - docker.io/library/debian:12-slim >"$folder/said" 2>&1 || fail "podman import: $(cat "$folder/said")"
mkdir "$folder/dist" "$folder/app"
ln "$file" "$folder/dist/" 2>/dev/null || cp "$file" "$folder/dist/"
build -f "$tree/packaging/container/Dockerfile" -t weft "$folder/dist"
sed -n '/^```dockerfile/,/^```/p' "$tree/docs/how-to/containers.md" | grep -v '```' >"$folder/app/Dockerfile"
program
mv "$folder/program" "$folder/app/"
build -t program -t registry.example.com/program:1 "$folder/app"
run weft true >"$folder/said" 2>&1 || skip "podman starts no container here: $(tail -1 "$folder/said")"

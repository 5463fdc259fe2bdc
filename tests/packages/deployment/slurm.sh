# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# What slurm_test has after own_mounts, given and debian: two nodes of Slurm in $root, `one` with the controller, and `two`. They
# have the machine's CPUs. Processes and network are apart from the machine's; network, /tmp and /dev/shm from each other's, too.
cpus=$(nproc)
[ "$cpus" -ge 2 ] || skip "needs two CPUs"
unshare --pid --fork --mount --uts --ipc --net --cgroup chroot "$root" ip link add cable type veth peer name end 2>/dev/null ||
  skip "no namespaces, or no virtual cables (veth)"

# Control groups of version 1 for task/cgroup: to those of version 2 Slurm 22.05 comes by systemd.
group=weft-slurm-test-$$
groups=()
places=()
for kind in cpuset freezer; do
  mkdir -p "$folder/groups/$kind"
  mount -t cgroup -o "$kind" cgroup "$folder/groups/$kind" 2>/dev/null || break
  mounted=("$folder/groups/$kind" "${mounted[@]}")
  mkdir "$folder/groups/$kind/$group" 2>/dev/null || break
  groups+=("$kind")
  places+=("$folder/groups/$kind/$group")
done
proctrack=linuxproc
tasks=task/affinity
if [ ${#groups[@]} -eq 2 ]; then
  proctrack=cgroup
  tasks+=,task/cgroup
  for each in cpus mems; do cat "$folder/groups/cpuset/cpuset.$each" >"$folder/groups/cpuset/$group/cpuset.$each"; done
else
  [ ${#places[@]} -eq 0 ] || rmdir "${places[@]}"
  groups=()
  places=()
fi

mkdir -p "$root/etc/slurm"
printf '%s\n' 'CgroupPlugin=cgroup/v1' 'ConstrainCores=yes' >"$root/etc/slurm/cgroup.conf"
printf '%s\n' '127.0.0.1 localhost' '192.0.2.1 one' '192.0.2.2 two' >"$root/etc/hosts"
cat >"$root/etc/slurm/slurm.conf" <<CONF
ClusterName=weft
SlurmctldHost=one
SlurmUser=root
AuthType=auth/munge
StateSaveLocation=/run/slurm/state
SlurmdSpoolDir=/run/slurm/%n
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/%n.pid
SlurmctldLogFile=/run/slurm/slurmctld.log
SlurmdLogFile=/run/slurm/%n.log
ProctrackType=proctrack/$proctrack
TaskPlugin=$tasks
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
KillWait=5
NodeName=one,two CPUs=$cpus
PartitionName=all Nodes=ALL Default=YES MaxTime=10 OverSubscribe=FORCE:2
CONF

cat >"$root/start" <<'START'
ip link set lo up
unshare --mount --uts --net sh -ec '
  hostname two
  for place in tmp dev/shm; do mount -t tmpfs -o mode=1777 tmpfs "/$place"; done
  ip link set lo up
  until ip link set cable up 2>/dev/null; do sleep 0.1; done
  ip address add 192.0.2.2/24 dev cable
  exec slurmd -D' &
until [ "$(readlink "/proc/$!/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.1; done
ip link add cable type veth peer name cable netns $!
ip link set cable up
ip address add 192.0.2.1/24 dev cable
mkdir -p /run/slurm/state /run/slurm/one /run/slurm/two
install -d -o munge -g munge /run/munge
runuser -u munge -- munged
slurmctld
slurmd
while :; do sleep 3600; done # and waits for what the daemons leave behind
START
# shellcheck disable=SC2016
start='
  mount -t proc proc "$0/proc"
  mount -t sysfs -o ro sysfs "$0/sys" && mount -t tmpfs tmpfs "$0/sys/fs/cgroup"
  for kind in "$@"; do mkdir "$0/sys/fs/cgroup/$kind" && mount -t cgroup -o "$kind" cgroup "$0/sys/fs/cgroup/$kind"; done
  for place in run tmp dev/shm; do mount -t tmpfs -o mode=1777 tmpfs "$0/$place"; done
  hostname one
  cd "$0" && pivot_root . mnt
  exec chroot . env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -ec "umount --lazy /mnt; exec sh -e /start"'
slurm=
end_slurm() {
  [ -z "$slurm" ] || { kill -s KILL "$slurm" && wait "$slurm"; } 2>/dev/null || true
  for place in "${places[@]}"; do
    for ((tries = 50; tries > 0; tries--)); do # until those that are killed have left
      find "$place" -depth -type d -exec rmdir {} + 2>/dev/null && break
      sleep 0.1
    done
  done
  clean_up
}
trap end_slurm EXIT
# shellcheck disable=SC2016
sh -c '
  while [ "$1" != -- ]; do echo $$ >"$1/cgroup.procs"; shift; done
  shift
  exec unshare --pid --fork --kill-child --mount --uts --ipc --net --cgroup sh -ec "$@"' sh \
  "${places[@]}" -- "$start" "$root" "${groups[@]}" >"$folder/daemons" 2>&1 &
slurm=$!

# Words are run in node `one`, by root; a line of shell by a user, in a folder of its own.
in_node() {
  local first
  first=$(cat "/proc/$slurm/task/$slurm/children")
  nsenter --target "${first// /}" --mount --pid --uts --ipc --net --cgroup \
    env -i PATH=/opt/weft/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/user "$@"
}
user() { in_node runuser -u user -- bash -c "cd && $1"; }
said() { cat "$folder/said" "$folder/daemons" "$root"/home/user/*.out 2>/dev/null; in_node sh -c 'tail -n 5 /run/slurm/*.log'; }
# Waits until a line of shell, the user's, succeeds.
await() { # line, what is awaited
  for ((tries = 300; tries > 0; tries--)); do
    ! user "$1" >"$folder/said" 2>&1 || return 0
    sleep 0.1
  done
  fail "$2: $(said)"
}
inside useradd --create-home user
await '[ "$(sinfo --noheader --format=%T)" = idle ]' "Slurm does not start"

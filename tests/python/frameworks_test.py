# SPDX-License-Identifier: Apache-2.0
"""The tools by which people start many processes: Dask, torchrun, Ray and pytest-xdist, the real ones. Their processes
start on weft, share the node, and may use all CPUs."""

from __future__ import annotations

import os
import sys
import unittest

from support import PATH, ProgramTest, needs
from weft import _files

CPUS = len(os.sched_getaffinity(0))


# What a worker says of itself.
WORKER = """
    import os
    def worker(*_):
        import sklearn.cluster, weft
        from weft import _runtime
        status = weft.status()
        return status["active"], status["how"], status["node"], _runtime.load().omp_get_max_threads()
"""
ON_WEFT = str((True, "audit", "1", CPUS))


@needs("distributed")
class Dask(ProgramTest):
    def test_a_local_cluster(self) -> None:
        code = """
    if __name__ == "__main__":
        from distributed import Client, LocalCluster
        cluster = LocalCluster(n_workers=2, threads_per_worker=1, preload_nanny=["weft.dask"])
        with cluster, Client(cluster) as client:
            print(*set(client.run(worker).values()), *set(client.gather(client.map(worker, range(4)))))
            client.restart()
            print(*client.run(worker).values())
"""
        self.assertEqual(self.succeed(WORKER + code, weft=False), f"{ON_WEFT} {ON_WEFT}\n{ON_WEFT} {ON_WEFT}\n")

    def test_a_cluster_that_runs(self) -> None:
        """The plugin starts its workers again; those that join later start on weft."""
        code = """
    if __name__ == "__main__":
        import weft.dask
        from distributed import Client, LocalCluster
        with LocalCluster(n_workers=1, threads_per_worker=1) as cluster, Client(cluster) as client:
            print(client.run(os.environ.get, "OMP_NUM_THREADS"))
            client.register_plugin(weft.dask.WeftPlugin())
            print(*client.run(worker).values())
            cluster.scale(2)
            client.wait_for_workers(2)
            print(*client.run(worker).values())
"""
        before, *after = self.succeed(WORKER + code, weft=False).splitlines()
        self.assertIn("'1'", before)
        self.assertEqual(after, [ON_WEFT, f"{ON_WEFT} {ON_WEFT}"])

    def cluster(self, *worker: str) -> str:
        """Two workers by that command; what each says of itself."""
        usual = "--scheduler-file", "scheduler.json", "--no-dashboard"
        self.serve("dask", "scheduler", "--host", "127.0.0.1", "--port", "0", *usual, PATH=PATH)
        self.serve(*worker, "--nworkers", "2", "--nthreads", "1", *usual, PATH=PATH)
        code = """
    from distributed import Client
    with Client(scheduler_file="scheduler.json") as client:
        client.wait_for_workers(2)
        print(*client.run(worker).values())
        client.shutdown()
"""
        path = self.write("client.py", WORKER + code)
        done = self.run_python(path)
        self.assertEqual(done.returncode, 0, done.stderr + (self.folder / "log").read_text())
        return done.stdout

    def test_the_command_line(self) -> None:
        said = self.cluster("dask", "worker", "--preload-nanny", "weft.dask")
        self.assertEqual(said, f"{ON_WEFT} {ON_WEFT}\n")

    def test_the_configuration(self) -> None:
        """That of programs: `dask worker` does not read it."""
        code = """
    if __name__ == "__main__":
        from distributed import Client, LocalCluster
        with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
            print(*client.run(worker).values())
"""
        preload = {"DASK_DISTRIBUTED__NANNY__PRELOAD": "weft.dask"}
        self.assertEqual(self.succeed(WORKER + code, weft=False, **preload), f"{ON_WEFT} {ON_WEFT}\n")

    def test_what_the_user_asks_for(self) -> None:
        said = self.cluster("env", "OMP_NUM_THREADS=3", "dask", "worker", "--preload-nanny", "weft.dask")
        asked = str((True, "audit", "1", 3))
        self.assertEqual(said, f"{asked} {asked}\n")

    def test_by_the_command(self) -> None:
        """Its nannies leave each worker all CPUs, without more."""
        said = self.cluster(_files.command(), "run", "--node", "dask", "worker")
        self.assertEqual(said, f"{ON_WEFT} {ON_WEFT}\n")

    def test_too_late(self) -> None:
        """Named in the worker's log."""
        self.cluster("dask", "worker", "--preload", "weft.dask")
        self.assertIn("give --preload-nanny weft.dask", (self.folder / "log").read_text())


class CommandTest(ProgramTest):
    def run_node(self, *command: str, **more: str) -> str:
        """What a command prints under `weft run --node`."""
        done = self.run_program(_files.command(), "run", "--node", *command, PATH=PATH, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.errors = done.stderr
        return done.stdout


@needs("torch")
class TorchRun(CommandTest):
    # No DistributedDataParallel: one outlives the group, and PyTorch aborts at the end now and then, without weft too
    # (pytorch/pytorch#190489).
    CODE = """
    import torch
    import torch.distributed as group
    group.init_process_group("gloo")
    model = torch.nn.Linear(200, 200)
    model(torch.rand(300, 200)).square().sum().backward()
    gradient = model.weight.grad
    group.all_reduce(gradient)
    ranks = [None] * group.get_world_size()
    group.all_gather_object(ranks, (*worker(), torch.get_num_threads(), gradient.sum().item()))
    if group.get_rank() == 0:
        print(*(rank[:-1] for rank in ranks), len({rank[-1] for rank in ranks}))
    group.destroy_process_group()
"""

    def ranks(self, *command: str, threads: int = CPUS, **more: str) -> None:
        """Two: each on weft with so many threads, and all of one mind on the gradients."""
        rank = (True, "audit", "1", threads, threads)
        options = ("--standalone", "--nproc-per-node", "2", self.write("train.py", WORKER + self.CODE))
        self.assertEqual(self.run_node(*command, *options, **more), f"{rank} {rank} 1\n")
        self.assertNotIn("OMP_NUM_THREADS", self.errors)

    def test_its_command(self) -> None:
        self.ranks("torchrun")

    def test_as_a_module(self) -> None:
        self.ranks("python", "-m", "torch.distributed.run")

    def test_what_the_user_asks_for(self) -> None:
        self.ranks("torchrun", threads=1, OMP_NUM_THREADS="1")

    def test_without_a_node(self) -> None:
        """Its own default stays: without the common budget, threads of all ranks would be too many."""
        path = self.write("train.py", "import os\nprint(os.environ['OMP_NUM_THREADS'])\n")
        done = self.weft("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", path)
        self.assertEqual(done.stdout, "1\n1\n", done.stderr)


@needs("ray")
class Ray(CommandTest):
    CODE = """
    import ray
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)
    @ray.remote
    class Actor:
        def worker(self):
            return worker()
    actors = [Actor.remote() for _ in range(2)]
    print(*set(ray.get([ray.remote(worker).remote(i) for i in range(4)])))
    print(*ray.get([actor.worker.remote() for actor in actors]))
"""

    def outcome(self, *command: str, **more: str) -> str:
        """What it prints. Where CPUs are busy Ray's servers miss a time limit that cannot be set: then once more."""
        for _ in range(5):
            done = self.run_program(*command, PATH=PATH, **more)
            if "timed out during startup" not in done.stderr:
                break
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def on_node(self, code: str = "", **more: str) -> str:
        path = self.write("app.py", WORKER + self.CODE + code)
        return self.outcome(_files.command(), "run", "--node", "python", path, **more)

    def test_tasks_and_actors(self) -> None:
        self.assertEqual(self.on_node(), f"{ON_WEFT}\n{ON_WEFT} {ON_WEFT}\n")

    def test_a_task_with_a_limit(self) -> None:
        code = """
    limit = {"env_vars": {"OMP_NUM_THREADS": "1"}}
    print(ray.get(ray.remote(worker).options(runtime_env=limit).remote()))
"""
        self.assertEqual(self.on_node(code).splitlines()[2:], [str((True, "audit", "1", 1))])

    def test_what_the_user_asks_for(self) -> None:
        asked = str((True, "audit", "1", 3))
        self.assertEqual(self.on_node(OMP_NUM_THREADS="3"), f"{asked}\n{asked} {asked}\n")

    def test_after_enable(self) -> None:
        start = """
    import weft
    weft.enable(node=True)
"""
        said = self.outcome(sys.executable, self.write("app.py", start + WORKER + self.CODE))
        self.assertEqual(said, f"{ON_WEFT}\n{ON_WEFT} {ON_WEFT}\n")


@needs("pytest", "xdist")
class Xdist(CommandTest):
    def test_workers(self) -> None:
        code = """
    import pytest
    @pytest.mark.parametrize("i", range(8))
    def test_worker(i, worker_id):
        assert worker_id in ("gw0", "gw1")
        assert str(worker()) == %r
"""
        self.write("test_app.py", WORKER + code % ON_WEFT)
        self.assertIn("8 passed", self.run_node("pytest", "-q", "-n", "2", "-p", "no:cacheprovider"))


if __name__ == "__main__":
    unittest.main()

// SPDX-License-Identifier: Apache-2.0
// Lists in Mono's collector, which stops each thread that has called into it, and waits for their ends at its own:
// Lists MEMBERS ROUNDS ROOTS. The roots are threads of the program: for members of main Mono waits under any runtime.
using System;
using System.Runtime.InteropServices;
using System.Threading;

static class Lists
{
    delegate void Call(int member, int phase);

    [DllImport("region")]
    static extern void region(int members, int rounds, Call call);

    class Node
    {
        public Node next;
        public long value;
    }

    const int Nodes = 500;
    [ThreadStatic] static Node head;
    static long calls;
    static int damaged;

    static void Step(int member, int phase)
    {
        Interlocked.Increment(ref calls);
        if (phase == 0)
        {
            head = null;
            for (int i = 0; i < Nodes; i++) head = new Node { next = head, value = i };
        }
        if (phase == 1 && member == 0) GC.Collect();
        if (phase == 2)
        {
            long sum = 0;
            for (Node at = head; at != null; at = at.next) sum += at.value;
            if (sum != (long)Nodes * (Nodes - 1) / 2) damaged = 1;
        }
    }

    static int Main(string[] arguments)
    {
        int members = int.Parse(arguments[0]), rounds = int.Parse(arguments[1]), roots = int.Parse(arguments[2]);
        Call step = Step;
        var threads = new Thread[roots];
        for (int i = 0; i < roots; i++)
        {
            threads[i] = new Thread(() => region(members, rounds, step));
            threads[i].Start();
        }
        foreach (Thread thread in threads) thread.Join();
        GC.KeepAlive(step);
        return damaged != 0 || calls != 3L * members * rounds * roots ? 1 : 0;
    }
}

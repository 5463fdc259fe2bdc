// SPDX-License-Identifier: Apache-2.0
// Lists in D's collector, which stops each attached thread by a signal: lists MEMBERS ROUNDS.
import core.memory;
import core.stdc.stdio;
import core.stdc.stdlib;
import core.thread;

extern (C) void region(int members, int rounds, void function(int, int) call);

struct Node
{
    Node* next;
    long value;
}

Node* head;  // each thread's own
shared int damaged;

extern (C) void call(int member, int phase)
{
    if (phase == 0)
    {
        if (Thread.getThis() is null)
            thread_attachThis();
        head = null;
        foreach (i; 0 .. 500)
            head = new Node(head, i);
    }
    if (phase == 1 && member == 0)
        GC.collect();
    if (phase == 2)
    {
        long sum = 0;
        for (auto at = head; at !is null; at = at.next)
            sum += at.value;
        if (sum != 500 * 499 / 2)
            damaged = 1;
    }
}

int main(string[] arguments)
{
    region(atoi((arguments[1] ~ "\0").ptr), atoi((arguments[2] ~ "\0").ptr), &call);
    return damaged;
}

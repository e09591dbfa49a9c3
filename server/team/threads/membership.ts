/** Who is in a thread: made, joined, left, closed. */
import type { AgentId, ThreadId } from '../../../src/shared/domain/ids.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { isOutside, PERSON } from '../../../src/shared/domain/threads.ts';
import type { Thread } from '../../../src/shared/protocol/threads.ts';
import type { Db } from '../../store/index.ts';
import { refuseThread } from '../../platform/quotas.ts';
import { admit, refuse, refuseClosed, type ThreadsContext } from './context.ts';
import { insertMembers, json, lockMemberships, lockThread, readThread, withoutThread } from './rows.ts';
import { threadsUsed } from './used.ts';
import type { Announcer } from './announcer.ts';
import type { Answer, Changed, Threads } from './types.ts';

export function createMembership(
  context: ThreadsContext,
  announcer: Announcer,
): Pick<Threads, 'create' | 'add' | 'remove' | 'close'> {
  const { db, home, now, newId, hooks, inTurn, changed, findAgents, directory, refuseForRoom } = context;

  /** One change of an open thread; the answer is given when it is on disk. */
  const change = <Value>(
    by: string,
    threadId: ThreadId,
    version: number | undefined,
    work: (trx: Db, thread: Thread) => Promise<Answer<Value>>,
  ): Promise<Changed<Value & { readonly thread: Thread }>> =>
    db.transaction().execute(async (trx) => {
      await lockMemberships(trx, home);
      const taken = admit(await lockThread(trx, home, threadId), by);
      if (!taken.ok) return taken;
      const closed = refuseClosed(taken.thread);
      if (closed) return closed;
      if (version !== undefined && version !== taken.thread.version)
        return {
          ok: false,
          reason: 'changed-elsewhere',
          detail: 'The thread was changed meanwhile.',
          thread: taken.thread,
        };
      const done = await work(trx, taken.thread);
      if (done.ok)
        await trx
          .updateTable('threads')
          .set((eb) => ({ stamp: null, version: eb('version', '+', 1) }))
          .where('home', '=', home)
          .where('thread', '=', threadId)
          .execute();
      return done.ok ? { ...done, thread: (await readThread(trx, home, threadId)) ?? taken.thread } : done;
    });

  async function nameOf(agentId: AgentId): Promise<string> {
    return (await directory.all()).find((member) => member.agentId === agentId)?.name ?? agentId;
  }

  return {
    create: (by, { title, participantRefs }) =>
      inTurn(async () => {
        const found = await findAgents(participantRefs);
        if (!found.ok) return found;
        const others = found.agents.map(({ agentId }) => agentId).filter((agentId) => agentId !== by);
        if (others.length === 0) return refuse('nobody', 'Name at least one other agent to talk with.');
        const threadId = newId();
        const time = now();
        const refusal = await db.transaction().execute(async (trx): Promise<string | null> => {
          await lockMemberships(trx, home);
          const over =
            by === PERSON ? null : ((await refuseForRoom?.()) ?? refuseThread(await threadsUsed(trx, home, by, time)));
          if (over !== null) return over;
          const row = {
            home,
            thread: threadId,
            title_json: json(title),
            created_by_json: json(by),
            created_at: time,
            last_at: time,
            messages: 0,
          };
          await trx
            .insertInto('threads')
            .values({ ...row, closed_at: null, closed_by_json: null, summary_json: null, stamp: null })
            .execute();
          await insertMembers(trx, { home, threadId, agentIds: isOutside(by) ? others : [by, ...others], by, time });
          return null;
        });
        if (refusal !== null) return refuse('too-many', refusal);
        const created = admit(await readThread(db, home, threadId), by);
        if (!created.ok) return created;
        changed(created.thread.participants);
        return { ...created, notes: await announcer.added(created.thread, others) };
      }),
    add: (by, threadId, agentRef, version) =>
      inTurn(async () => {
        const found = await findAgents([agentRef]);
        const named = found.ok ? found.agents.map(({ agentId }) => agentId) : [];
        const done = await change(by, threadId, version, async (trx, thread) => {
          if (!found.ok) return found;
          const agentIds = named.filter((agentId) => !thread.participants.includes(agentId));
          await insertMembers(trx, { home, threadId, agentIds, by, time: now() });
          return { ok: true, isNew: agentIds.length > 0 };
        });
        if (!done.ok) return done;
        if (done.isNew) changed(done.thread.participants);
        return { ok: true, thread: done.thread, notes: await announcer.added(done.thread, named) };
      }),
    remove: (by, threadId, agentRef) =>
      inTurn(async () => {
        const found = await directory.find(agentRef);
        // Whoever is retired, or not known any more, is still named by its id.
        const agentId = found.ok ? found.agent.agentId : agentRef;
        const name = await nameOf(agentId);
        const done = await change(by, threadId, undefined, async (trx, thread) => {
          if (!thread.participants.includes(agentId))
            return refuse(
              'not-in-it',
              found.ok ? `${name} is not in the thread ${titled(thread.title)}.` : found.reason,
            );
          const member = trx
            .updateTable('thread_members')
            .where('home', '=', home)
            .where('thread', '=', threadId)
            .where('agent_json', '=', json(agentId));
          await member.set({ removed_at: now() }).execute();
          return { ok: true, gone: thread.participants, left: await withoutThread(trx, home, [agentId]) };
        });
        if (!done.ok) return done;
        changed(done.gone);
        for (const leaver of done.left) await hooks.leftLast({ agentId: leaver, event: 'removed_from_last_thread' });
        return { ok: true, thread: done.thread };
      }),
    close: (by, threadId, summary, version) =>
      inTurn(async () => {
        const time = now();
        const done = await change(by, threadId, version, async (trx, thread) => {
          const row = trx.updateTable('threads').where('home', '=', home).where('thread', '=', threadId);
          await row
            .set({
              closed_at: time,
              closed_by_json: json(by),
              summary_json: json(summary),
              last_at: Math.max(time, thread.lastTime),
            })
            .execute();
          return { ok: true, left: await withoutThread(trx, home, thread.participants) };
        });
        if (!done.ok) return done;
        changed(done.thread.participants);
        for (const agentId of done.left) await hooks.leftLast({ agentId, event: 'last_thread_closed' });
        return { ok: true, thread: done.thread };
      }),
  };
}

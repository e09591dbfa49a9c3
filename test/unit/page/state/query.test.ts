import { describe, expect, it } from 'vitest';
import type { RelayResult } from '../../../../src/shared/relay-client/index.ts';
import { createChanges } from '../../../../src/page/state/documents.ts';
import { createQuery, createQueryFamily } from '../../../../src/page/state/query.ts';

/** A relay whose value a test holds; answers come when the test lets them. */
function setUp({ agentId = null }: { agentId?: string | null } = {}) {
  const changes = createChanges();
  const tasks: (() => void)[] = [];
  const open: ((result: RelayResult<number>) => void)[] = [];
  const query = createQuery<number>({
    ask: () => new Promise((resolve) => void open.push(resolve)),
    changes,
    device: {
      after(_ms, task) {
        tasks.push(task);
        return () => void tasks.splice(tasks.indexOf(task), 1);
      },
    },
    what: ['inbox'],
    agentId,
  });
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };
  return {
    query,
    changes,
    state: () => query.store.getState(),
    asked: () => open.length,
    /** Answers the oldest open question. */
    async answer(value: number | null) {
      open.shift()?.(
        value === null ? { ok: false, problem: { kind: 'unreachable', message: 'gone' } } : { ok: true, value },
      );
      await settle();
    },
    async wait() {
      tasks.splice(0).forEach((task) => task());
      await settle();
    },
    settle,
  };
}

describe('what the relay keeps, as the page shows it', () => {
  it('asks when somebody looks after an unseen put, because changes were missed meanwhile', async () => {
    const { query, asked, state, answer, settle } = setUp();
    query.put(3);
    expect(state()).toMatchObject({ kind: 'ready', value: 3, stale: true });
    query.subscribe();
    await settle();
    expect(asked()).toBe(1);
    await answer(4);
    expect(state()).toMatchObject({ kind: 'ready', value: 4, stale: false });
  });

  it('asks only when somebody looks, and once for many', async () => {
    const { query, asked, state, answer, settle } = setUp();
    expect(asked()).toBe(0);
    query.subscribe();
    query.subscribe();
    await settle();
    expect(asked()).toBe(1);
    expect(state()).toEqual({ kind: 'loading' });
    await answer(3);
    expect(state()).toEqual({ kind: 'ready', value: 3, stale: false, problem: null });
  });

  it('asks once after a burst of changes, and shows the old value as stale meanwhile', async () => {
    const { query, changes, asked, state, answer, wait, settle } = setUp();
    query.subscribe();
    await settle();
    await answer(3);
    for (let i = 0; i < 5; i++) changes.tell({ what: 'inbox', agentId: 'a' });
    expect(state()).toMatchObject({ value: 3, stale: true });
    expect(asked()).toBe(0);
    await wait();
    expect(asked()).toBe(1);
    await answer(4);
    expect(state()).toEqual({ kind: 'ready', value: 4, stale: false, problem: null });
  });

  it('asks once more when somebody looked away and back during a request', async () => {
    const { query, asked, state, answer, settle } = setUp();
    const unsubscribe = query.subscribe();
    await settle();
    unsubscribe();
    query.subscribe();
    query.subscribe();
    await settle();
    expect(asked()).toBe(1);
    await answer(3);
    expect(state()).toMatchObject({ value: 3, stale: true });
    expect(asked()).toBe(1);
    await answer(4);
    expect(state()).toEqual({ kind: 'ready', value: 4, stale: false, problem: null });
    expect(asked()).toBe(0);
  });

  it('passes over changes of something else, and of somebody else', async () => {
    const { query, changes, state, answer, settle } = setUp({ agentId: 'a' });
    query.subscribe();
    await settle();
    await answer(1);
    changes.tell({ what: 'wakes', agentId: 'a' });
    changes.tell({ what: 'inbox', agentId: 'b' });
    expect(state()).toMatchObject({ stale: false });
    changes.tell({ what: 'inbox', agentId: null });
    expect(state()).toMatchObject({ stale: true });
  });

  it('asks once more where a change was heard while an answer was under way', async () => {
    const { query, changes, asked, state, answer, wait, settle } = setUp();
    query.subscribe();
    await settle();
    changes.tell({ what: 'inbox', agentId: null });
    await wait();
    await answer(1);
    expect(state()).toMatchObject({ value: 1, stale: true });
    expect(asked()).toBe(1);
    await answer(2);
    expect(state()).toMatchObject({ value: 2, stale: false });
  });

  it('keeps what it knows where asking again fails, and says why', async () => {
    const { query, changes, state, answer, wait, settle } = setUp();
    query.subscribe();
    await settle();
    await answer(null);
    expect(state()).toMatchObject({ kind: 'failed', problem: { message: 'gone' } });
    void query.again();
    await settle();
    await answer(5);
    changes.tell({ what: 'everything', agentId: null });
    await wait();
    await answer(null);
    expect(state()).toMatchObject({ kind: 'ready', value: 5, stale: true, problem: { message: 'gone' } });
  });

  it('asks nothing while nobody looks, and anew when somebody looks again', async () => {
    const { query, changes, asked, answer, wait, settle } = setUp();
    const away = query.subscribe();
    await settle();
    await answer(1);
    away();
    changes.tell({ what: 'inbox', agentId: null });
    await wait();
    expect(asked()).toBe(0);
    query.subscribe();
    await settle();
    expect(asked()).toBe(1);
  });

  it('takes a value that is known without asking before an older answer', async () => {
    const { query, state, answer, settle } = setUp();
    query.subscribe();
    await settle();
    query.put(9);
    await answer(1);
    expect(state()).toMatchObject({ kind: 'ready', value: 9, stale: false });
  });
});

it('makes one of a family for each key', () => {
  const family = createQueryFamily((key: string) =>
    createQuery<string>({
      ask: () => Promise.resolve({ ok: true, value: key }),
      changes: createChanges(),
      device: { after: () => () => undefined },
      what: [],
    }),
  );
  expect(family('a')).toBe(family('a'));
  expect(family('a')).not.toBe(family('b'));
});

/**
 * In which order devices are told, and when: with a clock that the test moves, on a real store,
 * through a real push service.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEventLog } from '../../../server/log/index.ts';
import {
  createNotifications,
  type NotificationsDeps,
  openPushers,
  type Pusher,
} from '../../../server/notifications/index.ts';
import { createNotificationRows } from '../../../server/notifications/rows.ts';
import { NOTIFICATION_LIMITS } from '../../../server/notifications/settings.ts';
import { createSealer } from '../../../server/platform/sealer.ts';
import { createDeferred } from '../../../src/shared/domain/platform/deferred.ts';
import type {
  AgentId,
  MessageId,
  ProjectId,
  RunId,
  SessionId,
  TaskId,
  ThreadId,
} from '../../../src/shared/domain/ids.ts';
import { NOTIFICATION_KINDS } from '../../../src/shared/domain/talk.ts';
import type { StoredEvent } from '../../../src/shared/protocol/events.ts';
import { createPushHandler } from '../../../src/service-worker/push-handler.ts';
import { taskValueSchema } from '../../../src/shared/protocol/projects.ts';
import type { DeviceChoice, PushPayload } from '../../../src/shared/protocol/notifications.ts';
import { routeOf, type Route } from '../../../src/page/ui/routes.ts';
import { createManualTimers } from '../../support/manual-timers.ts';
import { startPushService } from '../../support/push-service.ts';
import { createHandClock } from '../../support/schedules.ts';
import { storeFor } from '../../support/store-for.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const EVENING = Date.UTC(2026, 10, 23, 21);
const LYRA = 'a1' as AgentId;
const NIGHT = { from: 22 * 60, to: 7 * 60 };

describe('Who is told, and when', () => {
  const store = storeFor('postgres');
  let service: Awaited<ReturnType<typeof startPushService>>;
  let pusher: Pusher;
  let folder: string;
  let at = Date.now;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roost-push-'));
    service = await startPushService();
    pusher = (await openPushers(join(folder, 'push.key'), { now: () => at() })).of('any');
  });
  afterAll(async () => {
    await pusher.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  /**
   * A home at nine in the evening, and the devices that are told there: each used a minute after
   * the one before.
   */
  async function homeWith(
    devices: Readonly<Record<string, Partial<DeviceChoice>>>,
    own: Partial<NotificationsDeps> = {},
  ) {
    const home = randomUUID();
    const { db } = store();
    const clock = createHandClock(EVENING);
    at = clock.now;
    const timers = createManualTimers();
    let told = 0;
    const said: string[] = [];
    /** What goes wrong, once each, when somebody is to be told. */
    const breaks: string[] = [];
    const log = await openEventLog({
      ...{ db, home, now: clock.now, newId: randomUUID },
      onListenerError: (error) => {
        throw error;
      },
    });
    const deps: NotificationsDeps = {
      ...{ db, home, log, pusher, timers, now: clock.now, alone: true },
      subject: { given: null, own: null },
      sealer: createSealer(new Uint8Array(32)),
      approvals: { open: () => Promise.resolve([]) },
      directory: { all: () => Promise.resolve([]) },
      isReview: (_projectId, columnId) => Promise.resolve(columnId === 'review'),
      readZone: () => Promise.resolve('America/New_York'),
      hasPage: () => {
        if (breaks.length > 0) throw new Error(breaks.pop());
        return false;
      },
      nextMs: MINUTE,
      tell: () => void told++,
      logger: {
        error(message, fields) {
          said.push(`${message} ${inspect(fields)}`);
        },
      },
    };
    const all = [createNotifications({ ...deps, ...own })];
    const [notifications] = all as [(typeof all)[number]];
    const quiet = () => Promise.all(all.map((each) => each.whenQuiet()));
    service.pushes.length = 0;
    const usual = { kinds: [...NOTIFICATION_KINDS], quiet: null, timeZone: 'UTC' };
    for (const [name, choice] of Object.entries(devices)) {
      const row = { relay: home, token_hash: name + home, home, made_at: EVENING, seen_at: EVENING };
      await db.insertInto('browsers').values(row).execute();
      const subscription = service.subscribe(name, pusher.publicKey);
      await notifications.putDevice(name + home, { name, ...usual, ...choice, subscription });
      clock.pass(MINUTE);
    }
    let answers = 0;
    const about = () => ({ time: clock.now(), agentId: LYRA, runId: randomUUID() as RunId });
    return {
      clock,
      told: () => told,
      breaks,
      said,
      /** Lets so much time pass, in steps in which everything that falls due is done. */
      async pass(ms: number, step = 10 * MINUTE) {
        for (let left = ms; left > 0; left -= step) {
          clock.pass(Math.min(step, left));
          timers.advance(Math.min(step, left));
          await quiet();
        }
      },
      notifications,
      /** Another relay of this home, on the same store; it hears of nothing but what lies there. */
      another(more: Partial<NotificationsDeps>) {
        const deaf = { subscribe: () => () => undefined };
        all.push(createNotifications({ ...deps, ...own, log: deaf, ...more }));
        return all.at(-1) ?? notifications;
      },
      id: home,
      shown: async (name: string) => await notifications.shown(name + home),
      open: async (name = Object.keys(devices)[0] ?? '') =>
        (await notifications.shown(name + home)).open.map(({ key }) => key),
      see: async (name: string, ...keys: string[]) => await notifications.seen(name + home, keys),
      log,
      about,
      /** A run of the night is over. */
      async works(outcome: 'done' | 'failed' = 'done') {
        await log.append([
          {
            ...about(),
            kind: 'run-ended',
            sessionId: null,
            ...{ outcome, reason: null, costMicroUsd: 0, estimated: false, usage: null },
          },
        ]);
        await notifications.whenQuiet();
      },
      /** An answer that took long is done. Returns its key. */
      async answers(tookMs = MINUTE) {
        const messageId = `m${++answers}` as MessageId;
        const sessionId = 's1' as SessionId;
        await log.append([{ ...about(), kind: 'answer-started', messageId, sessionId }]);
        const begun = about();
        clock.pass(tookMs);
        await log.append([
          {
            ...{ ...begun, kind: 'message', messageId, sessionId, author: LYRA, role: 'assistant', blocks: [] },
            ...{ status: 'complete', error: null, usage: null, clientId: null, replaces: null, waiting: false },
          },
        ]);
        await notifications.whenQuiet();
        return `answer:${messageId}`;
      },
      async close() {
        expect([breaks, said]).toEqual([[], []]);
        await Promise.all(all.map((each) => each.close()));
        await log.close();
      },
    };
  }
  /** Where a click on the notification of this push leads, on a device whose page is closed. */
  async function leadsTo(payload: PushPayload): Promise<Route> {
    const shown: unknown[] = [];
    const went: string[] = [];
    const none = () => Promise.reject(new Error('not asked'));
    const device = createPushHandler({
      registration: {
        showNotification: (_title, { data } = {}) => Promise.resolve(void shown.push(data)),
        getNotifications: () => Promise.resolve([]),
        pushManager: { subscribe: none },
      },
      windows: () => Promise.resolve([]),
      openWindow: (path) => Promise.resolve(went.push(path)),
      ...{ kept: () => Promise.resolve(null), keep: none, fetch: none, now: Date.now },
      ...{ waits: () => Promise.resolve(null), badge: () => Promise.resolve() },
    });
    await device.pushed(JSON.stringify(payload));
    await device.clicked(shown[0]);
    return routeOf(went[0] ?? '');
  }
  const pushed = () => service.pushes.map(({ device, payload }) => `${device} ${payload.over ? 'over' : 'told'}`);

  it('shows of a night nothing to anybody before its morning, lets nobody see it away before, and tells the device that was used last by then', async () => {
    const home = await homeWith({ phone: {}, desk: {} });
    await home.works();
    // Where the household is, it is four in the afternoon: eight there is long after eight where
    // its relay stands.
    const key = `night:${Date.UTC(2026, 10, 24, 13)}`;
    expect([await home.open(), home.told()]).toEqual([[], 2]);
    await home.see('desk', key);
    await home.pass(13 * HOUR);
    await home.works();
    await home.see('phone');
    await home.pass(2 * HOUR);
    expect([await home.open(), home.told(), pushed()]).toEqual([[], 2, []]);
    await home.pass(HOUR);
    await home.pass(2 * MINUTE);
    expect([await home.open(), home.told()]).toEqual([[key], 3]);
    expect(pushed()).toEqual(['phone told', 'desk told']);
    await home.see('phone', key);
    expect([await home.open(), pushed().slice(2)]).toEqual([[], ['desk over']]);
    await home.close();
  });

  it('tells in their turn devices whose quiet hours end together, at once one that has none, and nobody of what was seen meanwhile', async () => {
    const home = await homeWith({ phone: { quiet: NIGHT }, desk: { quiet: NIGHT } });
    await home.pass(2 * HOUR);
    const first = await home.answers();
    const second = await home.answers();
    await home.pass(7 * HOUR);
    expect(pushed()).toEqual([]);
    await home.see('phone', first);
    expect(await home.open()).toEqual([second]);
    await home.pass(HOUR - MINUTE - (home.clock.now() % HOUR), 10_000);
    await home.pass(MINUTE, 10_000);
    expect(pushed()).toEqual(['phone told']);
    await home.pass(MINUTE, 10_000);
    expect(pushed()).toEqual(['phone told', 'desk told']);
    await home.close();

    const mixed = await homeWith({ phone: {}, desk: { quiet: NIGHT } });
    await mixed.pass(2 * HOUR);
    await mixed.answers();
    expect(pushed()).toEqual(['phone told']);
    await mixed.close();
  });

  it('tells when quiet hours end by the clocks of the device, also in the night in which these are changed', async () => {
    for (const [evening, ends, timeZone, to] of [
      ['2026-03-28T21:00Z', '2026-03-29T05:00Z', 'Europe/Berlin', 7 * 60],
      ['2026-10-24T20:00Z', '2026-10-25T06:00Z', 'Europe/Berlin', 7 * 60],
      // There is no half past two in that night.
      ['2026-03-28T21:00Z', '2026-03-29T01:00Z', 'Europe/Berlin', 2 * 60 + 30],
    ] as const) {
      const home = await homeWith({ phone: { quiet: { from: 22 * 60, to }, timeZone } });
      home.clock.pass(Date.parse(evening) - home.clock.now());
      await home.answers();
      await home.pass(Date.parse(ends) - home.clock.now() - MINUTE);
      expect(pushed(), ends).toEqual([]);
      await home.pass(2 * MINUTE, MINUTE);
      expect(pushed(), ends).toEqual(['phone told']);
      await home.close();
    }
  });

  it('tells one device after the other, whichever relays on the store see to it, and at which moment they look', async () => {
    const home = await homeWith({ desk: {}, phone: {} }, { alone: false });
    /**
     * What it reads of who is to be told it has in hand only when the other has done all that it
     * does.
     */
    const lagging = store().db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.rows.some((row) => 'value_json' in row)) await home.notifications.whenQuiet();
        return result;
      },
    });
    await home.works();
    await home.another({ db: lagging }).start();
    await home.pass(16 * HOUR - 3 * MINUTE);
    expect(pushed()).toEqual([]);
    await home.pass(MINUTE, MINUTE);
    expect(pushed()).toEqual(['phone told']);
    await home.pass(MINUTE, MINUTE);
    expect(pushed()).toEqual(['phone told', 'desk told']);
    await home.close();
  });

  it('tells what a relay that died had in its hands; where that one comes back, it tells nobody of it', async () => {
    const home = await homeWith({ desk: {}, phone: {} }, { alone: false });
    const dead = createNotificationRows({ db: store().db, home: home.id });
    const raised = {
      key: 'answer:m1',
      kind: 'answer',
      agentId: LYRA,
      path: '/lead',
      title: 'Lyra has answered',
      name: 'Lyra',
    } as const;
    await home.notifications.start();
    await dead.raise({ ...raised, raisedAt: home.clock.now() });
    const [claimed] = await dead.toTell(home.clock.now(), NOTIFICATION_LIMITS.claimMs);
    expect(claimed).toMatchObject({ first: true });
    await home.pass(NOTIFICATION_LIMITS.claimMs - 1_000, 1_000);
    expect(pushed()).toEqual([]);
    await home.pass(MINUTE, 10_000);
    expect(pushed()).toEqual(['phone told']);
    if (claimed) await dead.tell(claimed, { browser: `desk${home.id}`, at: null }, home.clock.now());
    expect(await dead.toldOf(raised.key)).toEqual(new Set([`phone${home.id}`]));
    await home.close();
  });

  it('takes back what another relay was pushing just then, once it is there', async () => {
    const [began, held] = [createDeferred(), createDeferred()];
    const slow: Pusher = {
      ...pusher,
      async push(...given) {
        began.resolve();
        await held.promise;
        return await pusher.push(...given);
      },
    };
    const home = await homeWith({ desk: {}, phone: {} }, { pusher: slow, alone: false });
    const answered = home.answers();
    home.clock.pass(5 * MINUTE);
    await began.promise;
    await home.another({}).seen(`desk${home.id}`, ['answer:m1']);
    held.resolve();
    await answered;
    await home.pass(MINUTE, 10_000);
    expect(pushed()).toEqual(['phone told', 'phone over']);
    await home.close();
  });

  it('leaves a device to the relay that can open its subscription', async () => {
    const home = await homeWith({ desk: {}, phone: {} }, { alone: false });
    const stranger = home.another({ sealer: createSealer(new Uint8Array(32).fill(1)) });
    await stranger.start();
    expect((await stranger.shown(`desk${home.id}`)).devices).toMatchObject([{ pushed: true }, { pushed: true }]);
    await home.works();
    await home.pass(16 * HOUR - 5 * MINUTE);
    await home.pass(5 * MINUTE, MINUTE);
    expect(pushed().toSorted()).toEqual(['desk told', 'phone told']);
    await home.close();
  });

  it('knows of an answer that another relay gave, however late it hears of it, that it took a moment, and is no message that somebody left', async () => {
    const home = await homeWith({ phone: {} }, { alone: false });
    const said: StoredEvent[] = [];
    const stop = home.log.subscribe((stored) => said.push(stored));
    await home.answers(2_000);
    stop();
    await home.pass(5 * MINUTE);
    // It came when the answer was being written, and has not heard that it began.
    for (const heard of [said, said.slice(-1)]) {
      let hear: (stored: StoredEvent) => void = () => undefined;
      const late = home.another({ log: { subscribe: (listener) => ((hear = listener), () => undefined) } });
      heard.forEach((stored) => hear(stored));
      await late.whenQuiet();
    }
    await home.pass(5 * MINUTE);
    expect([said.length, pushed(), await home.open()]).toEqual([2, [], []]);
    await home.close();
  });

  it('looks again by itself when something went wrong as somebody was to be told', async () => {
    const home = await homeWith({ phone: {} });
    home.breaks.push('The store is out of reach.');
    await home.answers();
    expect([pushed(), home.said.splice(0)]).toEqual([[], [expect.stringContaining('The store is out of reach.')]]);
    await home.pass(MINUTE, MINUTE);
    expect(pushed()).toEqual(['phone told']);
    await home.close();
  });

  it('asks for a review once for each move of an agent to review, and no more once the task has left', async () => {
    const home = await homeWith({ phone: { kinds: ['approval'] } });
    /** The task as it is after this move. */
    const move = async (columnId: string, by: string, more: object = {}) => {
      const created = { time: EVENING, by: 'human', what: 'created', columnId: 'ready', note: '' };
      const history = [created, { time: home.clock.now(), by, what: 'moved', columnId, note: '' }];
      const value = {
        ...{ projectId: 'trip' as ProjectId, number: 3, title: 'Greet', description: '', columnId, history },
        ...{ criteria: [], labels: [], blockedBy: [], priority: 'normal', assignee: null, removed: false },
        ...{ createdAt: EVENING, createdBy: 'human', updatedAt: EVENING, ...more },
      };
      const record = { type: 'task' as const, id: 'task-3' as TaskId, value: taskValueSchema.parse(value) };
      await home.log.append([{ kind: 'record', time: home.clock.now(), record }]);
      await home.notifications.whenQuiet();
      return history;
    };
    const history = await move('review', LYRA);
    home.clock.pass(MINUTE);
    await move('review', LYRA, { title: 'Greet all', history });
    expect(service.pushes.map(({ payload }) => payload)).toMatchObject([{ kind: 'review', over: false }]);
    expect(await leadsTo(service.pushes[0]?.payload as PushPayload)).toMatchObject({
      ...{ kind: 'project', projectId: 'trip', over: { kind: 'review', taskNumber: 3 } },
    });
    await move('done', 'human');
    expect(await home.open()).toEqual([]);
    await move('review', 'human');
    expect([await home.open(), pushed()]).toEqual([[], ['phone told', 'phone over']]);
    await move('review', LYRA);
    expect(await home.open()).toHaveLength(1);
    await move('review', LYRA, { removed: true });
    expect(await home.open()).toEqual([]);
    await home.close();
  });

  it('leads by a click to the very message, or the very run, of whatever was pushed; what was said long ago is no news', async () => {
    const home = await homeWith({ phone: {} });
    await home.answers();
    await home.works('failed');
    const left = { kind: 'message', messageId: 'left' as MessageId, sessionId: null, author: LYRA } as const;
    const whole = { status: 'complete', error: null, usage: null, clientId: null, replaces: null } as const;
    await home.log.append([
      { ...home.about(), ...left, role: 'assistant', blocks: [], ...whole, waiting: false },
      ...['old', 'new'].map((id) => {
        const time = home.clock.now() - (id === 'old' ? 25 * HOUR : 0);
        const value = { threadId: 't1' as ThreadId, sequence: 1, from: LYRA, mentions: [], time, clientId: null };
        const record = { type: 'thread-message' as const, id, value: { ...value, text: 'Look at this, @Human.' } };
        return { kind: 'record' as const, time: home.clock.now(), record };
      }),
    ]);
    await home.notifications.whenQuiet();
    await home.works();
    await home.pass(17 * HOUR);
    const led = await Promise.all(
      service.pushes.map(async ({ payload }) => [payload.key.split(':')[0], await leadsTo(payload)]),
    );
    expect(led).toMatchObject([
      ['answer', { kind: 'agent', agentId: LYRA, at: 'm1' }],
      ['failure', { kind: 'schedule', agentId: LYRA }],
      ['mention', { kind: 'agent', agentId: LYRA, at: 'left' }],
      ['mention', { kind: 'threads', threadId: 't1', at: 'new' }],
      ['night', { kind: 'morning' }],
    ]);
    expect(service.refused).toEqual([]);
    await home.close();
  });

  it('asks again when a push service says so, in seconds or by a date; forgets a subscription that is gone; and keeps one that was refused, with the reason', async () => {
    const home = await homeWith({ desk: {} });
    const tries = () => 2 - (service.answers.get('desk')?.length ?? 0);
    const date = new Date(home.clock.now() + 5 * MINUTE).toUTCString();
    service.answers.set('desk', [
      [429, '90'],
      [429, date],
    ]);
    await home.answers();
    expect(tries()).toBe(1);
    await home.pass(80_000, 10_000);
    expect(tries()).toBe(1);
    await home.pass(10_000);
    expect([tries(), pushed()]).toEqual([2, []]);
    await home.pass(Date.parse(date) - home.clock.now() - 10_000, 10_000);
    expect(pushed()).toEqual([]);
    await home.pass(10_000);
    expect(pushed()).toEqual(['desk told']);

    // A fault of the relay's: the device stays, and the settings say what is wrong until one comes
    // through.
    service.answers.set('desk', [403]);
    await home.answers();
    expect((await home.shown('desk')).devices).toMatchObject([{ pushed: true, refused: 403 }]);
    expect(service.pushes.map(({ sub }) => sub)).toEqual(['https://roost.example']);
    await home.notifications.putContact('noa@example.org');
    await home.answers();
    expect(service.pushes.at(-1)?.sub).toBe('mailto:noa@example.org');
    expect(await home.shown('desk')).toMatchObject({
      contact: { subject: 'mailto:noa@example.org', mail: 'noa@example.org', fixed: false },
      devices: [{ pushed: true, refused: null }],
    });

    const told = home.told();
    service.answers.set('desk', [404]);
    await home.answers();
    expect((await home.shown('desk')).devices).toMatchObject([{ pushed: false, refused: null }]);
    // Its page hears of it, and subscribes anew.
    expect(home.told()).toBe(told + 2);
    await home.close();
  });
});

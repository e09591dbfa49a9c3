/**
 * Notifications tell the person what needs them while they are away from the page.
 *
 * This module sends Web Pushes and has the endpoints for a device's choices. `rows.ts` decides what
 * is due and which relay sends it.
 *
 * Main types: `HomeNotifications`, `PushSubject`.
 *
 * Invariants:
 * - Each thing is announced once: first on the device that was used last, then on the others.
 * - Nothing is announced in quiet hours.
 * - A notification that was answered or seen on one device is closed on the others by a separate
 *   push. Browsers revoke a subscription whose pushes show nothing.
 * - Of several relays on one store, one handles each thing. If it dies, its claims pass to the
 *   next.
 *
 * It does not know why something needs the person.
 */
import { createECDH, createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { z } from 'zod';
import type { MayConnect } from '../../src/shared/protocol/models.ts';
import type {
  DeviceChoice,
  NotificationKind,
  Notifications,
  PushContact,
  PushPayload,
  PushSubscriptionJson,
  RaisedNotification,
} from '../../src/shared/protocol/notifications.ts';
import { isAgentId } from '../../src/shared/domain/agent-id.ts';
import type { AgentId, MessageId, ProjectId, TaskId } from '../../src/shared/domain/ids.ts';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import { chosenKind } from '../../src/shared/domain/talk.ts';
import { PERSON } from '../../src/shared/domain/threads.ts';
import type { TaskValue } from '../../src/shared/protocol/projects.ts';
import { parseStamp } from '../../src/shared/domain/stamp.ts';
import { nextHour } from '../../src/shared/domain/zone-days.ts';
import type { RoostEvent } from '../../src/shared/protocol/events.ts';
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import type { Timers } from '../../src/shared/domain/platform/timers.ts';
import { quietUntil } from '../../src/shared/domain/blackouts.ts';
import { notificationEndpoints } from '../../src/shared/protocol/endpoints/notifications.ts';
import { createGuardedFetch, fits, hostOf } from '../platform/guarded-fetch.ts';
import { StartError } from '../platform/errors.ts';
import { writeWhole } from '../platform/whole-file.ts';
import type { Approvals } from '../approvals/requests/index.ts';
import type { EventLog } from '../log/index.ts';
import type { Directory } from '../team/directory/index.ts';
import type { Db } from '../store/index.ts';
import type { Logger } from '../platform/logger.ts';
import { answer, browserOf, type Handled } from '../http/endpoint.ts';
import type { HomeRights } from '../access/owner-rights.ts';
import { problem } from '../http/problem.ts';
import { NOTIFICATION_LIMITS as LIMITS } from './settings.ts';
import {
  createDeviceRows,
  createNotificationRows,
  type DeviceRowsDeps,
  type DueSend,
  type NextNotified,
  type NotificationRows,
  type NotifiedDevice,
  type DueNotification,
} from './rows.ts';

// One Web Push (RFC 8030): sealed to the device (RFC 8291), signed by the relay (VAPID, RFC 8292).
// A page supplies the subscription's address. So the relay contacts it only as its setting permits,
// and never follows a redirect.

const keysSchema = z.object({ publicKey: z.string().min(80), privateKey: z.string().min(40) });
type PushKeys = z.infer<typeof keysSchema>;

const PRIVATE_KEY_BYTES = 32;

function createPushKeys(): PushKeys {
  const pair = createECDH('prime256v1');
  pair.generateKeys();
  const secret = pair.getPrivateKey();
  // Without zeros at its beginning, a key may be shorter.
  const padded = Buffer.concat([Buffer.alloc(PRIVATE_KEY_BYTES - secret.length), secret]);
  return { publicKey: pair.getPublicKey('base64url'), privateKey: padded.toString('base64url') };
}

/**
 * The relay's own key pair, created where there is none. Throws `StartError` where the file is
 * invalid or cannot be written.
 */
async function readPushKeys(file: string): Promise<PushKeys> {
  try {
    if (existsSync(file)) return keysSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    const keys = createPushKeys();
    await writeWhole(file, `${JSON.stringify(keys)}\n`);
    return keys;
  } catch (error) {
    throw new StartError(
      `${file} cannot be read or written. Restore it from a copy, or remove it: the pages then subscribe again.`,
      1,
      { cause: error },
    );
  }
}

/**
 * `gone`: the subscription has ended. `again`: perhaps later, in ms where the service said when.
 * `refused`: not in this form, with the status.
 */
type Pushed =
  | { readonly kind: 'sent' | 'gone' }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'again'; readonly afterMs: number | null };

export interface Pusher {
  readonly publicKey: string;
  /** Whether the relay may push there. The connection itself resolves the name. */
  fits(endpoint: string): boolean;
  /**
   * `subject`: an `https:` or `mailto:` address, the contact of the relay's operator. Never
   * rejects.
   */
  push(to: PushSubscriptionJson, payload: PushPayload, subject: string, signal: AbortSignal): Promise<Pushed>;
  close(): Promise<void>;
}

interface PusherDeps {
  readonly keys: PushKeys;
  /** Permitted addresses of push services. */
  readonly addresses: MayConnect;
  readonly now: () => number;
}

/**
 * The relay's keys are in `file`. Throws `StartError` where they are unavailable. One pusher per
 * set of permitted addresses.
 */
export async function openPushers(
  file: string,
  how: Pick<PusherDeps, 'now'>,
): Promise<{ of(addresses: MayConnect): Pusher; close(): Promise<void> }> {
  const keys = await readPushKeys(file);
  const pushers = new Map<MayConnect, Pusher>();
  return {
    of(addresses) {
      const pusher = pushers.get(addresses) ?? createPusher({ ...how, keys, addresses });
      pushers.set(addresses, pusher);
      return pusher;
    },
    async close() {
      await Promise.all([...pushers.values()].map((pusher) => pusher.close()));
    },
  };
}

/** ms, from seconds or a date (RFC 9110, 10.2.3). Null: not stated. */
function retryAfter(text: string | null, now: number): number | null {
  if (text === null) return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), LIMITS.waitMs);
}

function createPusher({ keys, addresses, now }: PusherDeps): Pusher {
  const guarded = createGuardedFetch(addresses);
  function mayPush(endpoint: string): boolean {
    if (!URL.canParse(endpoint)) return false;
    const url = new URL(endpoint);
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && addresses === 'any')) return false;
    if (addresses === 'none' || url.username !== '' || url.password !== '') return false;
    const host = hostOf(url);
    return isIP(host) === 0 || fits(host, addresses);
  }
  return {
    publicKey: keys.publicKey,
    fits: mayPush,
    async push(to, payload, subject, signal) {
      if (!mayPush(to.endpoint)) return { kind: 'gone' };
      try {
        const { default: webPush } = await import('web-push');
        const { headers, body } = webPush.generateRequestDetails(to, JSON.stringify(payload), {
          vapidDetails: { subject, ...keys },
          TTL: LIMITS.ttlSeconds,
          urgency: payload.over ? 'low' : 'high',
          // At the push service a later push replaces an earlier one, so a phone that was off
          // receives the current state.
          topic: createHash('sha256').update(payload.key).digest('base64url').slice(0, 32),
        });
        const answer = await guarded.fetch(to.endpoint, {
          method: 'POST',
          headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
          body: new Uint8Array(body),
          signal: AbortSignal.any([signal, AbortSignal.timeout(LIMITS.sendMs)]),
        });
        await answer.body?.cancel();
        if (answer.ok) return { kind: 'sent' };
        const { status } = answer;
        if (status === 404 || status === 410) return { kind: 'gone' };
        // 401 and 403 are a fault of ours, in the key or the subject, and not of the subscription.
        if (status < 500 && status !== 429 && status !== 408) return { kind: 'refused', status };
        return { kind: 'again', afterMs: retryAfter(answer.headers.get('retry-after'), now()) };
      } catch {
        // Unreachable, or too slow. The address is a secret of the device and is in no log.
        return { kind: 'again', afterMs: null };
      }
    },
    close: () => guarded.close(),
  };
}

// Which events deserve a notification, and when a notification is over.

/** Whether tasks in this column wait for the person's review. */
type IsReview = (projectId: ProjectId, columnId: string) => Promise<boolean>;

interface Deps {
  readonly approvals: Pick<Approvals, 'open'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly isReview: IsReview;
  readonly now: () => number;
  /** The household's time zone. */
  readonly readZone: () => Promise<string>;
  readonly rows: Pick<NotificationRows, 'open'>;
  readonly raise: (raised: RaisedNotification) => Promise<void>;
  readonly close: (key: string, browser: string | null) => Promise<void>;
}

const TITLES: Readonly<Record<NotificationKind, (name: string) => string>> = {
  approval: (name) => `${name} waits for your answer`,
  failure: (name) => `${name} could not finish a piece of work`,
  mention: (name) => `${name} has a message for you`,
  answer: (name) => `${name} has answered`,
  night: () => 'Your agents were at work while you were away',
  review: (name) => `${name} asks you for a review`,
};
/** Path of one message in a conversation. */
const messageAt = (agentId: AgentId, messageId: MessageId) =>
  `${agentId === LEAD_ID ? '/lead' : `/agent/${encodeURIComponent(agentId)}`}/at/${encodeURIComponent(messageId)}`;
/** How people name the person in a thread. */
const NAMES_PERSON = /@human\b/i;

function createRaised({ approvals, directory, isReview, rows, raise, close, now, readZone }: Deps) {
  /**
   * ms that an answer took. It is dated by its beginning. A stamp ahead of the clock does not tell
   * its end, so the answer counts as just written.
   */
  function tookMs(begunAt: number, completedAt: string): number {
    const whole = parseStamp(completedAt)?.time ?? 0;
    return (whole > now() ? now() : whole) - begunAt;
  }

  async function tell(kind: NotificationKind, id: string, agentId: AgentId, path: string, at = now()): Promise<void> {
    const name = (await directory.all()).find((each) => each.agentId === agentId)?.name ?? null;
    const title = TITLES[kind](name ?? (agentId === LEAD_ID ? 'The lead' : 'An agent'));
    await raise({ key: `${kind}:${id}`, kind, agentId, path, title, name, raisedAt: at });
  }

  async function notifyApprovals(): Promise<void> {
    const openApprovals = await approvals.open();
    const keys = new Set(openApprovals.map(({ callId }) => `approval:${callId}`));
    for (const { key, kind } of await rows.open(now()))
      if (kind === 'approval' && !keys.has(key)) await close(key, null);
    for (const { callId, agentId, later } of openApprovals)
      if (!later) await tell('approval', callId, agentId, '/inbox');
  }

  const projectPath = (projectId: ProjectId) => `/projects/${encodeURIComponent(projectId)}/`;

  /** Closes what is open of these reviews, but for this one. */
  async function closeReviews(isMeant: (open: RaisedNotification) => boolean, but: string | null): Promise<void> {
    for (const open of await rows.open(now()))
      if (open.kind === 'review' && open.key !== but && isMeant(open)) await close(open.key, null);
  }

  /** Each move into review is announced once, unless the person made it. */
  async function review(taskId: TaskId, { projectId, number, columnId, history, removed }: TaskValue): Promise<void> {
    const moved = history.findLast(({ what, columnId: to }) => what === 'moved' && to === columnId);
    const id = `${taskId}:${moved?.time ?? 0}`;
    const isIn = !removed && moved !== undefined && (await isReview(projectId, columnId));
    await closeReviews(({ key }) => key.startsWith(`review:${taskId}:`), isIn ? `review:${id}` : null);
    const agentId = history.findLast(({ by }) => isAgentId(by))?.by;
    if (!isIn || moved.by === PERSON || agentId === undefined || now() - moved.time > LIMITS.newsMs) return;
    await tell('review', id, agentId, `${projectPath(projectId)}${number}/review`);
  }

  return {
    notifyApprovals,
    /** The action for an event. Null: none. */
    of(event: RoostEvent): (() => Promise<void>) | null {
      switch (event.kind) {
        case 'changed':
          return event.what === 'approvals' ? notifyApprovals : null;
        case 'run-ended':
          if (event.sessionId !== null) return null;
          if (event.outcome === 'failed' || event.outcome === 'timed-out' || event.outcome === 'crashed')
            return () => tell('failure', event.runId, event.agentId, `/schedule/${encodeURIComponent(event.agentId)}`);
          return async () => {
            // One per night: the next morning, in the household's time zone and not the relay's.
            const at = nextHour(await readZone(), LIMITS.nightHour, now());
            return await tell('night', String(at), event.agentId, '/morning', at);
          };
        case 'message': {
          if (event.role !== 'assistant' || event.status !== 'complete') return null;
          const { messageId, agentId, completedAt, time } = event;
          // A message that did not begin as an answer was left for the person by an agent.
          if (completedAt === undefined)
            return () => tell('mention', messageId, agentId, messageAt(agentId, messageId));
          if (event.sessionId === null || tookMs(time, completedAt) < LIMITS.longAnswerMs) return null;
          return () => tell('answer', messageId, agentId, messageAt(agentId, messageId));
        }
        case 'record': {
          const { record } = event;
          if (record.type === 'task') return () => review(record.id, record.value);
          if (record.type === 'project' && record.value.removed)
            return () => closeReviews(({ path }) => path.startsWith(projectPath(record.id)), null);
          if (record.type !== 'thread-message') return null;
          const { from, text, threadId, time } = record.value;
          const { id } = record;
          // A relay that lost its home gets old mentions back, and does not know that they were
          // announced.
          if (from === 'human' || !NAMES_PERSON.test(text) || now() - time > LIMITS.newsMs) return null;
          return () =>
            tell('mention', id, from, `/threads/${encodeURIComponent(threadId)}/at/${encodeURIComponent(id)}`);
        }
        default:
          return null;
      }
    },
  };
}

// The contact of the relay's operator for push services (the VAPID subject, RFC 8292). Apple's
// accepts no push without one.

/** The subject where no contact is configured. Push services other than Apple's do not check it. */
const NO_SUBJECT = 'https://roost.example';

/** How the relay was started. */
export interface PushSubject {
  /** `--push-subject`, which takes precedence. */
  readonly given: string | null;
  /** The relay's own https:// address, if it has one. */
  readonly own: string | null;
}

function createPushContact({ db, home, subject }: { db: Db; home: string; subject: PushSubject }) {
  return {
    async shown(): Promise<PushContact> {
      const row = await db.selectFrom('push_contacts').select('mail').where('home', '=', home).executeTakeFirst();
      const mail = row?.mail ?? null;
      return {
        subject: subject.given ?? (mail === null ? subject.own : `mailto:${mail}`),
        mail,
        fixed: subject.given !== null,
      };
    },
    /** Null: removes the contact. */
    async put(mail: string | null): Promise<void> {
      if (mail === null) return void (await db.deleteFrom('push_contacts').where('home', '=', home).execute());
      await db
        .insertInto('push_contacts')
        .values({ home, mail })
        .onConflict((conflict) => conflict.column('home').doUpdateSet({ mail }))
        .execute();
    },
  };
}

export interface HomeNotifications {
  shown(browser: string): Promise<Notifications>;
  /** Why it is refused. Null: it is stored. */
  putDevice(browser: string, choice: DeviceChoice): Promise<'address' | 'too-many' | null>;
  removeDevice(deviceId: string): Promise<boolean>;
  /** The contact for push services. Null: the household has none. */
  putContact(mail: string | null): Promise<void>;
  seen(browser: string, keys: readonly string[]): Promise<void>;
  /** Deletes what is about these agents. */
  forget(agentIds: readonly string[]): Promise<void>;
  start(): Promise<void>;
  /** Resolves when running work is done. */
  whenQuiet(): Promise<void>;
  close(): Promise<void>;
}

export interface NotificationsDeps extends DeviceRowsDeps {
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly approvals: Pick<Approvals, 'open'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly isReview: IsReview;
  /** The household's time zone. */
  readonly readZone: () => Promise<string>;
  readonly pusher: Pusher;
  readonly subject: PushSubject;
  /** Whether a page of this sign-in is open, which can show the notification itself. */
  readonly hasPage: (browser: string) => boolean;
  /** ms before the next device is notified. */
  readonly nextMs: number;
  /** Notifies pages that there is something to fetch. */
  readonly tell: () => void;
  readonly now: () => number;
  readonly timers: Timers;
  readonly logger: Pick<Logger, 'error'>;
}

export function createNotifications(deps: NotificationsDeps): HomeNotifications {
  const { log, pusher, alone, hasPage, nextMs, tell, now, timers, logger } = deps;
  const rows = createNotificationRows(deps);
  const devices = createDeviceRows(deps);
  const contact = createPushContact(deps);
  const closing = new AbortController();
  let cancel: () => void = () => undefined;
  const queue = createQueue();
  const whenQuiet = () => queue(() => Promise.resolve());
  /** One after the other: what is raised is planned before it is sent, and closed after. */
  const inTurn = (work: () => Promise<void>): Promise<void> =>
    queue(work).catch((error: unknown) => {
      logger.error('A notification could not be sent.', { error });
    });

  /** The earliest time for this device, ms since the epoch, according to its quiet hours. */
  const notBefore = ({ quiet, timeZone }: NotifiedDevice, at: number): number => quietUntil(quiet, timeZone, at);

  async function raise(raised: RaisedNotification): Promise<void> {
    if (await rows.raise(raised)) await rows.drop(now() - LIMITS.keptMs);
  }
  /** Picks the next device to notify, in the current state. */
  async function nextFor(
    { raised, first }: DueNotification,
    devices: readonly NotifiedDevice[],
  ): Promise<NextNotified> {
    const at = now();
    const notifiedDevices = await rows.toldOf(raised.key);
    const remainingDevices = devices.filter(
      ({ subscription, elsewhere, kinds, browser }) =>
        (subscription !== null || elsewhere) &&
        kinds.includes(chosenKind(raised.kind)) &&
        !notifiedDevices.has(browser),
    );
    const next = remainingDevices.find((device) => notBefore(device, at) === at);
    if (next === undefined)
      return {
        browser: null,
        at: remainingDevices.length === 0 ? null : Math.min(...remainingDevices.map((device) => notBefore(device, at))),
      };
    // Pages at another relay are unknown here.
    if (first && (!alone || hasPage(next.browser)) && at - next.usedAt < LIMITS.usedMs)
      return { browser: null, at: at + LIMITS.graceMs };
    return { browser: next.browser, at: remainingDevices.length === 1 ? null : at + nextMs };
  }
  async function close(key: string, browser: string | null): Promise<void> {
    if (await rows.close(key, browser, now())) tell();
  }

  async function send(due: DueSend, device: NotifiedDevice | undefined): Promise<void> {
    const raised = await rows.get(due.key);
    const over = due.state === 'closing';
    /** It cannot be delivered there, so the next device need not wait. */
    const failed = async () => {
      await rows.became(due, over ? null : 'failed', now());
      await rows.hasten(due.key, now());
    };
    if (!raised || !device?.subscription) return await failed();
    // Quiet hours may have begun, or been set, since the push was planned.
    const at = over ? now() : notBefore(device, now());
    if (at > now()) return await rows.became(due, { dueAt: at, tries: due.tries }, now());
    const { key, kind, title, name, path } = raised;
    const subject = (await contact.shown()).subject ?? NO_SUBJECT;
    const pushed = await pusher.push(
      device.subscription,
      { key, kind, title, name, path, over },
      subject,
      closing.signal,
    );
    const refused = pushed.kind === 'refused' ? pushed.status : null;
    if (pushed.kind !== 'again' && refused !== device.refused) {
      await devices.refused(device.browser, refused);
      tell();
    }
    switch (pushed.kind) {
      case 'sent':
        return await rows.became(due, over ? null : 'sent', now());
      case 'gone':
        await devices.unsubscribe(device.browser);
        tell();
        return await failed();
      case 'refused':
        return await failed();
      case 'again': {
        const wait = LIMITS.retriesMs[due.tries];
        if (wait === undefined) return await failed();
        const next = { dueAt: now() + (pushed.afterMs ?? wait), tries: due.tries + 1 };
        return await rows.became(due, next, now());
      }
      default:
        return pushed satisfies never;
    }
  }

  async function sendDue(): Promise<void> {
    cancel();
    if (closing.signal.aborted) return;
    // Scheduled first, because the store may be out of reach for a moment.
    cancel = timers.after(LIMITS.checkMs, () => void inTurn(sendDue));
    const toTell = await rows.toTell(now(), LIMITS.claimMs);
    if (toTell.some(({ first }) => first)) tell();
    const allDevices = await devices.all();
    for (const each of toTell) await rows.tell(each, await nextFor(each, allDevices), now());
    const but = allDevices.filter(({ elsewhere }) => elsewhere).map(({ browser }) => browser);
    const due = await rows.claim(now(), { claimMs: LIMITS.claimMs, most: LIMITS.atOnce, but });
    await Promise.all(
      due.map((each) =>
        send(
          each,
          allDevices.find(({ browser }) => browser === each.browser),
        ),
      ),
    );
    const next = await rows.nextDue();
    cancel();
    // With several relays the checks go on, because nothing here announces work that another relay
    // has left.
    if ((next === null && alone) || closing.signal.aborted) return;
    cancel = timers.after(
      Math.min(Math.max(0, (next ?? Infinity) - now()), LIMITS.checkMs),
      () => void inTurn(sendDue),
    );
  }
  const soon = (work: () => Promise<void>) =>
    inTurn(async () => {
      if (closing.signal.aborted) return;
      await work();
      await sendDue();
    });

  const raised = createRaised({ ...deps, rows, raise, close });
  const stop = log.subscribe(({ event }) => {
    const work = raised.of(event);
    if (work) void soon(work);
  });

  return {
    async shown(browser) {
      const all = await devices.all();
      return {
        publicKey: pusher.publicKey,
        contact: await contact.shown(),
        open: [...(await rows.open(now()))],
        devices: all.map((device) => ({
          deviceId: device.deviceId,
          name: device.name,
          here: device.browser === browser,
          pushed: device.subscription !== null || device.elsewhere,
          endpoint: device.browser === browser ? (device.subscription?.endpoint ?? null) : null,
          kinds: device.kinds,
          quiet: device.quiet,
          usedAt: device.usedAt,
          refused: device.refused,
        })),
      };
    },
    async putDevice(browser, choice) {
      if (choice.subscription !== null && !pusher.fits(choice.subscription.endpoint)) return 'address';
      const others = (await devices.all()).filter((device) => device.browser !== browser);
      if (others.length >= LIMITS.devices) return 'too-many';
      await devices.put(browser, choice, now());
      tell();
      return null;
    },
    async removeDevice(deviceId) {
      const removed = await devices.remove(deviceId);
      if (removed) tell();
      return removed;
    },
    async putContact(mail) {
      await contact.put(mail);
      tell();
    },
    seen: (browser, keys) =>
      soon(async () => {
        await devices.used(browser, now());
        const open = new Set((await rows.open(now())).map(({ key }) => key));
        // Notifications that are planned for later cannot have been seen.
        for (const key of keys.filter((each) => open.has(each))) {
          await rows.stop(key);
          if (!key.startsWith('approval:')) await close(key, browser);
        }
      }),
    forget: (agentIds) => inTurn(() => rows.forget(agentIds)),
    start: () =>
      soon(async () => {
        await rows.drop(now() - LIMITS.keptMs);
        await raised.notifyApprovals();
      }),
    whenQuiet,
    async close() {
      closing.abort();
      stop();
      cancel();
      await whenQuiet();
    },
  };
}

/** Endpoints for the notification choices of a device. */
export function createNotificationRoutes({
  notifications,
  rights,
}: {
  readonly notifications: HomeNotifications;
  readonly rights: HomeRights;
}): readonly Handled[] {
  return answer(notificationEndpoints, {
    notifications: async (_, context) => await notifications.shown(browserOf(context)),
    async putNotificationDevice({ body }, context) {
      const refused = await notifications.putDevice(browserOf(context), body);
      if (refused === 'address')
        throw problem(400, 'push-address', `subscription.endpoint: ${rights.refusal('inner-pushes')}`);
      if (refused === 'too-many')
        throw problem(409, 'too-many-devices', 'No more devices can be notified. Remove one that is no longer used.');
      return null;
    },
    async removeNotificationDevice({ deviceId }) {
      if (!(await notifications.removeDevice(deviceId))) throw problem(404, 'unknown', 'There is no such device.');
      return null;
    },
    async putPushContact({ body }) {
      await notifications.putContact(body.mail);
      return null;
    },
    async seeNotifications({ body }, context) {
      await notifications.seen(browserOf(context), body.keys);
      return null;
    },
  });
}

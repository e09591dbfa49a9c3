/**
 * One Web Push (RFC 8030): sealed to the device (RFC 8291), signed by the relay (VAPID, RFC 8292).
 * A page supplies the subscription's address. So the relay contacts it only as its setting permits,
 * and never follows a redirect.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import webPush from 'web-push';
import { z } from 'zod';
import type { MayConnect } from '../../src/shared/protocol/models.ts';
import type { PushPayload, PushSubscriptionJson } from '../../src/shared/protocol/notifications.ts';
import { createGuardedFetch, fits, hostOf } from '../platform/guarded-fetch.ts';
import { StartError } from '../platform/errors.ts';
import { writeWhole } from '../platform/whole-file.ts';
import { NOTIFICATION_LIMITS as LIMITS } from './settings.ts';

const keysSchema = z.object({ publicKey: z.string().min(80), privateKey: z.string().min(40) });
type PushKeys = z.infer<typeof keysSchema>;

/**
 * The relay's own key pair, created where there is none. Throws `StartError` where the file is
 * invalid or cannot be written.
 */
async function readPushKeys(file: string): Promise<PushKeys> {
  try {
    if (existsSync(file)) return keysSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    const keys = webPush.generateVAPIDKeys();
    await writeWhole(file, `${JSON.stringify(keys)}\n`);
    return keys;
  } catch (error) {
    throw new StartError(
      `${file} cannot be read or written. Put it back from a copy, or remove it: the pages subscribe anew.`,
      1,
      { cause: error },
    );
  }
}

/**
 * `gone`: the subscription has ended. `again`: perhaps later, in ms where the service said when.
 * `refused`: not in this form, with the status.
 */
export type Pushed =
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

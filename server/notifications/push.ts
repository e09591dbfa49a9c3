/**
 * One Web Push (RFC 8030): sealed to the device (RFC 8291), signed by the relay (VAPID, RFC 8292). A subscription's address is
 * given by a page, so it is gone to only as far as the relay's setting lets it, and never on to where it points.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import webPush from 'web-push';
import { z } from 'zod';
import type { PushPayload, PushSubscriptionJson } from '../../src/protocol/notifications.ts';
import { fits, hostOf } from '../models/addresses.ts';
import { createGuardedFetch } from '../models/line.ts';
import { StartError } from '../start-error.ts';
import type { WebAddresses } from '../web-addresses.ts';
import { writeWhole } from '../whole-file.ts';
import { NOTIFICATION_LIMITS as LIMITS } from './settings.ts';

const keysSchema = z.object({ publicKey: z.string().min(80), privateKey: z.string().min(40) });
type PushKeys = z.infer<typeof keysSchema>;

/** The relay's own pair, made where there is none. Throws `StartError` where it is none, or cannot be written. */
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

/** gone: the subscription is over; again: perhaps later, in ms where the service said when; refused: this one never. */
export type Pushed =
  { readonly kind: 'sent' | 'gone' | 'refused' } | { readonly kind: 'again'; readonly afterMs: number | null };

export interface Pusher {
  readonly publicKey: string;
  /** Whether the relay may push there. A name is looked up by the connection itself. */
  fits(endpoint: string): boolean;
  /** Never rejects. */
  push(to: PushSubscriptionJson, payload: PushPayload, signal: AbortSignal): Promise<Pushed>;
  close(): Promise<void>;
}

interface PusherDeps {
  readonly keys: PushKeys;
  /** An `https:` or `mailto:` address, by which a push service reaches whoever runs the relay. */
  readonly subject: string;
  readonly addresses: WebAddresses;
}

/** Its keys lie in `file`. Throws `StartError` where they cannot be had. */
export const openPusher = async (file: string, how: Omit<PusherDeps, 'keys'>): Promise<Pusher> =>
  createPusher({ ...how, keys: await readPushKeys(file) });

function createPusher({ keys, subject, addresses }: PusherDeps): Pusher {
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
    async push(to, payload, signal) {
      if (!mayPush(to.endpoint)) return { kind: 'gone' };
      try {
        const { headers, body } = webPush.generateRequestDetails(to, JSON.stringify(payload), {
          vapidDetails: { subject, ...keys },
          TTL: LIMITS.ttlSeconds,
          urgency: payload.over ? 'low' : 'high',
          // At the push service the later one takes the place of the earlier: a phone that was off hears how it stands.
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
        // 401 and 403: it was made for another key of ours. The page subscribes anew when it is opened.
        if ([401, 403, 404, 410].includes(answer.status)) return { kind: 'gone' };
        if (answer.status < 500 && answer.status !== 429 && answer.status !== 408) return { kind: 'refused' };
        const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
        return { kind: 'again', afterMs: seconds >= 0 ? Math.min(seconds * 1_000, LIMITS.waitMs) : null };
      } catch {
        // Out of reach, or it took too long. Its address is a secret of the device's and is in no log.
        return { kind: 'again', afterMs: null };
      }
    },
    close: () => guarded.close(),
  };
}

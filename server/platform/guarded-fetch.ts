/**
 * Restricts the addresses that a household may have the relay call. The relay is inside somebody's
 * network, so a household that names an address there could reach into it.
 *
 * The connection itself makes the check. A name connects only to allowed addresses, whatever it
 * resolved to before. A numeric address connects only if it is allowed. Redirects are not followed.
 * Every part of the relay that calls an address from a household uses `createGuardedFetch` or a
 * `Guard`.
 */
import { lookup as lookUp, type LookupAddress } from 'node:dns';
import { lookup as lookUpAll } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { nameOfHost } from '../../src/shared/domain/network.ts';
import { keepLoaded } from '../../src/shared/domain/platform/single-flight.ts';
import type { MayConnect } from '../../src/shared/protocol/models.ts';
import { createJsonCount, type MessageBounds, type TooMuch, TooMuchError } from './json-bounds.ts';
import { createFlood, createPace, type FloodLimits, nextTurn } from './pace.ts';

/**
 * The addresses that the relay may connect to for its households, by setting. No setting allows an
 * address that is neither public nor on the relay's machine or networks. `own`: the owner's
 * households reach both, all others only public addresses.
 */
export const ADDRESS_RULES = ['own', 'any', 'public', 'none'] as const;
/** The households that may use the model of the relay's environment. */
export const MODEL_SHARES = ['any', 'own'] as const;
export type ModelShare = (typeof MODEL_SHARES)[number];

export type AddressRule = (typeof ADDRESS_RULES)[number];

// `fetch` for servers that the relay does not trust. Answers are limited before they are parsed: in
// bytes, in the JSON of each message and, for a stream, in messages per time. They are passed on in
// small pieces, so that other requests run in between.

/** A message is a whole body, or one event of a stream. */
interface AnswerBounds extends MessageBounds {
  /** Most bytes of a whole stream; left out: no limit. */
  readonly streamBytes?: number;
  /** Rate limit of a stream; left out: none. */
  readonly flood?: FloodLimits;
  /** A stream exceeded its limits and was ended. */
  readonly onTooMuch?: ((error: Error) => void) | undefined;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const isStream = ({ headers }: Response) => /^\s*text\/event-stream\b/i.test(headers.get('content-type') ?? '');

/** Checks the next piece of a body; null: within the limits so far. */
type Inspect = (piece: Uint8Array) => TooMuch | null;

function inspectBody({ messageBytes, json }: AnswerBounds): Inspect {
  const count = createJsonCount(json);
  let bytes = 0;
  return (piece) => {
    bytes += piece.length;
    return bytes > messageBytes ? 'length' : count.take(piece);
  };
}

/** Server-sent events: an empty line ends an event. A line ends with CR, LF or both. */
function inspectEvents({ messageBytes, streamBytes = Infinity, json, flood }: AnswerBounds): Inspect {
  const count = createJsonCount(json);
  const isFlooded = flood ? createFlood(flood) : () => false;
  let bytes = 0;
  let eventBytes = 0;
  let lineBytes = 0;
  let afterReturn = false;
  return (piece) => {
    bytes += piece.length;
    if (bytes > streamBytes || isFlooded(0, piece.length)) return 'flood';
    for (let from = 0; from < piece.length;) {
      let to = from;
      while (to < piece.length && piece[to] !== NEWLINE && piece[to] !== RETURN) to++;
      lineBytes += to - from;
      eventBytes += to - from;
      if (to > from) afterReturn = false;
      const tooMuch = count.take(piece, from, to);
      if (tooMuch) return tooMuch;
      if (eventBytes > messageBytes) return 'length';
      if (to < piece.length) {
        const isSecondHalf = afterReturn && piece[to] === NEWLINE;
        afterReturn = piece[to] === RETURN;
        count.endLine();
        if (!isSecondHalf && lineBytes === 0) {
          if (eventBytes > 0 && isFlooded(1, 0)) return 'flood';
          eventBytes = 0;
          count.restart();
        }
        lineBytes = 0;
      }
      from = to + 1;
    }
    return null;
  };
}

/**
 * The same bytes, checked piece by piece. They are read only as fast as the consumer takes them.
 */
function inspected(
  body: ReadableStream<Uint8Array>,
  inspect: Inspect,
  bounds: AnswerBounds,
  pieceBytes: number,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const pace = createPace();
  let rest: Uint8Array = new Uint8Array();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          while (rest.length === 0) {
            const { done, value } = await reader.read();
            if (done) return controller.close();
            rest = value;
          }
          await pace();
          const piece = rest.subarray(0, pieceBytes);
          rest = rest.subarray(pieceBytes);
          const tooMuch = inspect(piece);
          if (tooMuch !== null) throw new TooMuchError(tooMuch);
          controller.enqueue(piece);
        } catch (error) {
          controller.error(error);
          void reader.cancel().catch(() => undefined);
          if (error instanceof TooMuchError) bounds.onTooMuch?.(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The first bytes of a body. */
function beginningOf(body: ReadableStream<Uint8Array>, most: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let charactersLeft = most;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) {
          controller.enqueue(value.subarray(0, charactersLeft));
          charactersLeft -= value.length;
        }
        if (!done && charactersLeft > 0) return;
        controller.close();
        void reader.cancel().catch(() => undefined);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

const BOUNDED_FETCH = {
  /** Bytes per step: of a stream, which may have a message every few bytes, and of a body. */
  eventPieceBytes: 4_096,
  bodyPieceBytes: 65_536,
  /** From this many characters on, a request is sent as bytes. */
  bytesFrom: 100_000,
  /** Bytes of an error response that are read. More would not help anyone. */
  refusalBytes: 64_000,
} as const;

function boundedBody(answer: Response, bounds: AnswerBounds): ReadableStream<Uint8Array> | null {
  const { body, ok } = answer;
  if (!body) return null;
  if (!ok) return beginningOf(body, BOUNDED_FETCH.refusalBytes);
  if (isStream(answer)) return inspected(body, inspectEvents(bounds), bounds, BOUNDED_FETCH.eventPieceBytes);
  const { messageBytes, json } = bounds;
  return inspected(body, inspectBody(bounds), { messageBytes, json }, BOUNDED_FETCH.bodyPieceBytes);
}

export function createBoundedFetch(bounds: AnswerBounds, inner: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    // As a string, the body would be copied three times and scanned once for lone surrogates.
    const isLong = typeof init?.body === 'string' && init.body.length > BOUNDED_FETCH.bytesFrom;
    if (isLong) await nextTurn();
    const answer = await inner(input, isLong ? { ...init, body: Buffer.from(String(init.body)) } : init);
    if (!answer.body) return answer;
    // A new `Response` loses the URL.
    const bounded = new Response(boundedBody(answer, bounds), {
      status: answer.status,
      statusText: answer.statusText,
      headers: answer.headers,
    });
    Object.defineProperty(bounded, 'url', { value: answer.url });
    return bounded;
  };
}

type Reach = 'public' | 'inner' | 'never';

function listOf(ranges: readonly (readonly [address: string, bits: number])[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of ranges) list.addSubnet(address, bits, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return list;
}

/** This machine and its networks (RFC 1918, 6598, 4193). */
const INNER = listOf([
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['::1', 128],
  ['fc00::', 7],
]);
/** Metadata services of clouds outside link-local ranges: Azure, Alibaba, AWS, Google. */
const OF_CLOUDS = listOf([
  ['168.63.129.16', 32],
  ['100.100.100.200', 32],
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
]);
/**
 * Addresses that no model server has, but metadata services of clouds may: link-local, unspecified,
 * multicast, reserved, and IPv6 that stands for other addresses.
 */
const NEVER = listOf([
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
  // Unspecified, and deprecated IPv4-compatible IPv6 addresses (RFC 4291, 2.5.5.1).
  ['::', 96],
  // IPv4 in IPv6 by translators (RFC 2765, 2.1; RFC 6052, 2.1; RFC 8215), Teredo, 6to4, and the
  // discard prefix (RFC 6666).
  ['::ffff:0:0:0', 96],
  ['100::', 64],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
]);

/** The IPv4 address in an IPv4-mapped IPv6 address, in the notation of the URL parser. */
function mapped(address: string): string | null {
  const match = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/i.exec(new URL(`http://[${address}]`).hostname.slice(1, -1));
  if (!match) return null;
  const [high, low] = [parseInt(match[1] ?? '', 16), parseInt(match[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** `address`: an IP address without brackets. An address with a zone is link-local. */
export function reachOf(address: string): Reach {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return 'never';
  const four = family === 6 ? mapped(address) : address;
  const type = four === null ? 'ipv6' : 'ipv4';
  const asked = four ?? address;
  if (OF_CLOUDS.check(asked, type)) return 'never';
  if (INNER.check(asked, type)) return 'inner';
  return NEVER.check(asked, type) ? 'never' : 'public';
}

/** Whether this numeric address is allowed. */
export const fits = (address: string, may: MayConnect): boolean => {
  const reach = reachOf(address);
  return reach === 'public' ? may !== 'none' : reach === 'inner' && may === 'any';
};

/** An address that this household may not call, or a name that resolves to one. */
class AddressError extends Error {
  readonly code = 'ENOTFOUND';
}

/** Names of this machine, without any lookup (RFC 6761, 6.3). */
const LOCAL = /^(?:.+\.)?localhost$/;
/**
 * Whether a host (`name` or `name:port`) is recognisably on this machine or its networks, or never
 * allowed. Nothing is looked up.
 */
export function isInnerHost(host: string): boolean {
  const name = nameOfHost(host);
  return LOCAL.test(name) || (isIP(name) !== 0 && reachOf(name) !== 'public');
}

/** Like Node's lookup, but returns only allowed addresses. `resolve`: the underlying lookup. */
export const lookupWithin =
  (may: MayConnect, resolve: LookupFunction = lookUp as LookupFunction): LookupFunction =>
  (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, given) => {
      if (error) return done(error, '');
      const addresses: readonly LookupAddress[] =
        typeof given === 'string' ? [{ address: given, family: isIP(given) }] : given;
      const allowed = addresses.filter(({ address }) => fits(address, may));
      const [first] = allowed;
      if (!first) return done(new AddressError(`${hostname} resolves to an address that may not be connected`), '');
      if (options.all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };

/** Guards one connection. */
interface Guard {
  /** Checks names. */
  readonly lookup: LookupFunction;
  /** Checks numeric addresses, which are not looked up. Null: allowed, or a name. */
  refusal(host: string): Error | null;
}

export const guardOf = (may: MayConnect, lookup: LookupFunction = lookupWithin(may)): Guard => ({
  lookup,
  refusal: (host) =>
    isIP(host) === 0 || fits(host, may) ? null : new AddressError(`${host} is an address that may not be connected`),
});

/** An agent of node:http or node:https that guards every connection. */
export function createGuardedAgent(secure: boolean, guard: Guard): http.Agent {
  const options = { keepAlive: true, lookup: guard.lookup };
  const agent = secure ? new https.Agent(options) : new http.Agent(options);
  // The base class's types do not declare it: see "agent.createConnection" in Node's manual.
  const connecting = agent as unknown as { createConnection(options: { host?: string }, done?: unknown): unknown };
  const create = connecting.createConnection.bind(agent);
  connecting.createConnection = (to, done) => {
    const refusal = guard.refusal(to.host ?? '');
    if (refusal) throw refusal;
    return create(to, done);
  };
  return agent;
}

/** Without the brackets of an IPv6 address. */
export const hostOf = (url: Pick<URL, 'hostname'>): string => url.hostname.replace(/^\[|\]$/g, '');

/**
 * - `ok`: the household may call it.
 * - `refused`: it leads only to addresses that the household may not call.
 * - `unknown`: the name does not resolve at the moment.
 */
export async function checkAddress(url: URL, may: MayConnect): Promise<'ok' | 'refused' | 'unknown'> {
  if (may === 'none') return 'refused';
  const host = hostOf(url);
  if (isIP(host) !== 0) return fits(host, may) ? 'ok' : 'refused';
  try {
    const found = await lookUpAll(host, { all: true });
    return found.some(({ address }) => fits(address, may)) ? 'ok' : 'refused';
  } catch {
    return 'unknown';
  }
}

/**
 * Requests to a server that a page has named. They reach only addresses that the household may
 * call, and follow no redirect.
 */
export interface GuardedFetch {
  readonly fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

/**
 * `silentMs`: an answer without data for this long has failed; left out: undici's default, five
 * minutes.
 */
export function createGuardedFetch(may: MayConnect, lookup = lookupWithin(may), silentMs?: number): GuardedFetch {
  const guard = guardOf(may, lookup);
  let isClosed = false;
  // Loaded at the first request: many relays make none.
  const client = keepLoaded(async () => {
    const { Agent, buildConnector, fetch } = await import('undici');
    const connect = buildConnector({ lookup });
    const dispatcher = new Agent({
      ...(silentMs === undefined ? {} : { headersTimeout: silentMs, bodyTimeout: silentMs }),
      connect(options, done) {
        const refusal = guard.refusal(hostOf(options));
        if (refusal) done(refusal, null);
        else connect(options, done);
      },
    });
    if (isClosed) await dispatcher.destroy();
    return { fetch, dispatcher };
  });
  let isLoaded = false;
  async function guarded(input: unknown, init: object = {}) {
    isLoaded = true;
    const { fetch, dispatcher } = await client.get();
    return await fetch(input as string, { ...init, redirect: 'manual', dispatcher });
  }
  return {
    // The two `fetch` functions have the same shape and separate types.
    fetch: guarded as unknown as typeof globalThis.fetch,
    async close() {
      isClosed = true;
      if (isLoaded) await (await client.get()).dispatcher.destroy();
    },
  };
}

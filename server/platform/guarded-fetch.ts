/**
 * Which addresses a household may have the relay call. The relay stands in somebody's network:
 * whoever may name an address there has a hand inside. What counts is checked by the connection
 * itself, whoever makes it: a name leads only to addresses that fit, whatever it led to a moment
 * ago, and an address in digits is connected only where it fits. No redirect is followed. Every
 * part of the relay that calls what somebody has named does so by `createGuardedFetch` or with a
 * `Guard`.
 */
import { lookup as lookUp, type LookupAddress } from 'node:dns';
import { lookup as lookUpAll } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, fetch as undiciFetch } from 'undici';
import { nameOfHost } from '../../src/shared/domain/network.ts';
import type { MayConnect } from '../../src/shared/protocol/models.ts';

type Reach = 'public' | 'inner' | 'never';

function listOf(ranges: readonly (readonly [address: string, bits: number])[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of ranges) list.addSubnet(address, bits, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return list;
}

/** Of this machine and its networks (RFC 1918, 6598, 4193). */
const INNER = listOf([
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['::1', 128],
  ['fc00::', 7],
]);
/**
 * Where clouds tell their machines what nobody else is to know, outside of link-local ranges:
 * Azure, Alibaba, AWS, Google.
 */
const OF_CLOUDS = listOf([
  ['168.63.129.16', 32],
  ['100.100.100.200', 32],
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
]);
/**
 * Where no model is, but what clouds tell their machines is: link-local, unspecified, multicast,
 * reserved; and IPv6 that stands for other addresses.
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
  // Unspecified, and IPv4 as it was once written in IPv6 (RFC 4291, 2.5.5.1).
  ['::', 96],
  // IPv4 in IPv6, of translators (RFC 2765, 2.1; RFC 6052, 2.1; RFC 8215), Teredo and 6to4; what is
  // to be discarded (RFC 6666).
  ['::ffff:0:0:0', 96],
  ['100::', 64],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
]);

/** An IPv4 address that is written as IPv6, as the URL parser writes it. */
function mapped(address: string): string | null {
  const match = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/i.exec(new URL(`http://[${address}]`).hostname.slice(1, -1));
  if (!match) return null;
  const [high, low] = [parseInt(match[1] ?? '', 16), parseInt(match[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** `address`: an IP address, without brackets. One with a zone is of this link. */
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

/** Whether this address, in digits, may be gone to. */
export const fits = (address: string, may: MayConnect): boolean => {
  const reach = reachOf(address);
  return reach === 'public' ? may !== 'none' : reach === 'inner' && may === 'any';
};

/** An address, or a name that leads to one, where this household may not go. */
class AddressError extends Error {
  readonly code = 'ENOTFOUND';
}

/** Names of this machine, whatever is looked up (RFC 6761, 6.3). */
const LOCAL = /^(?:.+\.)?localhost$/;
/**
 * Whether a host (`name` or `name:port`) is by its own words of this machine or its networks, or is
 * never gone to.
 */
export function isInnerHost(host: string): boolean {
  const name = nameOfHost(host);
  return LOCAL.test(name) || (isIP(name) !== 0 && reachOf(name) !== 'public');
}

/** As Node's own, but it gives only addresses that fit. `resolve`: what says where a name leads. */
export const lookupWithin =
  (may: MayConnect, resolve: LookupFunction = lookUp as LookupFunction): LookupFunction =>
  (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, given) => {
      if (error) return done(error, '');
      const found: readonly LookupAddress[] =
        typeof given === 'string' ? [{ address: given, family: isIP(given) }] : given;
      const allowed = found.filter(({ address }) => fits(address, may));
      const [first] = allowed;
      if (!first) return done(new AddressError(`${hostname} leads to an address that may not be connected`), '');
      if (options.all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };

/** For one who connects. */
export interface Guard {
  /** For names. */
  readonly lookup: LookupFunction;
  /**
   * For addresses in digits, which are looked up nowhere. Null: it may be gone to, or is a name.
   */
  refusal(host: string): Error | null;
}

export const guardOf = (may: MayConnect, lookup: LookupFunction = lookupWithin(may)): Guard => ({
  lookup,
  refusal: (host) =>
    isIP(host) === 0 || fits(host, may) ? null : new AddressError(`${host} is an address that may not be connected`),
});

/** An agent of node:http or node:https, whose every connection is guarded. */
export function createGuardedAgent(secure: boolean, guard: Guard): http.Agent {
  const options = { keepAlive: true, lookup: guard.lookup };
  const agent = secure ? new https.Agent(options) : new http.Agent(options);
  // Of a base class whose types do not name it: see "agent.createConnection" in Node's manual.
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
 * `ok`, `refused`: it leads where this household may not go, or `unknown`: the name leads nowhere
 * just now.
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
 * Requests to a server that a page has named: only where its household may go, and never on to
 * where that server points.
 */
export interface GuardedFetch {
  readonly fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

/**
 * `silentMs`: an answer that says nothing for so long has broken off; left out: as long as undici
 * has it, five minutes.
 */
export function createGuardedFetch(may: MayConnect, lookup = lookupWithin(may), silentMs?: number): GuardedFetch {
  const guard = guardOf(may, lookup);
  const connect = buildConnector({ lookup });
  const dispatcher = new Agent({
    ...(silentMs === undefined ? {} : { headersTimeout: silentMs, bodyTimeout: silentMs }),
    connect(options, done) {
      const refusal = guard.refusal(hostOf(options));
      if (refusal) done(refusal, null);
      else connect(options, done);
    },
  });
  // The two fetches have the same shape, and types of their own.
  const guarded = (input: unknown, init: object = {}) =>
    undiciFetch(input as string, { ...init, redirect: 'manual', dispatcher });
  return { fetch: guarded as unknown as typeof globalThis.fetch, close: () => dispatcher.destroy() };
}

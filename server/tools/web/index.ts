/**
 * Pages of the web, for agents: an address is asked for, and what its page says is given as text.
 * The relay stands in somebody's network, and an agent may have been talked into anything by what
 * it has read: so a name is checked by the connection itself, each redirect as if it were the first
 * address, nothing that could sign anybody in goes along, and what comes back is bounded in time
 * and size.
 */
import { beginningOfText } from '../../../src/shared/domain/cut-middle.ts';
import { isIP, type LookupFunction } from 'node:net';
import type { MayConnect } from '../../../src/shared/protocol/models.ts';
import { createPace } from '../../platform/pace.ts';
import { createGuardedFetch, fits, hostOf } from '../../platform/guarded-fetch.ts';
import { pageText } from './page-text.ts';
import { WEB_LIMITS, type WebLimits } from './settings.ts';

export interface Page {
  /** Where it came from in the end, behind all redirects. */
  readonly url: string;
  readonly status: number;
  readonly title: string;
  readonly text: string;
  readonly cut: boolean;
}

export interface Web {
  readonly addresses: MayConnect;
  /** Why not, as a sentence, where there is none. Never rejects. */
  read(address: string, signal: AbortSignal): Promise<Page | string>;
  close(): Promise<void>;
}

export interface WebDeps {
  readonly addresses: MayConnect;
  /** Of Roost, for those who serve pages. */
  readonly version: string;
  readonly limits?: WebLimits;
  /** How names are looked up; the default gives only addresses that may be gone to. */
  readonly lookup?: LookupFunction;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const READ = /^(?:text\/|application\/(?:json|xml|xhtml\+xml|[\w.-]+\+(?:json|xml))$)/;
const IN_HTML = /^(?:text\/html|application\/xhtml\+xml)$/;

/** Of a `content-type`: what it is, and in which characters. */
function typeOf(header: string | null): { readonly type: string; readonly charset: string | null } {
  const [type = '', ...parameters] = (header ?? 'text/html').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters
    .map((each) => /^charset="?([\w.:-]+)"?$/.exec(each)?.[1])
    .find((each) => each !== undefined);
  return { type, charset: charset ?? null };
}

/** A page may say itself in which characters it is, within its first kilobyte. */
function decoded(bytes: Uint8Array, charset: string | null): string {
  const said =
    charset ?? /<meta[^>]+charset=["']?([\w.:-]+)/i.exec(Buffer.from(bytes.subarray(0, 1_024)).toString('latin1'))?.[1];
  try {
    return new TextDecoder(said ?? 'utf-8').decode(bytes);
  } catch {
    // A name that no decoder has.
    return new TextDecoder().decode(bytes);
  }
}

/** What was wrong, in a sentence for whoever asked. */
function reasonOf(error: unknown, host: string, limits: WebLimits): string {
  const seen: unknown[] = [];
  for (let each = error; each instanceof Error && !seen.includes(each); each = each.cause) {
    seen.push(each);
    if (each.name === 'TimeoutError') return `${host} did not answer within ${limits.pageMs / 1_000} s.`;
    if (each.name === 'AbortError') return 'The call was given up.';
  }
  const last = seen.at(-1);
  const code = last instanceof Error && 'code' in last ? String(last.code) : '';
  return `${host} could not be reached${code === '' ? '' : ` (${code})`}.`;
}

export function createWeb({ addresses, version, limits = WEB_LIMITS, ...deps }: WebDeps): Web {
  const guarded = createGuardedFetch(addresses, deps.lookup);
  let reading = 0;

  /**
   * Where this leads, from a page or from nowhere; a sentence: why it is not gone to. A name is
   * looked up by the connection.
   */
  function destinationOf(address: string, from: string | undefined): URL | string {
    if (address.length > limits.address) return `An address has at most ${limits.address} characters.`;
    if (!URL.canParse(address, from))
      return `"${beginningOfText(address, 200)}" is no address. One begins with https://.`;
    const url = new URL(address, from);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'Only pages under https:// and http:// are read.';
    if (url.username !== '' || url.password !== '') return 'An address with a name or a password in it is not gone to.';
    const host = hostOf(url);
    if (isIP(host) !== 0 && !fits(host, addresses))
      return `${host} is no address of the public web, and no other is gone to.`;
    url.hash = '';
    return url;
  }

  async function bodyOf(body: AsyncIterable<Uint8Array>): Promise<{ bytes: Uint8Array; cut: boolean }> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    for await (const piece of body) {
      pieces.push(piece);
      length += piece.byteLength;
      if (length > limits.bytes) return { bytes: Buffer.concat(pieces).subarray(0, limits.bytes), cut: true };
    }
    return { bytes: Buffer.concat(pieces), cut: false };
  }

  async function follow(address: string, signal: AbortSignal): Promise<Page | string> {
    let from: string | undefined;
    let next = address;
    for (let step = 0; step <= limits.redirects; step++) {
      const url = destinationOf(next, from);
      if (typeof url === 'string') return step === 0 ? url : `It points on, and not there: ${url}`;
      let answer;
      try {
        answer = await guarded.fetch(url, {
          signal,
          headers: {
            accept: 'text/html, text/markdown, text/plain;q=0.9, application/json;q=0.8, */*;q=0.1',
            'user-agent': `Roost/${version}`,
          },
        });
        const location = answer.headers.get('location');
        if (REDIRECTS.has(answer.status) && location !== null) {
          await answer.body?.cancel();
          [from, next] = [url.href, location];
          continue;
        }
        const { type, charset } = typeOf(answer.headers.get('content-type'));
        if (!READ.test(type)) {
          await answer.body?.cancel();
          return `${url.href} is no text but ${type.slice(0, 100)}, and is not read.`;
        }
        const { bytes, cut } = answer.body ? await bodyOf(answer.body) : { bytes: new Uint8Array(), cut: false };
        const said = decoded(bytes, charset);
        const page = IN_HTML.test(type)
          ? await pageText(said, url.href, limits, createPace())
          : { title: '', text: said.slice(0, limits.textChars), cut: said.length > limits.textChars };
        return { ...page, cut: page.cut || cut, url: url.href, status: answer.status };
      } catch (error) {
        return reasonOf(error, url.host, limits);
      }
    }
    return `It points on more than ${limits.redirects} times.`;
  }

  return {
    addresses,
    async read(address, signal) {
      if (reading >= limits.atOnce) return `${limits.atOnce} pages are being read. Try again in a moment.`;
      reading++;
      try {
        return await follow(address, AbortSignal.any([signal, AbortSignal.timeout(limits.pageMs)]));
      } finally {
        reading--;
      }
    },
    close: () => guarded.close(),
  };
}

/** One for each reach that households have, so that those of one reach share its bounds. */
export function createWebs(deps: Omit<WebDeps, 'addresses'>): {
  of(addresses: MayConnect): Web;
  close(): Promise<void>;
} {
  const webs = new Map<MayConnect, Web>();
  return {
    of(addresses) {
      const web = webs.get(addresses) ?? createWeb({ ...deps, addresses });
      webs.set(addresses, web);
      return web;
    },
    async close() {
      await Promise.all([...webs.values()].map((web) => web.close()));
    },
  };
}

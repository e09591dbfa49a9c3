/**
 * Requests at a forge: GitHub, and Gitea or Forgejo, whose API has one form. See “Pulls” in the
 * REST reference of GitHub, and `/api/swagger` of a Gitea or Forgejo.
 */
import { z } from 'zod';
import type { ForgeKind } from '../../../src/shared/protocol/attempts.ts';
import { webAddress } from '../../../src/shared/protocol/addresses.ts';
import { createBoundedFetch } from '../../platform/guarded-fetch.ts';
import { TASK_WORK_SETTINGS } from './settings.ts';

/** The forge refused, or did not answer: a sentence for people and models. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError';
}

export interface Forge {
  readonly kind: ForgeKind;
  /** The repository’s address, as the project has it. */
  readonly repository: string;
  readonly token: string;
}

export interface Pull {
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
}

export interface Forges {
  /** Opens the request of a branch, or brings the open one up to date. Resolves with its page. */
  open(forge: Forge, pull: Pull): Promise<string>;
  /** Closes the open request of a branch. Does nothing where there is none. */
  close(forge: Forge, branch: string): Promise<void>;
}

const pullSchema = z.object({
  number: z.number().int(),
  html_url: webAddress(2_000),
  head: z.object({ ref: z.string() }),
});
const messageSchema = z.object({ message: z.string() });

/** Owner, name and API of a repository. Null: its address names none. */
function placeOf({ kind, repository }: Forge): { readonly api: string; readonly owner: string } | null {
  const url = new URL(repository);
  const [owner, name] = url.pathname
    .replace(/^\/+/, '')
    .replace(/\.git$/, '')
    .split('/');
  if (owner === undefined || owner === '' || name === undefined || name === '') return null;
  const root =
    kind === 'gitea'
      ? `${url.origin}/api/v1`
      : url.hostname === 'github.com'
        ? 'https://api.github.com'
        : `${url.origin}/api/v3`;
  return { api: `${root}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`, owner };
}

/** `fetch`: reaches only addresses that the household may call. */
export function createForges(deps: { readonly fetch: typeof globalThis.fetch }): Forges {
  const fetch = createBoundedFetch(TASK_WORK_SETTINGS.forgeAnswer, deps.fetch);
  async function call(forge: Forge, method: string, path: string, json?: object): Promise<unknown> {
    const place = placeOf(forge);
    if (!place) throw new ForgeError('The repository’s address names no owner and no repository.');
    const host = new URL(place.api).host;
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(`${place.api}${path}`, {
        method,
        headers: {
          accept: forge.kind === 'github' ? 'application/vnd.github+json' : 'application/json',
          authorization: `${forge.kind === 'github' ? 'Bearer' : 'token'} ${forge.token}`,
          'user-agent': 'Roost',
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        signal: AbortSignal.timeout(TASK_WORK_SETTINGS.forgeMs),
      });
      text = await answer.text();
    } catch (error) {
      const late = error instanceof Error && error.name === 'TimeoutError';
      throw new ForgeError(
        late
          ? `${host} did not answer within ${TASK_WORK_SETTINGS.forgeMs / 1_000} s.`
          : `${host} could not be reached, or broke off its answer.`,
        { cause: error },
      );
    }
    if (answer.ok) return text === '' ? null : parsed(text);
    throw new ForgeError(refusalOf(host, answer, text));
  }

  async function openOf(forge: Forge, branch: string) {
    const place = placeOf(forge);
    const query =
      forge.kind === 'github'
        ? `?state=open&head=${encodeURIComponent(`${place?.owner ?? ''}:${branch}`)}`
        : `?state=open&limit=${TASK_WORK_SETTINGS.forgeListed}`;
    const list = z.array(pullSchema).safeParse(await call(forge, 'GET', `/pulls${query}`));
    if (!list.success) throw new ForgeError('The forge’s list of requests could not be read.');
    return list.data.find(({ head }) => head.ref === branch) ?? null;
  }

  return {
    async open(forge, { branch, base, title, body }) {
      // Looked for first: an earlier call may have opened it, although its answer was lost.
      const before = await openOf(forge, branch);
      const path = before ? `/pulls/${before.number}` : '/pulls';
      const fields = before ? { title, body } : { title, body, head: branch, base };
      let said: unknown;
      try {
        said = await call(forge, before ? 'PATCH' : 'POST', path, fields);
      } catch (error) {
        const now = before ?? (await openOf(forge, branch).catch(() => null));
        if (!now || before) throw error;
        return now.html_url;
      }
      const pull = pullSchema.safeParse(said);
      const opened = pull.success ? pull.data : await openOf(forge, branch);
      if (!opened) throw new ForgeError('The forge said that the request is open, and does not list it.');
      return opened.html_url;
    },
    async close(forge, branch) {
      const before = await openOf(forge, branch);
      if (before) await call(forge, 'PATCH', `/pulls/${before.number}`, { state: 'closed' });
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function refusalOf(host: string, { status, headers }: Response, text: string): string {
  const said = messageSchema.safeParse(parsed(text));
  const words = said.success ? ` It said: ${said.data.message.slice(0, 300)}` : '';
  const wait = headers.get('retry-after');
  if (status === 429 || (status === 403 && headers.get('x-ratelimit-remaining') === '0'))
    return `${host} allows no more calls just now${wait !== null && /^\d+$/.test(wait) ? `, for ${wait} s` : ''}.${words}`;
  if (status === 401) return `${host} does not accept the token. Set another one.${words}`;
  if (status === 403) return `The token may not do this at ${host}.${words}`;
  if (status === 404) return `${host} has no such repository, or the token may not see it.${words}`;
  if (status >= 500) return `${host} has a fault (${status}). Try again later.${words}`;
  return `${host} refused the request (${status}).${words}`;
}

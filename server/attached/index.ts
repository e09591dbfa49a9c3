/**
 * MCP servers that the person has attached: kept sealed, reached by one line each, and offered to agents tool by tool, as
 * each was when the person looked at it. A tool that is new, or is another than it was, is off until they have looked again.
 */
import { createQueue } from '../../src/domain/platform/queue.ts';
import type { Timers } from '../../src/domain/platform/timers.ts';
import type { AttachedServer, Attachment } from '../../src/protocol/attached.ts';
import type { TeamTool } from '../contracts.ts';
import type { Logger } from '../runs/context.ts';
import { checkAddress } from '../models/addresses.ts';
import type { MayConnect } from '../../src/protocol/models.ts';
import type { Processes } from '../processes/index.ts';
import type { Sealer } from '../schedules/index.ts';
import type { Db } from '../store/index.ts';
import { createGuardedFetch, type GuardedFetch } from '../models/line.ts';
import { createLink } from './link.ts';
import { ATTACHED_LIMITS, type AttachedLimits } from './settings.ts';
import { createSignIn, NOT_BEGUN, SignInError, type SignIn } from './sign-in.ts';
import { lookedAt, sealedSchema, toolsBeside, valueSchema, whereOf, type Sealed, type Value } from './standing.ts';
import { createToolOf, type Usable } from './tools.ts';

export interface Attached {
  /** Reads what is kept, and opens a line to each. Resolves before they are open. */
  start(): Promise<void>;
  all(): AttachedServer[];
  /** What agents are offered of all of them just now. */
  tools(): readonly TeamTool[];
  /** Resolves when it was tried, whether or not it answers. */
  add(name: string, attachment: Attachment): Promise<AttachedServer | Refused>;
  /** Tries it now. Null: there is none. */
  look(serverId: string): Promise<AttachedServer | null>;
  change(serverId: string, change: Change): Promise<AttachedServer | Refused | null>;
  /** The page on which the person allows a sign-in, which sends them back to `redirect`. */
  signIn(serverId: string, redirect: string): Promise<URL | Refused | null>;
  signOut(serverId: string): Promise<AttachedServer | null>;
  /** With what they were sent back with; resolves when the server was tried with it. */
  finishSignIn(query: URLSearchParams): Promise<AttachedServer | Refused>;
  /** False: there was none. Its secrets are gone with it, and nothing of it runs on. */
  remove(serverId: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface Refused {
  readonly refused: 'name' | 'room' | 'programs' | 'address' | 'tools' | 'sign-in';
  readonly reason: string;
}

export interface Change {
  readonly agents?: readonly string[] | null | undefined;
  /** The person has looked at these tools as they were described with that hash. */
  readonly tools?: readonly { readonly name: string; readonly hash: string; readonly use: boolean }[] | undefined;
}

export interface AttachedDeps {
  readonly db: Db;
  /** Names the home. */
  readonly home: string;
  readonly sealer: Sealer;
  readonly version: string;
  /** Which addresses may be called. */
  readonly may: MayConnect;
  /** Whether programs may be run on this machine for whoever is signed in. */
  readonly programs: boolean;
  readonly processes: Pick<Processes, 'start'>;
  readonly timers: Timers;
  /** ms since the epoch; and ms, only ever forward. */
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly newId: () => string;
  readonly onChange: () => void;
  readonly logger: Logger;
  readonly limits?: AttachedLimits;
}

interface Kept extends Usable {
  readonly attachment: Attachment;
  sealed: Sealed;
  readonly fetch: GuardedFetch;
  /** Null: it is a program. */
  readonly signIn: SignIn | null;
}

const ADDRESS_REFUSED =
  'This household may not have the relay call that address. Whoever runs the relay can allow it (--model-addresses).';
const PROGRAMS_OFF = 'This relay runs no programs for its pages. Start it with --scripts to let it.';

function refusedSignIn(error: unknown): Refused {
  if (!(error instanceof SignInError)) throw error;
  return { refused: 'sign-in', reason: error.message };
}

const end = ({ link, fetch }: Kept) => link.close().then(() => fetch.close());

// In one piece: what is kept of a server, its line and its tools are one state.
export function createAttached(deps: AttachedDeps): Attached {
  const { db, home, sealer, now, newId, onChange, logger, limits = ATTACHED_LIMITS } = deps;
  const kept = new Map<string, Kept>();
  const inTurn = createQueue();
  const about = (serverId: string) => JSON.stringify(`attached ${home} ${serverId}`);

  function keep(serverId: string, name: string, sealed: Sealed, value: Value): Kept {
    const { attachment } = sealed;
    const fetch = createGuardedFetch(deps.may);
    const signIn =
      attachment.kind === 'address'
        ? createSignIn({
            url: attachment.url,
            kept: sealed.signIn,
            async keep(held) {
              one.sealed = { attachment, signIn: held };
              // Where it has been taken away meanwhile, nothing is left of it.
              await rowOf(serverId)
                .set({ sealed: sealedOf(one) })
                .execute();
              onChange();
            },
            ...deps,
            fetch: fetch.fetch,
            limits,
          })
        : null;
    const link = createLink({
      attachment,
      auth: signIn?.auth ?? null,
      fetch: fetch.fetch,
      version: deps.version,
      processes: deps.processes,
      timers: deps.timers,
      elapsed: deps.elapsed,
      onChange,
      limits,
    });
    const one: Kept = { serverId, name, attachment, sealed, value, fetch, signIn, link, made: new Map() };
    kept.set(serverId, one);
    return one;
  }

  const rowOf = (serverId: string) =>
    db.updateTable('attached').where('home', '=', home).where('server', '=', serverId);
  const sealedOf = ({ serverId, sealed }: Kept) => sealer.seal(JSON.stringify(sealed), about(serverId));

  const mayRun = ({ kind }: Attachment) => kind !== 'program' || deps.programs;

  const toolsOf = ({ name, link, value }: Kept) => toolsBeside(name, link.standing().tools, value);

  function show(one: Kept): AttachedServer {
    const { serverId, name, attachment, value, link, signIn } = one;
    const { state, problem } = link.standing();
    const off = !mayRun(attachment);
    return {
      serverId,
      name,
      ...whereOf(attachment),
      state: off ? 'failed' : state,
      problem: off ? PROGRAMS_OFF : problem,
      signIn: signIn?.standing() ?? null,
      agents: value.agents,
      tools: toolsOf(one),
    };
  }

  async function write(one: Kept): Promise<void> {
    const { serverId, name, value } = one;
    const row = { name, sealed: sealedOf(one), value_json: JSON.stringify(value) };
    await db
      .insertInto('attached')
      .values({ home, server: serverId, made_at: now(), ...row })
      .onConflict((conflict) => conflict.columns(['home', 'server']).doUpdateSet(row))
      .execute();
    onChange();
  }

  const toolOf = createToolOf<Kept>({
    isAttached: ({ serverId }) => kept.has(serverId),
    toolsOf: (one) => toolsOf(one),
    limits,
  });

  return {
    async start() {
      const rows = await db.selectFrom('attached').selectAll().where('home', '=', home).orderBy('made_at').execute();
      for (const row of rows) {
        const text = sealer.open(row.sealed, about(row.server));
        if (text === null) {
          logger.warn('how an attached server is reached cannot be read any more; attach it once more', {
            server: row.name,
          });
          continue;
        }
        const one = keep(
          row.server,
          row.name,
          sealedSchema.parse(JSON.parse(text)),
          valueSchema.parse(JSON.parse(row.value_json)),
        );
        if (mayRun(one.attachment)) void one.link.open();
      }
    },
    all: () => [...kept.values()].map(show),
    tools: () =>
      [...kept.values()].flatMap((one) =>
        mayRun(one.attachment)
          ? toolsOf(one)
              .filter(({ use, gone }) => use && !gone)
              .map((tool) => toolOf(one, tool))
          : [],
      ),
    add: (name, attachment) =>
      inTurn(async () => {
        if (!mayRun(attachment)) return { refused: 'programs', reason: PROGRAMS_OFF };
        if (attachment.kind === 'address' && (await checkAddress(new URL(attachment.url), deps.may)) === 'refused')
          return { refused: 'address', reason: ADDRESS_REFUSED };
        if (kept.size >= limits.servers)
          return { refused: 'room', reason: `There is room for ${limits.servers} servers. Take one away first.` };
        if ([...kept.values()].some((one) => one.name === name))
          return { refused: 'name', reason: `A server called ${name} is attached already.` };
        const one = keep(newId(), name, { attachment, signIn: null }, { agents: null, tools: {} });
        try {
          await write(one);
        } catch (error) {
          kept.delete(one.serverId);
          throw error;
        }
        await one.link.open();
        return show(one);
      }),
    async look(serverId) {
      const one = kept.get(serverId);
      if (!one) return null;
      if (mayRun(one.attachment)) await one.link.retry();
      return show(one);
    },
    change: (serverId, { agents, tools = [] }) =>
      inTurn(async () => {
        const one = kept.get(serverId);
        if (!one) return null;
        const before = one.value;
        const looked = lookedAt(one.name, toolsOf(one), before.tools, tools);
        if (!looked.ok) return { refused: 'tools', reason: looked.reason };
        one.value = { agents: agents === undefined ? before.agents : agents && [...agents], tools: looked.tools };
        try {
          await write(one);
        } catch (error) {
          one.value = before;
          throw error;
        }
        return show(one);
      }),
    async signIn(serverId, redirect) {
      const one = kept.get(serverId);
      if (!one) return null;
      if (!one.signIn) return { refused: 'sign-in', reason: 'A program needs no sign-in.' };
      try {
        // What it says when it refuses names where its sign-in is.
        if (one.link.standing().state !== 'connected') await one.link.retry();
        const url = await one.signIn.begin(redirect);
        onChange();
        return url;
      } catch (error) {
        return refusedSignIn(error);
      }
    },
    async signOut(serverId) {
      const one = kept.get(serverId);
      if (!one) return null;
      await one.signIn?.leave();
      onChange();
      if (one.link.standing().state === 'connected') await one.link.retry();
      return show(one);
    },
    async finishSignIn(query) {
      const one = [...kept.values()].find(({ signIn }) => signIn?.waitsFor(query.get('state') ?? ''));
      try {
        if (!one?.signIn) throw new SignInError(NOT_BEGUN);
        await one.signIn.finish(query);
      } catch (error) {
        return refusedSignIn(error);
      } finally {
        onChange();
      }
      await one.link.retry();
      return show(one);
    },
    remove: (serverId) =>
      inTurn(async () => {
        const one = kept.get(serverId);
        if (!one) return false;
        await db.deleteFrom('attached').where('home', '=', home).where('server', '=', serverId).execute();
        kept.delete(serverId);
        onChange();
        await end(one);
        return true;
      }),
    async close() {
      await Promise.all([...kept.values()].map(end));
    },
  };
}

/**
 * MCP servers that the person has attached: kept sealed, reached by one line each, and offered to agents tool by tool, as
 * each was when the person looked at it. A tool that is new, or is another than it was, is off until they have looked again.
 */
import { z } from 'zod';
import { createQueue } from '../../src/domain/platform/queue.ts';
import type { Timers } from '../../src/domain/platform/timers.ts';
import {
  attachmentSchema,
  type AttachedServer,
  type AttachedTool,
  type Attachment,
} from '../../src/protocol/attached.ts';
import type { Caller, TeamTool } from '../contracts.ts';
import type { Logger } from '../runs/context.ts';
import { checkAddress } from '../models/addresses.ts';
import type { MayConnect } from '../../src/protocol/models.ts';
import type { Processes } from '../processes/index.ts';
import type { Sealer } from '../schedules/index.ts';
import type { Db } from '../store/index.ts';
import { toolDone, toolError } from '../tool-outcome.ts';
import { createLink, LinkError, type Link } from './link.ts';
import { answerText } from './offered.ts';
import { ATTACHED_LIMITS, type AttachedLimits } from './settings.ts';
import { toolsBeside, valueSchema, whereOf, type Value } from './standing.ts';

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
  /** False: there was none. Its secrets are gone with it, and nothing of it runs on. */
  remove(serverId: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface Refused {
  readonly refused: 'name' | 'room' | 'programs' | 'address' | 'tools';
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

interface Kept {
  readonly serverId: string;
  readonly name: string;
  readonly attachment: Attachment;
  value: Value;
  readonly link: Link;
  /** Made once for a tool as it is: minds are told the same object. */
  readonly made: Map<string, { readonly hash: string; readonly tool: TeamTool }>;
}

const ADDRESS_REFUSED =
  'This household may not have the relay call that address. Whoever runs the relay can allow it (--model-addresses).';
const PROGRAMS_OFF = 'This relay runs no programs for its pages. Start it with --scripts to let it.';

// In one piece: what is kept of a server, its line and its tools are one state.
export function createAttached(deps: AttachedDeps): Attached {
  const { db, home, sealer, now, newId, onChange, logger, limits = ATTACHED_LIMITS } = deps;
  const kept = new Map<string, Kept>();
  const inTurn = createQueue();
  const about = (serverId: string) => JSON.stringify(`attached ${home} ${serverId}`);

  function keep(serverId: string, name: string, attachment: Attachment, value: Value): Kept {
    const link = createLink({
      attachment,
      may: deps.may,
      version: deps.version,
      processes: deps.processes,
      timers: deps.timers,
      elapsed: deps.elapsed,
      onChange,
      limits,
    });
    const one: Kept = { serverId, name, attachment, value, link, made: new Map() };
    kept.set(serverId, one);
    return one;
  }

  const mayRun = ({ kind }: Attachment) => kind !== 'program' || deps.programs;

  const toolsOf = ({ name, link, value }: Kept) => toolsBeside(name, link.standing().tools, value);

  function show(one: Kept): AttachedServer {
    const { serverId, name, attachment, value, link } = one;
    const { state, problem } = link.standing();
    const off = !mayRun(attachment);
    return {
      serverId,
      name,
      ...whereOf(attachment),
      state: off ? 'failed' : state,
      problem: off ? PROGRAMS_OFF : problem,
      agents: value.agents,
      tools: toolsOf(one),
    };
  }

  async function write({ serverId, name, attachment, value }: Kept): Promise<void> {
    const row = {
      name,
      sealed: sealer.seal(JSON.stringify(attachment), about(serverId)),
      value_json: JSON.stringify(value),
    };
    await db
      .insertInto('attached')
      .values({ home, server: serverId, made_at: now(), ...row })
      .onConflict((conflict) => conflict.columns(['home', 'server']).doUpdateSet(row))
      .execute();
    onChange();
  }

  async function run(one: Kept, { name, hash }: AttachedTool, input: unknown, caller: Caller) {
    if (!kept.has(one.serverId)) return toolError(`The server ${one.name} is not attached any more.`);
    await one.link.open();
    const tool = toolsOf(one).find((each) => each.name === name);
    if (!tool || tool.gone || !tool.use || tool.hash !== hash) {
      const { state, problem } = one.link.standing();
      return toolError(
        state === 'connected'
          ? `${name} of ${one.name} is not what it was when the human looked at it, and is off until they have looked again.`
          : `The server ${one.name} cannot be reached: ${problem ?? 'it does not answer'}.`,
      );
    }
    try {
      const answered = await one.link.call(name, z.record(z.string(), z.unknown()).parse(input), caller.signal);
      return (answered.isError ? toolError : toolDone)(answerText(one.name, name, answered, limits));
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      return toolError(`${name} of the server ${one.name} gave no answer: ${error.message}.`);
    }
  }

  function teamToolOf(one: Kept, tool: AttachedTool): TeamTool {
    const before = one.made.get(tool.name);
    if (before?.hash === tool.hash) return before.tool;
    const made: TeamTool = {
      name: tool.called,
      description: `${tool.name} of ${one.name}, a server that the human has attached. It describes it so: ${tool.description}`,
      input: z.looseObject({}),
      schema: tool.schema,
      // What a server says of itself is not relied upon.
      readOnly: false,
      allowed: ({ agentId }) => Promise.resolve(one.value.agents?.includes(agentId) ?? true),
      run: (input, caller) => run(one, tool, input, caller),
    };
    one.made.set(tool.name, { hash: tool.hash, tool: made });
    return made;
  }

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
          attachmentSchema.parse(JSON.parse(text)),
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
              .map((tool) => teamToolOf(one, tool))
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
        const one = keep(newId(), name, attachment, { agents: null, tools: {} });
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
        const there = new Map(toolsOf(one).map((tool) => [tool.name, tool]));
        const seen = new Map(Object.entries(one.value.tools));
        for (const { name, hash, use } of tools) {
          const tool = there.get(name);
          if (!tool) return { refused: 'tools', reason: `${one.name} has no tool ${name}.` };
          if (tool.hash !== hash)
            return { refused: 'tools', reason: `${name} is not what it was a moment ago. Look at it once more.` };
          if (use && tool.problem !== null)
            return { refused: 'tools', reason: `${name} cannot be used. ${tool.problem}` };
          if (tool.gone && !use) seen.delete(name);
          else seen.set(name, { hash, title: tool.title, description: tool.description, schema: tool.schema, use });
        }
        const before = one.value;
        one.value = {
          agents: agents === undefined ? before.agents : agents && [...agents],
          tools: Object.fromEntries(seen),
        };
        try {
          await write(one);
        } catch (error) {
          one.value = before;
          throw error;
        }
        return show(one);
      }),
    remove: (serverId) =>
      inTurn(async () => {
        const one = kept.get(serverId);
        if (!one) return false;
        await db.deleteFrom('attached').where('home', '=', home).where('server', '=', serverId).execute();
        kept.delete(serverId);
        onChange();
        await one.link.close();
        return true;
      }),
    async close() {
      await Promise.all([...kept.values()].map(({ link }) => link.close()));
    },
  };
}

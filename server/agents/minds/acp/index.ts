/**
 * ACP agents as minds: programs such as Claude Code or Codex that speak the Agent Client Protocol
 * over stdin and stdout.
 *
 * `connection.ts` is the connection to one ACP agent, `mind.ts` makes a mind of it, and `turn.ts`
 * is one prompt. `starts.ts` starts processes, opens sessions, and remembers which session
 * continues which conversation.
 *
 * Invariants:
 * - The person adds each ACP agent by its command. Nothing else is started.
 * - An action that an ACP agent asks for becomes a question to the person, unless they allowed it.
 * - A process ends with the agent's session, and with its whole process group.
 * - Costs that an ACP agent reports count against the budgets.
 *
 * It does not know what an ACP agent does by itself on the machine. SECURITY says so to the person.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { methods } from '@agentclientprotocol/sdk';
import type { Context } from 'hono';
import {
  type AddProgram,
  addProgramSchema,
  type Program,
  type Programs,
  type ProgramState,
} from '../../../../src/shared/protocol/programs.ts';
import { isFetched } from '../../../../src/shared/protocol/runners.ts';
import type { AgentId, RunId } from '../../../../src/shared/domain/ids.ts';
import type { Timers } from '../../../../src/shared/domain/platform/timers.ts';
import { createQueue } from '../../../../src/shared/domain/platform/queue.ts';
import { LEAD_ID } from '../../../../src/shared/domain/seat.ts';
import { sentence } from '../../../../src/shared/domain/names.ts';
import { programEndpoints } from '../../../../src/shared/protocol/endpoints/programs.ts';
import type { Sealer } from '../../../platform/sealer.ts';
import type { HomeStore } from '../../../store/index.ts';
import type { AskPermission, RecordAction } from '../actions.ts';
import type { EventLog } from '../../../log/index.ts';
import type { Caller } from '../../../tools/index.ts';
import { type AgentMind, type Mind, type MindOwner, passedOn } from '../index.ts';
import { type Processes, programAt } from '../../../platform/processes/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { HomeRights } from '../../../access/owner-rights.ts';
import { answer, type Env, type Handled } from '../../../http/endpoint.ts';
import { problem } from '../../../http/problem.ts';
import type { Workspaces } from '../../../files/workspaces/index.ts';
import { createStoredSessions, type StoredSessionsDeps, openedOf, type Starts } from './starts.ts';
import {
  faultOf,
  type Connection,
  type ConnectionHandlers,
  type ConnectionStart,
  openConnection,
  ProgramError,
} from './connection.ts';
import { createProgramMind, type ProgramMind, type ProgramMindDeps } from './mind.ts';
import { ASKS, KNOWN_AGENTS, PROGRAM_LIMITS, type ProgramLimits, TRUSTS, UNASKED } from './settings.ts';
import { takesTools } from './turn.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../../../platform/set-aside.ts';

// ACP agents in the store. They are sealed, because their variables may be keys.

const keptSchema = z.object({ ...addProgramSchema.shape, programId: z.string() });
type StoredProgram = z.infer<typeof keptSchema>;

interface ProgramRowsDeps extends HomeStore {
  readonly sealer: Sealer;
  readonly now: () => number;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
}

function createProgramRows({ db, home, sealer, now, setAside = SETS_NOTHING_ASIDE }: ProgramRowsDeps) {
  const about = (programId: string) => JSON.stringify(['ACP agent', home, programId]);
  return {
    /** Oldest first. Rows that this relay's key does not open are left out. */
    async all(): Promise<StoredProgram[]> {
      const rows = await db
        .selectFrom('agent_programs')
        .selectAll()
        .where('home', '=', home)
        .orderBy('made_at')
        .orderBy('program')
        .execute();
      const read = setAside.read(
        'ACP agents',
        rows,
        ({ program }) => program,
        ({ program, sealed }) => {
          const text = sealer.open(sealed, about(program));
          return text === null ? null : keptSchema.parse(JSON.parse(text));
        },
      );
      return read.flatMap((kept) => kept ?? []);
    },
    async add(kept: StoredProgram): Promise<void> {
      const sealed = sealer.seal(JSON.stringify(kept), about(kept.programId));
      await db.insertInto('agent_programs').values({ home, program: kept.programId, sealed, made_at: now() }).execute();
    },
    async remove(programId: string): Promise<void> {
      await db.deleteFrom('agent_programs').where('home', '=', home).where('program', '=', programId).execute();
    },
  };
}

// The processes of ACP agents: one per run, from its first turn to its end.

/** A secret for one run. It is stored nowhere, and ends with the run. */
interface Lent {
  readonly secret: string;
  release(): void;
}

interface ProgramStartDeps {
  readonly processes: Pick<Processes, 'start'>;
  /** The relay's address, as programs on its machine reach it. */
  readonly address: string;
  readonly version: string;
}

/**
 * How the ACP agent is started, including the proxy settings for its model, if the person chose
 * that. `secret`: null for a trial start.
 */
function startOf(
  { name, command, args, env, throughRelay }: StoredProgram,
  secret: string | null,
  { address, processes, version }: ProgramStartDeps,
): Omit<ConnectionStart, 'cwd' | 'limits'> {
  const through: Record<string, string> =
    throughRelay && secret !== null
      ? { ANTHROPIC_BASE_URL: `${address}/llm/${secret}`, ANTHROPIC_API_KEY: 'roost' }
      : {};
  return { name, command, args, env: { ...UNASKED, ...TRUSTS, ...ASKS, ...env, ...through }, processes, version };
}

/** A program that must be fetched has more time to start. */
export const limitsOf = ({ command }: Pick<StoredProgram, 'command'>, limits: ProgramLimits): ProgramLimits =>
  isFetched(command) ? { ...limits, startMs: limits.fetchedStartMs } : limits;

interface LiveProgramsDeps extends ProgramStartDeps, StoredSessionsDeps {
  /** Whether the person lets this agent use one of Roost's tools. */
  readonly mayUse: (agentId: AgentId, tool: string) => Promise<boolean>;
  /** Asks the person before an ACP agent acts. */
  readonly ask: AskPermission;
  /** Records the actions that an ACP agent takes without asking. */
  readonly record: RecordAction;
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly workspaces: Pick<Workspaces, 'folderOf' | 'of' | 'changed' | 'removeEmpty'>;
  /** The agent is not born yet. */
  readonly isEgg: (agentId: AgentId) => boolean;
  readonly starts: Starts;
  /** Most concurrent starts, as the person has set it. */
  readonly mostStarts: () => Promise<number>;
  readonly lend: (owner: MindOwner, label: string) => Lent;
  readonly elapsed: () => number;
  readonly timers: Timers;
  /** Something about the running processes has changed. */
  readonly onChange: () => void;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly limits: ProgramLimits;
}

/** The result of a start, and the ms that it took. */
type OnStart = (went: Parameters<ProgramMindDeps['onStart']>[0], ms: number) => void;

interface LivePrograms {
  /** The mind of a running run. */
  under(owner: MindOwner): AgentMind | null;
  /** `onTools`: whether the process has Roost's tools, as soon as that is known. */
  begin(kept: StoredProgram, owner: MindOwner, onStart: OnStart, onTools: (has: boolean) => void): AgentMind;
  runningOf(programId: string): Program['running'];
  /** The process of this run has requested the list of Roost's tools. */
  listed(runId: RunId): void;
  /** The process of this run waits for a tool of Roost's, until the returned function is called. */
  called(runId: RunId): () => void;
  /** Ends all processes of this ACP agent. */
  endAll(programId: string): void;
  start(): Promise<void>;
  /** Resolves when no process is left. */
  close(): Promise<void>;
}

interface Live {
  readonly programId: string;
  readonly owner: MindOwner;
  readonly mind: ProgramMind;
  readonly lent: Lent;
  isEgg: boolean;
}

const callerOf = ({ agentId, sessionId, runId }: MindOwner, signal: AbortSignal): Caller => ({
  ...{ agentId, sessionId, runId, run: runId, signal },
  kind: sessionId === null ? 'run' : 'session',
});

function createLivePrograms(deps: LiveProgramsDeps): LivePrograms {
  const { elapsed, logger, onChange, workspaces } = deps;
  const sessions = createStoredSessions(deps);
  /** Running programs by run. */
  const live = new Map<string, Live>();
  const ending = new Set<Promise<void>>();

  function begin(
    program: StoredProgram,
    owner: MindOwner,
    onStart: OnStart,
    onTools: (has: boolean) => void,
  ): ProgramMind {
    const { agentId, sessionId, runId } = owner;
    const { programId, name, throughRelay } = program;
    const lent = deps.lend(owner, name);
    const begun = elapsed();
    const mind = createProgramMind({
      name,
      start: () => startOf(program, lent.secret, deps),
      folder: workspaces.folderOf(agentId),
      workspace: workspaces.of(agentId),
      mayUse: (tool) => deps.mayUse(agentId, tool),
      server: { url: `${deps.address}/mcp`, secret: lent.secret },
      wakes: sessionId !== null,
      async resumes(system) {
        // A process that is just ending may be about to store the session to resume.
        await Promise.all(ending);
        return sessions.take(agentId, programId, system);
      },
      countsItself: throughRelay,
      inTurn: (work, onPlace, signal) => deps.starts.inTurn(work, onPlace, signal, deps.mostStarts),
      permit: deps.ask,
      record: deps.record,
      callerOf: (signal) => callerOf(owner, signal),
      onChange() {
        // The process may have written into the folder by itself.
        if (mind.status().state === 'ready') workspaces.changed(agentId);
        onChange();
      },
      onTools,
      onStart: (went) => onStart(went, elapsed() - begun),
      timers: deps.timers,
      now: deps.now,
      limits: limitsOf(program, deps.limits),
    });
    live.set(runId, { programId, owner, mind, lent, isEgg: deps.isEgg(agentId) });
    onChange();
    return mind;
  }

  function end(runId: string): void {
    const program = live.get(runId);
    if (!program) return;
    live.delete(runId);
    program.lent.release();
    const { agentId, sessionId } = program.owner;
    const keep = sessionId === null ? () => undefined : sessions.leaving(agentId, program.programId);
    const closing = program.mind
      .close()
      .then(keep)
      .then(() => (program.isEgg ? workspaces.removeEmpty(agentId) : undefined))
      .catch((error: unknown) =>
        logger.error('An ACP agent could not be ended, or its session could not be stored.', { error }),
      )
      .then(onChange);
    ending.add(closing);
    void closing.finally(() => ending.delete(closing));
  }

  deps.log.subscribe(({ event }) => {
    if (event.kind === 'agent-born') {
      for (const one of live.values()) if (one.owner.agentId === event.agentId) one.isEgg = false;
    } else if (event.kind === 'run-ended') end(event.runId);
    else if (event.kind === 'changed' && event.what === 'config') deps.starts.recheck();
    else if (event.kind === 'session-ended')
      for (const [runId, { owner }] of live) if (owner.sessionId === event.sessionId) end(runId);
  });

  return {
    under: ({ runId }) => live.get(runId)?.mind ?? null,
    begin,
    runningOf: (programId) =>
      [...live.values()]
        .filter((one) => one.programId === programId)
        .map(({ owner, mind }) => ({ agentId: owner.agentId, ...mind.status() })),
    listed: (runId) => live.get(runId)?.mind.listed(),
    called: (runId) => live.get(runId)?.mind.called() ?? (() => undefined),
    endAll(programId) {
      for (const [runId, one] of live) if (one.programId === programId) end(runId);
    },
    start: () => sessions.start(),
    async close() {
      for (const runId of live.keys()) end(runId);
      await Promise.all(ending);
    },
  };
}

// Starts an ACP agent to see whether it answers: in an empty folder, and only until a session
// opens. Its model gets no request.

/** Handlers of a trial start. They refuse everything. */
const NOBODY: ConnectionHandlers = {
  update: () => undefined,
  permission: () => Promise.resolve({ outcome: { outcome: 'cancelled' } }),
  readFile: () => Promise.reject(new Error('Nothing is read here.')),
  writeFile: () => Promise.reject(new Error('Nothing is written here.')),
};

/** When this resolves, the process has ended, whatever the result. */
export async function tryProgram(
  start: Omit<ConnectionStart, 'cwd'>,
  timers: { after(ms: number, run: () => void): () => void },
): Promise<{ readonly line: Pick<Connection, 'info'> } | { readonly error: ProgramError }> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-program-'));
  const late = new AbortController();
  const cancel = timers.after(start.limits.startMs, () => late.abort());
  const opening = openConnection({ ...start, cwd: folder }, NOBODY, late.signal);
  try {
    const line = await opening;
    try {
      const asked = { cwd: folder, mcpServers: [] };
      openedOf(start.name, await line.answer(line.agent.request(methods.agent.session.new, asked)));
      return { line };
    } finally {
      await line.close();
    }
  } catch (error) {
    return { error: faultOf(start.name, error) };
  } finally {
    cancel();
    await rm(folder, { recursive: true, force: true });
  }
}

// Replaces an ACP agent that is missing: says so, and asks nothing.

const GONE: AgentMind = {
  counts: 'reports',
  answer: () =>
    Promise.resolve({
      ok: false,
      error: {
        kind: 'upstream-broken',
        message: sentence`The ACP agent that drives this agent is gone, or may not run on this relay. Choose another under its limits.`,
      },
      blocks: [],
      usage: null,
      whole: true,
      outputMost: null,
    }),
};

export interface AgentPrograms {
  /** The same mind, except that agents with a chosen ACP agent use that one. */
  over(mind: Mind): Mind;
  shown(): Programs;
  /** The process of this run has requested the list of Roost's tools. */
  readonly listed: (runId: RunId) => void;
  /** As in `LivePrograms`. */
  readonly called: (runId: RunId) => () => void;
  add(given: AddProgram): Promise<Program | Refused>;
  /** Null: it does not exist. */
  try(programId: string): Promise<Program | null>;
  remove(programId: string): Promise<boolean>;
  start(): Promise<void>;
  /** Resolves when no process is left. */
  close(): Promise<void>;
}

interface Refused {
  readonly refused: 'programs' | 'name' | 'room';
  readonly reason: string;
}

export interface AgentProgramsDeps extends ProgramRowsDeps, Omit<LiveProgramsDeps, 'limits'> {
  /** The ACP agent that the person chose for an agent. Null: none. */
  readonly chosenFor: (agentId: AgentId) => Promise<string | null>;
  readonly rights: HomeRights;
  readonly newId: () => string;
  readonly limits?: ProgramLimits;
}

interface Kept {
  readonly kept: StoredProgram;
  state: ProgramState;
  /** Whether its newest run had Roost's tools. Null: no run so far. */
  tools: boolean | null;
}

const nameOf = ({ info }: Pick<Connection, 'info'>) =>
  `${info.agentInfo?.name ?? 'an agent'} ${info.agentInfo?.version ?? ''}`.trim();

const answers = (line: Pick<Connection, 'info'>, ms: number, at: number): ProgramState => ({
  kind: 'answers',
  at,
  ms: Math.round(ms),
  is: nameOf(line),
  tools: takesTools(line) ? null : false,
});
const untried = (kept: StoredProgram): Kept => ({ kept, state: { kind: 'untried' }, tools: null });
const fails = ({ why, message }: ProgramError, at: number): ProgramState => ({ kind: 'fails', at, why, message });

/** The same mind, except where `of` returns another one. */
function mindOver(mind: Mind, of: (owner: MindOwner) => Promise<AgentMind | null>): Mind {
  const current = mind.current?.bind(mind);
  return {
    models: (chosen) => mind.models(chosen),
    ...(current ? { current: () => mindOver(current(), of) } : {}),
    of,
    ...passedOn(() => mind),
    close: () => mind.close(),
  };
}

export function createAgentPrograms(deps: AgentProgramsDeps): AgentPrograms {
  const { now, elapsed, rights, onChange, limits = PROGRAM_LIMITS } = deps;
  const allowed = rights.has('free-programs');
  const refusal = rights.refusal('free-programs');
  const rows = createProgramRows(deps);
  const live = createLivePrograms({ ...deps, limits });
  const inTurn = createQueue();
  const programs = new Map<string, Kept>();

  function show({ kept, state, tools }: Kept): Program {
    return {
      programId: kept.programId,
      name: kept.name,
      where: [kept.command, ...kept.args].join(' '),
      variables: Object.keys(kept.env),
      throughRelay: kept.throughRelay,
      state: state.kind === 'answers' ? { ...state, tools: state.tools ?? tools } : state,
      running: live.runningOf(kept.programId),
    };
  }

  function note(programId: string, state: ProgramState): void {
    const one = programs.get(programId);
    if (!one) return;
    one.state = state;
    onChange();
  }
  async function of(owner: MindOwner): Promise<AgentMind | null> {
    if (owner.agentId === LEAD_ID) return null;
    const under = live.under(owner);
    if (under) return under;
    const programId = await deps.chosenFor(owner.agentId);
    if (programId === null) return null;
    const one = programs.get(programId);
    if (!one || !allowed) return GONE;
    return live.begin(
      one.kept,
      owner,
      (went, ms) => note(programId, 'line' in went ? answers(went.line, ms, now()) : fails(went.error, now())),
      (has) => {
        one.tools = has;
        onChange();
      },
    );
  }

  async function attempt({ kept, state: before }: Kept): Promise<void> {
    const { programId } = kept;
    const begun = elapsed();
    note(programId, { kind: 'trying', since: now() });
    try {
      const tried = await tryProgram({ ...startOf(kept, null, deps), limits: limitsOf(kept, limits) }, deps.timers);
      note(programId, 'error' in tried ? fails(tried.error, now()) : answers(tried.line, elapsed() - begun, now()));
    } catch (error) {
      note(programId, before);
      throw error;
    }
  }

  return {
    over: (mind) => mindOver(mind, of),
    listed: (runId) => live.listed(runId),
    called: (runId) => live.called(runId),
    shown: () => ({
      programs: [...programs.values()].map(show),
      found: allowed
        ? KNOWN_AGENTS.filter(
            ({ command }) =>
              programAt(command) !== null && ![...programs.values()].some(({ kept }) => kept.command === command),
          ).map(({ name, command, args }) => ({ name, command, args: [...args] }))
        : [],
      allowed,
      ...(allowed ? {} : { why: refusal }),
    }),
    async start() {
      await live.start();
      for (const kept of await rows.all()) programs.set(kept.programId, untried(kept));
    },
    add: (request) =>
      inTurn(async () => {
        if (!allowed) return { refused: 'programs', reason: refusal };
        if (programs.size >= limits.programs)
          return {
            refused: 'room',
            reason: sentence`There is room for ${limits.programs} programs. Remove one first.`,
          };
        if ([...programs.values()].some(({ kept }) => kept.name === request.name))
          return { refused: 'name', reason: sentence`There is an ACP agent called ${request.name} already.` };
        const kept = { ...request, programId: deps.newId() };
        const one = untried(kept);
        await rows.add(kept);
        programs.set(kept.programId, one);
        await attempt(one);
        return show(one);
      }),
    async try(programId) {
      const one = programs.get(programId);
      if (!one) return null;
      if (allowed) await attempt(one);
      else note(programId, fails(new ProgramError('other', refusal), now()));
      return show(one);
    },
    remove: (programId) =>
      inTurn(async () => {
        if (!programs.has(programId)) return false;
        await rows.remove(programId);
        programs.delete(programId);
        live.endAll(programId);
        onChange();
        return true;
      }),
    close: () => live.close(),
  };
}

// The person's endpoints for ACP agents. API clients may not call them: a credential is not the
// person.

const unknown = () => problem(404, 'not-found', 'There is no such ACP agent.');

export function createProgramRoutes({ programs }: { readonly programs: AgentPrograms }): readonly Handled[] {
  const byPerson = (context: Context<Env>) => {
    if (context.get('browser') === undefined)
      throw problem(403, 'browsers-only', 'Only the household’s page manages ACP agents.');
  };
  return answer(programEndpoints, {
    programs(_input, context) {
      byPerson(context);
      return programs.shown();
    },
    async addProgram({ body }, context) {
      byPerson(context);
      const added = await programs.add(body);
      if ('refused' in added)
        throw problem(added.refused === 'programs' ? 403 : 409, `program-${added.refused}`, added.reason);
      return added;
    },
    async tryProgram({ programId }, context) {
      byPerson(context);
      const tried = await programs.try(programId);
      if (tried === null) throw unknown();
      return tried;
    },
    async removeProgram({ programId }, context) {
      byPerson(context);
      if (!(await programs.remove(programId))) throw unknown();
      return null;
    },
  });
}

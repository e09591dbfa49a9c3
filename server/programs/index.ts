/**
 * Agent programs of one household: what is kept of each, whether it answers, and the processes of those agents that have one
 * as their mind: one for each run, from its first turn to its end.
 */
import type { AgentId } from '../../src/domain/ids.ts';
import { LEAD_ID } from '../../src/domain/seat.ts';
import { createQueue } from '../../src/domain/platform/queue.ts';
import type { Timers } from '../../src/domain/platform/timers.ts';
import type { AddProgram, Program, Programs, ProgramState } from '../../src/protocol/programs.ts';
import type { AskLeave, Caller, EventLog, NoteDeed } from '../contracts.ts';
import type { AgentMind, Mind, MindOwner } from '../minds/index.ts';
import { programAt, PROGRAMS_OFF, type Processes } from '../processes/index.ts';
import type { Logger } from '../runs/context.ts';
import type { Workspaces } from '../workspaces/index.ts';
import { ProgramError, type Line } from './line.ts';
import { GONE } from './gone.ts';
import { createKeptSessions, type KeptSessionsDeps } from './kept-sessions.ts';
import { createProgramMind, type ProgramMind } from './mind.ts';
import { createProgramRows, type KeptProgram, type ProgramRowsDeps } from './rows.ts';
import { KNOWN_AGENTS, PROGRAM_LIMITS, UNASKED, type ProgramLimits } from './settings.ts';
import type { Starts } from './starts.ts';
import { tryProgram } from './trial.ts';

export interface AgentPrograms {
  /** The same mind, and for an agent that has a program as its mind that one. */
  over(mind: Mind): Mind;
  shown(): Programs;
  add(given: AddProgram): Promise<Program | Refused>;
  /** Null: there is none. */
  try(programId: string): Promise<Program | null>;
  remove(programId: string): Promise<boolean>;
  start(): Promise<void>;
  /** Nothing of any is left when this resolves. */
  close(): Promise<void>;
}

export interface Refused {
  readonly refused: 'programs' | 'name' | 'room';
  readonly reason: string;
}

/** A secret that is one run's alone, is written nowhere, and ends with it. */
export interface Lent {
  readonly secret: string;
  giveBack(): void;
}

export interface AgentProgramsDeps extends ProgramRowsDeps, Pick<KeptSessionsDeps, 'talkOf'> {
  /** Which program the person has chosen for an agent; null: none. */
  readonly chosenFor: (agentId: AgentId) => Promise<string | null>;
  /** Whether the person lets this agent use one of Roost's tools. */
  readonly mayUse: (agentId: AgentId, tool: string) => Promise<boolean>;
  /** Who is asked before a program does something. */
  readonly ask: AskLeave;
  /** What it does without asking stands in the account too. */
  readonly note: NoteDeed;
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly workspaces: Pick<Workspaces, 'folderOf' | 'of' | 'changed'>;
  readonly processes: Pick<Processes, 'start'>;
  readonly starts: Starts;
  /** How many of them may be under way at once: as the person has set it. */
  readonly mostStarts: () => Promise<number>;
  /** Whether programs may be run on this machine for whoever is signed in. */
  readonly allowed: boolean;
  readonly lend: (owner: MindOwner, label: string) => Lent;
  /** Of this relay, as programs on its machine reach it. */
  readonly address: string;
  readonly version: string;
  readonly newId: () => string;
  readonly elapsed: () => number;
  readonly timers: Timers;
  /** Something of `shown` has changed. */
  readonly onChange: () => void;
  readonly logger: Logger;
  readonly limits?: ProgramLimits;
}

interface Kept {
  readonly kept: KeptProgram;
  state: ProgramState;
}
interface Live {
  readonly programId: string;
  readonly owner: MindOwner;
  readonly mind: ProgramMind;
  readonly lent: Lent;
}

const callerOf = ({ agentId, sessionId, runId }: MindOwner, signal: AbortSignal): Caller => ({
  ...{ agentId, sessionId, runId, run: runId, signal },
  kind: sessionId === null ? 'run' : 'session',
});
const nameOf = ({ info }: Pick<Line, 'info'>) =>
  `${info.agentInfo?.name ?? 'an agent'} ${info.agentInfo?.version ?? ''}`.trim();

// In one piece: what is kept of a program and what runs of it are one state.
export function createAgentPrograms(deps: AgentProgramsDeps): AgentPrograms {
  const { now, elapsed, logger, allowed, ask, note: noteDeed, onChange, limits = PROGRAM_LIMITS } = deps;
  const rows = createProgramRows(deps);
  const sessions = createKeptSessions({ ...deps, limits });
  const inTurn = createQueue();
  const programs = new Map<string, Kept>();
  /** By run. */
  const live = new Map<string, Live>();
  const ending = new Set<Promise<void>>();

  function show({ kept, state }: Kept): Program {
    return {
      programId: kept.programId,
      name: kept.name,
      where: [kept.command, ...kept.args].join(' '),
      variables: Object.keys(kept.env),
      throughRelay: kept.throughRelay,
      state,
      running: [...live.values()]
        .filter(({ programId }) => programId === kept.programId)
        .map(({ owner, mind }) => ({ agentId: owner.agentId, ...mind.standing() })),
    };
  }

  /** How it is started: with the way to its model through this relay, where that is chosen. */
  function startOf({ name, command, args, env, throughRelay }: KeptProgram, secret: string | null) {
    const through: Record<string, string> =
      throughRelay && secret !== null
        ? { ANTHROPIC_BASE_URL: `${deps.address}/llm/${secret}`, ANTHROPIC_API_KEY: 'roost' }
        : {};
    return {
      name,
      command,
      args,
      env: { ...UNASKED, ...env, ...through },
      processes: deps.processes,
      version: deps.version,
    };
  }

  function note(programId: string, state: ProgramState): void {
    const one = programs.get(programId);
    if (!one) return;
    one.state = state;
    onChange();
  }
  const answers = (line: Pick<Line, 'info'>, ms: number): ProgramState => ({
    kind: 'answers',
    at: now(),
    ms: Math.round(ms),
    is: nameOf(line),
    tools: line.info.agentCapabilities?.mcpCapabilities?.http === true,
  });
  const fails = ({ why, message }: ProgramError): ProgramState => ({ kind: 'fails', at: now(), why, message });

  function begin({ kept }: Kept, owner: MindOwner): ProgramMind {
    const { agentId, sessionId, runId } = owner;
    const { programId, name } = kept;
    const lent = deps.lend(owner, name);
    const begun = elapsed();
    const mind = createProgramMind({
      name,
      start: () => startOf(kept, lent.secret),
      folder: deps.workspaces.folderOf(agentId),
      workspace: deps.workspaces.of(agentId),
      mayUse: (tool) => deps.mayUse(agentId, tool),
      server: { url: `${deps.address}/mcp`, secret: lent.secret },
      wakes: sessionId !== null,
      async resumes(system) {
        // One that has just ended may be the one.
        await Promise.all(ending);
        return sessions.take(agentId, programId, system);
      },
      countsItself: kept.throughRelay,
      inTurn: (work, onPlace, signal) => deps.starts.inTurn(work, onPlace, signal, deps.mostStarts),
      ...{ permit: ask, note: noteDeed, callerOf: (signal: AbortSignal) => callerOf(owner, signal) },
      onChange() {
        // It may have written there by itself.
        if (mind.standing().state === 'ready') deps.workspaces.changed(agentId);
        onChange();
      },
      onStart: (went) => note(programId, 'line' in went ? answers(went.line, elapsed() - begun) : fails(went.error)),
      timers: deps.timers,
      now,
      limits,
    });
    live.set(runId, { programId, owner, mind, lent });
    onChange();
    return mind;
  }

  function end(runId: string): void {
    const one = live.get(runId);
    if (!one) return;
    live.delete(runId);
    one.lent.giveBack();
    const { agentId, sessionId } = one.owner;
    const keep = sessionId === null ? () => undefined : sessions.leaving(agentId, one.programId);
    const closing = one.mind
      .close()
      .then(keep)
      .catch((error: unknown) =>
        logger.error('an agent program could not be ended, or its session not be kept', { error: String(error) }),
      )
      .then(onChange);
    ending.add(closing);
    void closing.finally(() => ending.delete(closing));
  }

  deps.log.subscribe(({ event }) => {
    if (event.kind === 'run-ended') end(event.runId);
    else if (event.kind === 'changed' && event.what === 'config') deps.starts.look();
    else if (event.kind === 'session-ended')
      for (const [runId, { owner }] of live) if (owner.sessionId === event.sessionId) end(runId);
  });

  async function of(owner: MindOwner): Promise<AgentMind | null> {
    if (owner.agentId === LEAD_ID) return null;
    const under = live.get(owner.runId);
    if (under) return under.mind;
    const programId = await deps.chosenFor(owner.agentId);
    if (programId === null) return null;
    const one = programs.get(programId);
    return one && allowed ? begin(one, owner) : GONE;
  }

  async function look({ kept, state: before }: Kept): Promise<void> {
    const { programId } = kept;
    const begun = elapsed();
    note(programId, { kind: 'trying', since: now() });
    try {
      const tried = await tryProgram({ ...startOf(kept, null), limits }, deps.timers);
      note(programId, 'error' in tried ? fails(tried.error) : answers(tried.line, elapsed() - begun));
    } catch (error) {
      note(programId, before);
      throw error;
    }
  }

  const over = (mind: Mind): Mind => {
    const current = mind.current?.bind(mind);
    return {
      models: (chosen) => mind.models(chosen),
      ...(current ? { current: () => over(current()) } : {}),
      of,
      web: (model) => mind.web?.(model) ?? false,
      answer: (request, listener) => mind.answer(request, listener),
      close: () => mind.close(),
    };
  };

  return {
    over,
    shown: () => ({
      programs: [...programs.values()].map(show),
      found: allowed
        ? KNOWN_AGENTS.filter(
            ({ command }) =>
              programAt(command) !== null && ![...programs.values()].some(({ kept }) => kept.command === command),
          ).map(({ name, command, args }) => ({ name, command, args: [...args] }))
        : [],
      allowed,
    }),
    async start() {
      await sessions.start();
      for (const kept of await rows.all()) programs.set(kept.programId, { kept, state: { kind: 'untried' } });
    },
    add: (given) =>
      inTurn(async () => {
        if (!allowed) return { refused: 'programs', reason: PROGRAMS_OFF };
        if (programs.size >= limits.programs)
          return { refused: 'room', reason: `There is room for ${limits.programs} programs. Take one away first.` };
        if ([...programs.values()].some(({ kept }) => kept.name === given.name))
          return { refused: 'name', reason: `A program called ${given.name} is there already.` };
        const kept = { ...given, programId: deps.newId() };
        const one: Kept = { kept, state: { kind: 'untried' } };
        await rows.add(kept);
        programs.set(kept.programId, one);
        await look(one);
        return show(one);
      }),
    async try(programId) {
      const one = programs.get(programId);
      if (!one) return null;
      if (allowed) await look(one);
      else note(programId, fails(new ProgramError('other', PROGRAMS_OFF)));
      return show(one);
    },
    remove: (programId) =>
      inTurn(async () => {
        if (!programs.has(programId)) return false;
        await rows.remove(programId);
        programs.delete(programId);
        for (const [runId, each] of live) if (each.programId === programId) end(runId);
        onChange();
        return true;
      }),
    async close() {
      for (const runId of live.keys()) end(runId);
      await Promise.all(ending);
    },
  };
}

/**
 * The processes of those agents that have a program as their mind: one for each run, from its first
 * turn to its end.
 */
import type { AgentId, RunId } from '../../../src/shared/domain/ids.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { Program } from '../../../src/shared/protocol/programs.ts';
import type { AskLeave, Caller, EventLog, NoteDeed } from '../../contracts/index.ts';
import type { AgentMind, MindOwner } from '../../agents/minds/index.ts';
import type { Processes } from '../../platform/processes/index.ts';
import type { Logger } from '../../agents/runs/context.ts';
import type { Workspaces } from '../workspaces/index.ts';
import { createKeptSessions, type KeptSessionsDeps } from './kept-sessions.ts';
import type { LineStart } from './line.ts';
import { createProgramMind, type ProgramMind, type ProgramMindDeps } from './mind.ts';
import type { KeptProgram } from './rows.ts';
import { ASKS, TRUSTS, UNASKED, type ProgramLimits } from './settings.ts';
import type { Starts } from './starts.ts';

/** A secret that is one run's alone, is written nowhere, and ends with it. */
export interface Lent {
  readonly secret: string;
  giveBack(): void;
}

export interface ProgramStartDeps {
  readonly processes: Pick<Processes, 'start'>;
  /** Of this relay, as programs on its machine reach it. */
  readonly address: string;
  readonly version: string;
}

/**
 * How it is started: with the way to its model through this relay, where that is chosen. `secret`:
 * null where it is only tried.
 */
export function startOf(
  { name, command, args, env, throughRelay }: KeptProgram,
  secret: string | null,
  { address, processes, version }: ProgramStartDeps,
): Omit<LineStart, 'cwd' | 'limits'> {
  const through: Record<string, string> =
    throughRelay && secret !== null
      ? { ANTHROPIC_BASE_URL: `${address}/llm/${secret}`, ANTHROPIC_API_KEY: 'roost' }
      : {};
  return { name, command, args, env: { ...UNASKED, ...TRUSTS, ...ASKS, ...env, ...through }, processes, version };
}

export interface LiveProgramsDeps extends ProgramStartDeps, KeptSessionsDeps {
  /** Whether the person lets this agent use one of Roost's tools. */
  readonly mayUse: (agentId: AgentId, tool: string) => Promise<boolean>;
  /** Who is asked before a program does something. */
  readonly ask: AskLeave;
  /** What it does without asking stands in the account too. */
  readonly note: NoteDeed;
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly workspaces: Pick<Workspaces, 'folderOf' | 'of' | 'changed' | 'removeEmpty'>;
  /** It is not born yet. */
  readonly isEgg: (agentId: AgentId) => boolean;
  readonly starts: Starts;
  /** How many of them may be under way at once: as the person has set it. */
  readonly mostStarts: () => Promise<number>;
  readonly lend: (owner: MindOwner, label: string) => Lent;
  readonly elapsed: () => number;
  readonly timers: Timers;
  /** Something of what runs has changed. */
  readonly onChange: () => void;
  readonly logger: Logger;
  readonly limits: ProgramLimits;
}

/** How a start went, and how many ms it took. */
export type OnStart = (went: Parameters<ProgramMindDeps['onStart']>[0], ms: number) => void;

export interface LivePrograms {
  /** That of a run under way. */
  under(owner: MindOwner): AgentMind | null;
  /** `onTools`: whether its process has Roost's tools, as soon as that is known. */
  begin(kept: KeptProgram, owner: MindOwner, onStart: OnStart, onTools: (has: boolean) => void): AgentMind;
  runningOf(programId: string): Program['running'];
  /** The program of this run has asked for the list of Roost's tools. */
  listed(runId: RunId): void;
  /** Ends all that have this program as their mind. */
  endAll(programId: string): void;
  start(): Promise<void>;
  /** Nothing of any is left when this resolves. */
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

export function createLivePrograms(deps: LiveProgramsDeps): LivePrograms {
  const { elapsed, logger, onChange, workspaces, limits } = deps;
  const sessions = createKeptSessions(deps);
  /** By run. */
  const live = new Map<string, Live>();
  const ending = new Set<Promise<void>>();

  function begin(kept: KeptProgram, owner: MindOwner, onStart: OnStart, onTools: (has: boolean) => void): ProgramMind {
    const { agentId, sessionId, runId } = owner;
    const { programId, name, throughRelay } = kept;
    const lent = deps.lend(owner, name);
    const begun = elapsed();
    const mind = createProgramMind({
      name,
      start: () => startOf(kept, lent.secret, deps),
      folder: workspaces.folderOf(agentId),
      workspace: workspaces.of(agentId),
      mayUse: (tool) => deps.mayUse(agentId, tool),
      server: { url: `${deps.address}/mcp`, secret: lent.secret },
      wakes: sessionId !== null,
      async resumes(system) {
        // One that has just ended may be the one.
        await Promise.all(ending);
        return sessions.take(agentId, programId, system);
      },
      countsItself: throughRelay,
      inTurn: (work, onPlace, signal) => deps.starts.inTurn(work, onPlace, signal, deps.mostStarts),
      permit: deps.ask,
      note: deps.note,
      callerOf: (signal) => callerOf(owner, signal),
      onChange() {
        // It may have written there by itself.
        if (mind.standing().state === 'ready') workspaces.changed(agentId);
        onChange();
      },
      onTools,
      onStart: (went) => onStart(went, elapsed() - begun),
      timers: deps.timers,
      now: deps.now,
      limits,
    });
    live.set(runId, { programId, owner, mind, lent, isEgg: deps.isEgg(agentId) });
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
      .then(() => (one.isEgg ? workspaces.removeEmpty(agentId) : undefined))
      .catch((error: unknown) =>
        logger.error('an ACP agent could not be ended, or its session not be kept', { error: String(error) }),
      )
      .then(onChange);
    ending.add(closing);
    void closing.finally(() => ending.delete(closing));
  }

  deps.log.subscribe(({ event }) => {
    if (event.kind === 'agent-born') {
      for (const one of live.values()) if (one.owner.agentId === event.agentId) one.isEgg = false;
    } else if (event.kind === 'run-ended') end(event.runId);
    else if (event.kind === 'changed' && event.what === 'config') deps.starts.look();
    else if (event.kind === 'session-ended')
      for (const [runId, { owner }] of live) if (owner.sessionId === event.sessionId) end(runId);
  });

  return {
    under: ({ runId }) => live.get(runId)?.mind ?? null,
    begin,
    runningOf: (programId) =>
      [...live.values()]
        .filter((one) => one.programId === programId)
        .map(({ owner, mind }) => ({ agentId: owner.agentId, ...mind.standing() })),
    listed: (runId) => live.get(runId)?.mind.listed(),
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

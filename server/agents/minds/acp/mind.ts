/**
 * A mind that is a process: one for one run of one agent, in that agent's folder. Each prompt holds
 * the new part of the conversation. A process that has ended is started again with the earlier
 * messages. Its questions go to the person like any others. Through Roost it reaches only its own
 * agent's folder and tools.
 */
import { mkdir } from 'node:fs/promises';
import { type ContentBlock, methods, type PromptResponse } from '@agentclientprotocol/sdk';
import type { Timers } from '../../../../src/shared/domain/platform/timers.ts';
import { isRecord } from '../../../../src/shared/domain/platform/json.ts';
import { sentence } from '../../../../src/shared/domain/names.ts';
import type { Program } from '../../../../src/shared/protocol/programs.ts';
import type { AgentMind, MindAnswer, MindErrorKind, MindListener, MindRequest } from '../index.ts';
import type { AskPermission, RecordAction, Permission } from '../actions.ts';
import type { Caller } from '../../../tools/index.ts';
import type { Workspace } from '../../../files/workspaces/index.ts';
import { inTime, type LeftSession, type OpenSession, openSession, type ResumableSession } from './starts.ts';
import {
  createSilence,
  createTurn,
  type Given,
  heardIn,
  instructionsOf,
  promptOf,
  type Silence,
  takesTools,
  type Turn,
} from './turn.ts';
import {
  faultOf,
  type Connection,
  type ConnectionHandlers,
  type ConnectionStart,
  type ProgramError,
} from './connection.ts';
import { createFiles, type FilesDeps } from './files.ts';
import { startReviewed } from './planted.ts';
import { type ProgramLimits, READS_NONE_AS_EMPTY } from './settings.ts';

// Failures and costs of a turn. An ACP agent reports the cost of its whole session so far.

const blocksOf = (text: string): MindAnswer['blocks'] => (text === '' ? [] : [{ kind: 'text', text }]);
const failed = (kind: MindErrorKind, message: string, text: string): MindAnswer => ({
  ok: false,
  error: { kind, message },
  blocks: blocksOf(text),
  usage: null,
  whole: true,
  outputMost: null,
});

interface Reported {
  /** The session had already reported so many US dollars. */
  begin(dollars: number): void;
  /** US dollars that the session has reported. */
  soFar(): number;
  /** The cost of the turn that ends with this report. Null: there was no report. */
  spent(dollars: number | null): Pick<MindAnswer, 'usage' | 'reportedMicroUsd'>;
}

/**
 * `name`: stands for the model, which is unknown. `countsItself`: nothing that it reports is
 * counted.
 */
function createReported(name: string, countsItself: boolean): Reported {
  let before = 0;
  return {
    begin: (dollars) => void (before = dollars),
    soFar: () => before,
    spent(dollars) {
      if (countsItself || dollars === null) return { usage: null };
      // An ACP agent that restarts its count in a resumed session reports less than before.
      const spent = dollars < before ? dollars : dollars - before;
      before = dollars;
      const usage = { model: name, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
      // The difference of two such numbers has a rounding error.
      return { usage, reportedMicroUsd: Math.ceil(Number((spent * 1_000_000).toFixed(3))) };
    },
  };
}

// One prompt to an ACP agent, until it is over, stopped, silent for too long, or broken.

interface PromptTurn {
  /** Aborts to stop the prompt. */
  readonly signal: AbortSignal;
  readonly silence: Silence;
  /** The prompt is being stopped, so its open questions are over. */
  readonly onStop: () => void;
  readonly timers: Pick<Timers, 'after'>;
  /** ms that a stopped prompt may take to end before the process is ended. */
  readonly cancelMs: number;
}

/**
 * Rejects with a `ProgramError`. `stopped`: the prompt did not end in time, and the process was
 * ended.
 */
async function sayPrompt(
  { line, sessionId, modes }: Pick<OpenSession, 'line' | 'sessionId' | 'modes'>,
  prompt: ContentBlock[],
  { signal, silence, onStop, timers, cancelMs }: PromptTurn,
): Promise<PromptResponse | 'stopped'> {
  await modes.ask();
  const answer = line.agent.request(methods.agent.session.prompt, { sessionId, prompt });
  // For when nobody waits for it any more.
  answer.catch(() => undefined);
  let cancel: () => void = () => undefined;
  let unwatch: () => void = () => undefined;
  const ended = new Promise<'stopped'>((resolve, reject) => {
    const stop = () => {
      onStop();
      void line.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => undefined);
      cancel = timers.after(cancelMs, () => {
        void line.close();
        resolve('stopped');
      });
    };
    unwatch = silence.watch((error) => {
      void line.close();
      reject(error);
    });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([line.answer(answer), ended]);
  } finally {
    unwatch();
    cancel();
  }
}

export interface ProgramMindDeps {
  readonly name: string;
  /** How the process is started. Evaluated anew for each start. */
  readonly start: () => Omit<ConnectionStart, 'cwd' | 'limits'>;
  readonly folder: string;
  readonly workspace: Pick<Workspace, 'bytesOf' | 'write' | 'list' | 'walk'>;
  readonly mayUse: FilesDeps['mayUse'];
  /** Roost's own MCP server, for this agent alone. */
  readonly server: { readonly url: string; readonly secret: string };
  /** The conversation begins with the wake payload: who the agent is, and what was said last. */
  readonly wakes: boolean;
  /** Called once, where it `wakes`: the session to resume. Null: none. */
  readonly resumes: (system: string) => Promise<ResumableSession | null>;
  /** Its requests go through the relay and are counted there. */
  readonly countsItself: boolean;
  /**
   * Waits in the queue of starts. `onPlace` receives the position. Rejects where `signal` aborts.
   */
  readonly inTurn: <Value>(
    work: () => Promise<Value>,
    onPlace: (place: number) => void,
    signal: AbortSignal,
  ) => Promise<Value>;
  readonly permit: AskPermission;
  readonly record: RecordAction;
  readonly callerOf: (signal: AbortSignal) => Caller;
  /** The process ended or was replaced. */
  readonly onChange: () => void;
  /** Whether the process has Roost's tools is known. */
  readonly onTools: (has: boolean) => void;
  /** The result of a start: the connection, or the error. */
  readonly onStart: (went: { readonly line: Connection } | { readonly error: ProgramError }) => void;
  readonly timers: { after(ms: number, run: () => void): () => void };
  readonly now: () => number;
  readonly limits: ProgramLimits;
}

export interface ProgramMind extends AgentMind {
  /** Resolves when the process is gone, with its session if that can be resumed. */
  close(): Promise<LeftSession | null>;
  status(): {
    readonly pid: number | null;
    readonly state: Program['running'][number]['state'];
    readonly since: number;
    readonly mode: Program['running'][number]['mode'];
    readonly tools: Program['running'][number]['tools'];
  };
  /** The process has requested the list of Roost's tools. */
  listed(): void;
  /** The process waits for a tool of Roost's, until the returned function is called. */
  called(): () => void;
}

type Open = Given & OpenSession;

const ROOSTS_OWN: Permission = { allowed: true, over: () => undefined };
const STOPPED = sentence`Stopped.`;
/** For the agent. */
const ONLY_ALWAYS =
  'The human let it, this once; your program can only be told that it may do so for good, and so it was told nothing.';
const ABORTED = 'aborted' satisfies MindErrorKind;
/** The program reached its own limit, for example. */
const unfinished = (name: string): string =>
  sentence`${name} ended its turn early. What it said is stored. Write to it to continue.`;

/** The answer of a turn that ended for this reason. */
function answerOf(name: string, reason: unknown, text: string, toolless: boolean): MindAnswer {
  const ok = { ok: true, blocks: blocksOf(text), usage: null } as const;
  switch (reason) {
    case 'cancelled':
      return failed(ABORTED, STOPPED, text);
    case 'end_turn':
      return { ...ok, stop: 'end', ...(toolless ? { toolless } : {}) };
    case 'refusal':
      return { ...ok, stop: 'refusal' };
    default:
      return failed('stream-cut', unfinished(name), text);
  }
}

interface QuestionsDeps extends Pick<ProgramMindDeps, 'permit' | 'callerOf' | 'limits'> {
  readonly silence: Pick<Silence, 'hold'>;
  /** The turn of that session, and the signal that ends its waits. */
  readonly current: (sessionId: string) => { readonly turn: Turn | null; readonly signal: AbortSignal };
  /** The person's words to a question. The protocol carries only yes and no. */
  readonly onWords: (words: string) => void;
}

/** Asks the person what the program asks. */
function createQuestions(deps: QuestionsDeps): ConnectionHandlers['permission'] {
  const { silence, current, onWords } = deps;
  let questions = 0;
  return async ({ sessionId, toolCall, options }) => {
    const cancelled = { outcome: { outcome: 'cancelled' } } as const;
    const { turn, signal } = current(sessionId);
    if (!turn || questions >= deps.limits.openQuestions) return cancelled;
    const { tool, input, own, begun } = turn.asked(toolCall);
    questions += 1;
    const answered = silence.hold();
    try {
      // Roost decides about its own tools where they run.
      const permission = own ? ROOSTS_OWN : await deps.permit({ tool, input, caller: deps.callerOf(signal) });
      const says = permission.allowed ? 'allow' : 'reject';
      // A permanent yes would end all later questions, whatever the person says then. Roost asks
      // about its own tools itself.
      const hows = permission.allowed && !own ? ['once'] : ['once', 'always'];
      const option = hows.flatMap((how) => options.filter(({ kind }) => kind === `${says}_${how}`)).at(0);
      if (permission.allowed && option) begun(permission.over);
      else if (permission.allowed) permission.over({ text: ONLY_ALWAYS, isError: true, stopped: true });
      if (signal.aborted) return cancelled;
      if (!permission.allowed || !option) onWords(permission.allowed ? ONLY_ALWAYS : permission.words);
      return option ? { outcome: { outcome: 'selected', optionId: option.optionId } } : cancelled;
    } finally {
      questions -= 1;
      answered();
    }
  };
}

export function createProgramMind(deps: ProgramMindDeps): ProgramMind {
  const { name, folder, limits, timers, now } = deps;
  let open: Open | null = null;
  let state: ReturnType<ProgramMind['status']>['state'] = 'waiting';
  let since = now();
  /** Aborts when the run is over. */
  const over = new AbortController();
  let starting: Promise<Open> | null = null;
  let turn: Turn | null = null;
  /** Aborts when the waits of this turn are over. */
  let turnOver = new AbortController();
  const silence = createSilence(name, limits.silentMs, timers);
  /** The person's words to questions, for the next prompt. */
  const announcedTools: string[] = [];
  const reported = createReported(name, deps.countsItself);
  let mayResume = deps.wakes;
  /** The session was resumed, and has not answered yet. */
  let unproven = false;
  /** Whether the process has Roost's tools. Null: it has not requested them yet, and still may. */
  let hasTools: boolean | null = null;
  /** The newest prompt that was completed. The session then holds all of it. */
  let whole: MindRequest | null = null;

  const permission = createQuestions({
    ...deps,
    silence,
    current: (id) => ({ turn: id === open?.sessionId ? turn : null, signal: turnOver.signal }),
    onWords: (words) => announcedTools.push(words),
  });

  function become(next: typeof state): void {
    if (next === state) return;
    state = next;
    since = now();
    deps.onChange();
  }

  function toolsAre(has: boolean): void {
    if (hasTools === has) return;
    hasTools = has;
    deps.onTools(has);
  }

  async function begin(request: MindRequest, late: AbortSignal): Promise<Open> {
    become('starting');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // If another mind has answered in this conversation, the session does not know that answer.
    const earlier = mayResume && request.messages.length === 1 ? await deps.resumes(request.system) : null;
    mayResume = false;
    hasTools = null;
    const session = await openSession(
      { ...deps.start(), cwd: folder, limits },
      {
        server: deps.server,
        instructions: instructionsOf(request, deps.wakes),
        resumes: earlier?.sessionId ?? null,
      },
      {
        update(notification) {
          if (notification.sessionId !== open?.sessionId) return;
          silence.sign();
          if (notification.update.sessionUpdate === 'current_mode_update') {
            open.modes.changed(notification.update.currentModeId);
            deps.onChange();
          }
          turn?.take(notification.update);
        },
        permission,
        ...createFiles({
          ...deps,
          isOwn: (id) => id === open?.sessionId,
          readsNoneAsEmpty: () => READS_NONE_AS_EMPTY.test(open?.line.info.agentInfo?.name ?? ''),
        }),
      },
      late,
      timers,
    );
    const { line, instructed, resumed } = session;
    const made: Open = { ...session, woken: resumed || (instructed && deps.wakes), given: 0, texts: [] };
    open = made;
    reported.begin(resumed && earlier ? earlier.dollars : 0);
    unproven = resumed;
    line.broken.catch(() => {
      if (open !== made) return;
      open = null;
      become('waiting');
    });
    become('ready');
    deps.onStart({ line });
    if (!takesTools(line)) toolsAre(false);
    return made;
  }

  /** If the turn is stopped or the run ends, the process is ended at any point of its start. */
  async function started(request: MindRequest, { onState, signal }: MindListener): Promise<Open> {
    if (open) return open;
    become('waiting');
    const place = (position: number) => onState?.({ kind: 'waiting', position });
    const stopped = AbortSignal.any([signal, over.signal]);
    try {
      starting = startReviewed(
        deps,
        deps.callerOf(stopped),
        () => deps.inTurn(() => inTime(timers, limits, stopped, (late) => begin(request, late)), place, stopped),
        async (made) => {
          open = null;
          await made.line.close();
        },
      );
      return await starting;
    } catch (error) {
      const fault = faultOf(name, error);
      become('waiting');
      if (!stopped.aborted) deps.onStart({ error: fault });
      throw fault;
    } finally {
      starting = null;
    }
  }

  async function answer(request: MindRequest, listener: MindListener): Promise<MindAnswer> {
    if (over.signal.aborted) return failed('upstream-broken', sentence`The run of ${name} is over.`, '');
    turnOver = new AbortController();
    const mine = createTurn(
      { ...listener, onAction: (tool, input) => deps.record({ tool, input, caller: deps.callerOf(listener.signal) }) },
      limits,
    );
    try {
      const session = await started(request, listener);
      if (listener.signal.aborted) return failed(ABORTED, STOPPED, '');
      const words = announcedTools.splice(0);
      const prompt = async (open: Open) => {
        turn = mine;
        become('working');
        return await sayPrompt(open, promptOf(open, request, words, open.takes), {
          ...{ signal: listener.signal, silence, timers, cancelMs: limits.cancelMs },
          onStop: () => turnOver.abort(),
        });
      };
      whole = null;
      const first = prompt(session);
      listener.onState?.({ kind: 'sent' });
      const ended = await first.catch(async (error: unknown) => {
        // A session that opens may still fail to answer. The turn then falls back to soul and
        // transcript.
        if (!unproven || !mine.isSilent() || listener.signal.aborted) throw error;
        await session.line.close();
        open = null;
        turn = null;
        return await prompt(await started(request, listener));
      });
      unproven = false;
      if (ended !== 'stopped') whole = request;
      const isStopped = listener.signal.aborted || ended === 'stopped';
      const reason: unknown = isStopped ? 'cancelled' : isRecord(ended) ? ended.stopReason : null;
      mine.end(reason === 'cancelled' ? STOPPED : null);
      // A process that has answered without requesting the tools does not know them.
      if (reason === 'end_turn' && hasTools === null) toolsAre(false);
      return { ...answerOf(name, reason, mine.text(), hasTools === false), ...reported.spent(mine.dollars()) };
    } catch (error) {
      const { aborted } = listener.signal;
      const message = aborted ? STOPPED : faultOf(name, error).message;
      mine.end(message);
      // A failed turn still has the cost that it reported.
      return {
        ...failed(aborted ? ABORTED : 'upstream-broken', message, mine.text()),
        ...reported.spent(mine.dollars()),
      };
    } finally {
      turn = null;
      turnOver.abort();
      if (open) become('ready');
    }
  }

  return {
    counts: deps.countsItself ? 'itself' : 'reports',
    answer,
    status: () => ({
      pid: open?.line.pid ?? null,
      ...{ state, since },
      mode: open?.modes.now() ?? null,
      tools: open ? hasTools : null,
    }),
    listed: () => toolsAre(true),
    called: () => silence.hold(),
    async close() {
      over.abort();
      turnOver.abort();
      await starting?.catch(() => undefined);
      const last = open;
      const full = whole;
      open = null;
      await last?.line.close();
      return last?.resumable === true && full !== null
        ? { sessionId: last.sessionId, dollars: reported.soFar(), system: full.system, heard: heardIn(full.messages) }
        : null;
    },
  };
}

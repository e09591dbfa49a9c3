/**
 * A mind that is a process: one for one run of one agent, in that agent's folder. What is new in
 * the conversation is put before it as its next prompt; a process that has ended is started again
 * with what was said before. Its questions go to the person as any others do, and what it may reach
 * through Roost is its own folder, and its own agent's tools.
 */
import { isSameJson } from '../../../src/shared/domain/platform/json.ts';
import type {
  ContentBlock,
  PromptResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { mkdir } from 'node:fs/promises';
import { isRecord } from '../../../src/shared/domain/platform/is-record.ts';
import { sentence } from '../../../src/shared/domain/sentence.ts';
import { MIND_PREFIX } from '../../../src/shared/domain/toolsets.ts';
import type { Program } from '../../../src/shared/protocol/programs.ts';
import type { AskLeave, Caller, NoteDeed, Verdict } from '../../contracts/index.ts';
import type { AgentMind, MindAnswer, MindErrorKind, MindListener, MindRequest } from '../../agents/minds/index.ts';
import type { Workspace } from '../workspaces/index.ts';
import { faultOf, ProgramError, type Line, type LineStart } from './line.ts';
import { createFiles, type FilesDeps } from './files.ts';
import type { LeftSession, ResumableSession } from './kept-sessions.ts';
import { inTime, openSession, type OpenSession } from './open-session.ts';
import { createReported, failed } from './outcome.ts';
import { plantedIn, questionOf } from './planted.ts';
import { sayPrompt } from './prompt-turn.ts';
import { heardIn, instructionsOf, promptOf, takesTools, type Given } from './prompt.ts';
import { createSilence } from './silence.ts';
import { createTurn, type Turn } from './turn.ts';
import { READS_NONE_AS_EMPTY, type ProgramLimits } from './settings.ts';

export interface ProgramMindDeps {
  readonly name: string;
  /** How it is started; each time anew. */
  readonly start: () => Omit<LineStart, 'cwd' | 'limits'>;
  readonly folder: string;
  readonly workspace: Pick<Workspace, 'bytesOf' | 'write' | 'list' | 'walk'>;
  readonly mayUse: FilesDeps['mayUse'];
  /** Roost's own MCP server, for this agent alone. */
  readonly server: { readonly url: string; readonly secret: string };
  /** Its conversation begins with what wakes it: who it is, and what was said last. */
  readonly wakes: boolean;
  /** Asked once, where it `wakes`: the session of its that it goes on with; null: none. */
  readonly resumes: (system: string) => Promise<ResumableSession | null>;
  /** It asks for its own account. */
  readonly countsItself: boolean;
  /** In line for its start; `onPlace` is told where. Rejects where `signal` aborts. */
  readonly inTurn: <Value>(
    work: () => Promise<Value>,
    onPlace: (place: number) => void,
    signal: AbortSignal,
  ) => Promise<Value>;
  readonly permit: AskLeave;
  readonly note: NoteDeed;
  readonly callerOf: (signal: AbortSignal) => Caller;
  /** It has ended, or is another than before. */
  readonly onChange: () => void;
  /** Whether its process has Roost's tools is known. */
  readonly onTools: (has: boolean) => void;
  /** How a start went: what it calls itself, or the error. */
  readonly onStart: (went: { readonly line: Line } | { readonly error: ProgramError }) => void;
  readonly timers: { after(ms: number, run: () => void): () => void };
  readonly now: () => number;
  readonly limits: ProgramLimits;
}

export interface ProgramMind extends AgentMind {
  /** Nothing of it is left when this resolves, but its session, where that can be gone on with. */
  close(): Promise<LeftSession | null>;
  standing(): {
    readonly pid: number | null;
    readonly state: Program['running'][number]['state'];
    readonly since: number;
    readonly mode: Program['running'][number]['mode'];
    readonly tools: Program['running'][number]['tools'];
  };
  /** Its process has asked for the list of Roost's tools. */
  listed(): void;
}

type Open = Given & OpenSession;

/** As Claude Code’s own commands are asked about. */
const RUNS = `${MIND_PREFIX}execute`;
type Settings = Awaited<ReturnType<typeof plantedIn>>;
const ROOSTS_OWN: Verdict = { let: true, over: () => undefined };
const STOPPED = sentence`It was stopped.`;
/** To its agent. */
const ONLY_ALWAYS =
  'The human let it, this once; your program can only be told that it may do so for good, and so it was told nothing.';
const ABORTED = 'aborted' satisfies MindErrorKind;
/** Why a turn is over that its program did not bring to its end. */
function unfinishedOf(name: string, reason: unknown): string {
  switch (reason) {
    case 'max_tokens':
      return sentence`${name} reached its own limit of tokens for one answer. What it said until then is kept; write to it, and it goes on.`;
    case 'max_turn_requests':
      return sentence`${name} reached its own limit of requests for one turn. What it said until then is kept; write to it, and it goes on.`;
    default:
      return typeof reason === 'string'
        ? sentence`${name} ended its turn for a reason that Roost does not know (“${reason.slice(0, 80)}”). What it said until then is kept.`
        : sentence`${name} ended its turn without saying why. What it said until then is kept.`;
  }
}

export function createProgramMind(deps: ProgramMindDeps): ProgramMind {
  const { name, folder, limits, timers, now } = deps;
  let open: Open | null = null;
  let state: ReturnType<ProgramMind['standing']>['state'] = 'waiting';
  let since = now();
  /** Its run is over. */
  const over = new AbortController();
  let starting: Promise<Open> | null = null;
  let turn: Turn | null = null;
  /** Ends what waits of this turn. */
  let turnOver = new AbortController();
  let questions = 0;
  const silence = createSilence(name, limits.silentMs, timers);
  /**
   * What the person said to a question, for its next prompt: the protocol has no words beside yes
   * and no.
   */
  const told: string[] = [];
  const reported = createReported(name, deps.countsItself);
  let mayResume = deps.wakes;
  /** It goes on with a session from before, and has not answered in it yet. */
  let unproven = false;
  /** Whether its process has Roost's tools; null: it has not asked for them, and may do so yet. */
  let hasTools: boolean | null = null;
  /** Its newest prompt, where that came to its end: its session holds all of it then. */
  let whole: MindRequest | null = null;

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

  async function permission({
    sessionId,
    toolCall,
    options,
  }: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const cancelled = { outcome: { outcome: 'cancelled' } } as const;
    const mine = turn;
    if (!mine || sessionId !== open?.sessionId || questions >= limits.openQuestions) return cancelled;
    const { signal } = turnOver;
    const { tool, input, own, begun } = mine.asked(toolCall);
    questions += 1;
    const answered = silence.hold();
    try {
      // What it does with Roost's own tools, Roost decides where it is done.
      const verdict = own ? ROOSTS_OWN : await deps.permit({ tool, input, caller: deps.callerOf(signal) });
      const says = verdict.let ? 'allow' : 'reject';
      // For good it would ask no more, whatever the person says later; Roost's own tools are asked
      // about by Roost.
      const hows = verdict.let && !own ? ['once'] : ['once', 'always'];
      const option = hows.flatMap((how) => options.filter(({ kind }) => kind === `${says}_${how}`)).at(0);
      if (verdict.let && option) begun(verdict.over);
      else if (verdict.let) verdict.over({ text: ONLY_ALWAYS, isError: true, stopped: true });
      if (signal.aborted) return cancelled;
      if (!verdict.let || !option) told.push(verdict.let ? ONLY_ALWAYS : verdict.words);
      return option ? { outcome: { outcome: 'selected', optionId: option.optionId } } : cancelled;
    } finally {
      questions -= 1;
      answered();
    }
  }

  async function begin(request: MindRequest, late: AbortSignal): Promise<Open> {
    become('starting');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // What another mind has said in this conversation already, it would not know.
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

  /**
   * Asks the person about settings in the folder that the program follows by itself. Resolves with
   * those that they let. Throws where they say no, or are not there.
   */
  async function letSettings(signal: AbortSignal): Promise<Settings> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const found = await plantedIn(deps.workspace, limits);
    const paths = found.map(({ path }) => path).join(', ');
    if (found.some(({ hash }) => hash === null))
      throw new ProgramError(
        'other',
        sentence`${name} was not started: its agent’s folder has settings that it would follow by itself, and some cannot be looked at (${paths}). Delete them under Files.`,
      );
    if (found.length === 0) return found;
    const input = questionOf(name, found);
    const verdict = await deps.permit({ tool: RUNS, input, caller: deps.callerOf(signal) });
    if (!verdict.let)
      throw new ProgramError(
        'other',
        sentence`${name} was not started: its agent’s folder has settings that it would follow by itself (${paths}). Delete them under Files, or let it start with them under Approvals.`,
      );
    verdict.over({ text: 'It was started with them.', isError: false, stopped: false });
    return found;
  }

  /** Stopped, or over with its run, it is ended wherever it is in its start. */
  async function started(request: MindRequest, { onState, signal }: MindListener): Promise<Open> {
    if (open) return open;
    become('waiting');
    const place = (position: number) => onState?.({ kind: 'waiting', position });
    const left = AbortSignal.any([signal, over.signal]);
    async function start(): Promise<Open> {
      const agreed = await letSettings(left);
      const made = await deps.inTurn(() => inTime(timers, limits, left, (late) => begin(request, late)), place, left);
      if (isSameJson(agreed, await plantedIn(deps.workspace, limits))) return made;
      open = null;
      await made.line.close();
      throw new ProgramError(
        'other',
        sentence`${name} was ended: settings in its agent’s folder that it follows by itself changed while it started.`,
      );
    }
    try {
      starting = start();
      return await starting;
    } catch (error) {
      const fault = faultOf(name, error);
      become('waiting');
      if (!left.aborted) deps.onStart({ error: fault });
      throw fault;
    } finally {
      starting = null;
    }
  }

  async function prompted(
    mine: Open,
    prompt: ContentBlock[],
    signal: AbortSignal,
  ): Promise<PromptResponse | 'stopped'> {
    await mine.modes.ask();
    const ways = { signal, silence, onStop: () => turnOver.abort(), timers, cancelMs: limits.cancelMs };
    return await sayPrompt(mine, prompt, ways);
  }

  async function answer(request: MindRequest, listener: MindListener): Promise<MindAnswer> {
    if (over.signal.aborted) return failed('upstream-broken', sentence`The run of ${name} is over.`, '');
    turnOver = new AbortController();
    const mine = createTurn(
      { ...listener, onDeed: (tool, input) => deps.note({ tool, input, caller: deps.callerOf(listener.signal) }) },
      limits,
    );
    try {
      const session = await started(request, listener);
      if (listener.signal.aborted) return failed(ABORTED, STOPPED, '');
      turn = mine;
      become('working');
      listener.onState?.({ kind: 'sent' });
      whole = null;
      const words = told.splice(0);
      const first = prompted(session, promptOf(session, request, words, session.takes), listener.signal);
      const ended = await first.catch(async (error: unknown) => {
        // A session that opens need not be one that answers: soul and transcript do, as where it
        // does not open.
        if (!unproven || !mine.isSilent() || listener.signal.aborted) throw error;
        await session.line.close();
        open = null;
        turn = null;
        const anew = await started(request, listener);
        turn = mine;
        become('working');
        return await prompted(anew, promptOf(anew, request, words, anew.takes), listener.signal);
      });
      unproven = false;
      if (ended !== 'stopped') whole = request;
      const reason: unknown = ended === 'stopped' ? 'cancelled' : isRecord(ended) ? ended.stopReason : null;
      const stopped = reason === 'cancelled' || listener.signal.aborted;
      mine.end(stopped ? STOPPED : null);
      const text = mine.text();
      const spent = reported.spent(mine.dollars());
      const blocks = text === '' ? [] : [{ kind: 'text' as const, text }];
      if (stopped) return { ...failed(ABORTED, STOPPED, text), ...spent };
      // One that has answered without asking for them does not know of them.
      if (reason === 'end_turn' && hasTools === null) toolsAre(false);
      const toolless = hasTools === false ? { toolless: true } : {};
      if (reason === 'end_turn') return { ok: true, blocks, stop: 'end', ...toolless, ...spent };
      if (reason === 'refusal') return { ok: true, blocks, stop: 'refusal', ...spent };
      return { ...failed('stream-cut', unfinishedOf(name, reason), text), ...spent };
    } catch (error) {
      const [kind, message] = listener.signal.aborted
        ? ([ABORTED, STOPPED] as const)
        : (['upstream-broken', faultOf(name, error).message] as const);
      mine.end(message);
      // What it had said that it spent, it has spent.
      return { ...failed(kind, message, mine.text()), ...reported.spent(mine.dollars()) };
    } finally {
      turn = null;
      turnOver.abort();
      if (open) become('ready');
    }
  }

  return {
    counts: deps.countsItself ? 'itself' : 'reports',
    answer,
    standing: () => ({
      pid: open?.line.pid ?? null,
      ...{ state, since },
      mode: open?.modes.now() ?? null,
      tools: open ? hasTools : null,
    }),
    listed: () => toolsAre(true),
    async close() {
      over.abort();
      turnOver.abort();
      await starting?.catch(() => undefined);
      const last = open;
      const known = whole;
      open = null;
      await last?.line.close();
      return last?.resumable === true && known !== null
        ? { sessionId: last.sessionId, dollars: reported.soFar(), system: known.system, heard: heardIn(known.messages) }
        : null;
    },
  };
}

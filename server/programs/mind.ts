/**
 * A mind that is a process: one for one run of one agent, in that agent's folder. What is new in the conversation is put
 * before it as its next prompt; a process that has ended is started again with what was said before. Its questions go to the
 * person as any others do, and what it may reach through Roost is its own folder, and its own agent's tools.
 */
import { methods } from '@agentclientprotocol/sdk';
import type {
  ContentBlock,
  PromptResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { mkdir } from 'node:fs/promises';
import type { Program } from '../../src/protocol/programs.ts';
import type { Verdict } from '../contracts.ts';
import type { AgentMind, MindAnswer, MindErrorKind, MindListener, MindRequest } from '../minds/index.ts';
import type { Workspace } from '../workspaces/index.ts';
import { faultOf, openLine, ProgramError, type Line, type LineStart } from './line.ts';
import { createFiles } from './files.ts';
import { mcpServers, promptOf, type Given } from './prompt.ts';
import { createTurn, type Turn } from './turn.ts';
import type { ProgramLimits } from './settings.ts';

export interface ProgramMindDeps {
  readonly name: string;
  /** How it is started; each time anew. */
  readonly start: () => Omit<LineStart, 'cwd' | 'limits'>;
  readonly folder: string;
  readonly workspace: Pick<Workspace, 'bytesOf' | 'write'>;
  /** Roost's own MCP server, for this agent alone. */
  readonly server: { readonly url: string; readonly secret: string };
  /** It asks for its own account. */
  readonly countsItself: boolean;
  /** In line for its start; `onPlace` is told where. Rejects where `signal` aborts. */
  readonly inTurn: <Value>(
    work: () => Promise<Value>,
    onPlace: (place: number) => void,
    signal: AbortSignal,
  ) => Promise<Value>;
  readonly permit: (asked: {
    readonly tool: string;
    readonly input: unknown;
    readonly signal: AbortSignal;
  }) => Promise<Verdict>;
  /** It has ended, or is another than before. */
  readonly onChange: () => void;
  /** How a start went: what it calls itself, or the error. */
  readonly onStart: (went: { readonly line: Line } | { readonly error: ProgramError }) => void;
  readonly timers: { after(ms: number, run: () => void): () => void };
  readonly now: () => number;
  readonly limits: ProgramLimits;
}

export interface ProgramMind extends AgentMind {
  /** Nothing of it is left when this resolves. */
  close(): Promise<void>;
  standing(): {
    readonly pid: number | null;
    readonly state: Program['running'][number]['state'];
    readonly since: number;
  };
}

interface Open extends Given {
  readonly line: Line;
  readonly sessionId: string;
}

/** The mode of Claude Code in which it asks before it acts. */
const ASKS = 'default';
const ABORTED = 'aborted' satisfies MindErrorKind;
const failed = (kind: MindErrorKind, message: string, text: string): MindAnswer => ({
  ok: false,
  error: { kind, message },
  blocks: text === '' ? [] : [{ kind: 'text', text }],
  usage: null,
  whole: true,
  outputMost: null,
});

/** Whether it takes instructions beside the conversation: Claude Code's adapter does. */
const takesInstructions = ({ info }: Line) => info.agentInfo?.name.includes('claude') ?? false;

// In one piece: one process, its one session and the one turn that it is in.
export function createProgramMind(deps: ProgramMindDeps): ProgramMind {
  const { name, folder, limits, timers, now } = deps;
  let open: Open | null = null;
  let state: ReturnType<ProgramMind['standing']>['state'] = 'waiting';
  let since = now();
  let closed = false;
  let turn: Turn | null = null;
  /** Ends what waits of this turn. */
  let turnOver = new AbortController();
  let questions = 0;
  let onSign: () => void = () => undefined;
  /** What the person said to a question, for its next prompt: the protocol has no words beside yes and no. */
  const told: string[] = [];
  /** US dollars that its session had reported when the turn began. */
  let dollarsBefore = 0;

  function become(next: typeof state): void {
    if (next === state) return;
    state = next;
    since = now();
    deps.onChange();
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
    const { tool, input, own } = mine.asked(toolCall);
    questions += 1;
    onSign();
    try {
      // What it does with Roost's own tools, Roost decides where it is done.
      const verdict: Verdict = own ? { let: true } : await deps.permit({ tool, input, signal });
      if (signal.aborted) return cancelled;
      if (!verdict.let) told.push(verdict.words);
      const kinds = verdict.let
        ? (['allow_once', 'allow_always'] as const)
        : (['reject_once', 'reject_always'] as const);
      const option = kinds.flatMap((kind) => options.filter((each) => each.kind === kind)).at(0);
      return option ? { outcome: { outcome: 'selected', optionId: option.optionId } } : cancelled;
    } finally {
      questions -= 1;
      onSign();
    }
  }

  async function begin(request: MindRequest, late: AbortSignal): Promise<Open> {
    become('starting');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const line = await openLine(
      { ...deps.start(), cwd: folder, limits },
      {
        update(notification) {
          if (notification.sessionId !== open?.sessionId) return;
          onSign();
          turn?.take(notification.update);
        },
        permission,
        ...createFiles({ folder, workspace: deps.workspace, limits, isOwn: (id) => id === open?.sessionId }),
      },
      late,
    );
    try {
      const instructed = takesInstructions(line);
      const { sessionId, modes } = await line.answer(
        line.agent.request(methods.agent.session.new, {
          cwd: folder,
          mcpServers: mcpServers(deps.server, line),
          ...(instructed ? { _meta: { systemPrompt: { append: request.system } } } : {}),
        }),
      );
      // Some begin in a mode that acts without asking: it is the person who lets it.
      if (modes?.currentModeId !== ASKS && modes?.availableModes.some(({ id }) => id === ASKS))
        await line.answer(line.agent.request(methods.agent.session.setMode, { sessionId, modeId: ASKS }));
      if (closed) throw new ProgramError('died', `${name}: its run is over.`);
      const made: Open = { line, sessionId, instructed, given: 0, texts: [] };
      open = made;
      dollarsBefore = 0;
      line.broken.catch(() => {
        if (open !== made) return;
        open = null;
        become('waiting');
      });
      become('ready');
      deps.onStart({ line });
      return made;
    } catch (error) {
      await line.close();
      throw faultOf(name, error);
    }
  }

  async function started(request: MindRequest, { onState, signal }: MindListener): Promise<Open> {
    if (open) return open;
    become('waiting');
    const place = (position: number) => onState?.({ kind: 'waiting', position });
    try {
      return await deps.inTurn(() => inTime((late) => begin(request, late)), place, signal);
    } catch (error) {
      const fault = faultOf(name, error);
      become('waiting');
      if (!signal.aborted) deps.onStart({ error: fault });
      throw fault;
    }
  }

  async function inTime<Value>(work: (late: AbortSignal) => Promise<Value>): Promise<Value> {
    const late = new AbortController();
    const stop = timers.after(limits.startMs, () => late.abort());
    try {
      return await work(late.signal);
    } finally {
      stop();
    }
  }

  /** One prompt, until it is over, stopped, silent for too long, or broken. */
  async function say(mine: Open, texts: readonly string[], signal: AbortSignal): Promise<PromptResponse | 'stopped'> {
    const { line, sessionId } = mine;
    const prompt: ContentBlock[] = texts.map((text) => ({ type: 'text', text }));
    const asked = line.agent.request(methods.agent.session.prompt, { sessionId, prompt });
    // Where it is not waited for any more.
    asked.catch(() => undefined);
    let cancel: () => void = () => undefined;
    let stopWatch: () => void = () => undefined;
    const ended = new Promise<'stopped'>((resolve, reject) => {
      const give = () => {
        turnOver.abort();
        void line.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => undefined);
        cancel = timers.after(limits.cancelMs, () => {
          void line.close();
          resolve('stopped');
        });
      };
      onSign = () => {
        stopWatch();
        if (questions === 0)
          stopWatch = timers.after(limits.silentMs, () => {
            void line.close();
            reject(
              new ProgramError('hangs', `${name} said nothing for ${limits.silentMs / 60_000} minutes, and was ended.`),
            );
          });
      };
      onSign();
      if (signal.aborted) give();
      else signal.addEventListener('abort', give, { once: true });
    });
    try {
      return await Promise.race([line.answer(asked), ended]);
    } finally {
      onSign = () => undefined;
      stopWatch();
      cancel();
    }
  }

  function costOf(dollars: number | null): { readonly reportedMicroUsd?: number } {
    if (deps.countsItself || dollars === null) return {};
    const spent = Math.max(0, dollars - dollarsBefore);
    dollarsBefore = dollars;
    return { reportedMicroUsd: Math.ceil(spent * 1_000_000) };
  }

  async function answer(request: MindRequest, listener: MindListener): Promise<MindAnswer> {
    if (closed) return failed('upstream-broken', `The run of ${name} is over.`, '');
    turnOver = new AbortController();
    const mine = createTurn(listener, limits);
    try {
      const session = await started(request, listener);
      if (listener.signal.aborted) return failed(ABORTED, 'It was stopped.', '');
      turn = mine;
      become('working');
      listener.onState?.({ kind: 'sent' });
      const ended = await say(session, promptOf(session, request, told.splice(0)), listener.signal);
      mine.end();
      const text = mine.text();
      const cost = costOf(mine.dollars());
      const none = { model: name, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
      const usage = cost.reportedMicroUsd === undefined ? null : none;
      const blocks = text === '' ? [] : [{ kind: 'text' as const, text }];
      if (ended === 'stopped' || ended.stopReason === 'cancelled' || listener.signal.aborted)
        return { ...failed(ABORTED, 'It was stopped.', text), usage, ...cost };
      const stop = ended.stopReason === 'refusal' ? 'refusal' : ended.stopReason === 'end_turn' ? 'end' : 'length';
      return { ok: true, blocks, stop, usage, ...cost };
    } catch (error) {
      mine.end();
      if (listener.signal.aborted) return failed(ABORTED, 'It was stopped.', mine.text());
      return failed('upstream-broken', faultOf(name, error).message, mine.text());
    } finally {
      turn = null;
      turnOver.abort();
      if (open) become('ready');
    }
  }

  return {
    counts: deps.countsItself ? 'itself' : 'reports',
    answer,
    standing: () => ({ pid: open?.line.pid ?? null, state, since }),
    async close() {
      closed = true;
      turnOver.abort();
      const last = open;
      open = null;
      await last?.line.close();
    },
  };
}

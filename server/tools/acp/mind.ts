/**
 * A mind that is a process: one for one run of one agent, in that agent's folder. What is new in
 * the conversation is put before it as its next prompt; a process that has ended is started again
 * with what was said before. Its questions go to the person as any others do, and what it may reach
 * through Roost is its own folder, and its own agent's tools.
 */
import { createHash } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import {
  type ContentBlock,
  methods,
  type PromptResponse,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import { createLimiter } from '../../../src/shared/domain/platform/queue.ts';
import { fileText } from '../../../src/shared/domain/file-text.ts';
import { isSameJson } from '../../../src/shared/domain/platform/json.ts';
import { isRecord } from '../../../src/shared/domain/platform/is-record.ts';
import { sentence } from '../../../src/shared/domain/sentence.ts';
import { MIND_PREFIX } from '../../../src/shared/domain/toolsets.ts';
import type { Program } from '../../../src/shared/protocol/programs.ts';
import type { AgentMind, MindAnswer, MindErrorKind, MindListener, MindRequest } from '../../agents/minds/index.ts';
import type { AskLeave, Caller, NoteDeed, Verdict } from '../../contracts/index.ts';
import { type EntryBelow, type Workspace, WorkspaceError } from '../workspaces/index.ts';
import { inTime, type OpenSession, openSession } from './starts.ts';
import { createSilence, createTurn, type Silence, type Turn } from './turn.ts';
import { faultOf, type Line, type LineHandlers, type LineStart, ProgramError } from './line.ts';
import { type ProgramLimits, READS_NONE_AS_EMPTY } from './settings.ts';
import type { LeftSession, ResumableSession } from './kept-sessions.ts';
import { type Given, heardIn, instructionsOf, promptOf, takesTools } from './prompt.ts';

// What a turn of a program comes to: how it failed, and what it reports to have cost, which is of
// its whole session so far.

const failed = (kind: MindErrorKind, message: string, text: string): MindAnswer => ({
  ok: false,
  error: { kind, message },
  blocks: text === '' ? [] : [{ kind: 'text', text }],
  usage: null,
  whole: true,
  outputMost: null,
});

interface Reported {
  /** A session that had reported so many US dollars before. */
  begin(dollars: number): void;
  /** US dollars that its session has reported. */
  soFar(): number;
  /** Of the turn that ends with this report; null: it made none. */
  spent(dollars: number | null): Pick<MindAnswer, 'usage' | 'reportedMicroUsd'>;
}

/**
 * `name`: stands for its model, which is not told; `countsItself`: nothing that it reports is
 * counted.
 */
function createReported(name: string, countsItself: boolean): Reported {
  let before = 0;
  return {
    begin: (dollars) => void (before = dollars),
    soFar: () => before,
    spent(dollars) {
      if (countsItself || dollars === null) return { usage: null };
      // One that counts anew in a session that it goes on with has told less than before.
      const spent = dollars < before ? dollars : dollars - before;
      before = dollars;
      const usage = { model: name, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
      // A difference of two such figures is a hair more or less than it is.
      return { usage, reportedMicroUsd: Math.ceil(Number((spent * 1_000_000).toFixed(3))) };
    },
  };
}

// One prompt to a program: until it is over, stopped, silent for too long, or broken.

interface PromptTurn {
  /** Stops it. */
  readonly signal: AbortSignal;
  readonly silence: Silence;
  /** It is told to stop: what waits of it is over. */
  readonly onStop: () => void;
  readonly timers: Pick<Timers, 'after'>;
  /** ms that it has for its stop before its process is ended. */
  readonly cancelMs: number;
}

/**
 * Rejects with a `ProgramError`; `stopped`: it did not end by itself in time, and its process was
 * ended.
 */
async function sayPrompt(
  { line, sessionId }: Pick<OpenSession, 'line' | 'sessionId'>,
  prompt: ContentBlock[],
  { signal, silence, onStop, timers, cancelMs }: PromptTurn,
): Promise<PromptResponse | 'stopped'> {
  const asked = line.agent.request(methods.agent.session.prompt, { sessionId, prompt });
  // Where it is not waited for any more.
  asked.catch(() => undefined);
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
    return await Promise.race([line.answer(asked), ended]);
  } finally {
    unwatch();
    cancel();
  }
}

// The files that a program has Roost read and write: those of its agent's own folder, by the ways
// that hold for all.

interface FilesDeps {
  readonly folder: string;
  readonly workspace: Pick<Workspace, 'bytesOf' | 'write'>;
  readonly limits: Pick<ProgramLimits, 'fileBytes' | 'filesAtOnce'>;
  /** Whether the person lets its agent use this tool of Roost's, by whatever way. */
  readonly mayUse: (tool: 'read_file' | 'write_file') => Promise<boolean>;
  /** Roost answers a read of a missing file with an empty one. */
  readonly readsNoneAsEmpty: () => boolean;
  /** Whether this is the program's session. */
  readonly isOwn: (sessionId: string) => boolean;
}

const NEWLINE = 0x0a;

/**
 * Where the line begins that is so many lines below the one at `from`; behind the end and its last
 * break, where there is none.
 */
function startOfLine(bytes: Uint8Array, below: number, from: number): number {
  let at = from;
  for (let line = 0; line < below; line++) {
    while (at < bytes.length && bytes[at] !== NEWLINE) at++;
    if (at >= bytes.length) return bytes.length + 1;
    at++;
  }
  return at;
}

const INVALID_PARAMS = -32_602;
const isMissing = (error: unknown) => error instanceof WorkspaceError && error.kind === 'not-found';
/**
 * As the protocol says it: a program that is about to make a file reads it first, and has to know
 * that there is none. Other refusals go out with their words; the library would say “Internal
 * error” of them.
 */
function refusalOf(error: unknown, path: string): unknown {
  if (isMissing(error)) return RequestError.resourceNotFound(path);
  if (error instanceof WorkspaceError || error instanceof FilesRefused)
    return new RequestError(INVALID_PARAMS, error.message);
  return error;
}
/** Why a program may not read or write there. */
class FilesRefused extends Error {}

function createFiles({
  folder,
  workspace,
  limits,
  mayUse,
  readsNoneAsEmpty,
  isOwn,
}: FilesDeps): Pick<LineHandlers, 'readFile' | 'writeFile'> {
  /** The path within the folder; links in it are refused by the workspace. */
  async function within(sessionId: string, path: string, tool: Parameters<FilesDeps['mayUse']>[0]): Promise<string> {
    if (!isOwn(sessionId)) throw new FilesRefused('There is no such session.');
    if (!(await mayUse(tool))) throw new FilesRefused('The human has switched off files for this agent.');
    const roots = [await realpath(folder), folder];
    const inner = roots.map((root) => relative(root, path)).find((each) => !each.startsWith('..') && !isAbsolute(each));
    if (!isAbsolute(path) || inner === undefined || inner === '')
      throw new FilesRefused('This lies outside of the folder.');
    return inner.split(sep).join('/');
  }
  const limited = createLimiter(limits.filesAtOnce);
  const answer = <Value>(path: string, work: () => Promise<Value>) =>
    limited(() => work().catch((error: unknown) => Promise.reject(refusalOf(error, path))));
  return {
    readFile: ({ sessionId, path, line, limit }) =>
      answer(path, async () => {
        const inner = await within(sessionId, path, 'read_file');
        const bytes = await workspace.bytesOf(inner, limits.fileBytes).catch((error: unknown) => {
          if (isMissing(error) && readsNoneAsEmpty()) return Buffer.alloc(0);
          throw error;
        });
        const from = startOfLine(bytes, Math.max(0, (line ?? 1) - 1), 0);
        const to = typeof limit === 'number' ? startOfLine(bytes, limit, from) - 1 : bytes.length;
        return { content: bytes.toString('utf8', from, Math.max(from, to)) };
      }),
    writeFile: ({ sessionId, path, content }) =>
      answer(path, async () => {
        await workspace.write(await within(sessionId, path, 'write_file'), Buffer.from(content));
      }),
  };
}

// Settings in an agent's folder that make a program act there before it asks anybody: hooks,
// servers, variables and permissions of ACP agents, and commands in the settings of git, which
// such programs run. The agent can write all of them, so the person sees them before a program is
// started in that folder. A yes is for exactly these contents.

/** Folders and files at the top of the folder, in lower case, by the programs that read them. */
const READ: ReadonlySet<string> = new Set([
  // Claude Code
  ...['.claude', '.claude.json', '.mcp.json'],
  // Codex, Gemini CLI and Qwen Code, Goose, OpenCode, Cursor, Crush
  ...['.codex', '.gemini', '.qwen', '.goose', '.opencode', 'opencode.json', 'opencode.jsonc', '.cursor'],
  ...['.crush', '.crush.json', 'crush.json'],
  // Others that speak the protocol, or are about to.
  ...['.agents', '.augment', '.continue', '.copilot', '.factory', '.junie', '.kimi', '.kiro', '.vibe'],
  // Variables that several of them load by themselves.
  ...['.env', '.env.local', '.envrc'],
]);
interface PlantedFile {
  readonly path: string;
  /**
   * SHA-256 of its contents. Null: nobody can tell what a program will find there, as with a link.
   */
  readonly hash: string | null;
  /** Its contents, for the person to read. Null: they are no text, or long. */
  readonly text: string | null;
}

type Looked = Pick<Workspace, 'list' | 'walk' | 'bytesOf'>;

/**
 * Disks that tell no capitals, or pass over characters that nobody sees, find a file by other names
 * too.
 */
const folded = (name: string) =>
  name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase();

/** Settings of git that name no program. Everything else in its files is shown. */
const HARMLESS = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol)$/,
  /^(remote\..*\.(url|fetch|pushurl)|branch\..*\.(remote|merge|rebase)|submodule\..*\.(url|active))$/,
  /^(user\.(name|email)|init\.defaultbranch|pull\.(rebase|ff)|push\.(default|autosetupremote)|color\..*)$/,
];

/**
 * Whether a file of settings can only say what is harmless: each line is read in the plainest form
 * alone.
 */
function isHarmless(config: string): boolean {
  let section = '';
  return config.split('\n').every((line) => {
    if (/^\s*([#;].*)?$/.test(line)) return true;
    const [, name, sub] = /^\s*\[([\w-]+)(?: "([^"\\]*)")?\]\s*$/.exec(line) ?? [];
    if (name !== undefined) {
      section = sub === undefined ? name : `${name}.${sub}`;
      return true;
    }
    const [, key, value] = /^\s*([A-Za-z][\w-]*)\s*=\s*([^\\"]*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined) return false;
    // `ext::` and its kind run a command for an address.
    return HARMLESS.some((each) => each.test(`${section}.${key}`.toLowerCase())) && !value.includes('::');
  });
}

async function plantedIn(
  workspace: Looked,
  limits: Pick<ProgramLimits, 'settingsEntries' | 'settingsBytes' | 'settingsShown' | 'repositoryEntries'>,
): Promise<readonly PlantedFile[]> {
  const found = new Map<string, PlantedFile>();
  const unpinned = (path: string) => void found.set(path, { path, hash: null, text: null });
  async function look({ path, kind }: Pick<EntryBelow, 'path' | 'kind'>, isSafe?: (text: string) => boolean) {
    if (kind === 'folder') return;
    if (kind !== 'file') return unpinned(path);
    try {
      const bytes = await workspace.bytesOf(path, limits.settingsBytes);
      const text = fileText(bytes);
      if (text !== null && isSafe?.(text) === true) return;
      const hash = createHash('sha256').update(bytes).digest('hex');
      found.set(path, { path, hash, text: text !== null && text.length <= limits.settingsShown ? text : null });
    } catch (error) {
      // It has a second name, is too long, or changed meanwhile.
      if (!(error instanceof WorkspaceError)) throw error;
      unpinned(path);
    }
  }
  async function below(path: string, most: number, each: (entry: EntryBelow) => Promise<void> | void): Promise<void> {
    let count = 0;
    for await (const entry of workspace.walk(path, most + 1)) {
      count += 1;
      if (count > most) return unpinned(path);
      await each(entry);
    }
  }

  /** `path`: of a repository’s own folder; `''`: the agent’s folder is one itself. */
  async function lookAtGit(path: string): Promise<void> {
    const inGit = path === '' ? '' : `${path}/`;
    for (const { name, kind } of await workspace.list(path)) {
      const own = `${inGit}${name}`;
      if (/^config(\.worktree)?$/.test(folded(name))) await look({ path: own, kind }, isHarmless);
      else if (folded(name) === 'hooks' && kind === 'folder')
        await below(own, limits.settingsEntries, async (entry) => {
          if (!entry.path.endsWith('.sample')) await look(entry);
        });
      else if (folded(name) === 'modules' && kind === 'folder')
        await below(own, limits.settingsEntries, async (entry) => {
          if (/(^|\/)(config(\.worktree)?|hooks\/.*(?<!\.sample))$/.test(folded(entry.path)))
            await look(entry, isHarmless);
        });
      // The settings are those of another folder then.
      else if (kind === 'link' || folded(name) === 'commondir') unpinned(own);
    }
  }

  const top = await workspace.list('');
  for (const { name, kind } of top)
    if (READ.has(folded(name))) {
      if (kind === 'folder') await below(name, limits.settingsEntries, (entry) => look(entry));
      else await look({ path: name, kind });
    }
  const names = new Set(top.map(({ name }) => folded(name)));
  const isRepository = names.has('head') && ((names.has('objects') && names.has('refs')) || names.has('commondir'));
  if (isRepository) await lookAtGit('');
  if (isRepository || names.has('.git'))
    // Git looks at a repository in a repository, too.
    await below('', limits.repositoryEntries, async ({ path, kind }) => {
      if (folded(path.split('/').at(-1) ?? '') !== '.git') return;
      if (kind === 'folder') await lookAtGit(path);
      // It leads to a repository elsewhere.
      else unpinned(path);
    });
  return [...found.values()];
}

/**
 * What the person is asked: contents as changes, which the page shows whole, and the hash of what
 * is too long for that.
 */
function questionOf(name: string, files: readonly PlantedFile[]): Readonly<Record<string, unknown>> {
  const long = files.filter(({ text }) => text === null);
  return {
    command: `start ${name} with the settings in the folder`,
    diffs: files.flatMap(({ path, text }) => (text === null ? [] : [{ path, old_text: '', new_text: text }])),
    ...(long.length === 0 ? {} : { sha256: Object.fromEntries(long.map(({ path, hash }) => [path, hash])) }),
  };
}

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

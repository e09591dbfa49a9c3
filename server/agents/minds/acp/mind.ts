/**
 * A mind that is a process: one for one run of one agent, in that agent's folder. Each prompt holds
 * the new part of the conversation. A process that has ended is started again with the earlier
 * messages. Its questions go to the person like any others. Through Roost it reaches only its own
 * agent's folder and tools.
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
import type { Timers } from '../../../../src/shared/domain/platform/timers.ts';
import { createLimiter } from '../../../../src/shared/domain/platform/queue.ts';
import { fileText } from '../../../../src/shared/domain/file-text.ts';
import { isRecord, isSameJson } from '../../../../src/shared/domain/platform/json.ts';
import { isGitsOwn } from '../../../../src/shared/domain/project-path.ts';
import { sentence } from '../../../../src/shared/domain/names.ts';
import { MIND_PREFIX } from '../../../../src/shared/domain/toolsets.ts';
import type { Program } from '../../../../src/shared/protocol/programs.ts';
import type { AgentMind, MindAnswer, MindErrorKind, MindListener, MindRequest } from '../index.ts';
import type { AskPermission, RecordAction, Verdict } from '../actions.ts';
import type { Caller } from '../../../tools/index.ts';
import { type EntryBelow, type Workspace, WorkspaceError } from '../../../files/workspaces/index.ts';
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
import { faultOf, type Connection, type ConnectionHandlers, type ConnectionStart, ProgramError } from './connection.ts';
import { type ProgramLimits, READS_NONE_AS_EMPTY } from './settings.ts';

// Failures and costs of a turn. An ACP agent reports the cost of its whole session so far.

const failed = (kind: MindErrorKind, message: string, text: string): MindAnswer => ({
  ok: false,
  error: { kind, message },
  blocks: text === '' ? [] : [{ kind: 'text', text }],
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
  { line, sessionId }: Pick<OpenSession, 'line' | 'sessionId'>,
  prompt: ContentBlock[],
  { signal, silence, onStop, timers, cancelMs }: PromptTurn,
): Promise<PromptResponse | 'stopped'> {
  const asked = line.agent.request(methods.agent.session.prompt, { sessionId, prompt });
  // For when nobody waits for it any more.
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

// Files that an ACP agent reads and writes through Roost: those of its agent's own folder, under
// the rules of the workspace.

interface FilesDeps {
  readonly folder: string;
  readonly workspace: Pick<Workspace, 'bytesOf' | 'write'>;
  readonly limits: Pick<ProgramLimits, 'fileBytes' | 'filesAtOnce'>;
  /** Whether the person lets the agent use this tool of Roost's, in any way. */
  readonly mayUse: (tool: 'read_file' | 'write_file') => Promise<boolean>;
  /** Roost answers a read of a missing file with an empty one. */
  readonly readsNoneAsEmpty: () => boolean;
  /** Whether this is the process's own session. */
  readonly isOwn: (sessionId: string) => boolean;
}

const NEWLINE = 0x0a;

/**
 * Offset of the line that is `below` lines after the one at `from`. If there is none: behind the
 * end and its last line break.
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
 * The protocol's error for a missing file, because a program that creates a file reads it first.
 * Other refusals carry their text. Without this the library would send “Internal error”.
 */
function refusalOf(error: unknown, path: string): unknown {
  if (isMissing(error)) return RequestError.resourceNotFound(path);
  if (error instanceof WorkspaceError || error instanceof FilesRefused)
    return new RequestError(INVALID_PARAMS, error.message);
  return error;
}
/** Why the ACP agent may not read or write there. */
class FilesRefused extends Error {}

function createFiles({
  folder,
  workspace,
  limits,
  mayUse,
  readsNoneAsEmpty,
  isOwn,
}: FilesDeps): Pick<ConnectionHandlers, 'readFile' | 'writeFile'> {
  /** The path within the folder. The workspace refuses links in it. */
  async function within(sessionId: string, path: string, tool: Parameters<FilesDeps['mayUse']>[0]): Promise<string> {
    if (!isOwn(sessionId)) throw new FilesRefused('There is no such session.');
    if (!(await mayUse(tool))) throw new FilesRefused('The human has switched off files for this agent.');
    const roots = [await realpath(folder), folder];
    const inner = roots.map((root) => relative(root, path)).find((each) => !each.startsWith('..') && !isAbsolute(each));
    if (!isAbsolute(path) || inner === undefined || inner === '')
      throw new FilesRefused('This path is outside the folder.');
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
        const inner = await within(sessionId, path, 'write_file');
        if (isGitsOwn(inner)) throw new FilesRefused('This path belongs to git.');
        await workspace.write(inner, Buffer.from(content));
      }),
  };
}

// Settings in an agent's folder that make a program act without asking: hooks, servers, variables
// and permissions of ACP agents, and commands in the settings of git, which such programs run. The
// agent can write all of them. So the person reviews them before a process starts in that folder. A
// yes covers exactly these contents.

/** Folders and files at the top of the folder, in lower case, by the programs that read them. */
const READ: ReadonlySet<string> = new Set([
  // Claude Code
  ...['.claude', '.claude.json', '.mcp.json'],
  // Codex, Gemini CLI and Qwen Code, Goose, OpenCode, Cursor, Crush
  ...['.codex', '.gemini', '.qwen', '.goose', '.opencode', 'opencode.json', 'opencode.jsonc', '.cursor'],
  ...['.crush', '.crush.json', 'crush.json'],
  // Others that speak the protocol, or are about to.
  ...['.agents', '.augment', '.continue', '.copilot', '.factory', '.junie', '.kimi', '.kiro', '.vibe'],
  // Variables that several programs load by themselves.
  ...['.env', '.env.local', '.envrc'],
]);
interface PlantedFile {
  readonly path: string;
  /** SHA-256 of its contents. Null: the contents cannot be pinned, as with a link. */
  readonly hash: string | null;
  /** Its contents, for the person to read. Null: not text, or too long. */
  readonly text: string | null;
}

type Inspected = Pick<Workspace, 'list' | 'walk' | 'bytesOf'>;

/**
 * A file's name as case-insensitive file systems, and those that ignore invisible characters,
 * compare it.
 */
const folded = (name: string) =>
  name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase();

/** Git settings that run no program. All other settings are shown. */
const HARMLESS = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol)$/,
  /^(remote\..*\.(url|fetch|pushurl)|branch\..*\.(remote|merge|rebase)|submodule\..*\.(url|active))$/,
  /^(user\.(name|email)|init\.defaultbranch|pull\.(rebase|ff)|push\.(default|autosetupremote)|color\..*)$/,
];

/** Whether a settings file is certainly harmless. Each line must have the plainest form. */
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
    // `ext::` and similar addresses run a command.
    return HARMLESS.some((each) => each.test(`${section}.${key}`.toLowerCase())) && !value.includes('::');
  });
}

async function plantedIn(
  workspace: Inspected,
  limits: Pick<ProgramLimits, 'settingsEntries' | 'settingsBytes' | 'settingsShown' | 'repositoryEntries'>,
): Promise<readonly PlantedFile[]> {
  const found = new Map<string, PlantedFile>();
  const unpinned = (path: string) => void found.set(path, { path, hash: null, text: null });
  async function inspect({ path, kind }: Pick<EntryBelow, 'path' | 'kind'>, isSafe?: (text: string) => boolean) {
    if (kind === 'folder') return;
    if (kind !== 'file') return unpinned(path);
    try {
      const bytes = await workspace.bytesOf(path, limits.settingsBytes);
      const text = fileText(bytes);
      if (text !== null && isSafe?.(text) === true) return;
      const hash = createHash('sha256').update(bytes).digest('hex');
      found.set(path, { path, hash, text: text !== null && text.length <= limits.settingsShown ? text : null });
    } catch (error) {
      // The file has a second name, is too long, or changed meanwhile.
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

  /** `path`: of a repository's own folder. `''`: the agent's folder is a repository itself. */
  async function inspectGit(path: string): Promise<void> {
    const inGit = path === '' ? '' : `${path}/`;
    for (const { name, kind } of await workspace.list(path)) {
      const own = `${inGit}${name}`;
      if (/^config(\.worktree)?$/.test(folded(name))) await inspect({ path: own, kind }, isHarmless);
      else if (folded(name) === 'hooks' && kind === 'folder')
        await below(own, limits.settingsEntries, async (entry) => {
          if (!entry.path.endsWith('.sample')) await inspect(entry);
        });
      else if (folded(name) === 'modules' && kind === 'folder')
        await below(own, limits.settingsEntries, async (entry) => {
          if (/(^|\/)(config(\.worktree)?|hooks\/.*(?<!\.sample))$/.test(folded(entry.path)))
            await inspect(entry, isHarmless);
        });
      // The settings then come from another folder.
      else if (kind === 'link' || folded(name) === 'commondir') unpinned(own);
    }
  }

  const top = await workspace.list('');
  for (const { name, kind } of top)
    if (READ.has(folded(name))) {
      if (kind === 'folder') await below(name, limits.settingsEntries, (entry) => inspect(entry));
      else await inspect({ path: name, kind });
    }
  const names = new Set(top.map(({ name }) => folded(name)));
  const isRepository = names.has('head') && ((names.has('objects') && names.has('refs')) || names.has('commondir'));
  if (isRepository) await inspectGit('');
  if (isRepository || names.has('.git'))
    // Git also uses a repository inside a repository.
    await below('', limits.repositoryEntries, async ({ path, kind }) => {
      if (folded(path.split('/').at(-1) ?? '') !== '.git') return;
      if (kind === 'folder') await inspectGit(path);
      // A `.git` file or link leads to a repository elsewhere.
      else unpinned(path);
    });
  return [...found.values()];
}

/**
 * The question to the person: contents as changes, which the page shows in full, and the hash of
 * contents that are too long for that.
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
  readonly note: RecordAction;
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

/** The question appears under the same tool name as Claude Code's own commands. */
const RUNS = `${MIND_PREFIX}execute`;
type Settings = Awaited<ReturnType<typeof plantedIn>>;
const ROOSTS_OWN: Verdict = { let: true, over: () => undefined };
const STOPPED = sentence`It was stopped.`;
/** For the agent. */
const ONLY_ALWAYS =
  'The human let it, this once; your program can only be told that it may do so for good, and so it was told nothing.';
const ABORTED = 'aborted' satisfies MindErrorKind;
/** The program reached its own limit, for example. */
const unfinished = (name: string): string =>
  sentence`${name} ended its turn early. What it said is stored. Write to it to continue.`;

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
  let questions = 0;
  const silence = createSilence(name, limits.silentMs, timers);
  /**
   * The person's words to a question, for the next prompt. The protocol carries only yes and no.
   */
  const told: string[] = [];
  const reported = createReported(name, deps.countsItself);
  let mayResume = deps.wakes;
  /** The session was resumed, and has not answered yet. */
  let unproven = false;
  /** Whether the process has Roost's tools. Null: it has not requested them yet, and still may. */
  let hasTools: boolean | null = null;
  /** The newest prompt that was completed. The session then holds all of it. */
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
      // Roost decides about its own tools where they run.
      const verdict = own ? ROOSTS_OWN : await deps.permit({ tool, input, caller: deps.callerOf(signal) });
      const says = verdict.let ? 'allow' : 'reject';
      // A permanent yes would end all later questions, whatever the person says then. Roost asks
      // about its own tools itself.
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

  /**
   * Asks the person about settings in the folder that the process obeys by itself. Resolves with
   * those that they allowed. Throws where they say no, or are absent.
   */
  async function letSettings(signal: AbortSignal): Promise<Settings> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const found = await plantedIn(deps.workspace, limits);
    const paths = found.map(({ path }) => path).join(', ');
    if (found.some(({ hash }) => hash === null))
      throw new ProgramError(
        'other',
        sentence`${name} was not started. Its agent’s folder has settings for it, and Roost cannot read some of them (${paths}). Delete them under Files.`,
      );
    if (found.length === 0) return found;
    const input = questionOf(name, found);
    const verdict = await deps.permit({ tool: RUNS, input, caller: deps.callerOf(signal) });
    if (!verdict.let)
      throw new ProgramError(
        'other',
        sentence`${name} was not started: its agent’s folder has settings that it would follow (${paths}). Delete them under Files, or let it start with them in the Inbox.`,
      );
    verdict.over({ text: 'It was started with them.', isError: false, stopped: false });
    return found;
  }

  /** If the turn is stopped or the run ends, the process is ended at any point of its start. */
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
        sentence`${name} was ended: settings that it follows changed in its agent’s folder while it started.`,
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
      { ...listener, onAction: (tool, input) => deps.note({ tool, input, caller: deps.callerOf(listener.signal) }) },
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
        // A session that opens may still fail to answer. The turn then falls back to soul and
        // transcript.
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
      // A process that has answered without requesting the tools does not know them.
      if (reason === 'end_turn' && hasTools === null) toolsAre(false);
      const toolless = hasTools === false ? { toolless: true } : {};
      if (reason === 'end_turn') return { ok: true, blocks, stop: 'end', ...toolless, ...spent };
      if (reason === 'refusal') return { ok: true, blocks, stop: 'refusal', ...spent };
      return { ...failed('stream-cut', unfinished(name), text), ...spent };
    } catch (error) {
      const [kind, message] = listener.signal.aborted
        ? ([ABORTED, STOPPED] as const)
        : (['upstream-broken', faultOf(name, error).message] as const);
      mine.end(message);
      // A failed turn still has the cost that it reported.
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
      const known = whole;
      open = null;
      await last?.line.close();
      return last?.resumable === true && known !== null
        ? { sessionId: last.sessionId, dollars: reported.soFar(), system: known.system, heard: heardIn(known.messages) }
        : null;
    },
  };
}

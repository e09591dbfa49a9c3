/**
 * Runs scripts of agents with `bash` in the agent's folder, within a time limit, and with an
 * environment that holds no keys. A script runs in the sandbox if there is one. Otherwise it runs
 * with the rights of the user who runs the relay, which is why the relay's owner must grant that.
 * The caller passes the text to run. Agents can write to the folder, so the file is only used to
 * ask the person about a new text.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, mkdtemp, open, readlink, realpath, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { newId } from '../../src/shared/domain/platform/new-id.ts';
import type { AgentId, ScheduleId } from '../../src/shared/domain/ids.ts';
import type { Schedule, ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import { fileText } from '../../src/shared/domain/file-text.ts';
import type { PinnedFile } from '../../src/shared/protocol/approvals.ts';
import { isRecord } from '../../src/shared/domain/platform/json.ts';
import { type HomeRights, OWNER_RIGHTS } from '../access/owner-rights.ts';
import { type Cut, type Sandbox, type SandboxRun, WITHIN } from '../execution/sandbox/index.ts';
import { timeText } from '../agents/runs/outcome.ts';
import { readWhole, type Workspaces } from '../files/workspaces/index.ts';
import { endGroup, GROUP_MARK, groupOf, type WrittenGroup } from '../platform/processes/proc.ts';
import { startProgram } from '../platform/processes/index.ts';
import type { Db, HomeStore } from '../store/index.ts';
import { SCRIPT_LIMITS } from './settings.ts';

/** Exit status that ends a script for good. */
const DONE_FOR_GOOD = 75;
/** File descriptor from which bash reads the script, after stdin, stdout and stderr. */
const SCRIPT_FD = 3;
const SANDBOX_FD = 4;
/** File descriptor on which the script waits for a line before it begins. */
const GO_FD = 4;

/** The folder of an agent's scripts. */
interface Folder {
  readonly own: string;
}
/** The text of a script, and its SHA-256 in hex. */
export interface ScriptText {
  readonly text: Uint8Array;
  readonly sha256: string;
}
/** A script file. */
export interface ScriptFile extends ScriptText {
  /** Path in the agent's folder after links are resolved, with `/` as separator. */
  readonly path: string;
}
/** The parts of a schedule that are needed to run it. */
type RunScript = Pick<ScheduleOf<'script'>, 'agentId' | 'script' | 'timeoutMs' | 'hosts' | 'own_hosts'>;
/**
 * The text as an open file. `name`: the path in the agent's folder by which the script was named.
 */
interface Source {
  readonly name: string;
  readonly handle: FileHandle;
}

/** Result of one run of a script. */
export interface ScriptEnd {
  /** `stopped`: the relay shut down in good order. */
  readonly kind: 'done' | 'failed' | 'timed-out' | 'stopped';
  /** Who ended the script. `nobody`: it did not run. */
  readonly by: 'itself' | 'signal' | 'relay' | 'nobody';
  /** The exit status, the signal, or why the relay ended or refused it: for people and models. */
  readonly status: string;
  /** The end of its output. */
  readonly output: string;
  /** The script asks not to run again. */
  readonly cancels: boolean;
}

export interface Scripts {
  /** Why this household may run no scripts, as a sentence. Null: it may. */
  off(): Promise<string | null>;
  /**
   * Why this household may not name hosts of the relay's machine and networks, as a sentence. Null:
   * it may.
   */
  refuseOwnHosts(): string | null;
  /** Reads the script file. A string: why it cannot run. */
  read(agentId: AgentId, script: string): Promise<ScriptFile | string>;
  /**
   * Runs this text, whatever the file holds. `begins`: called with the process group before
   * anything runs, if there is no sandbox. If it resolves with false, nothing runs.
   */
  run(script: RunScript, text: Uint8Array, begins?: (group: WrittenGroup) => Promise<boolean>): Promise<ScriptEnd>;
  /** Ends the process group that a dead relay left behind. */
  endLeft(group: WrittenGroup): Promise<boolean>;
  /** Ends all running scripts. */
  close(): Promise<void>;
}

/**
 * Keeps programs from following files in their working folder: Python loads no modules from it, and
 * git runs no hooks and no file monitor. This does not cover everything, for example git filters.
 */
const UNLED = {
  PYTHONSAFEPATH: '1',
  GIT_CONFIG_COUNT: '2',
  ...{ GIT_CONFIG_KEY_0: 'core.fsmonitor', GIT_CONFIG_VALUE_0: 'false' },
  ...{ GIT_CONFIG_KEY_1: 'core.hooksPath', GIT_CONFIG_VALUE_1: '/dev/null' },
};

const FULL = sentence`its agent’s folder or the disk is full`;
/** Why the sandbox ended a script early. */
const EXCESS: Readonly<Record<Exclude<Cut, 'time' | 'closing'>, string>> = {
  memory: sentence`it took more memory than it may`,
  room: FULL,
  files: FULL,
  watchers: sentence`it watched more files or descriptors than one script may (inotify, epoll)`,
  output: sentence`it wrote more than is read`,
  stopped: sentence`stopped`,
  withdrawn: sentence`its permission was withdrawn`,
};

const RELAY_ENDED = sentence`the relay was ended`;
const tooLong = (ms: number) => sentence`it may take ${timeText(ms)} and no longer`;

/** How a script ended, as a sentence for people and models. `tookMs`: how long it ran. */
export function howItEnded({ by, status }: Pick<ScriptEnd, 'by' | 'status'>, tookMs: number): string {
  switch (by) {
    case 'itself':
      return sentence`It ended with ${status} after ${timeText(tookMs)}.`;
    case 'signal':
      return sentence`The signal ${status} stopped it after ${timeText(tookMs)}.`;
    case 'relay':
      return sentence`The relay stopped it after ${timeText(tookMs)}: ${status}.`;
    case 'nobody':
      return sentence`It was not run. ${status}`;
    default:
      return by satisfies never;
  }
}

/** The file with all links resolved, and its path in the folder. A string: why it cannot run. */
async function pathOf(
  own: string,
  script: string,
): Promise<{ readonly file: string; readonly within: string } | string> {
  if (isAbsolute(script)) return 'A script is named by its path within the agent’s folder.';
  await mkdir(own, { recursive: true, mode: 0o700 });
  const root = await realpath(own);
  try {
    const file = await realpath(resolve(root, script));
    const within = relative(root, file);
    if (within === '' || within === '..' || within.startsWith(`..${sep}`) || isAbsolute(within)) return OUTSIDE;
    return { file, within };
  } catch {
    return `There is no file ${script} in ${root}.`;
  }
}
const OUTSIDE = 'The script lies outside of the agent’s folder.';

/**
 * The real path of an open file. On Linux this detects a folder that was replaced by a link in the
 * meantime.
 */
const whereIs = ({ fd }: FileHandle, file: string): Promise<string> =>
  readlink(`/proc/self/fd/${fd}`).catch(() => file);

/** The shells whose scripts bash runs. */
const SHELLS = ['bash', 'sh', 'dash', 'ash'];

/** Why bash would fail at this text each time, as a sentence. Null: it may run. */
function unfitFor(bytes: Uint8Array): string | null {
  const text = fileText(bytes);
  if (text === null) return 'The file is not UTF-8 text, so it cannot be shown to the human.';
  if (Buffer.from(bytes.subarray(0, 3)).toString('utf8') === '\ufeff')
    return 'The file begins with a byte order mark (BOM), at which bash fails. Save it as UTF-8 without one.';
  if (text.includes('\r\n'))
    return 'The file has line ends of Windows (CR LF), at which bash fails. Save it with those of Unix (LF).';
  const [, line = ''] = /^#![ \t]*([^\n]*)/.exec(text) ?? [];
  const words = line.split(/\s+/).map((word) => word.split('/').at(-1) ?? '');
  const program = words[0] === 'env' ? (words.slice(1).find((word) => !/^-|=/.test(word)) ?? '') : (words[0] ?? '');
  return program === '' || SHELLS.includes(program)
    ? null
    : `Scripts run with bash, and this one is for ${program}. Write a script of bash that starts ${program}.`;
}

async function readScript({ own }: Folder, script: string): Promise<ScriptFile | string> {
  const scriptPath = await pathOf(own, script);
  if (typeof scriptPath === 'string') return scriptPath;
  const { file, within } = scriptPath;
  // Non-blocking: opening a pipe without a writer would wait forever.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const handle = await open(file, flags).catch(() => null);
  if (!handle) return `${script} cannot be read.`;
  try {
    if ((await whereIs(handle, file)) !== file) return OUTSIDE;
    const stat = await handle.stat();
    if (!stat.isFile()) return 'That is no file.';
    if (stat.size > SCRIPT_LIMITS.bytes) return `A script is ${SCRIPT_LIMITS.bytes / 1_000} kB long at most.`;
    const text = await readWhole(handle, stat.size);
    const unfit = unfitFor(text);
    if (unfit !== null) return unfit;
    return { path: within.split(sep).join('/'), text, sha256: hashOf(text) };
  } finally {
    await handle.close();
  }
}

/** SHA-256 in hex. */
const hashOf = (text: Uint8Array): string => createHash('sha256').update(text).digest('hex');

/** Calls `use` with the text in an unlinked file, so that no other program can write to it. */
async function withSource<Value>(
  name: string,
  text: Uint8Array,
  use: (source: Source) => Promise<Value>,
): Promise<Value> {
  const path = join(tmpdir(), `roost-script-${newId()}`);
  const handle = await open(
    path,
    constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    await unlink(path);
    // Written at an offset, so that the file position stays at the start for the reader.
    await handle.write(text, 0, text.length, 0);
    return await use({ name, handle });
  } finally {
    await handle.close();
  }
}

/**
 * `workspaces` null: scripts are off. `sandbox` null: scripts run without one. `rights` null: all
 * rights are granted.
 */
export function createScripts(
  workspaces: Pick<Workspaces, 'folderOf' | 'of'> | null,
  sandbox: Pick<Sandbox, 'status' | 'run'> | null = null,
  rights: Pick<HomeRights, 'has' | 'refusal'> | null = null,
): Scripts {
  const running = new Map<number, Promise<unknown>>();
  const inside = new Set<SandboxRun>();
  let closing = false;
  const isBoxed = async () => (await sandbox?.status())?.available ?? false;
  /** The agent's folder. A string: why its scripts may not run. */
  function folderOf(agentId: AgentId, boxed: boolean): Folder | string {
    const right = boxed ? 'boxed-scripts' : 'bare-commands';
    if (!workspaces) return OWNER_RIGHTS['bare-commands'].off;
    return !rights || rights.has(right) ? { own: workspaces.folderOf(agentId) } : rights.refusal(right);
  }

  const refuseOwnHosts = () => (!rights || rights.has('own-hosts') ? null : rights.refusal('own-hosts'));

  function end(pid: number, signal: NodeJS.Signals): void {
    try {
      // Signals the whole process group, so that child processes end too.
      process.kill(-pid, signal);
    } catch {
      // The process has already exited.
    }
  }

  async function inSandbox(
    from: Pick<Sandbox, 'run'>,
    { name, handle }: Source,
    folder: string,
    { agentId, timeoutMs, hosts = [], own_hosts: ownHosts = [] }: RunScript,
  ): Promise<ScriptEnd> {
    const source = ['-c', `source /dev/fd/${SANDBOX_FD}`, join(WITHIN, name)];
    // The household may have lost this right since the person named the hosts.
    const mayOwn = ownHosts.length > 0 && refuseOwnHosts() === null;
    const workspace = workspaces?.of(agentId);
    const run = await from.run({
      ...(workspace ? { space: { left: await workspace.room(), count: () => workspace.room() } } : {}),
      folder,
      bash: source,
      timeoutMs,
      fd: handle.fd,
      network: hosts.length + ownHosts.length === 0 ? 'none' : hosts,
      ownHosts: mayOwn ? ownHosts : [],
    });
    inside.add(run);
    const { code, signal, cut } = await run.ended;
    inside.delete(run);
    const { total } = run.output(0, 0);
    const output = run.output(Math.max(0, total - SCRIPT_LIMITS.output), SCRIPT_LIMITS.output).text;
    if (cut === 'time') return { kind: 'timed-out', by: 'relay', status: tooLong(timeoutMs), cancels: false, output };
    if (cut === 'closing') return { kind: 'stopped', by: 'relay', status: RELAY_ENDED, cancels: false, output };
    if (cut !== null) return { kind: 'failed', by: 'relay', status: EXCESS[cut], cancels: false, output };
    const done = code === 0 || code === DONE_FOR_GOOD;
    const status = signal ?? `exit status ${code ?? '?'}`;
    const by = signal === null ? 'itself' : 'signal';
    return { kind: done ? 'done' : 'failed', by, status, cancels: code === DONE_FOR_GOOD, output };
  }

  /**
   * `HOME` is an empty temporary folder, so that programs read no settings that the agent has
   * written.
   */
  async function bash(
    source: Source,
    cwd: string,
    timeoutMs: number,
    begins: (group: WrittenGroup) => Promise<boolean>,
  ): Promise<ScriptEnd> {
    const home = await mkdtemp(join(tmpdir(), 'roost-script-home-'));
    try {
      return await bashIn(source, cwd, home, timeoutMs, begins);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  }

  function bashIn(
    { name, handle }: Source,
    cwd: string,
    home: string,
    timeoutMs: number,
    begins: (group: WrittenGroup) => Promise<boolean>,
  ): Promise<ScriptEnd> {
    return new Promise((done) => {
      const mark = newId();
      // If the relay dies before it has recorded the group, the line never comes and the shell
      // exits.
      const waits = `read -r _ <&${GO_FD} && exec ${GO_FD}<&- && source /dev/fd/${SCRIPT_FD}`;
      const child = startProgram(
        { program: 'bash', options: ['-c', waits, join(cwd, name)] },
        {
          cwd,
          detached: true,
          stdio: ['ignore', 'pipe', 'pipe', handle.fd, 'pipe'],
          env: {
            PATH: '/usr/local/bin:/usr/bin:/bin',
            HOME: home,
            LANG: 'C.UTF-8',
            TMPDIR: '/tmp',
            ...UNLED,
            [GROUP_MARK]: mark,
          },
        },
      );
      let output = Buffer.alloc(0);
      let late = false;
      const take = (chunk: Buffer) => {
        output = Buffer.concat([output, chunk]).subarray(-SCRIPT_LIMITS.output);
      };
      child.stdout?.on('data', take);
      child.stderr?.on('data', take);
      const { pid } = child;
      const stop = setTimeout(() => {
        late = true;
        if (pid !== undefined) end(pid, 'SIGTERM');
        kill = setTimeout(() => pid !== undefined && end(pid, 'SIGKILL'), SCRIPT_LIMITS.termMs);
      }, timeoutMs);
      let kill: NodeJS.Timeout | null = null;
      const finish = (result: Omit<ScriptEnd, 'output'>) => {
        clearTimeout(stop);
        if (kill) clearTimeout(kill);
        // Child processes left in the group end too.
        if (pid !== undefined) {
          end(pid, 'SIGKILL');
          running.delete(pid);
        }
        child.stdout?.destroy();
        child.stderr?.destroy();
        done({ ...result, output: output.toString('utf8') });
      };
      const go = child.stdio[GO_FD];
      async function letBegin(first: number): Promise<void> {
        const group = await groupOf(first, mark);
        if (group !== null && !(await begins(group))) throw new Error('Another process of this relay has it.');
        if (go && 'end' in go) go.on('error', () => undefined).end('\n');
      }
      if (pid !== undefined) {
        running.set(pid, new Promise((over) => child.once('exit', over)));
        letBegin(pid).catch(() => end(pid, 'SIGKILL'));
      }
      child.once('error', ({ message }) => finish({ kind: 'failed', by: 'nobody', status: message, cancels: false }));
      child.once('exit', (code, signal) => {
        // The last output may still be on its way.
        setImmediate(() => {
          if (closing) return finish({ kind: 'stopped', by: 'relay', status: RELAY_ENDED, cancels: false });
          if (late) return finish({ kind: 'timed-out', by: 'relay', status: tooLong(timeoutMs), cancels: false });
          if (code === 0 || code === DONE_FOR_GOOD)
            return finish({
              kind: 'done',
              by: 'itself',
              status: `exit status ${code}`,
              cancels: code === DONE_FOR_GOOD,
            });
          const by = signal === null ? 'itself' : 'signal';
          finish({ kind: 'failed', by, status: signal ?? `exit status ${code ?? '?'}`, cancels: false });
        });
      });
    });
  }

  return {
    async off() {
      const folder = folderOf('', await isBoxed());
      return typeof folder === 'string' ? folder : null;
    },
    refuseOwnHosts,
    async read(agentId, script) {
      const folder = folderOf(agentId, await isBoxed());
      return typeof folder === 'string' ? folder : await readScript(folder, script);
    },
    async run(script, text, begins = () => Promise.resolve(true)) {
      const boxed = await isBoxed();
      const folder = folderOf(script.agentId, boxed);
      if (typeof folder === 'string')
        return { kind: 'failed', by: 'nobody', status: folder, output: '', cancels: false };
      await mkdir(folder.own, { recursive: true, mode: 0o700 });
      const own = await realpath(folder.own);
      return await withSource(script.script, text, (source) =>
        boxed && sandbox ? inSandbox(sandbox, source, own, script) : bash(source, own, script.timeoutMs, begins),
      );
    },
    endLeft: endGroup,
    async close() {
      closing = true;
      const all = [...running];
      for (const [pid] of all) end(pid, 'SIGKILL');
      const within = [...inside];
      for (const run of within) run.stop('closing');
      await Promise.all(within.map(({ ended }) => ended));
      await Promise.all(all.map(([, over]) => over));
    },
  };
}

// Chooses which text of a scheduled script runs: the one that the person accepted last, whatever
// the file holds by then.
//
// `sha256` in the schedule names the accepted text, which is stored as a row. A schedule that came
// as a record, or from before texts were stored, has no such row. Then the file is used if it still
// has that hash. If the file differs, the person is asked once about the new text. Saving on the
// page, and a yes to `wake_script`, accept the current file.

type Script = ScheduleOf<'script'>;

/** A question about a new text. `before`: the accepted text; null: none is known. */
export interface TextQuestion {
  readonly agentId: AgentId;
  readonly scheduleId: ScheduleId;
  readonly name: string;
  /** Path in the agent's folder after links are resolved. */
  readonly path: string;
  readonly before: PinnedFile | null;
}

/** Asks the person about new texts of scripts. */
export interface TextQuestions {
  /**
   * At most one question is open per schedule. It is about the file's content at the time the
   * person looks.
   */
  ask(question: TextQuestion): Promise<void>;
  /** Withdraws the open question about this schedule, if there is one. */
  withdraw(scheduleId: ScheduleId): Promise<void>;
}

/**
 * `text` null: nothing may run. `note`: a sentence for people about the file; null: the file holds
 * the text that runs.
 */
interface TextToRun {
  readonly text: Uint8Array | null;
  readonly note: string | null;
}

interface ScriptTextsDeps extends HomeStore {
  readonly scripts: Pick<Scripts, 'read'>;
  readonly questions: TextQuestions;
  readonly now: () => number;
}

const UNREADABLE = sentence`Its file is gone, or is not text in UTF-8. The accepted text ran.`;
const WAITS = sentence`Its file has changed. The accepted text ran; the new one waits for your yes.`;
const DECLINED = sentence`Its file has changed, and you declined the change. The accepted text ran.`;
const NONE_ACCEPTED = sentence`Its file is not the accepted text, and waits for your yes.`;
const NONE_LEFT = sentence`Its file is not the accepted text. Look at it, and save the script again.`;

/** Stores the accepted text of a script and deletes the previous one. */
export async function keepText(
  trx: Db,
  home: string,
  schedule: ScheduleId,
  { text, sha256 }: ScriptText,
  now: number,
): Promise<void> {
  await trx
    .deleteFrom('script_texts')
    .where('home', '=', home)
    .where('schedule', '=', schedule)
    .where('state', '=', 'accepted')
    .where('sha256', '<>', sha256)
    .execute();
  const accepted = { state: 'accepted', text, answered_at: now };
  await trx
    .insertInto('script_texts')
    .values({ home, schedule, sha256, ...accepted })
    .onConflict((conflict) => conflict.columns(['home', 'schedule', 'sha256']).doUpdateSet(accepted))
    .execute();
}

/** Deletes all texts of these schedules. */
export async function forgetTexts(trx: Db, home: string, schedules: readonly ScheduleId[]): Promise<void> {
  if (schedules.length === 0) return;
  await trx
    .deleteFrom('script_texts')
    .where('home', '=', home)
    .where('schedule', 'in', [...schedules])
    .execute();
}

/** The accepted text, as a question shows it. */
const shownBefore = (path: string, { text, sha256 }: ScriptText): PinnedFile => ({
  ...{ path, leadsTo: null, kind: 'file', bytes: text.length, entries: 0 },
  ...{ mark: `sha256:${sha256}`, inTurn: false, text: fileText(text) },
});

export type ScriptTexts = ReturnType<typeof createScriptTexts>;

export function createScriptTexts({ db, home, scripts, questions, now }: ScriptTextsDeps) {
  const rows = (scheduleId: ScheduleId, from = db) =>
    from.selectFrom('script_texts').selectAll().where('home', '=', home).where('schedule', '=', scheduleId);

  /** The accepted text with the hash in the schedule. Null: it is not stored here. */
  async function accepted(scheduleId: ScheduleId, { sha256 }: Pick<Script, 'sha256'>): Promise<ScriptText | null> {
    if (sha256 === undefined) return null;
    const row = await rows(scheduleId).where('sha256', '=', sha256).where('state', '=', 'accepted').executeTakeFirst();
    return row?.text ? { text: row.text, sha256 } : null;
  }

  /**
   * State of a file that differs from the accepted text. Asks the person, unless they have already
   * declined this text.
   */
  async function asked(
    scheduleId: ScheduleId,
    { agentId, name }: Script,
    file: ScriptFile,
    kept: ScriptText | null,
  ): Promise<'waits' | 'declined' | 'no-text'> {
    const answered = await rows(scheduleId).where('sha256', '=', file.sha256).executeTakeFirst();
    if (answered?.state === 'declined') return 'declined';
    if (fileText(file.text) === null) return 'no-text';
    const before = kept && shownBefore(file.path, kept);
    await questions.ask({ agentId, scheduleId, name, path: file.path, before });
    return 'waits';
  }

  return {
    accepted,
    withdraw: questions.withdraw,
    /** The text to run now. Asks the person if the file differs. */
    async toRun(scheduleId: ScheduleId, script: Script): Promise<TextToRun> {
      const file = await scripts.read(script.agentId, script.script);
      let kept = await accepted(scheduleId, script);
      if (typeof file === 'string') return kept ? { text: kept.text, note: UNREADABLE } : { text: null, note: file };
      if (file.sha256 === script.sha256) {
        if (!kept) await db.transaction().execute((trx) => keepText(trx, home, scheduleId, file, now()));
        kept ??= file;
        await questions.withdraw(scheduleId);
        return { text: kept.text, note: null };
      }
      const state = await asked(scheduleId, script, file, kept);
      if (!kept) return { text: null, note: state === 'waits' ? NONE_ACCEPTED : NONE_LEFT };
      return { text: kept.text, note: { waits: WAITS, declined: DECLINED, 'no-text': UNREADABLE }[state] };
    },
    /**
     * The person declined this text, and is not asked about it again. `within`: the transaction of
     * the answer.
     */
    async decline(scheduleId: ScheduleId, sha256: string, within: Db): Promise<void> {
      await within
        .insertInto('script_texts')
        .values({ home, schedule: scheduleId, sha256, state: 'declined', text: null, answered_at: now() })
        // An accepted text stays accepted.
        .onConflict((conflict) => conflict.columns(['home', 'schedule', 'sha256']).doNothing())
        .execute();
      const oldest = rows(scheduleId, within)
        .clearSelect()
        .select('sha256')
        .where('state', '=', 'declined')
        .orderBy('answered_at', 'desc')
        .offset(SCRIPT_LIMITS.declined);
      await within
        .deleteFrom('script_texts')
        .where('home', '=', home)
        .where('schedule', '=', scheduleId)
        .where('state', '=', 'declined')
        .where('sha256', 'in', oldest)
        .execute();
    },
  };
}

// Records what the person has consented to: a hash of the schedule, and whether it is on. A
// schedule that came as a record stays off until the person has consented to exactly that at this
// relay.

/** Sorts keys, so that their order does not change the hash. */
const sorted = (_key: string, value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value;

/**
 * Fields that were added later. At their default value they are left out of the hash, so that
 * earlier consents stay valid.
 */
const isAsBefore = (schedule: Schedule, field: string): boolean =>
  schedule.kind === 'routine'
    ? (field === 'maxTurns' || field === 'pulse_columns') && schedule[field] === null
    : (field === 'context' && schedule.context === 'none') ||
      (schedule.kind === 'script' &&
        (field === 'hosts' || field === 'own_hosts') &&
        (schedule[field] ?? []).length === 0);

/** The colour is left out: it does not change what runs. */
function wordsOf(schedule: Schedule): { readonly on: boolean; readonly hash: string } {
  const words = Object.fromEntries(
    Object.entries(schedule).filter(
      ([field]) => field !== 'enabled' && field !== 'color' && !isAsBefore(schedule, field),
    ),
  );
  const hash = createHash('sha256').update(JSON.stringify(words, sorted)).digest('hex');
  return { on: schedule.kind === 'reminder' || schedule.enabled, hash };
}

/**
 * Whether the schedule runs something or wakes its agent repeatedly. Allowing it also allows the
 * agent to store a snapshot.
 */
export const runsByItself = (schedule: Schedule): boolean =>
  schedule.kind === 'reminder' ? schedule.timing.kind !== 'once' : schedule.enabled;

/** The consent as it is stored with the schedule. */
export function agreementOf(schedule: Schedule): string {
  const { on, hash } = wordsOf(schedule);
  return `${on ? 'on' : 'off'} ${hash}`;
}

/**
 * Whether the person has consented to all of this. Switching it off needs no consent. `agreed`
 * null: no consent yet.
 */
export function isAgreed(agreed: string | null, schedule: Schedule): boolean {
  const { on, hash } = wordsOf(schedule);
  return agreed === `on ${hash}` || (!on && agreed === `off ${hash}`);
}

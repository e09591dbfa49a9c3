/**
 * Scripts of agents: run by `bash` in the agent's folder, with an environment that holds no keys,
 * for a time, in the sandbox where there is one. Where there is none they run as whoever runs the
 * relay, and may do what that user may: so that is a right of the relay's owner. The text that runs
 * is given: agents write in that folder, so the file says only what is to be asked about.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, mkdtemp, open, readlink, realpath, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { newId } from '../../src/shared/domain/platform/new-id.ts';
import type { AgentId, ScheduleId } from '../../src/shared/domain/ids.ts';
import type { Schedule, ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import { sentence } from '../../src/shared/domain/sentence.ts';
import { fileText } from '../../src/shared/domain/file-text.ts';
import type { PinnedFile } from '../../src/shared/protocol/calls.ts';
import { isRecord } from '../../src/shared/domain/platform/is-record.ts';
import { type HomeRights, OWNER_RIGHTS } from '../access/owner-rights.ts';
import { type Cut, type Sandbox, type SandboxRun, WITHIN } from '../tools/sandbox/index.ts';
import { timeText } from '../agents/runs/outcome.ts';
import { readWhole, type Workspaces } from '../tools/workspaces/index.ts';
import { endGroup, GROUP_MARK, groupOf, type WrittenGroup } from '../platform/processes/proc.ts';
import { startProgram } from '../platform/processes/index.ts';
import type { Db } from '../store/index.ts';
import { SCRIPT_LIMITS } from './settings.ts';

/** Exit status by which a script says that it is done for good. */
const DONE_FOR_GOOD = 75;
/** Where its shell reads it from: the one after its output and errors. */
const SCRIPT_FD = 3;
const SANDBOX_FD = 4;
/** What it waits for before it begins: a line. */
const GO_FD = 4;

/** Where an agent's scripts lie. */
interface Folder {
  readonly own: string;
}
/** The text of a script, and its SHA-256 in hex. */
export interface ScriptText {
  readonly text: Uint8Array;
  readonly sha256: string;
}
/** A script as its file says it. */
export interface ScriptFile extends ScriptText {
  /** Path in the agent's folder, after links, with `/` between names. */
  readonly path: string;
}
/** One that is run. */
type RunScript = Pick<ScheduleOf<'script'>, 'agentId' | 'script' | 'timeoutMs' | 'hosts' | 'own_hosts'>;
/** What a shell reads. `name`: path in the agent's folder, as the script was named. */
interface Source {
  readonly name: string;
  readonly handle: FileHandle;
}

/** What became of one run of a script. */
export interface ScriptEnd {
  /** `stopped`: with the relay, which was ended in good order. */
  readonly kind: 'done' | 'failed' | 'timed-out' | 'stopped';
  /** Who ended it; `nobody`: it was not run. */
  readonly by: 'itself' | 'signal' | 'relay' | 'nobody';
  /**
   * Its exit status, the signal, or why the relay ended it or did not run it: for people and minds.
   */
  readonly status: string;
  /** The end of what it wrote. */
  readonly output: string;
  /** It asks not to be run again. */
  readonly cancels: boolean;
}

export interface Scripts {
  /** Why this household may have none run, as a sentence; null: it may. */
  off(): Promise<string | null>;
  /**
   * Why this household may name no hosts of the relay's machine and networks, as a sentence; null:
   * it may.
   */
  refuseOwnHosts(): string | null;
  /** The file as it lies there; a sentence: why it cannot be run. */
  look(agentId: AgentId, script: string): Promise<ScriptFile | string>;
  /**
   * Runs this text, whatever the file says. `begins`: by which processes, where that is not in a
   * sandbox; nothing of it is run before. False: it is not to be run.
   */
  run(script: RunScript, text: Uint8Array, begins?: (group: WrittenGroup) => Promise<boolean>): Promise<ScriptEnd>;
  /** Ends what a relay that died has left of one. */
  endLeft(group: WrittenGroup): Promise<boolean>;
  /** Ends what still runs. */
  close(): Promise<void>;
}

/**
 * Keeps programs from following what lies in the folder that they run in: Python takes no module
 * from there, and git neither hooks nor the command that watches files. What else such a program is
 * told to do there, by filters of git for one, it does.
 */
const UNLED = {
  PYTHONSAFEPATH: '1',
  GIT_CONFIG_COUNT: '2',
  ...{ GIT_CONFIG_KEY_0: 'core.fsmonitor', GIT_CONFIG_VALUE_0: 'false' },
  ...{ GIT_CONFIG_KEY_1: 'core.hooksPath', GIT_CONFIG_VALUE_1: '/dev/null' },
};

/** Why the sandbox ended one before its time. */
const EXCESS: Readonly<Record<Exclude<Cut, 'time' | 'closing'>, string>> = {
  memory: sentence`it took more memory than it may`,
  room: sentence`its agent’s folder has no more room, or the disk has none`,
  files: sentence`its agent’s folder holds more files than it may, or some that cannot be counted`,
  watchers: sentence`it watched more files or descriptors than one script may (inotify, epoll)`,
  output: sentence`it wrote more than is read`,
  stopped: sentence`it was stopped`,
  withdrawn: sentence`what it was let do was withdrawn`,
};

const RELAY_ENDED = sentence`the relay was ended`;
const tooLong = (ms: number) => sentence`it may take ${timeText(ms)} and no longer`;

/** How it ended, as a sentence for people and minds. `took`: ms. */
export function howItEnded({ by, status }: Pick<ScriptEnd, 'by' | 'status'>, took: number): string {
  switch (by) {
    case 'itself':
      return sentence`It ended with ${status} after ${timeText(took)}.`;
    case 'signal':
      return sentence`The signal ${status} stopped it after ${timeText(took)}.`;
    case 'relay':
      return sentence`The relay stopped it after ${timeText(took)}: ${status}.`;
    case 'nobody':
      return sentence`It was not run. ${status}`;
    default:
      return by satisfies never;
  }
}

/**
 * The file, with every link resolved, and where it lies in the folder; a sentence where it cannot
 * be run.
 */
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
 * Where an open file lies. On Linux a folder that was swapped for a link meanwhile is noticed by
 * this.
 */
const whereIs = ({ fd }: FileHandle, file: string): Promise<string> =>
  readlink(`/proc/self/fd/${fd}`).catch(() => file);

async function lookAt({ own }: Folder, script: string): Promise<ScriptFile | string> {
  const found = await pathOf(own, script);
  if (typeof found === 'string') return found;
  const { file, within } = found;
  // Not waiting: a pipe that nobody writes to would be waited for.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const handle = await open(file, flags).catch(() => null);
  if (!handle) return `${script} cannot be read.`;
  try {
    if ((await whereIs(handle, file)) !== file) return OUTSIDE;
    const stat = await handle.stat();
    if (!stat.isFile()) return 'That is no file.';
    if (stat.size > SCRIPT_LIMITS.bytes) return `A script is ${SCRIPT_LIMITS.bytes / 1_000} kB long at most.`;
    const text = await readWhole(handle, stat.size);
    return { path: within.split(sep).join('/'), text, sha256: hashOf(text) };
  } finally {
    await handle.close();
  }
}

/** SHA-256 in hex. */
const hashOf = (text: Uint8Array): string => createHash('sha256').update(text).digest('hex');

/** Calls `use` with the text in a file that has no name: nobody can write in it. */
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
    // At a place: whoever reads it after begins at its beginning.
    await handle.write(text, 0, text.length, 0);
    return await use({ name, handle });
  } finally {
    await handle.close();
  }
}

/**
 * `workspaces` null: scripts are off. `sandbox` null: they run without. `rights` null: they may,
 * with the sandbox and without.
 */
export function createScripts(
  workspaces: Pick<Workspaces, 'folderOf' | 'of'> | null,
  sandbox: Pick<Sandbox, 'standing' | 'run'> | null = null,
  rights: Pick<HomeRights, 'has' | 'refusal'> | null = null,
): Scripts {
  const running = new Map<number, Promise<unknown>>();
  const inside = new Set<SandboxRun>();
  let closing = false;
  const isBoxed = async () => (await sandbox?.standing())?.available ?? false;
  /** Where this agent's scripts lie; a sentence: why none of them may be run. */
  function folderOf(agentId: AgentId, boxed: boolean): Folder | string {
    const right = boxed ? 'boxed-scripts' : 'bare-commands';
    if (!workspaces) return OWNER_RIGHTS['bare-commands'].off;
    return !rights || rights.has(right) ? { own: workspaces.folderOf(agentId) } : rights.refusal(right);
  }

  const refuseOwnHosts = () => (!rights || rights.has('own-hosts') ? null : rights.refusal('own-hosts'));

  function end(pid: number, signal: NodeJS.Signals): void {
    try {
      // The whole group: what it started ends with it.
      process.kill(-pid, signal);
    } catch {
      // It has ended by itself.
    }
  }

  async function inSandbox(
    from: Pick<Sandbox, 'run'>,
    { name, handle }: Source,
    folder: string,
    { agentId, timeoutMs, hosts = [], own_hosts: ownHosts = [] }: RunScript,
  ): Promise<ScriptEnd> {
    const source = ['-c', `source /dev/fd/${SANDBOX_FD}`, join(WITHIN, name)];
    // The right may have gone to another household since the person named them.
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
   * Its home is an empty folder that goes with it: what its agent has left in its own is no
   * program's settings.
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
      // Where the relay dies before it is written down, nobody says the line, and it ends by
      // itself.
      const waits = `read -r _ <&${GO_FD} && exec ${GO_FD}<&- && source /dev/fd/${SCRIPT_FD}`;
      const child = startProgram('bash', ['-c', waits, join(cwd, name)], {
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
      });
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
        // What it left behind in its group ends with it.
        if (pid !== undefined) {
          end(pid, 'SIGKILL');
          running.delete(pid);
        }
        child.stdout?.destroy();
        child.stderr?.destroy();
        done({ ...result, output: output.toString('utf8') });
      };
      const go = child.stdio[GO_FD];
      async function letGo(first: number): Promise<void> {
        const group = await groupOf(first, mark);
        if (group !== null && !(await begins(group))) throw new Error('Another process of this relay has it.');
        if (go && 'end' in go) go.on('error', () => undefined).end('\n');
      }
      if (pid !== undefined) {
        running.set(pid, new Promise((over) => child.once('exit', over)));
        letGo(pid).catch(() => end(pid, 'SIGKILL'));
      }
      child.once('error', ({ message }) => finish({ kind: 'failed', by: 'nobody', status: message, cancels: false }));
      child.once('exit', (code, signal) => {
        // What it wrote last may still be on its way.
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
    async look(agentId, script) {
      const folder = folderOf(agentId, await isBoxed());
      return typeof folder === 'string' ? folder : await lookAt(folder, script);
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

// Which text of a scheduled script runs: the last one that the person accepted, and no other,
// whatever its file says by then.
//
// `sha256` in the schedule names the accepted text. The text itself is a row here. A schedule that
// came as a record, or from before texts were kept, has no such row: the file is taken as the text
// if it still has that hash. If the file says something else, the person is asked once about that
// text. Saving on the page, and a yes to `wake_script`, accept what lies there.

type Script = ScheduleOf<'script'>;

/** What a question about another text is to. `before`: the accepted text; null: none is known. */
export interface TextQuestion {
  readonly agentId: AgentId;
  readonly scheduleId: ScheduleId;
  readonly name: string;
  /** Path in the agent's folder, after links. */
  readonly path: string;
  readonly before: PinnedFile | null;
}

/** Asks the person about the texts of scripts. */
export interface TextQuestions {
  /**
   * One question waits for each schedule: it is to what the file says when the person looks at it.
   */
  ask(question: TextQuestion): Promise<void>;
  /** Withdraws the question about this schedule, if one waits. */
  withdraw(scheduleId: ScheduleId): Promise<void>;
}

/**
 * `text` null: nothing may run. `note`: a sentence for people about the file; null: it says what
 * runs.
 */
interface TextToRun {
  readonly text: Uint8Array | null;
  readonly note: string | null;
}

interface ScriptTextsDeps {
  readonly db: Db;
  /** Names the home. */
  readonly home: string;
  readonly scripts: Pick<Scripts, 'look'>;
  readonly questions: TextQuestions;
  readonly now: () => number;
}

const GONE = sentence`Its file is not there any more, or cannot be read. The text that was accepted ran.`;
const WAITS = sentence`Its file says something else by now. The text that was accepted ran; the new one waits for your yes.`;
const DECLINED = sentence`Its file says something else by now, which you declined. The text that was accepted ran.`;
const NO_TEXT = sentence`Its file holds something else by now that is no text in UTF-8, so it cannot be shown to you. The text that was accepted ran.`;
const NONE_ACCEPTED = sentence`Its file says something else than what was accepted. The question about it waits for your yes.`;
const NONE_LEFT = sentence`Its file says something else than what was accepted. Look at it, and save the script once more.`;

/** Writes the accepted text of a script, in the place of the one before. */
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

/** Forgets all texts of these schedules. */
export async function forgetTexts(trx: Db, home: string, schedules: readonly ScheduleId[]): Promise<void> {
  if (schedules.length === 0) return;
  await trx
    .deleteFrom('script_texts')
    .where('home', '=', home)
    .where('schedule', 'in', [...schedules])
    .execute();
}

/** The accepted text as a question shows it. */
const shownBefore = (path: string, { text, sha256 }: ScriptText): PinnedFile => ({
  ...{ path, leadsTo: null, kind: 'file', bytes: text.length, entries: 0 },
  ...{ mark: `sha256:${sha256}`, inTurn: false, text: fileText(text) },
});

export type ScriptTexts = ReturnType<typeof createScriptTexts>;

export function createScriptTexts({ db, home, scripts, questions, now }: ScriptTextsDeps) {
  const rows = (scheduleId: ScheduleId, from = db) =>
    from.selectFrom('script_texts').selectAll().where('home', '=', home).where('schedule', '=', scheduleId);

  /** The accepted text under the hash in the schedule; null: it is not kept here. */
  async function accepted(scheduleId: ScheduleId, { sha256 }: Pick<Script, 'sha256'>): Promise<ScriptText | null> {
    if (sha256 === undefined) return null;
    const row = await rows(scheduleId).where('sha256', '=', sha256).where('state', '=', 'accepted').executeTakeFirst();
    return row?.text ? { text: row.text, sha256 } : null;
  }

  /**
   * What is to be said of a file that says something else. Asks about it, unless the person has
   * answered for this very text.
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
    /** The text that runs now. A file that says something else is asked about. */
    async toRun(scheduleId: ScheduleId, script: Script): Promise<TextToRun> {
      const file = await scripts.look(script.agentId, script.script);
      let kept = await accepted(scheduleId, script);
      if (typeof file === 'string') return kept ? { text: kept.text, note: GONE } : { text: null, note: file };
      if (file.sha256 === script.sha256) {
        if (!kept) await db.transaction().execute((trx) => keepText(trx, home, scheduleId, file, now()));
        kept ??= file;
        await questions.withdraw(scheduleId);
        return { text: kept.text, note: null };
      }
      const state = await asked(scheduleId, script, file, kept);
      if (!kept) return { text: null, note: state === 'waits' ? NONE_ACCEPTED : NONE_LEFT };
      return { text: kept.text, note: { waits: WAITS, declined: DECLINED, 'no-text': NO_TEXT }[state] };
    },
    /**
     * The person said no to this text: it is not asked about again. `within`: the transaction of
     * their answer.
     */
    async decline(scheduleId: ScheduleId, sha256: string, within: Db): Promise<void> {
      await within
        .insertInto('script_texts')
        .values({ home, schedule: scheduleId, sha256, state: 'declined', text: null, answered_at: now() })
        // What is accepted stays it.
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

// What the person has agreed to of something that is due: what it says, and whether it is on.
// Something that came as a record is off until they have said yes to exactly that at this relay.

/** In whatever order its fields stand. */
const sorted = (_key: string, value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value;

/**
 * Fields that came later. What has them as they are by default is as it was agreed to before they
 * were there.
 */
const isAsBefore = (schedule: Schedule, field: string): boolean =>
  schedule.kind === 'routine'
    ? field === 'maxTurns' && schedule.maxTurns === null
    : (field === 'context' && schedule.context === 'none') ||
      (schedule.kind === 'script' &&
        (field === 'hosts' || field === 'own_hosts') &&
        (schedule[field] ?? []).length === 0);

/** Its colour is to the eye alone. */
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
 * Whether it sets its agent to work again and again, or runs something: whoever lets it lets its
 * agent leave what it needs for that.
 */
export const runsByItself = (schedule: Schedule): boolean =>
  schedule.kind === 'reminder' ? schedule.timing.kind !== 'once' : schedule.enabled;

/** As it is kept beside what is scheduled. */
export function agreementOf(schedule: Schedule): string {
  const { on, hash } = wordsOf(schedule);
  return `${on ? 'on' : 'off'} ${hash}`;
}

/**
 * Whether nothing of it is new to the person. Switching it off is not. `agreed` null: they have
 * agreed to nothing of it.
 */
export function isAgreed(agreed: string | null, schedule: Schedule): boolean {
  const { on, hash } = wordsOf(schedule);
  return agreed === `on ${hash}` || (!on && agreed === `off ${hash}`);
}

/**
 * Scripts of agents: run by `bash` in the agent's folder, with an environment that holds no keys, for a time, in the sandbox
 * where there is one. Where there is none they run as whoever runs the relay, and may do what that user may: so that is a right
 * of the relay's owner. What is run is what lay there when the person set it, because agents write in that folder.
 */
import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, mkdtemp, open, realpath, rm, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Network } from '../../src/domain/network.ts';
import type { AgentId } from '../../src/domain/ids.ts';
import type { ScheduleOf } from '../../src/protocol/schedules.ts';
import { OWNER_RIGHTS, type HomeRights } from '../owner-rights.ts';
import { WITHIN, type Cut, type Sandbox, type SandboxRun } from '../sandbox/index.ts';
import type { Workspaces } from '../workspaces/index.ts';
import { timeText } from '../runs/outcome.ts';
import { sentence } from '../../src/domain/sentence.ts';
import { endGroup, GROUP_MARK, groupOf, type WrittenGroup } from '../processes/groups.ts';
import { startProgram } from '../processes/index.ts';

/** Exit status by which a script says that it is done for good. */
const DONE_FOR_GOOD = 75;
/** Bytes of the end of what it wrote that are kept. */
const OUTPUT_BYTES = 4_000;
/** Where its shell reads it from: the one after its output and errors. */
const SCRIPT_FD = 3;
const SANDBOX_FD = 4;
/** What it waits for before it begins: a line. */
const GO_FD = 4;
/** Bytes of a script. */
const SCRIPT_BYTES = 1_000_000;
/** ms between asking a script to end and ending it. */
const TERM_MS = 1_000;

/** Where an agent's scripts lie. */
interface Folder {
  readonly own: string;
}
interface Script {
  readonly file: string;
  readonly text: Buffer;
  readonly sha256: string;
}
/** What a shell reads. */
interface Source {
  readonly file: string;
  readonly handle: FileHandle;
}

/** What became of one run of a script. */
export interface ScriptEnd {
  /** `stopped`: with the relay, which was ended in good order. */
  readonly kind: 'done' | 'failed' | 'timed-out' | 'stopped';
  /** Who ended it; `nobody`: it was not run. */
  readonly by: 'itself' | 'signal' | 'relay' | 'nobody';
  /** Its exit status, the signal, or why the relay ended it or did not run it: for people and minds. */
  readonly status: string;
  /** The end of what it wrote. */
  readonly output: string;
  /** It asks not to be run again. */
  readonly cancels: boolean;
}

export interface Scripts {
  /** Why this household may have none run, as a sentence; null: it may. */
  off(): Promise<string | null>;
  /** Why this script cannot be run, as a sentence; null: it can. */
  refuse(agentId: AgentId, script: string): Promise<string | null>;
  /** SHA-256 of the file as it is; null: it cannot be run. */
  pin(agentId: AgentId, script: string): Promise<string | null>;
  /** `begins`: by which processes, where that is not in a sandbox; nothing of it is run before. False: it is not to be run. */
  run(script: ScheduleOf<'script'>, begins?: (group: WrittenGroup) => Promise<boolean>): Promise<ScriptEnd>;
  /** Ends what a relay that died has left of one. */
  endLeft(group: WrittenGroup): Promise<boolean>;
  /** Ends what still runs. */
  close(): Promise<void>;
}

const CHANGED =
  'The file is not the one that was there when the human set this. They look at it, and save this once more.';

/**
 * Keeps programs from following what lies in the folder that they run in: Python takes no module from there, and git neither
 * hooks nor the command that watches files. What else such a program is told to do there, by filters of git for one, it does.
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
  withdrawn: sentence`what it was let do was taken back`,
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

/** The file, with every link resolved; a sentence where it cannot be run. */
async function pathOf(own: string, script: string): Promise<{ readonly file: string } | string> {
  if (isAbsolute(script)) return 'A script is named by its path within the agent’s folder.';
  await mkdir(own, { recursive: true, mode: 0o700 });
  const root = await realpath(own);
  try {
    const file = await realpath(resolve(root, script));
    const within = relative(root, file);
    if (within === '' || within === '..' || within.startsWith(`..${sep}`) || isAbsolute(within))
      return 'The script lies outside of the agent’s folder.';
    return { file };
  } catch {
    return `There is no file ${script} in ${root}.`;
  }
}

/** Calls `use` with what lies there. A folder that is a sentence: why nothing of it is run. */
async function withFile<Value>(
  folder: Folder | string,
  script: string,
  use: (found: Script) => Value | Promise<Value>,
): Promise<{ readonly value: Value } | string> {
  if (typeof folder === 'string') return folder;
  const path = await pathOf(folder.own, script);
  if (typeof path === 'string') return path;
  const { file } = path;
  // Not waiting: a pipe that nobody writes to would be waited for.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const handle = await open(file, flags).catch(() => null);
  if (!handle) return `${script} cannot be read.`;
  try {
    const found = await handle.stat();
    if (!found.isFile()) return 'That is no file.';
    if (found.size > SCRIPT_BYTES) return `A script is ${SCRIPT_BYTES / 1_000_000} MB long at most.`;
    const text = Buffer.alloc(found.size);
    await handle.read(text, 0, text.length, 0);
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { value: await use({ file, text, sha256 }) };
  } finally {
    await handle.close();
  }
}

/** Calls `use` with the same text in a file that has no name: whatever is written in the agent's folder meanwhile, what was looked at is what is run. */
async function withSource<Value>({ file, text }: Script, use: (source: Source) => Promise<Value>): Promise<Value> {
  const path = join(tmpdir(), `roost-script-${randomUUID()}`);
  const handle = await open(
    path,
    constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    await unlink(path);
    // At a place: whoever reads it after begins at its beginning.
    await handle.write(text, 0, text.length, 0);
    return await use({ file, handle });
  } finally {
    await handle.close();
  }
}

/** `workspaces` null: scripts are off. `sandbox` null: they run without. `rights` null: they may, with the sandbox and without. */
export function createScripts(
  workspaces: Pick<Workspaces, 'folderOf' | 'of'> | null,
  sandbox: Pick<Sandbox, 'standing' | 'run'> | null = null,
  networkOf: (agentId: AgentId) => Promise<Network> = () => Promise.resolve('none'),
  rights: Pick<HomeRights, 'has' | 'refusal'> | null = null,
): Scripts {
  const running = new Map<number, Promise<unknown>>();
  const inside = new Set<SandboxRun>();
  let closing = false;
  const isBoxed = async () => (await sandbox?.standing())?.available ?? false;
  /** Where this agent's scripts lie; a sentence: why none of them may be run. */
  function folderOf(agentId: AgentId, boxed: boolean): Folder | string {
    const right = boxed ? 'boxed-scripts' : 'bare-commands';
    if (!workspaces) return OWNER_RIGHTS[right].off;
    return !rights || rights.has(right) ? { own: workspaces.folderOf(agentId) } : rights.refusal(right);
  }

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
    { file, handle }: Source,
    folder: string,
    { agentId, timeoutMs }: Pick<ScheduleOf<'script'>, 'agentId' | 'timeoutMs'>,
  ): Promise<ScriptEnd> {
    const source = ['-c', `source /dev/fd/${SANDBOX_FD}`, `${WITHIN}/${basename(file)}`];
    const workspace = workspaces?.of(agentId);
    const run = await from.run({
      ...(workspace ? { space: { left: await workspace.room(), count: () => workspace.room() } } : {}),
      folder,
      bash: source,
      timeoutMs,
      fd: handle.fd,
      network: await networkOf(agentId),
    });
    inside.add(run);
    const { code, signal, cut } = await run.ended;
    inside.delete(run);
    const { total } = run.output(0, 0);
    const output = run.output(Math.max(0, total - OUTPUT_BYTES), OUTPUT_BYTES).text;
    if (cut === 'time') return { kind: 'timed-out', by: 'relay', status: tooLong(timeoutMs), cancels: false, output };
    if (cut === 'closing') return { kind: 'stopped', by: 'relay', status: RELAY_ENDED, cancels: false, output };
    if (cut !== null) return { kind: 'failed', by: 'relay', status: EXCESS[cut], cancels: false, output };
    const done = code === 0 || code === DONE_FOR_GOOD;
    const status = signal ?? `exit status ${code ?? '?'}`;
    const by = signal === null ? 'itself' : 'signal';
    return { kind: done ? 'done' : 'failed', by, status, cancels: code === DONE_FOR_GOOD, output };
  }

  /** Its home is an empty folder that goes with it: what its agent has left in its own is no program's settings. */
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
    { file, handle }: Source,
    cwd: string,
    home: string,
    timeoutMs: number,
    begins: (group: WrittenGroup) => Promise<boolean>,
  ): Promise<ScriptEnd> {
    return new Promise((done) => {
      const mark = randomUUID();
      // Where the relay dies before it is written down, nobody says the line, and it ends by itself.
      const waits = `read -r _ <&${GO_FD} && exec ${GO_FD}<&- && source /dev/fd/${SCRIPT_FD}`;
      const child = startProgram('bash', ['-c', waits, file], {
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
        output = Buffer.concat([output, chunk]).subarray(-OUTPUT_BYTES);
      };
      child.stdout?.on('data', take);
      child.stderr?.on('data', take);
      const { pid } = child;
      const stop = setTimeout(() => {
        late = true;
        if (pid !== undefined) end(pid, 'SIGTERM');
        kill = setTimeout(() => pid !== undefined && end(pid, 'SIGKILL'), TERM_MS);
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
    async refuse(agentId, script) {
      const found = await withFile(folderOf(agentId, await isBoxed()), script, () => true);
      return typeof found === 'string' ? found : null;
    },
    async pin(agentId, script) {
      const found = await withFile(folderOf(agentId, await isBoxed()), script, ({ sha256 }) => sha256);
      return typeof found === 'string' ? null : found.value;
    },
    async run({ agentId, script, sha256, timeoutMs }, begins = () => Promise.resolve(true)) {
      const failed = (status: string): ScriptEnd => ({
        ...{ kind: 'failed', by: 'nobody', status },
        ...{ output: '', cancels: false },
      });
      // Anew each time: a link may lead elsewhere by now.
      const boxed = await isBoxed();
      const folder = folderOf(agentId, boxed);
      if (typeof folder === 'string') return failed(folder);
      const { own } = folder;
      const found = await withFile(folder, script, (file) =>
        file.sha256 !== sha256
          ? failed(CHANGED)
          : withSource(file, (source) =>
              boxed && sandbox
                ? inSandbox(sandbox, source, own, { agentId, timeoutMs })
                : bash(source, own, timeoutMs, begins),
            ),
      );
      return typeof found === 'string' ? failed(found) : found.value;
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

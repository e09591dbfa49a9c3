/** The home: the folder with everything that a relay stores. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  access,
  chmod,
  constants,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { newId } from '../../src/shared/domain/platform/new-id.ts';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import { codeOf, StartError } from '../platform/errors.ts';
import { unfinished, writeWhole } from '../platform/whole-file.ts';

// One relay per home. The lock is a listening socket in the home. The operating system releases it
// with the process, however that ends, so a lock never outlives its relay. A client of the socket
// is told the relay's address, and may ask the relay to end. Only the home's owner can reach it.

/** The shortest limit among the systems Node runs on (macOS: 104 bytes with the final NUL). */
const SOCKET_PATH_MAX = 103;
/** ms to wait for the holder's address. */
const ASK_TIMEOUT_MS = 1_000;
/** The message that asks the holder to end. */
const END = 'end\n';
/** The message that asks for a copy of the store, and ms to wait for it. */
const COPY = 'copy\n';
const COPY_TIMEOUT_MS = 600_000;
/** ms between two checks whether it has ended. */
const CHECK_MS = 50;
/** File with the holder's process id, since a relay that hangs does not answer. */
const PID_FILE = 'relay.pid';

interface HomeLock {
  /** Sets the address that a second relay is told. */
  tell(address: string): void;
  /** `copy`: writes a copy of the store into a new file, and resolves with its path. */
  onCopy(copy: () => Promise<string>): void;
  release(): Promise<void>;
}

/**
 * The path of this home's socket: a pipe on Windows; elsewhere in the home, or beside it where the
 * path is too long.
 */
function socketPath(home: string, platform: NodeJS.Platform): string {
  const name = `roost-${createHash('sha256').update(home).digest('hex').slice(0, 32)}`;
  if (platform === 'win32') return `\\\\.\\pipe\\${name}`;
  const inside = join(home, 'relay.sock');
  return Buffer.byteLength(inside) <= SOCKET_PATH_MAX ? inside : join(tmpdir(), `${name}.sock`);
}

/** The holder's answer. Null if nobody listens. `words`: sent to it. */
function ask(path: string, words = '', timeoutMs: number = ASK_TIMEOUT_MS): Promise<string | null> {
  return new Promise((resolve, reject) => {
    let said = '';
    const socket = connect(path, () => socket.end(words));
    socket.setEncoding('utf8').setTimeout(timeoutMs, () => socket.destroy());
    socket.on('data', (text) => (said += text));
    socket.on('close', () => resolve(said));
    socket.on('error', (error) => {
      if (['ECONNREFUSED', 'ENOENT'].includes(codeOf(error))) resolve(null);
      // The holder has just ended, or is too busy to accept. It did exist.
      else if (['ECONNRESET', 'EPIPE', 'EAGAIN'].includes(codeOf(error))) resolve(said);
      else reject(error);
    });
  });
}

/** Answers to the messages, and to a client without one. */
interface Answers {
  readonly address: () => string;
  readonly onEnd: () => void;
  readonly copy: () => Promise<string>;
}

/** Null: another process listens there. */
function listen(path: string, { address, onEnd, copy }: Answers): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      let asked = '';
      socket.setTimeout(ASK_TIMEOUT_MS, () => socket.destroy());
      // The client may disconnect before it has read the answer.
      socket.on('error', () => socket.destroy());
      socket.on('data', (text) => (asked += String(text)));
      // The request is read to its end first. A client that asked while this process hung is gone,
      // but its request is carried out.
      socket.on('end', () => {
        if (asked === END) onEnd();
        if (asked === COPY) {
          socket.setTimeout(0);
          void copy().then((answer) => socket.end(answer));
        } else socket.end(address());
      });
    });
    server.once('error', (error) => (codeOf(error) === 'EADDRINUSE' ? resolve(null) : reject(error)));
    server.listen(path, () => {
      server.unref();
      resolve(server);
    });
  });
}

const homeTakenError = (home: string, address: string) =>
  new StartError(
    `Another relay runs on the home ${home}${address === '' ? '' : `, at ${address}`}. Use that one, end it first, or choose another home with --home.`,
  );

/**
 * Locks the home (its real path). `onEnd`: the person asks this relay to end. Throws `StartError`
 * where a relay holds it.
 */
export async function lockHome(
  home: string,
  onEnd: () => void = () => undefined,
  platform = process.platform,
): Promise<HomeLock> {
  const path = socketPath(home, platform);
  let address = '';
  let copyStore = (): Promise<string> => Promise.reject(new Error('the relay is just starting'));
  const answers: Answers = {
    address: () => address,
    onEnd,
    copy: () =>
      copyStore().then(
        (file) => JSON.stringify({ file } satisfies StoreCopy),
        (error: unknown) => JSON.stringify({ problem: errorMessage(error) } satisfies StoreCopy),
      ),
  };
  let server = await listen(path, answers);
  if (!server) {
    const holder = await ask(path);
    if (holder !== null) throw homeTakenError(home, holder);
    // A killed relay left the socket. It is renamed before it is removed, and tested once more
    // there, so that two relays that start together do not remove each other's.
    const aside = `${path}.${process.pid}`;
    try {
      await rename(path, aside);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      throw homeTakenError(home, '');
    }
    const moved = await ask(aside);
    if (moved !== null) {
      await rename(aside, path);
      throw homeTakenError(home, moved);
    }
    await rm(aside, { force: true });
    server = await listen(path, answers);
    if (!server) throw homeTakenError(home, '');
  }
  const held = server;
  await writeFile(join(home, PID_FILE), `${process.pid}\n`, { mode: 0o600 });
  return {
    tell(words) {
      address = words;
    },
    onCopy(copy) {
      copyStore = copy;
    },
    release: () => new Promise((resolve) => held.close(() => resolve())),
  };
}

/**
 * The result of asking a home's relay to end: there was none, it has ended, or it has not within
 * the time.
 */
type AskedToEnd = { readonly kind: 'none' | 'ended' } | { readonly kind: 'hangs'; readonly pid: string | null };

/** Asks the relay that holds this home to end in good order, and waits up to `withinMs`. */
export async function askToEnd(home: string, withinMs: number, platform = process.platform): Promise<AskedToEnd> {
  const until = performance.now() + withinMs;
  const folder = await realpath(home).catch(() => null);
  if (folder === null) return { kind: 'none' };
  const path = socketPath(folder, platform);
  if ((await ask(path, END)) === null) return { kind: 'none' };
  while (performance.now() < until) {
    if ((await ask(path)) === null) return { kind: 'ended' };
    await sleep(CHECK_MS);
  }
  const pid = await readFile(join(folder, PID_FILE), 'utf8').catch(() => null);
  return { kind: 'hangs', pid: pid?.trim() ?? null };
}

/** A relay's answer: the path of the copy, or why there is none. */
const storeCopySchema = z.union([z.object({ file: z.string() }), z.object({ problem: z.string() })]);
type StoreCopy = z.infer<typeof storeCopySchema>;

/** The address of the relay that holds this home (its real path). Null: no relay runs. */
export const addressOfRelay = (home: string, platform = process.platform): Promise<string | null> =>
  ask(socketPath(home, platform));

/**
 * Asks the relay that holds this home (its real path) for a copy of its store. Null: no relay runs.
 * Throws `StartError` where it cannot make one.
 */
export async function askForCopy(home: string, platform = process.platform): Promise<string | null> {
  const answer = await ask(socketPath(home, platform), COPY, COPY_TIMEOUT_MS);
  if (answer === null) return null;
  if (!answer.startsWith('{'))
    throw new StartError('The relay that runs here is of an older Roost. End it with --stop, and try again.');
  const copy = storeCopySchema.parse(JSON.parse(answer));
  if ('problem' in copy) throw new StartError(`The relay could not copy its store: ${copy.problem}.`);
  return copy.file;
}

/** The version of the home's format. The store has its own steps, see store/index.ts. */
const FORMAT = 1;
const MARK = 'roost.json';
/** The key that seals what is stored here for the time without a browser. */
export const SEALING_KEY = 'sealing.key';
/** The key pair that signs pushes. */
const PUSH_KEYS = 'push.key';
const COPIES = 'copies';

const markSchema = z.object({ format: z.number().int().min(1), relay: z.string().min(1) });

interface Home {
  /** Without symbolic links: one home has one path. */
  readonly path: string;
  /** The id of this home wherever homes share a store. */
  readonly relay: string;
  /** Identity of the file with that id. A copied folder has another, a renamed one the same. */
  readonly place: string;
  readonly storeFolder: string;
  readonly logFolder: string;
  readonly sealingKeyFile: string;
  readonly pushKeysFile: string;
  /** Contains a folder for each agent. */
  readonly workspacesFolder: string;
  /** Contains the relay’s repositories of projects. */
  readonly projectsFolder: string;
  /** Contains the history of each agent's folder. */
  readonly historyFolder: string;
  /** Records which programs run beside the relay. */
  readonly processesFolder: string;
  /** Contains copies of the store for backups that are being made. */
  readonly copiesFolder: string;
}

/**
 * Permissions for the owner alone. Windows has no such bits, and protects a person's folder itself.
 */
const PRIVATE = { folder: 0o700, file: 0o600, others: 0o077 } as const;

/**
 * Roost's own files in its home. Any other file is not Roost's, and only the folder
 * around it is protected.
 */
const KEPT: ReadonlySet<string> = new Set([
  MARK,
  unfinished(MARK),
  'store',
  'logs',
  'workspaces',
  'history',
  'processes',
  COPIES,
  SEALING_KEY,
  unfinished(SEALING_KEY),
  PUSH_KEYS,
  unfinished(PUSH_KEYS),
  PID_FILE,
]);

/**
 * Removes other users' permissions, which an earlier version, a copy or another program has
 * granted. Throws `StartError` if the path belongs to another user, or the permissions cannot be
 * removed.
 */
async function keepPrivate(path: string): Promise<void> {
  const uid = process.getuid?.();
  if (uid === undefined) return;
  const restrict = async (at: string): Promise<void> => {
    const stats = await lstat(at);
    // The target of a link is not part of the home.
    if (stats.isSymbolicLink()) return;
    if (stats.uid !== uid)
      throw new StartError(
        `${at} belongs to another user of this machine, who could read and change what Roost keeps. Make it yours (chown), or choose another home with --home.`,
      );
    const isFolder = stats.isDirectory();
    if ((stats.mode & PRIVATE.others) !== 0 && !stats.isSocket()) {
      await chmod(at, isFolder ? PRIVATE.folder : PRIVATE.file);
      // Some file systems accept the change and do nothing.
      if (((await lstat(at)).mode & PRIVATE.others) !== 0)
        throw new StartError(
          `Others on this machine may read or change ${at}, and the file system does not let Roost forbid it. Choose a home on another disk with --home.`,
        );
    }
    if (isFolder)
      for (const name of await readdir(at))
        if (at !== path || KEPT.has(name))
          await restrict(join(at, name)).catch((error: unknown) => {
            // A relay that is just ending removes its files.
            if (codeOf(error) !== 'ENOENT') throw error;
          });
  };
  await restrict(path);
}

/** The folder, created if missing, for its owner only. Throws `StartError`. */
export async function openHomeFolder(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const path = await realpath(folder);
    await keepPrivate(path);
    await mkdir(join(path, 'logs'), { recursive: true, mode: 0o700 });
    return path;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(
      `The home ${folder} cannot be written (${errorMessage(error)}). Choose another with --home.`,
      1,
      {
        cause: error,
      },
    );
  }
}

async function readMark(file: string): Promise<string> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new StartError(
      `${file} cannot be read (${errorMessage(error)}). Put it back from a copy, or choose another home with --home.`,
      1,
      { cause: error },
    );
  }
  const format = z.object({ format: z.number() }).safeParse(value);
  if (format.success && format.data.format > FORMAT)
    throw new StartError(
      `The home of ${file} was last used by a newer Roost. Update Roost, or choose another with --home.`,
    );
  const mark = markSchema.safeParse(value);
  if (!mark.success)
    throw new StartError(
      `${file} is not what Roost has written. Put it back from a copy, or choose another home with --home.`,
    );
  return mark.data.relay;
}

/** A new folder for copies. The caller removes it. */
export async function createCopyFolder(home: string): Promise<string> {
  await mkdir(join(home, COPIES), { recursive: true, mode: 0o700 });
  return await mkdtemp(join(home, COPIES, 'backup-'));
}

/** Of a folder beside a home: what it is for, and the process that made it. */
const BESIDE = /^\.(?:restoring|rehearsal)-(\d+)-/;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

/**
 * A new folder beside the home, on its disk, for what is not finished. The caller removes it.
 * Folders of processes that were killed are removed here.
 */
export async function createFolderBeside(home: string, purpose: 'restoring' | 'rehearsal'): Promise<string> {
  const [parent, name] = [dirname(home), basename(home)];
  await mkdir(parent, { recursive: true });
  for (const each of await readdir(parent)) {
    const [, pid] = (each.startsWith(name) && BESIDE.exec(each.slice(name.length))) || [];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(parent, each), { recursive: true, force: true });
  }
  return await mkdtemp(`${home}.${purpose}-${process.pid}-`);
}

/** Whether a relay has made a home of this folder. */
export const isHome = (path: string): boolean => existsSync(join(path, MARK));

/** Reads a locked home (`lockHome`). Throws `StartError` if a newer Roost has used it. */
export async function readHome(path: string): Promise<Home> {
  const file = join(path, MARK);
  let relay: string;
  if (existsSync(file)) relay = await readMark(file);
  else {
    relay = newId();
    try {
      await writeWhole(file, `${JSON.stringify({ format: FORMAT, relay })}\n`);
    } catch (error) {
      throw new StartError(
        `The home ${path} cannot be written (${errorMessage(error)}). Choose another with --home.`,
        1,
        {
          cause: error,
        },
      );
    }
  }
  const { ino, birthtimeNs } = await stat(file, { bigint: true });
  return {
    path,
    relay,
    place: `${ino} ${birthtimeNs}`,
    storeFolder: join(path, 'store'),
    logFolder: join(path, 'logs'),
    sealingKeyFile: join(path, SEALING_KEY),
    pushKeysFile: join(path, PUSH_KEYS),
    workspacesFolder: join(path, 'workspaces'),
    projectsFolder: join(path, 'projects'),
    historyFolder: join(path, 'history'),
    processesFolder: join(path, 'processes'),
    copiesFolder: join(path, COPIES),
  };
}

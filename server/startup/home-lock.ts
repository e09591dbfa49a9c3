/**
 * One relay per home, held by listening on a socket in it: the operating system lets go of it with
 * the process, however that ends, so a lock never outlives its relay. Whoever asks at the socket is
 * told where that relay is, and may ask it to end: the folder is its owner's alone.
 */
import { createHash } from 'node:crypto';
import { readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../platform/error-code.ts';
import { StartError } from '../platform/start-error.ts';

/** The shortest limit among the systems Node runs on (macOS: 104 bytes with the final NUL). */
const SOCKET_PATH_MAX = 103;
/** ms to wait for the holder to say where it is. */
const ASK_TIMEOUT_MS = 1_000;
/** What is said at the socket to have the holder end. */
const END = 'end\n';
/** ms between two looks whether it has. */
const LOOK_MS = 50;
/** The holder's process: one that hangs says nothing of itself. */
export const PID_FILE = 'relay.pid';

export interface HomeLock {
  /** What a second relay is told. */
  tell(address: string): void;
  release(): Promise<void>;
}

/**
 * Where the socket of this home is: a pipe on Windows; elsewhere in the home, or beside it where
 * the path is too long.
 */
function socketPath(home: string, platform: NodeJS.Platform): string {
  const name = `roost-${createHash('sha256').update(home).digest('hex').slice(0, 32)}`;
  if (platform === 'win32') return `\\\\.\\pipe\\${name}`;
  const inside = join(home, 'relay.sock');
  return Buffer.byteLength(inside) <= SOCKET_PATH_MAX ? inside : join(tmpdir(), `${name}.sock`);
}

/** What the holder says, or null where nobody listens there. `words`: said to it. */
function ask(path: string, words = ''): Promise<string | null> {
  return new Promise((resolve, reject) => {
    let said = '';
    const socket = connect(path, () => socket.end(words));
    socket.setEncoding('utf8').setTimeout(ASK_TIMEOUT_MS, () => socket.destroy());
    socket.on('data', (text) => (said += text));
    socket.on('close', () => resolve(said));
    socket.on('error', (error) => {
      if (['ECONNREFUSED', 'ENOENT'].includes(codeOf(error))) resolve(null);
      // A holder that has just ended, or that is too busy to take us: it was there.
      else if (['ECONNRESET', 'EPIPE', 'EAGAIN'].includes(codeOf(error))) resolve(said);
      else reject(error);
    });
  });
}

function listen(path: string, words: () => string, onEnd: () => void): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      let asked = '';
      socket.setTimeout(ASK_TIMEOUT_MS, () => socket.destroy());
      // The asker may leave before it has read us.
      socket.on('error', () => socket.destroy());
      socket.on('data', (text) => (asked += String(text)));
      // Read to its end first: who asked while this process hung is gone, and what it asked for is
      // done all the same.
      socket.on('end', () => {
        if (asked === END) onEnd();
        socket.end(words());
      });
    });
    server.once('error', (error) => (codeOf(error) === 'EADDRINUSE' ? resolve(null) : reject(error)));
    server.listen(path, () => {
      server.unref();
      resolve(server);
    });
  });
}

const taken = (home: string, address: string) =>
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
  let server = await listen(path, () => address, onEnd);
  if (!server) {
    const holder = await ask(path);
    if (holder !== null) throw taken(home, holder);
    // Left by a relay that was killed. It is moved away before it is removed, and asked once more
    // there: two relays that start together must not remove each other's.
    const aside = `${path}.${process.pid}`;
    try {
      await rename(path, aside);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      throw taken(home, '');
    }
    const moved = await ask(aside);
    if (moved !== null) {
      await rename(aside, path);
      throw taken(home, moved);
    }
    await rm(aside, { force: true });
    server = await listen(path, () => address, onEnd);
    if (!server) throw taken(home, '');
  }
  const held = server;
  await writeFile(join(home, PID_FILE), `${process.pid}\n`, { mode: 0o600 });
  return {
    tell(words) {
      address = words;
    },
    release: () => new Promise((resolve) => held.close(() => resolve())),
  };
}

/**
 * What came of asking the relay of a home to end: there was none; it has; or it has not, within the
 * time.
 */
export type AskedToEnd = { readonly kind: 'none' | 'ended' } | { readonly kind: 'hangs'; readonly pid: string | null };

/**
 * Asks the relay that holds this home to end in good order, and waits until it has, `withinMs` at
 * most.
 */
export async function askToEnd(home: string, withinMs: number, platform = process.platform): Promise<AskedToEnd> {
  const until = performance.now() + withinMs;
  const folder = await realpath(home).catch(() => null);
  if (folder === null) return { kind: 'none' };
  const path = socketPath(folder, platform);
  if ((await ask(path, END)) === null) return { kind: 'none' };
  while (performance.now() < until) {
    if ((await ask(path)) === null) return { kind: 'ended' };
    await sleep(LOOK_MS);
  }
  const pid = await readFile(join(folder, PID_FILE), 'utf8').catch(() => null);
  return { kind: 'hangs', pid: pid?.trim() ?? null };
}

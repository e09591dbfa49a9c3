/**
 * Folders that change at random in every way that git finds hard, and an independent look at them:
 * what undo is checked against.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHistories, type Histories, type HistoriesDeps } from '../../server/files/history/index.ts';
import { HISTORY_LIMITS, type HistoryLimits } from '../../server/files/history/settings.ts';
import { createRandom } from './random.ts';

/** Every entry below: its kind, permissions, and a hash of its content or its target. */
export function photoOf(folder: string): ReadonlyMap<string, string> {
  const photo = new Map<string, string>();
  const check = (at: Buffer, above: Buffer) => {
    for (const name of readdirSync(at, { encoding: 'buffer' })) {
      const place = Buffer.concat([at, Buffer.from('/'), name]);
      const path = Buffer.concat([above, name]);
      const found = lstatSync(place);
      photo.set(path.toString('latin1'), oneOf(place, found));
      if (found.isDirectory()) check(place, Buffer.concat([path, Buffer.from('/')]));
    }
  };
  check(Buffer.from(folder), Buffer.alloc(0));
  return photo;
}
const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);
function oneOf(place: Buffer, found: Stats): string {
  const mode = (found.mode & 0o777).toString(8);
  if (found.isSymbolicLink()) return `link ${readlinkSync(place, 'buffer').toString('latin1')}`;
  if (found.isDirectory()) return `folder ${mode}`;
  return found.isFile() ? `file ${mode} ${found.size} ${hash(readFileSync(place))}` : 'other';
}

/** Names that git, or a program that splits lines, would take for something else. */
const NAMES: readonly Buffer[] = [
  ...['a', 'b', 'c.md', 'Ünïcödé.txt', '-rf', '--', ' ', 'new\nline', 'tab\t"quote"', '%41', '%', 'a%2Fb', '...'],
  ...['.git', '.GIT', '.gitignore', '.gitattributes', '.gitmodules', 'git~1', '.g\u200cit', 'HEAD', 'objects', '*'],
].map((name) => Buffer.from(name));
const BYTES: readonly Buffer[] = [Buffer.from([0xff, 0xfe]), Buffer.from([0x61, 0x80, 0x62]), Buffer.from([0xc3])];

const MODES = [0o644, 0o755, 0o600, 0o700, 0o444, 0o777, 0o640];
const FOLDER_MODES = [0o755, 0o700, 0o775, 0o555, 0o500];

/** A write that follows no link: what lies behind one is not the test’s. */
const NO_LINK = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
function write(place: Buffer, bytes: Buffer, mode = 0o666): void {
  const fd = openSync(place, NO_LINK, mode);
  try {
    writeFileSync(fd, bytes);
  } finally {
    closeSync(fd);
  }
}
/** A file outside of the folder, to which links in it lead. Nothing may change it. */
const outsideOf = (folder: string) => join(folder, '..', '..', 'outside');
const OUTSIDE = 'Nobody writes here.';

/** Changes a folder by a few steps, as programs do. */
export function changeAtRandom(folder: string, random: () => number, steps: number): void {
  const pick = <Value>(from: readonly Value[]): Value => from[Math.floor(random() * from.length)] ?? (from[0] as Value);
  const root = Buffer.from(folder);
  const inside = (above: Buffer, name: Buffer) => Buffer.concat([above, Buffer.from('/'), name]);
  function all(): { readonly place: Buffer; readonly stats: Stats }[] {
    const found: { readonly place: Buffer; readonly stats: Stats }[] = [];
    const check = (at: Buffer) => {
      for (const name of readdirSync(at, { encoding: 'buffer' })) {
        const place = inside(at, name);
        const stats = lstatSync(place);
        found.push({ place, stats });
        if (stats.isDirectory()) check(place);
      }
    };
    check(root);
    return found;
  }
  const content = (): Buffer => {
    const kind = random();
    if (kind < 0.1) return Buffer.alloc(0);
    if (kind < 0.4) return Buffer.from(Array.from({ length: 1 + Math.floor(random() * 3_000) }, () => random() * 256));
    return Buffer.from(`line ${Math.floor(random() * 5)}\r\n`.repeat(1 + Math.floor(random() * 200)));
  };
  const freely = (act: () => void) => {
    try {
      act();
    } catch (error) {
      // A name that is taken by another kind, a folder moved into itself.
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  };
  for (let step = 0; step < steps; step++) {
    const there = all();
    const folders = [root, ...there.filter(({ stats }) => stats.isDirectory()).map(({ place }) => place)];
    const other = there.length === 0 ? null : pick(there);
    const fresh = () => inside(pick(folders), random() < 0.15 ? pick(BYTES) : pick(NAMES));
    const kind = random();
    freely(() => {
      if (kind < 0.3 || !other) write(fresh(), content(), pick(MODES));
      else if (kind < 0.42) mkdirSync(fresh(), { mode: 0o755 });
      else if (kind < 0.5)
        symlinkSync(
          pick([Buffer.from('../../out'), Buffer.from(outsideOf(folder)), pick(BYTES), Buffer.from('a')]),
          fresh(),
        );
      else if (kind < 0.62) {
        if (other.stats.isFile()) write(other.place, content());
      } else if (kind < 0.72) renameSync(other.place, fresh());
      else if (kind < 0.84) rmSync(other.place, { recursive: true, force: true });
      else if (kind < 0.94) {
        if (!other.stats.isSymbolicLink())
          chmodSync(other.place, pick(other.stats.isDirectory() ? FOLDER_MODES : MODES));
      } else {
        // A folder becomes a file, or a file a folder.
        rmSync(other.place, { recursive: true, force: true });
        if (other.stats.isDirectory()) write(other.place, content());
        else mkdirSync(inside(other.place, pick(NAMES)), { recursive: true });
      }
    });
  }
}

export interface UndoPlace {
  readonly base: string;
  readonly folders: readonly { readonly key: string; readonly path: string }[];
  readonly repository: string;
  histories(more?: Partial<HistoriesDeps>): Histories;
  remove(): Promise<void>;
}

export const AGENT = 'agent-1';

/** An agent's folder and a worktree, with a history of real git. */
export async function createUndoPlace(limits: Partial<HistoryLimits> = {}): Promise<UndoPlace> {
  const base = await mkdtemp(join(tmpdir(), 'roost-undo-'));
  const folders = [
    { key: 'files', path: join(base, 'workspaces', AGENT) },
    { key: 'task-1', path: join(base, 'worktrees', 'task-1') },
  ];
  for (const { path } of folders) await mkdir(path, { recursive: true });
  await writeFile(join(base, 'outside'), OUTSIDE, { mode: 0o640 });
  return {
    base,
    folders,
    repository: join(base, 'history', AGENT),
    histories: (more = {}) =>
      createHistories({
        folder: join(base, 'history'),
        foldersOf: () => Promise.resolve(folders),
        mostOf: () => Promise.resolve(1_000_000_000),
        takeTurn: () => Promise.resolve(() => undefined),
        onChange: () => undefined,
        now: Date.now,
        elapsed: () => performance.now(),
        logger: { warn: (message, more_) => console.error(message, more_) },
        lane: (work) => work(),
        limits: { ...HISTORY_LIMITS, ...limits },
        ...more,
      }),
    remove: () => rm(base, { recursive: true, force: true }),
  };
}

/** Where what was restored differs from what was there. */
export class NotRestoredError extends Error {}

function compare(what: string, wanted: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): void {
  const wrong = [...new Set([...wanted.keys(), ...found.keys()])].filter(
    (path) => wanted.get(path) !== found.get(path),
  );
  if (wrong.length === 0) return;
  const shown = wrong.slice(0, 5).map((path) => `${JSON.stringify(path)}: ${found.get(path)}, not ${wanted.get(path)}`);
  throw new NotRestoredError(`${what}: ${wrong.length} entries differ. ${shown.join('; ')}`);
}

export interface Undone {
  readonly runs: number;
  readonly restores: number;
}

/**
 * Random runs over two folders. Now and then all is restored as it was before or after some run,
 * and that is undone. Throws `NotRestoredError` at the first entry that differs.
 */
export async function undoAtRandom(seed: number, runs: number, restoreEvery: number): Promise<Undone> {
  const random = createRandom(seed);
  const place = await createUndoPlace();
  let histories = place.histories();
  const photo = () => place.folders.map(({ path }) => photoOf(path));
  /** Before and after each run, by its point. */
  const known = new Map<
    string,
    { readonly before: ReturnType<typeof photo>; readonly after: ReturnType<typeof photo> }
  >();
  let restores = 0;
  const check = (what: string, wanted: ReturnType<typeof photo>) =>
    photo().forEach((found, i) => compare(`seed ${seed}, ${what}, folder ${i}`, wanted[i] ?? new Map(), found));
  try {
    for (let run = 1; run <= runs; run++) {
      // Some of what is there was made by nobody's run.
      for (const { path } of place.folders) if (random() < 0.2) changeAtRandom(path, random, 2);
      const before = photo();
      const end = await histories.record(AGENT, {
        kind: 'run',
        runId: `r${run}`,
        cause: { kind: 'pulse', routine: 'x' },
      });
      for (const { path } of place.folders) changeAtRandom(path, random, Math.floor(random() * 6));
      await end();
      const after = photo();
      const [point] = (await histories.list(AGENT, null)).points;
      if (point?.work.kind === 'run' && point.work.runId === `r${run}`) known.set(point.pointId, { before, after });
      else
        before.forEach((wanted, i) => compare(`seed ${seed}, run ${run} has no point`, wanted, after[i] ?? new Map()));
      if (random() < 0.1) {
        // The relay is started again.
        await histories.close();
        histories = place.histories();
      }
      if (run % restoreEvery !== 0 || known.size === 0) continue;
      const ids = [...known.keys()];
      const id = ids[Math.floor(random() * ids.length)] ?? '';
      const to = random() < 0.5 ? 'before' : 'after';
      const present = photo();
      const restored = await histories.restore(AGENT, id, to, null);
      if (restored.left.length > 0) throw new NotRestoredError(`left: ${JSON.stringify(restored.left)}`);
      check(`run ${run}, ${to} point ${id}`, known.get(id)?.[to] ?? []);
      restores += 1;
      if (restored.pointId === null) continue;
      const undone = await histories.restore(AGENT, restored.pointId, 'before', null);
      if (undone.left.length > 0) throw new NotRestoredError(`left: ${JSON.stringify(undone.left)}`);
      check(`run ${run}, undo of ${to} point ${id}`, present);
      restores += 1;
    }
    const outside = outsideOf(place.folders[0]?.path ?? '');
    if (readFileSync(outside, 'utf8') !== OUTSIDE || (lstatSync(outside).mode & 0o777) !== 0o640)
      throw new NotRestoredError(`seed ${seed}: something was written through a link`);
    return { runs, restores };
  } finally {
    await histories.close();
    await place.remove();
  }
}

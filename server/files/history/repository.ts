/**
 * The shadow repository of one agent: a bare git repository outside every workspace.
 *
 * Each point is a commit without parents under `refs/points`, so that old points can be dropped
 * alone. Its message is JSON about the work. Its tree has `folders/{key}` with files and links, and
 * `about/{key}` with what git does not record: folders, permissions, and what was left out.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { newId } from '../../../src/shared/domain/platform/new-id.ts';
import { workSchema, type Work } from '../../../src/shared/protocol/endpoints/history.ts';
import { bytesBelow } from '../../platform/bytes-below.ts';
import { git, type GitCall, GitError, removeUnfinished, type Running, startGit } from '../../platform/git/index.ts';
import { createPace } from '../../platform/pace.ts';
import { EMPTY, type Listing, type Recorded } from './listing.ts';
import { HISTORY_LIMITS } from './settings.ts';
import type { Comparison } from './unchanged.ts';

/** Digits of a point's number in its ref, so that names sort as numbers do. */
const DIGITS = 12;
const REFS = 'refs/points';
const refOf = (number: number) => `${REFS}/${String(number).padStart(DIGITS, '0')}`;

const counts = z.object({ added: z.number(), changed: z.number(), deleted: z.number() });
const messageSchema = z.object({
  at: z.number(),
  work: workSchema,
  cutOff: z.boolean(),
  counts,
  folders: z.array(z.string()),
});
export type Message = z.infer<typeof messageSchema>;
export interface StoredPoint extends Message {
  readonly number: number;
}

const aboutSchema = z.object({
  folders: z.array(z.tuple([z.string(), z.number()])),
  modes: z.array(z.tuple([z.string(), z.number()])),
  notRecorded: z.array(
    z.object({ path: z.string(), why: z.enum(['large', 'special', 'closed', 'deep', 'many']), bytes: z.number() }),
  ),
  moreNotRecorded: z.number(),
});

/** Permissions of a file that need no mention. */
const USUAL = { plain: 0o644, executable: 0o755, mask: 0o100 } as const;
const gitMode = ({ kind, mode }: Recorded) =>
  kind === 'link' ? '120000' : (mode & USUAL.mask) === 0 ? '100644' : '100755';
const usualMode = (mode: string) => (mode === '100755' ? USUAL.executable : mode === '100644' ? USUAL.plain : 0);

function aboutOf({ entries, notRecorded, moreNotRecorded }: Listing): string {
  const all = [...entries.values()];
  return JSON.stringify({
    folders: all.flatMap(({ kind, path, mode }) => (kind === 'folder' ? [[path, mode]] : [])),
    modes: all.flatMap((entry) =>
      entry.kind === 'file' && usualMode(gitMode(entry)) !== entry.mode ? [[entry.path, entry.mode]] : [],
    ),
    notRecorded,
    moreNotRecorded,
  });
}

/** The id that git gives to this content. */
export const createObjectId = (bytes: number) => createHash('sha256').update(`blob ${bytes}\0`);

/** New contents, and then one point, on their way into the repository. */
export interface Import {
  /** `parts` must have `bytes` bytes together. */
  blob(bytes: number, parts: readonly Uint8Array[]): Promise<void>;
  /** Resolves when the point is stored. */
  commit(message: Message, folders: ReadonlyMap<string, { before: Listing; after: Listing }>): Promise<void>;
  /** Nothing of it is stored. */
  abandon(): Promise<void>;
}

export interface Repository {
  /** Newest first. */
  points(): Promise<readonly StoredPoint[]>;
  import(limitMs: number): Promise<Import>;
  /** The listing of a folder at a point. Stamps are unknown. */
  listing(number: number, key: string): Promise<Listing>;
  /** The newest listing, with stamps where they are known. */
  newest(key: string): Promise<Listing>;
  /** What `isUnchanged` compares a folder with; null: there is no point yet. */
  comparisonOf(key: string): Promise<Omit<Comparison, 'folder'> | null>;
  /** Stores the newest listing with its stamps. */
  stamped(key: string, listing: Listing): Promise<void>;
  /** Which of these objects are missing or damaged. */
  missing(objects: readonly string[]): Promise<readonly string[]>;
  /** Calls `use` with each content, in order. */
  read(objects: readonly string[], use: (content: Buffer, index: number) => Promise<void>): Promise<void>;
  /** Drops these points, and frees their room. */
  drop(numbers: readonly number[]): Promise<void>;
  /** Merges packs. */
  merge(): Promise<void>;
  /** Bytes of all its files. */
  bytes(): Promise<number>;
  /** The work that was under way when the relay was killed; null: none. */
  readPending(): Promise<Work | null>;
  writePending(work: Work | null): Promise<void>;
}

async function replaceFile(path: string, content: string): Promise<void> {
  const unfinished = `${path}.${newId()}`;
  try {
    await writeFile(unfinished, content, { mode: 0o600 });
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** Runs git in the repository. Resolves with what it wrote. */
type Ask = (words: readonly string[], call?: Pick<GitCall, 'input' | 'of' | 'paths'>) => Promise<Buffer>;

/** A folder as it was at this point. */
async function readListing(ask: Ask, number: number, key: string): Promise<Listing> {
  const ref = refOf(number);
  const prefix = `folders/${key}/`;
  const [lines, about] = await Promise.all([
    ask(['ls-tree', '-r', '-l', '-z', '--full-tree'], { of: [ref], paths: [prefix] }),
    ask(['cat-file', '--batch'], { input: `${ref}:about/${key}\n` }),
  ]);
  const text = about.toString();
  if (/^[^\n]* missing\n/.test(text)) return EMPTY;
  const header = aboutSchema.parse(JSON.parse(text.slice(text.indexOf('\n') + 1)));
  const modes = new Map(header.modes);
  const entries = new Map<string, Recorded>();
  for (const [path, mode] of header.folders)
    entries.set(path, { path, kind: 'folder', mode, object: '', bytes: 0, stamp: '' });
  const pace = createPace();
  for (const line of lines.toString('latin1').split('\0')) {
    const match = /^(\d+) blob ([\da-f]+) +(\d+)\t(.*)$/.exec(line);
    if (!match) continue;
    await pace();
    const [, mode = '', object = '', bytes = '', whole = ''] = match;
    const path = whole.slice(prefix.length);
    const isLink = mode === '120000';
    const own = isLink ? 0 : (modes.get(path) ?? usualMode(mode));
    const size = isLink ? 0 : Number(bytes);
    entries.set(path, { path, kind: isLink ? 'link' : 'file', mode: own, object, bytes: size, stamp: '' });
  }
  return { entries, notRecorded: header.notRecorded, moreNotRecorded: header.moreNotRecorded };
}

/** Stamps of the files at this point, from their file. Null: it has none of this point. */
async function readStamps(file: string, number: number): Promise<Listing | null> {
  const text = await readFile(file, 'latin1').catch(() => '');
  const [head = '', ...lines] = text.split('\n');
  const entries = new Map<string, Recorded>();
  const pace = createPace();
  const about = z
    .object({
      number: z.number(),
      count: z.number(),
      ...aboutSchema.pick({ notRecorded: true, moreNotRecorded: true }).shape,
    })
    .safeParse(parsed(head));
  if (!about.success || about.data.number !== number) return null;
  for (const line of lines) {
    const [path, kind, mode, object, bytes, stamp] = line.split('\t');
    if (path === undefined || stamp === undefined) continue;
    if (kind !== 'file' && kind !== 'folder' && kind !== 'link') return null;
    if (entries.size % STEP === 0) await pace();
    entries.set(path, { path, kind, mode: Number(mode), object: object ?? '', bytes: Number(bytes), stamp });
  }
  // A relay that was killed leaves a file that is not whole.
  if (entries.size !== about.data.count) return null;
  return { entries, notRecorded: about.data.notRecorded, moreNotRecorded: about.data.moreNotRecorded };
}

interface RepositoryPlace extends Pick<GitCall, 'lane' | 'path'> {
  readonly folder: string;
}

/** Creates the repository if there is none. */
export async function openRepository({ lane, folder, path }: RepositoryPlace): Promise<Repository> {
  const limits = { ms: HISTORY_LIMITS.gitMs, most: HISTORY_LIMITS.answerBytes };
  const place = { gitDir: folder, path, settings: { 'core.bigFileThreshold': String(HISTORY_LIMITS.bigFileBytes) } };
  const ask: Ask = async (words, call = {}) => (await git(words, { lane, ...place, ...limits, ...call })).out;
  if (!existsSync(join(folder, 'HEAD'))) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await git(['init', '--quiet', '--bare', '--object-format=sha256', '--template='], { lane, path, of: [folder] });
  }
  const stampsOf = (key: string) => join(folder, `stamps-${key}`);
  const pendingFile = join(folder, 'pending.json');
  /** Known after the first look. */
  let points: StoredPoint[] | null = null;
  /** The tree of the newest point; null: it must be asked for. */
  let tree: string | null = null;

  async function all(): Promise<StoredPoint[]> {
    if (points) return points;
    const format = '--format=%(refname:lstrip=2)%00%(contents)%00';
    const fields = (await ask(['for-each-ref', '--sort=-refname', format], { of: [REFS] })).toString().split('\0');
    const found: StoredPoint[] = [];
    for (let i = 0; i + 1 < fields.length; i += 2)
      found.push({ number: Number(fields[i]), ...messageSchema.parse(JSON.parse(fields[i + 1] ?? '')) });
    points = found;
    return found;
  }

  const newestNumber = async () => (await all())[0]?.number ?? 0;

  async function beginImport(limitMs: number): Promise<Import> {
    const number = (await newestNumber()) + 1;
    if (number > 1)
      tree ??= (await ask(['rev-parse', '--verify'], { of: [`${refOf(number - 1)}^{tree}`] })).toString().trim();
    const before = tree;
    const running: Running = await startGit(['fast-import', '--quiet', '--done'], { ...place, ms: limitMs });
    let answer = '';
    running.stdout.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    const data = async (text: string) => await running.write(`data ${Buffer.byteLength(text)}\n${text}\n`);
    return {
      async blob(bytes, parts) {
        await running.write(`blob\ndata ${bytes}\n`);
        for (const part of parts) await running.write(part);
        await running.write('\n');
      },
      async commit(message, folders) {
        await running.write(
          `commit ${refOf(number)}\nmark :1\ncommitter Roost <roost@localhost> ${Math.floor(message.at / 1_000)} +0000\n`,
        );
        await data(JSON.stringify(message));
        if (before !== null) await running.write(`M 040000 ${before} \n`);
        for (const [key, { before: old, after: now }] of folders) {
          const lines: string[] = [];
          // What became a folder is deleted before anything is put into it.
          for (const [path, entry] of old.entries)
            if (entry.kind !== 'folder' && now.entries.get(path)?.kind !== entry.kind)
              lines.push(`D folders/${key}/${path}\n`);
          for (const [path, entry] of now.entries) {
            const was = old.entries.get(path);
            if (entry.kind === 'folder') continue;
            if (was?.kind === entry.kind && was.object === entry.object && gitMode(was) === gitMode(entry)) continue;
            lines.push(`M ${gitMode(entry)} ${entry.object} folders/${key}/${path}\n`);
          }
          await running.write(lines.join(''));
          await running.write(`M 100644 inline about/${key}\n`);
          await data(aboutOf(now));
        }
        // The empty line ends the commit, so that its mark is known.
        await running.write('\nls :1 \ndone\n');
        await running.ended();
        tree = /^040000 tree ([\da-f]+)/.exec(answer)?.[1] ?? null;
        points?.unshift({ number, ...message });
        if (!points) await all();
      },
      async abandon() {
        running.stop(new GitError('It was stopped.', 'stopped'));
        await running.ended().catch(() => undefined);
        await removeUnfinished(folder);
      },
    };
  }

  const listing = (number: number, key: string) => readListing(ask, number, key);

  return {
    points: all,
    import: beginImport,
    listing,
    async newest(key) {
      const number = await newestNumber();
      if (number === 0) return EMPTY;
      return (await readStamps(stampsOf(key), number)) ?? (await listing(number, key));
    },
    async comparisonOf(key) {
      const number = await newestNumber();
      return number === 0 ? null : { stamps: stampsOf(key), number };
    },
    async stamped(key, { entries, notRecorded, moreNotRecorded }) {
      const head = { number: await newestNumber(), count: entries.size, notRecorded, moreNotRecorded };
      const lines = [...entries.values()].map(({ path, kind, mode, object, bytes, stamp }) =>
        [path, kind, mode, object, bytes, stamp].join('\t'),
      );
      await replaceFile(stampsOf(key), [JSON.stringify(head), ...lines].join('\n'));
    },
    async missing(objects) {
      if (objects.length === 0) return [];
      const answer = (await ask(['cat-file', '--batch-check'], { input: `${objects.join('\n')}\n` })).toString();
      return answer.split('\n').flatMap((line) => (line.endsWith(' missing') ? [line.split(' ')[0] ?? ''] : []));
    },
    async read(objects, use) {
      if (objects.length === 0) return;
      const running = await startGit(['cat-file', '--batch'], { ...place, ms: HISTORY_LIMITS.restoreMs });
      const reader = createReader(running.stdout);
      try {
        for (const [index, object] of objects.entries()) {
          await running.write(`${object}\n`);
          const head = (await reader.line()) ?? '';
          const bytes = Number(/ blob (\d+)$/.exec(head)?.[1] ?? -1);
          if (bytes < 0) throw new GitError(`An object of the history cannot be read: ${head}`);
          const content = await reader.bytes(bytes + 1);
          await use(content.subarray(0, bytes), index);
        }
      } catch (error) {
        running.stop(new GitError('It was stopped.', 'stopped'));
        throw error;
      } finally {
        await running.ended().catch(() => undefined);
      }
    },
    async drop(numbers) {
      if (numbers.length === 0) return;
      const dropped = new Set(numbers);
      await ask(['update-ref', '--stdin'], { input: numbers.map((number) => `delete ${refOf(number)}\n`).join('') });
      points = (await all()).filter(({ number }) => !dropped.has(number));
      await ask(['pack-refs', '--all']);
      await ask(['repack', '-a', '-d', '-q']);
      await ask(['prune', '--expire=now']);
      await removeUnfinished(folder);
    },
    async merge() {
      await ask(['pack-refs', '--all']);
      await ask(['repack', '--geometric=2', '-d', '-q']);
    },
    bytes: () => bytesBelow(folder),
    async readPending() {
      const text = await readFile(pendingFile, 'utf8').catch(() => 'null');
      return workSchema.nullable().catch(null).parse(parsed(text));
    },
    async writePending(work) {
      if (work === null) await rm(pendingFile, { force: true });
      else await replaceFile(pendingFile, JSON.stringify(work));
    },
  };
}

/** Lines of a file that are read in one step. */
const STEP = 500;

/** Null: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Reads lines and bytes from a program's output. */
function createReader(output: AsyncIterable<Buffer>) {
  const chunks = output[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  async function more(): Promise<void> {
    const { done, value } = await chunks.next();
    if (done) throw new GitError('git has ended before its answer was whole.');
    rest = rest.length === 0 ? value : Buffer.concat([rest, value]);
  }
  return {
    async line(): Promise<string> {
      for (;;) {
        const end = rest.indexOf('\n');
        if (end >= 0) {
          const line = rest.subarray(0, end).toString();
          rest = rest.subarray(end + 1);
          return line;
        }
        await more();
      }
    },
    async bytes(count: number): Promise<Buffer> {
      if (rest.length < count) {
        const parts = [rest];
        let size = rest.length;
        while (size < count) {
          const { done, value } = await chunks.next();
          if (done) throw new GitError('git has ended before its answer was whole.');
          parts.push(value);
          size += value.length;
        }
        rest = Buffer.concat(parts);
      }
      const bytes = rest.subarray(0, count);
      rest = rest.subarray(count);
      return bytes;
    },
  };
}

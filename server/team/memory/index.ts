/**
 * The memories of a household: Markdown files that an agent keeps, and those of the team. Every
 * file is a record, so each version is a document in every browser, and a relay that lost its home
 * is given the newest ones back.
 *
 * A change reads and writes within one transaction. Two calls of one agent cannot lose a line.
 */
import type { AgentId, MemoryId } from '../../../src/shared/domain/ids.ts';
import {
  type Edited,
  INDEX_FILE,
  MEMORY_LIMITS,
  memoryPathFault,
  NOTES_FILE,
  TEAM_FOLDER,
  withAppended,
} from '../../../src/shared/domain/memory.ts';
import { changedLines } from '../../../src/shared/domain/memory-changes.ts';
import {
  type Line,
  type LineOrigin,
  lineOrigins,
  linesOf,
  storeLines,
  textOfLines,
} from '../../../src/shared/domain/memory-lines.ts';
import type { Origin } from '../../../src/shared/domain/forgetting.ts';
import { parseStamp, type Stamp } from '../../../src/shared/domain/stamp.ts';
import { cutMiddle, endOfText } from '../../../src/shared/domain/cut-middle.ts';
import { writeSaid } from '../../../src/shared/domain/quoting.ts';
import type { Memory, MemorySource, MemoryValue } from '../../../src/shared/protocol/memories.ts';
import type { Db, HomeStore } from '../../store/index.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';
import { type Forgets, isForgottenBy } from './forgets.ts';
import type { RecordSource } from '../records/index.ts';
import { createMemoryRecords } from './records.ts';
import { createMemoryRows, type MemoryOwner, valueOf } from './rows.ts';
export type { MemoryOwner } from './rows.ts';

export type MemoryRefusal = 'no-memory' | 'path-taken' | 'memory-full' | 'misfit';
export type MemoryOutcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: MemoryRefusal; readonly detail: string }
  | { readonly ok: false; readonly reason: 'changed-elsewhere'; readonly current: Memory };

/** What a change sets. Fields that are left out stay as they are. */
export interface MemoryChange {
  readonly path?: string | undefined;
  readonly pinned?: boolean | undefined;
  readonly removed?: true;
  /** The new text, from the text as it is in the store. */
  readonly edit?: (before: string) => Edited;
}

/** A file as it is to be, and the text that this was made from. */
export interface FileChange {
  /** Null: a new file. */
  readonly memoryId: MemoryId | null;
  readonly path: string;
  readonly before: string;
  /** Null: the file is removed. */
  readonly after: string | null;
}

export interface Memories {
  /** In the order of their paths. */
  list(owner: MemoryOwner): Promise<readonly Memory[]>;
  get(memoryId: MemoryId): Promise<Memory | null>;
  find(owner: MemoryOwner, path: string): Promise<Memory | null>;
  add(
    owner: MemoryOwner,
    file: { readonly path: string; readonly text: string; readonly pinned?: boolean },
    source: MemorySource,
  ): Promise<MemoryOutcome<Memory>>;
  /** `version`: the change is based on it. Left out: on what is stored. */
  change(
    memoryId: MemoryId,
    change: MemoryChange,
    source: MemorySource,
    version?: number,
  ): Promise<MemoryOutcome<Memory>>;
  /**
   * Writes these files of one memory, all or none, such as what a dream proposes. `within`: runs in
   * the same transaction. False: nothing is written, and the outcome is null.
   */
  replace(
    owner: MemoryOwner,
    changes: readonly FileChange[],
    source: MemorySource,
    within: (trx: Db) => Promise<boolean>,
  ): Promise<MemoryOutcome<readonly Memory[]> | null>;
  /**
   * The part of a prompt with the index, the pinned files, the newest notes and the names of the
   * other files. Null: the agent has no memory, and neither has the team. `more`: files that the
   * memory would also have. One whose path is taken is left out.
   */
  promptOf(agentId: AgentId, more?: readonly Pick<Memory, 'path' | 'text'>[]): Promise<string | null>;
  /** Whether a line that this agent may read was written after reading text of others. */
  hasTextOfOthers(agentId: AgentId): Promise<boolean>;
  /** Whether something that came from here was forgotten, and must not be written. */
  isForgotten(origins: readonly Origin[]): Promise<boolean>;
  /** Removes all lines that came from what was forgotten. Doing it again changes nothing. */
  forget(): Promise<void>;
  readonly records: RecordSource;
}

interface MemoriesDeps extends HomeStore {
  /** ms since the epoch */
  readonly now: () => number;
  readonly newId: () => string;
  /** `owner` null: the team's memory changed, or several did. */
  readonly onChange: (owner: MemoryOwner) => void;
  readonly forgets: Pick<Forgets, 'all'>;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
}

/** Undoes a transaction with this outcome. */
class Refused extends Error {
  outcome: Exclude<MemoryOutcome<never>, { ok: true }> | null = null;
  because(outcome: Exclude<MemoryOutcome<never>, { ok: true }>): this {
    this.outcome = outcome;
    return this;
  }
}

const json = (value: unknown): string => JSON.stringify(value);
const bytesOf = (text: string): number => Buffer.byteLength(text);
const growthOf = ({ before, after }: FileChange): number => bytesOf(after ?? '') - bytesOf(before);
const refuse = (reason: MemoryRefusal, detail: string) => ({ ok: false, reason, detail }) as const;
const NO_MEMORY = refuse('no-memory', 'There is no such file in a memory.');

/** The source of a version that has only lost lines. */
const BY_NOBODY: MemorySource = { by: 'human', sessionId: null, runId: null, read: [] };
type MemoryLine = Line<MemorySource>;
const timeOf = (stamp: Stamp): number => parseStamp(stamp)?.time ?? 0;
const withoutForgotten = (
  lines: readonly MemoryLine[],
  { agentId, memoryId }: { readonly agentId: MemoryOwner; readonly memoryId: MemoryId },
  forgets: Awaited<ReturnType<Forgets['all']>>,
): readonly MemoryLine[] =>
  forgets.length === 0 ? lines : lines.filter((line) => !isForgottenBy(forgets, lineOrigins(line, agentId, memoryId)));
const linesAndText = (lines: readonly MemoryLine[], text: string) => ({ text, lines: storeLines(lines, json) });

const nameOf = ({ agentId, path }: Pick<Memory, 'agentId' | 'path'>) =>
  agentId === null ? `${TEAM_FOLDER}${path}` : path;

const sourcesOf = ({ source, after }: LineOrigin<MemorySource>): readonly MemorySource[] => [
  source,
  ...after.flatMap(sourcesOf),
];
/** Whether this line, or one that it replaced, was written after reading text of others. */
export const isOfOthers = ({ origin }: MemoryLine): boolean => sourcesOf(origin).some(({ read }) => read.length > 0);

type PromptFile = Pick<Memory, 'agentId' | 'path' | 'text' | 'pinned'>;
/** The files as they stand in a prompt. `files`: of the agent first, then of the team. */
function memoryPrompt(files: readonly PromptFile[]): string | null {
  if (files.length === 0) return null;
  const isNotes = ({ agentId, path }: PromptFile) => agentId !== null && path === NOTES_FILE;
  const isShown = (file: PromptFile) => file.pinned || file.path === INDEX_FILE;
  const shown = [...files.filter(isShown), ...files.filter((file) => isNotes(file) && !isShown(file))];
  const others = files.filter((file) => !shown.includes(file));
  let charactersLeft: number = MEMORY_LIMITS.prompt;
  const parts = shown.map((file) => {
    // The newest notes are at the end.
    const text = isNotes(file)
      ? endOfText(file.text, Math.max(1, charactersLeft))
      : cutMiddle(file.text, Math.max(0, charactersLeft));
    charactersLeft -= text.length;
    return writeSaid({ head: `[Your memory, ${nameOf(file)}]`, text });
  });
  const names = others.map((file) => `${nameOf(file)} (${bytesOf(file.text)} bytes)`);
  return [
    ...parts,
    ...(names.length === 0
      ? []
      : [`[Other files of your memory, which \`memory\` shows and \`recall\` searches: ${names.join(', ')}]`]),
  ].join('\n\n');
}

/** Why a memory cannot have this file. Null: it can. `others`: its files without this one. */
export function refusalOf(others: readonly Memory[], { path, text }: Pick<Memory, 'path' | 'text'>) {
  const fault = memoryPathFault(path);
  if (fault !== null) return refuse('misfit', fault);
  if (bytesOf(text) > MEMORY_LIMITS.fileBytes)
    return refuse('memory-full', `A file of a memory has at most ${MEMORY_LIMITS.fileBytes} bytes. Split it.`);
  if (others.some((file) => file.path === path)) return refuse('path-taken', `There is a file ${path} already.`);
  if (others.length >= MEMORY_LIMITS.files)
    return refuse('memory-full', `A memory has at most ${MEMORY_LIMITS.files} files. Merge some.`);
  const bytes = others.reduce((sum, file) => sum + bytesOf(file.text), bytesOf(text));
  if (bytes > MEMORY_LIMITS.bytes)
    return refuse('memory-full', `The memory would have ${bytes} bytes of ${MEMORY_LIMITS.bytes}. Tidy it first.`);
  return null;
}

export function createMemories(deps: MemoriesDeps): Memories {
  const { db, home, now, newId, onChange, forgets, setAside = SETS_NOTHING_ASIDE } = deps;
  const rows = createMemoryRows(db, home, setAside);

  async function announced<Value>(
    owner: (value: Value) => MemoryOwner,
    outcome: Promise<MemoryOutcome<Value>>,
  ): Promise<MemoryOutcome<Value>> {
    const done = await outcome;
    if (done.ok) onChange(owner(done.value));
    return done;
  }
  const ownerOf = ({ agentId }: Memory) => agentId;

  /** Writes a version of a file. Everything that changes a memory here comes through it. */
  async function write(
    trx: Db,
    before: Memory | null,
    { removed, ...file }: Pick<MemoryValue, 'agentId' | 'path' | 'text' | 'pinned' | 'removed'>,
    source: MemorySource,
  ): Promise<MemoryOutcome<Memory>> {
    const others = (await rows.filesOf(file.agentId, trx)).filter(({ memoryId }) => memoryId !== before?.memoryId);
    const refusal = removed ? null : refusalOf(others, file);
    if (refusal) return refusal;
    const memoryId = before?.memoryId ?? newId();
    const forgotten = await forgets.all(trx);
    // Lines are told apart by the time of their write. A page whose clock is ahead may have asked.
    const forgottenTimes = forgotten.map(({ target, at }) => (target.kind === 'conversation' ? timeOf(at) : 0));
    const time = Math.max(now(), (before?.changedAt ?? 0) + 1, ...forgottenTimes);
    const given = removed ? '' : file.text;
    const old = before ? linesOf(before) : [];
    const lines = changedLines(old, given, { source, time }, others.flatMap(linesOf));
    const kept = withoutForgotten(lines, { agentId: file.agentId, memoryId }, forgotten);
    const text = kept.length === lines.length ? given : textOfLines(kept);
    const { createdAt = time } = before ?? {};
    const value = { ...file, ...linesAndText(kept, text), source, createdAt, changedAt: time };
    if (before) await rows.update(trx, memoryId, { ...value, removed });
    else await rows.add(trx, memoryId, value);
    return { ok: true, value: { ...value, memoryId, version: before ? before.version + 1 : 0 } };
  }

  async function replaceOne(
    trx: Db,
    owner: MemoryOwner,
    { memoryId, path, before, after }: FileChange,
    source: MemorySource,
  ): Promise<MemoryOutcome<Memory>> {
    const file = memoryId === null ? null : await rows.get(memoryId, trx);
    if (memoryId !== null && !file) return NO_MEMORY;
    if (!file)
      return await write(trx, null, { agentId: owner, path, text: after ?? '', pinned: false, removed: false }, source);
    const text = after === null ? (file.text === before ? '' : null) : withAppended(before, after, file.text);
    if (text === null) return { ok: false, reason: 'changed-elsewhere', current: file };
    const { pinned } = file;
    return await write(trx, file, { agentId: owner, path, text, pinned, removed: after === null }, source);
  }

  /** A stored file without lines that were forgotten. Null: it has none. */
  function cleaned(
    memoryId: MemoryId,
    { removed, ...file }: MemoryValue,
    all: Awaited<ReturnType<Forgets['all']>>,
  ): MemoryValue | null {
    const lines = linesOf(file);
    const kept = withoutForgotten(lines, { agentId: file.agentId, memoryId }, all);
    if (kept.length === lines.length) return null;
    const { agentId, pinned, createdAt } = file;
    const changed = { agentId, pinned, createdAt, changedAt: Math.max(now(), file.changedAt + 1), source: BY_NOBODY };
    return kept.length === 0
      ? { ...changed, path: `forgotten-${memoryId}.md`, text: '', pinned: false, removed: true }
      : { ...changed, path: file.path, ...linesAndText(kept, textOfLines(kept)), removed };
  }

  return {
    list: (owner) => rows.filesOf(owner),
    get: (memoryId) => rows.get(memoryId),
    find: rows.find,
    add: (owner, { path, text, pinned = false }, source) =>
      announced(
        ownerOf,
        rows.change((trx) => write(trx, null, { agentId: owner, path, text, pinned, removed: false }, source)),
      ),
    change: (memoryId, change, source, version) =>
      announced(
        ownerOf,
        rows.change(async (trx) => {
          const before = await rows.get(memoryId, trx);
          if (!before) return NO_MEMORY;
          if (version !== undefined && version !== before.version)
            return { ok: false, reason: 'changed-elsewhere', current: before };
          const { path = before.path, pinned = before.pinned, removed = false, edit } = change;
          const edited = edit?.(before.text) ?? { ok: true, text: before.text };
          if (!edited.ok) return refuse('misfit', edited.why);
          return await write(
            trx,
            before,
            { agentId: before.agentId, path, text: edited.text, pinned, removed },
            source,
          );
        }),
      ),
    async replace(owner, changes, source, within) {
      const refused = new Refused();
      try {
        const outcome = await rows.change(async (trx) => {
          if (!(await within(trx))) return null;
          const all: Memory[] = [];
          // What makes room comes first.
          for (const change of changes.toSorted((a, b) => growthOf(a) - growthOf(b))) {
            const done = await replaceOne(trx, owner, change, source);
            if (!done.ok) throw refused.because(done);
            all.push(done.value);
          }
          return { ok: true, value: all } as const;
        });
        if (outcome) onChange(owner);
        return outcome;
      } catch (error) {
        if (error !== refused || !refused.outcome) throw error;
        return refused.outcome;
      }
    },
    async promptOf(agentId, more = []) {
      const files = await rows.readBy(agentId);
      const own: readonly PromptFile[] = files.filter(ownerOf);
      const fresh = more.filter(({ path }) => own.every((file) => file.path !== path));
      const ofTeam = files.filter((file) => ownerOf(file) === null);
      return memoryPrompt([...own, ...fresh.map((file) => ({ ...file, agentId, pinned: false })), ...ofTeam]);
    },
    async hasTextOfOthers(agentId) {
      return (await rows.readBy(agentId)).some((file) => linesOf(file).some(isOfOthers));
    },
    isForgotten: async (origins) => isForgottenBy(await forgets.all(), origins),
    async forget() {
      const changed = await rows.change(async (trx) => {
        const all = await forgets.all(trx);
        const changes = rows.readable(await rows.all(trx).execute(), (row) => ({
          memory: row.memory,
          value: cleaned(row.memory, { ...valueOf(row), removed: row.removed }, all),
        }));
        let count = 0;
        for (const { memory, value } of changes) {
          if (!value) continue;
          count += 1;
          await rows.update(trx, memory, value);
        }
        return count;
      });
      if (changed > 0) onChange(null);
    },
    records: createMemoryRecords({ db, home, rows, forgets, cleaned }),
  };
}

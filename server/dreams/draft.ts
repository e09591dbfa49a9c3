/**
 * The draft of a dream: a copy of an agent's memory that only the run of the dream has. What it
 * writes here reaches no store. See `server/dreams/index.ts` for what becomes of it.
 */
import { duplicateFault, growthFault } from '../../src/shared/domain/dreams.ts';
import type { AgentId } from '../../src/shared/domain/ids.ts';
import type { DreamChange } from '../../src/shared/protocol/dreams.ts';
import type { Memory } from '../../src/shared/protocol/memories.ts';
import { type Memories, type MemoryOutcome, refusalOf } from '../team/memory/index.ts';

export interface Draft {
  /** The memory as the agent sees it in the dream. Files of the team are for reading. */
  readonly memories: Pick<Memories, 'list' | 'find' | 'add' | 'change'>;
  /** What the draft would change, in the order of the paths. */
  changes(): readonly DreamChange[];
  /** Bytes of the memory before, and of the draft. */
  bytes(): { readonly before: number; readonly after: number };
}

interface DraftDeps {
  readonly agentId: AgentId;
  /** The files of the agent's memory when the dream began. */
  readonly base: readonly Memory[];
  readonly ofTeam: Pick<Memories, 'list' | 'find'>;
  readonly newId: () => string;
  readonly now: () => number;
}

const bytesOf = (files: Iterable<Pick<Memory, 'text'>>): number =>
  [...files].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
const textsOf = (files: Iterable<Pick<Memory, 'text'>>): readonly string[] => [...files].map(({ text }) => text);

export function createDraft({ agentId, base, ofTeam, newId, now }: DraftDeps): Draft {
  const before = new Map(base.map((file) => [file.memoryId, file]));
  const files = new Map(before);
  const sorted = () => [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));

  /** Puts the file into the draft. Every check of a dream is here. */
  function put(file: Memory): MemoryOutcome<Memory> {
    const others = [...files.values()].filter(({ memoryId }) => memoryId !== file.memoryId);
    const refusal = refusalOf(others, file);
    if (refusal) return refusal;
    const all = [...others, file];
    const isLarger = bytesOf(all) > bytesOf(files.values());
    const why =
      (isLarger ? growthFault(bytesOf(base), bytesOf(all)) : null) ?? duplicateFault(textsOf(base), textsOf(all));
    if (why !== null) return { ok: false, reason: 'memory-full', detail: why };
    files.set(file.memoryId, file);
    return { ok: true, value: file };
  }

  return {
    memories: {
      list: (owner) => (owner === null ? ofTeam.list(null) : Promise.resolve(sorted())),
      find: (owner, path) =>
        owner === null ? ofTeam.find(null, path) : Promise.resolve(sorted().find((file) => file.path === path) ?? null),
      add(_owner, { path, text, pinned = false }, source) {
        const time = now();
        const made = { agentId, path, text, pinned, source, createdAt: time, changedAt: time };
        return Promise.resolve(put({ ...made, memoryId: newId(), version: 0 }));
      },
      change(memoryId, { path, removed, edit }, source) {
        const file = files.get(memoryId);
        if (!file) return Promise.resolve({ ok: false, reason: 'no-memory', detail: 'There is no such file.' });
        if (removed) {
          files.delete(memoryId);
          return Promise.resolve({ ok: true, value: file });
        }
        const edited = edit?.(file.text) ?? { ok: true, text: file.text };
        if (!edited.ok) return Promise.resolve({ ok: false, reason: 'misfit', detail: edited.why });
        return Promise.resolve(put({ ...file, path: path ?? file.path, text: edited.text, source, changedAt: now() }));
      },
    },
    changes() {
      const changed = sorted().flatMap((file): DreamChange[] => {
        const old = before.get(file.memoryId);
        if (old && old.text === file.text && old.path === file.path) return [];
        return [
          {
            memoryId: old ? file.memoryId : null,
            path: file.path,
            pathBefore: old?.path ?? null,
            before: old?.text ?? null,
            after: file.text,
          },
        ];
      });
      const removals = base.flatMap(({ memoryId, path, text }): DreamChange[] =>
        files.has(memoryId) ? [] : [{ memoryId, path, pathBefore: path, before: text, after: null }],
      );
      // A file that was removed and made again is one changed file.
      const again = changed.flatMap((made) => {
        const old = made.memoryId === null ? removals.find(({ path }) => path === made.path) : undefined;
        return old ? [{ made, old }] : [];
      });
      const isAgain = (change: DreamChange) => again.some(({ made, old }) => change === made || change === old);
      return [
        ...[...changed, ...removals].filter((change) => !isAgain(change)),
        ...again.flatMap(({ made, old }) => (made.after === old.before ? [] : [{ ...old, after: made.after }])),
      ].sort((a, b) => (a.path < b.path ? -1 : 1));
    },
    bytes: () => ({ before: bytesOf(base), after: bytesOf(files.values()) }),
  };
}

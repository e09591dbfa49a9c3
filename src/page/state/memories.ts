/** What an agent keeps, as the page shows and changes it. */
import type { AgentId, MemoryId } from '../../shared/domain/ids.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import { byAge } from '../../shared/protocol/documents/kind.ts';
import { type Memory, memoryValueSchema } from '../../shared/protocol/memories.ts';
import type { WithinPage } from '../../shared/protocol/worker.ts';
import { t } from '../language/t.ts';
import { CHANGED_ELSEWHERE, overNewest } from './documents.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { createQuery, createQueryFamily, type Query, relayQuery } from './query.ts';
import { mapResult } from './call-relay.ts';

/** `ok` false: why nothing was saved, as a sentence. */
export type MemoryOutcome = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** One version of a file, as a document of the ledger has it. */
export type MemoryVersion = Pick<Memory, 'path' | 'text' | 'source' | 'changedAt'> & { readonly removed: boolean };

export interface Memories {
  /** Versions of a file that are on this device, newest first. */
  versions(memoryId: MemoryId): Query<readonly MemoryVersion[]>;
  /** The files of this agent. */
  of(agentId: AgentId): Query<readonly Memory[]>;
  add(agentId: AgentId, file: { readonly path: string; readonly text: string }): Promise<MemoryOutcome>;
  /** `base`: the file from which the change was made. */
  change(base: Memory, fields: { readonly text?: string; readonly pinned?: boolean }): Promise<MemoryOutcome>;
  /** A notice offers an undo, or reports a refusal. */
  remove(file: Memory): Promise<void>;
}

/** Versions per read, and most that are shown. */
const VERSIONS = { page: 200, most: 50 } as const;

function createMemories({ callRelay, changes, device, notices, dataWorker }: RoostState): Memories {
  const versions = createQueryFamily((memoryId: MemoryId) =>
    createQuery<readonly MemoryVersion[]>({
      ...{ changes, device, what: ['memories'] as const },
      async ask() {
        const docs: Doc[] = [];
        for (let after: string | null = null; ;) {
          const about = `memory ${memoryId}`;
          const page: WithinPage = await dataWorker.call('within', { about, after, limit: VERSIONS.page });
          docs.push(...page.docs);
          after = page.after;
          if (after === null) break;
        }
        const value = docs
          .sort(byAge)
          .flatMap((doc) => {
            const read = memoryValueSchema.safeParse(doc['value']);
            return read.success ? [read.data] : [];
          })
          .slice(-VERSIONS.most)
          .reverse();
        return { ok: true, value };
      },
    }),
  );
  const of = createQueryFamily((agentId: AgentId) =>
    relayQuery<readonly Memory[]>(
      { callRelay, changes, device },
      ['memories'],
      async (client) => mapResult(await client.memories({ agentId }), ({ memories }) => memories),
      { agentId },
    ),
  );
  const done = (
    result: { readonly ok: true } | { readonly ok: false; readonly problem: Parameters<typeof problemText>[0] },
  ) => (result.ok ? ({ ok: true } as const) : ({ ok: false, reason: problemText(result.problem) } as const));

  async function add(agentId: AgentId, file: { path: string; text: string; pinned?: boolean }): Promise<MemoryOutcome> {
    const result = await callRelay((client) => client.createMemory({ body: { agentId, ...file } }));
    await of(agentId).again();
    return done(result);
  }

  return {
    of,
    versions,
    add: (agentId, file) => add(agentId, { ...file }),
    async change(base, fields) {
      const { memoryId, agentId } = base;
      const result = await overNewest(base, (now) =>
        now.text === base.text
          ? callRelay((client) => client.changeMemory({ memoryId, body: { ...fields, version: now.version } }))
          : null,
      );
      if (agentId !== null) await of(agentId).again();
      return 'clash' in result ? { ok: false, reason: CHANGED_ELSEWHERE } : done(result);
    },
    async remove({ memoryId, agentId, path, text, pinned }) {
      const result = await callRelay((client) => client.removeMemory({ memoryId }));
      if (agentId !== null) await of(agentId).again();
      if (!result.ok) return notices.refused(result.problem);
      notices.info(t`“${path}” is deleted.`, {
        label: t`Undo`,
        run: () =>
          void (agentId === null ? null : add(agentId, { path, text, pinned }))?.then((back) => {
            if (!back.ok) notices.info(back.reason);
          }),
      });
    },
  };
}

/** One instance per page. */
export const memoriesOf = onePerPage(createMemories);

/** What an agent keeps, as the page shows and changes it. */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Memory } from '../../shared/protocol/memories.ts';
import { t } from '../language/t.ts';
import { CHANGED_ELSEWHERE, overNewest } from './documents.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { createQuery, createQueryFamily, type Query } from './query.ts';
import { mapResult } from './reach.ts';

/** `ok` false: why nothing was saved, as a sentence. */
export type MemoryOutcome = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export interface Memories {
  /** The files of this agent. */
  of(agentId: AgentId): Query<readonly Memory[]>;
  add(agentId: AgentId, file: { readonly path: string; readonly text: string }): Promise<MemoryOutcome>;
  /** `base`: the file from which the change was made. */
  change(base: Memory, fields: { readonly text?: string; readonly pinned?: boolean }): Promise<MemoryOutcome>;
  /** A notice offers an undo, or reports a refusal. */
  remove(file: Memory): Promise<void>;
}

function createMemories({ reach, changes, device, notices }: RoostState): Memories {
  const of = createQueryFamily((agentId: AgentId) =>
    createQuery<readonly Memory[]>({
      ...{ changes, device, agentId, what: ['memories'] as const },
      ask: async () => mapResult(await reach((client) => client.memories({ agentId })), ({ memories }) => memories),
    }),
  );
  const done = (
    result: { readonly ok: true } | { readonly ok: false; readonly problem: Parameters<typeof problemText>[0] },
  ) => (result.ok ? ({ ok: true } as const) : ({ ok: false, reason: problemText(result.problem) } as const));

  async function add(agentId: AgentId, file: { path: string; text: string; pinned?: boolean }): Promise<MemoryOutcome> {
    const result = await reach((client) => client.createMemory({ body: { agentId, ...file } }));
    await of(agentId).again();
    return done(result);
  }

  return {
    of,
    add: (agentId, file) => add(agentId, { ...file }),
    async change(base, fields) {
      const { memoryId, agentId } = base;
      const result = await overNewest(base, (now) =>
        now.text === base.text
          ? reach((client) => client.changeMemory({ memoryId, body: { ...fields, version: now.version } }))
          : null,
      );
      if (agentId !== null) await of(agentId).again();
      return 'clash' in result ? { ok: false, reason: CHANGED_ELSEWHERE } : done(result);
    },
    async remove({ memoryId, agentId, path, text, pinned }) {
      const result = await reach((client) => client.removeMemory({ memoryId }));
      if (agentId !== null) await of(agentId).again();
      if (!result.ok) return notices.refused(result.problem);
      notices.info(t`${path} is deleted.`, {
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

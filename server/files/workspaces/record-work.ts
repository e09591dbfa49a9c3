/** An agent's files are recorded before and after work. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Work } from '../../../src/shared/protocol/endpoints/history.ts';

/**
 * Records an agent's folders before work that may write there. Resolves when the work may begin,
 * with a function to call at its end. That one resolves when the result is recorded. Never rejects:
 * work goes on without a recording, and the person is told.
 */
export type RecordWork = (agentId: AgentId, work: Work) => Promise<() => Promise<void>>;

/** For parts that run without a history. */
export const RECORDS_NOTHING: RecordWork = () => Promise.resolve(() => Promise.resolve());

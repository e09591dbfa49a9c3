/** What the person was asked during an attempt, and what they answered. */
import type { AgentId, RunId } from '../../../src/shared/domain/ids.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { ATTEMPT_LIMITS, type Attempt, type Receipt } from '../../../src/shared/protocol/attempts.ts';
import type { ToolCall } from '../../../src/shared/protocol/approvals.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';

/** As the calls of agents are recorded; see `server/approvals/requests`. */
export type AskedSince = (
  agentId: AgentId,
  runId: RunId | null,
  since: number,
  limit: number,
) => Promise<readonly Pick<ToolCall, 'tool' | 'state'>[]>;

export async function approvalsIn(
  approvals: { readonly askedSince: AskedSince },
  { agentId, runId, startedAt }: Pick<Attempt, 'agentId' | 'runId' | 'startedAt'>,
): Promise<Receipt['approvals']> {
  const asked = await approvals.askedSince(agentId, runId, startedAt, ATTEMPT_LIMITS.commands);
  return asked.map(({ tool, state }) => ({
    tool: tool.slice(0, LIMITS.id),
    allowed: state === 'declined' ? false : state === 'asked' || state === 'withdrawn' ? null : true,
  }));
}

/** What the person refused, as a sentence. Null: nothing. */
export function refusedIn(receipt: Pick<Receipt, 'approvals'> | null | undefined): string | null {
  const refused = receipt?.approvals.filter(({ allowed }) => allowed === false).map(({ tool }) => tool) ?? [];
  return refused.length === 0 ? null : `The human refused ${[...new Set(refused)].map(titled).join(', ')}.`;
}

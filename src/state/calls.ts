/** What agents do besides talk: their calls that wait for the person, and the account of all. */
import type { AgentId } from '../domain/ids.ts';
import type { Answer, SandboxStanding, ToolCall } from '../protocol/calls.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { createQuery, createQueryFamily, type Query } from './query.ts';

/** Calls that the account shows. */
export const SHOWN_CALLS = 200;

interface Approvals {
  /** The oldest first. */
  readonly waiting: readonly ToolCall[];
  /** Of the last day, the newest first. */
  readonly answered: readonly ToolCall[];
  readonly sandbox: SandboxStanding;
}
interface Account {
  readonly calls: readonly ToolCall[];
  /** There are older ones. */
  readonly more: boolean;
}

export interface Calls {
  readonly approvals: Query<Approvals>;
  /** Null: of everybody. */
  account(agentId: AgentId | null): Query<Account>;
  /** Is it answered? What is refused is told as a notice, with what is so instead. */
  answer(callId: string, answer: Answer, words: string): Promise<boolean>;
}

function createCalls({ reach, changes, device, notices }: RoostState): Calls {
  const approvals = createQuery<Approvals>({
    changes,
    device,
    what: ['approvals', 'config'],
    ask: () => reach((client) => client.approvals()),
  });
  const accounts = createQueryFamily((agentId: AgentId) =>
    createQuery<Account>({
      changes,
      device,
      what: ['calls', 'approvals'],
      ask: () => reach((client) => client.calls({ agent: agentId === '' ? null : agentId, limit: SHOWN_CALLS })),
    }),
  );
  return {
    approvals,
    account: (agentId) => accounts(agentId ?? ''),
    async answer(callId, answer, words) {
      const result = await reach((client) => client.answerApproval({ callId, body: { answer, words } }));
      if (!result.ok) notices.refused(result.problem);
      await approvals.again();
      return result.ok;
    },
  };
}

/** One for each page. */
export const callsOf = onePerPage(createCalls);

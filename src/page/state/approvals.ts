/** Tool calls of agents: those that wait for the person, and the audit log of all. */
import type { AgentId, ProjectId } from '../../shared/domain/ids.ts';
import type { Given } from '../../shared/domain/question-form.ts';
import type { z } from 'zod';
import type { Answer, answerSchema, CommandReach, SandboxStatus, ToolCall } from '../../shared/protocol/approvals.ts';
import type { RoostState } from './index.ts';
import { createPaged, type Paged } from './pages.ts';
import { onePerPage } from './per-page.ts';
import { createQuery, createQueryFamily, SOON_MS, type Query } from './query.ts';

/** Calls of the audit log per page. */
const PAGE = 100;

interface Approvals {
  /** Oldest first. */
  readonly waiting: readonly ToolCall[];
  /** Calls that were answered within the last day, newest first. */
  readonly answered: readonly ToolCall[];
  readonly sandbox: SandboxStatus;
  /** The reach of each agent's waiting command. */
  readonly reach?: Readonly<Record<string, CommandReach>> | undefined;
  /** The project that makes an agent's waiting command ask. */
  readonly projects?: Readonly<Record<string, ProjectId>> | undefined;
  /** The person may allow scripts to reach hosts of the relay's own machine. */
  readonly ownHosts?: boolean | undefined;
}
export interface Calls {
  readonly approvals: Query<Approvals>;
  /** null: all agents. */
  account(agentId: AgentId | null): Paged<ToolCall>;
  /**
   * True if the answer was accepted. `ownHosts`: see `answerSchema`. An approval covers exactly
   * what `call` shows. If the relay refuses, a notice says so and shows the current state.
   */
  answer(call: ToolCall, answer: Answer, words: string, ownHosts?: readonly string[]): Promise<boolean>;
  /** Sends an MCP server the values it asks for, by field name. */
  send(call: ToolCall, content: Given): Promise<boolean>;
}

function createCalls({ callRelay, changes, device, notices }: RoostState): Calls {
  const approvals = createQuery<Approvals>({
    changes,
    device,
    what: ['approvals', 'config'],
    // An agent is blocked until the person answers.
    askAgainMs: SOON_MS,
    ask: () => callRelay((client) => client.approvals()),
  });
  const accounts = createQueryFamily((agentId: AgentId) =>
    createPaged<ToolCall, string>({
      changes,
      device,
      what: ['calls', 'approvals'],
      idOf: ({ callId }) => callId,
      size: PAGE,
      askPage: (page) =>
        callRelay(async (client) => {
          const account = await client.calls({ ...page, agent: agentId === '' ? null : agentId });
          return account.ok ? { ok: true, value: { rows: account.value.calls, more: account.value.more } } : account;
        }),
    }),
  );
  async function tell(callId: string, body: z.input<typeof answerSchema>): Promise<boolean> {
    const result = await callRelay((client) => client.answerApproval({ callId, body }));
    if (!result.ok) notices.refused(result.problem);
    await approvals.again();
    return result.ok;
  }
  return {
    approvals,
    account: (agentId) => accounts(agentId ?? ''),
    async answer({ callId, content }, answer, words, ownHosts = []) {
      const isYes = answer !== 'no' && answer !== 'later';
      return await tell(callId, {
        ...{ answer, words },
        ...(isYes ? { seen: content?.pin ?? '' } : {}),
        ...(ownHosts.length > 0 ? { own_hosts: [...ownHosts] } : {}),
      });
    },
    send: async ({ callId }, content) => await tell(callId, { answer: 'send', words: '', content }),
  };
}

/** One instance per page. */
export const approvalsOf = onePerPage(createCalls);

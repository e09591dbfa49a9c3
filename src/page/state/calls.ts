/** What agents do besides talk: their calls that wait for the person, and the account of all. */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Given } from '../../shared/domain/question-form.ts';
import type { z } from 'zod';
import type { Answer, answerSchema, CommandReach, SandboxStanding, ToolCall } from '../../shared/protocol/calls.ts';
import type { RoostState } from './index.ts';
import { createPaged, type Paged } from './pages.ts';
import { onePerPage } from './per-page.ts';
import { createQuery, createQueryFamily, SOON_MS, type Query } from './query.ts';

/** Calls of the account that are read at once. */
const PAGE = 100;

interface Approvals {
  /** The oldest first. */
  readonly waiting: readonly ToolCall[];
  /** Of the last day, the newest first. */
  readonly answered: readonly ToolCall[];
  readonly sandbox: SandboxStanding;
  /** By agent, of whom a command waits. */
  readonly reach?: Readonly<Record<string, CommandReach>> | undefined;
  /** The person may let scripts reach hosts of the relay's own machine. */
  readonly ownHosts?: boolean | undefined;
}
export interface Calls {
  readonly approvals: Query<Approvals>;
  /** Null: of everybody. */
  account(agentId: AgentId | null): Paged<ToolCall>;
  /**
   * Is it answered? `ownHosts`: see `answerSchema`. A yes is to what `call` shows. What is refused
   * is told as a notice, with what is so instead.
   */
  answer(call: ToolCall, answer: Answer, words: string, ownHosts?: readonly string[]): Promise<boolean>;
  /** Sends an MCP server what it asks for: by the names of fields. */
  send(call: ToolCall, content: Given): Promise<boolean>;
}

function createCalls({ reach, changes, device, notices }: RoostState): Calls {
  const approvals = createQuery<Approvals>({
    changes,
    device,
    what: ['approvals', 'config'],
    // An agent stands still until the person answers.
    askAgainMs: SOON_MS,
    ask: () => reach((client) => client.approvals()),
  });
  const accounts = createQueryFamily((agentId: AgentId) =>
    createPaged<ToolCall, string>({
      changes,
      device,
      what: ['calls', 'approvals'],
      idOf: ({ callId }) => callId,
      size: PAGE,
      askPage: (page) =>
        reach(async (client) => {
          const account = await client.calls({ ...page, agent: agentId === '' ? null : agentId });
          return account.ok ? { ok: true, value: { rows: account.value.calls, more: account.value.more } } : account;
        }),
    }),
  );
  async function tell(callId: string, body: z.input<typeof answerSchema>): Promise<boolean> {
    const result = await reach((client) => client.answerApproval({ callId, body }));
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

/** One for each page. */
export const callsOf = onePerPage(createCalls);

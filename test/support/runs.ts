/** An agent at work alone, as nothing but a test asks for it. */
import type { NewInboxMessage } from '../../server/team/inbox/put.ts';
import type { Mind } from '../../server/agents/minds/index.ts';
import type { AgentRun } from '../../server/agents/runs/index.ts';

export const MODEL = 'claude-haiku-4-5';

type Asked = Partial<Omit<AgentRun, 'limits'>> & { readonly limits?: Partial<AgentRun['limits']> };

export const agentRun = (mind: Mind, { limits, ...more }: Asked = {}): AgentRun => ({
  identity: { agentId: 'agent-a' },
  cause: { kind: 'pulse', routine: 'Morning round' },
  instructions: () => 'You are Lyra. Nobody is here to ask.',
  worksBy: [],
  context: [{ messageId: null, text: 'It is time for your morning round.' }],
  readsInbox: false,
  tools: { own: { definitions: [], run: () => ({ text: 'There is none.', isError: true }) }, team: [] },
  mind: { answers: mind, model: MODEL },
  ...more,
  limits: { timeoutMs: 20_000, busyMs: 20_000, maxAnswerTokens: 1_000, contextTokens: 0, ...limits },
});

/** What waits in its inbox. */
export const messageFromB = (): NewInboxMessage => ({
  messageId: 'from-b',
  to: 'agent-a',
  from: 'agent-b',
  text: 'The kettle is on.',
  time: Date.now(),
  priority: 'normal',
  threadId: null,
});

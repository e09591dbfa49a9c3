/**
 * `choose_name` and `write_soul`: what they store, and their events. Words of others must not
 * become who an agent is. So the person is asked where the agent was shown such words.
 */
import { z } from 'zod';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { EventOf } from '../../../src/shared/protocol/events.ts';
import type { SessionHost } from './contract.ts';
import type { EventLog } from '../../log/index.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import { defineTool, toolDone, toolError } from '../../tools/define-tool.ts';
import type { Life } from '../runs/life.ts';
import type { SessionContext } from './context.ts';
import { CHOOSE_NAME, nameSchema, soulSchema, type ToolCall, WRITE_SOUL } from './tools.ts';

export type Change = EventOf<'agent-changed'>['change'];

export const NO_SESSION = 'No session runs, so it cannot be stored. Try again when one does.';

interface StoreDeps {
  readonly log: Pick<EventLog, 'append'>;
  /** ms since the epoch */
  readonly now: () => number;
}

/** Stores a change for which nobody else is asked. */
export async function storeChange(
  { log, now }: StoreDeps,
  { agentId, sessionId }: Pick<Caller, 'agentId' | 'sessionId'>,
  change: Change,
): Promise<ToolOutcome> {
  if (sessionId === null) return toolError(NO_SESSION);
  await log.append([{ kind: 'agent-changed', time: now(), agentId, sessionId, change }]);
  return toolDone(storedText(change));
}

const changeOf = (call: Exclude<ToolCall, { tool: 'spawn_team' }>): Change =>
  call.tool === 'choose_name'
    ? { kind: 'rename', name: call.input.name }
    : { kind: 'soul', individuationArtifact: call.input.text };
const storedText = (change: Change): string =>
  change.kind === 'rename' ? `Your name is ${change.name} from now on.` : 'Stored. You get it whenever you wake.';

/** `answer`: the id of the answer in which the agent calls. */
export async function applyChange(
  context: Pick<SessionContext, 'record' | 'now' | 'sessionId' | 'askFirst'>,
  { agentId, runId }: Pick<Life, 'agentId' | 'runId'>,
  call: ToolCall,
  { answer, signal }: { readonly answer: string; readonly signal: AbortSignal },
): Promise<ToolOutcome> {
  const { record, now, sessionId, askFirst } = context;
  if (call.tool === 'spawn_team') return toolError('Only the lead calls the team.');
  const caller: Caller = { agentId, sessionId, runId, run: answer, kind: 'session', signal };
  const permission = await askFirst(call.tool, call.input, caller);
  if (permission) return permission;
  const change = changeOf(call);
  void record([{ kind: 'agent-changed', time: now(), agentId, sessionId, change }]);
  return toolDone(storedText(change));
}

interface AgreedChangesDeps extends StoreDeps {
  readonly host: Pick<SessionHost, 'sessionId'>;
}

/** The same two as the person agrees to them on a card. No agent is offered these. */
export function createAgreedChanges({ host, ...deps }: AgreedChangesDeps): readonly TeamTool[] {
  const store = (agentId: AgentId, change: Change) =>
    storeChange(deps, { agentId, sessionId: host.sessionId() }, change);
  // One question at a time, and the newest stands.
  const asking = { keyOf: () => '' };
  return [
    defineTool({
      ...{ name: CHOOSE_NAME.name, description: CHOOSE_NAME.description, asking },
      input: z.object({ name: nameSchema }),
      run: ({ name }, { agentId }) => store(agentId, { kind: 'rename', name }),
    }),
    defineTool({
      ...{ name: WRITE_SOUL.name, description: WRITE_SOUL.description, asking },
      input: z.object({ text: soulSchema }),
      run: ({ text }, { agentId }) => store(agentId, { kind: 'soul', individuationArtifact: text }),
    }),
  ];
}

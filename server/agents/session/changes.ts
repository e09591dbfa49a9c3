/** `choose_name` and `write_soul` of an agent that hatches: what they store, and their events. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { EventOf } from '../../../src/shared/protocol/events.ts';
import type { ToolOutcome } from '../../contracts/index.ts';
import { toolDone, toolError } from '../../contracts/define-tool.ts';
import type { SessionContext } from './context.ts';
import { type ToolCall } from './tools.ts';

type Change = EventOf<'agent-changed'>['change'];

export function applyChange(context: SessionContext, agentId: AgentId, call: ToolCall): ToolOutcome {
  const { record, now, sessionId } = context;
  const write = (change: Change) => void record([{ kind: 'agent-changed', time: now(), agentId, sessionId, change }]);
  switch (call.tool) {
    case 'choose_name':
      write({ kind: 'rename', name: call.input.name });
      return toolDone(`Your name is ${call.input.name} from now on.`);
    case 'write_soul':
      write({ kind: 'soul', individuationArtifact: call.input.text });
      return toolDone('Stored. You get it whenever you wake.');
    case 'spawn_team':
      return toolError('Only the lead calls the team.');
    default:
      return call satisfies never;
  }
}

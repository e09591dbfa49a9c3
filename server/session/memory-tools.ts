/**
 * What a client keeps for the agent in whose seat it is: its name and its soul. Agents with a mind of the relay's
 * have the same as tools of their session. They go into the ledger by the session's log, so a session has to run.
 */
import { z } from 'zod';
import type { EventOf } from '../../src/protocol/events.ts';
import type { Caller, EventLog, TeamTool, ToolOutcome } from '../contracts.ts';
import { defineTool } from '../define-tool.ts';
import { toolDone, toolError } from '../tool-outcome.ts';
import { CHOOSE_NAME, nameSchema, soulSchema, WRITE_SOUL } from './tools.ts';

export interface MemoryToolDeps {
  readonly log: Pick<EventLog, 'append'>;
  /** ms since the epoch */
  readonly now: () => number;
}

export function createMemoryTools({ log, now }: MemoryToolDeps): readonly TeamTool[] {
  async function keep({ agentId, sessionId }: Caller, change: EventOf<'agent-changed'>['change'], done: string): Promise<ToolOutcome> {
    if (sessionId === null) return toolError('No session runs, so there is nobody to keep it. Try again when one does.');
    await log.append([{ kind: 'agent-changed', time: now(), agentId, sessionId, change }]);
    return toolDone(done);
  }
  return [
    defineTool({
      name: CHOOSE_NAME.name,
      description: CHOOSE_NAME.description,
      input: z.object({ name: nameSchema }),
      run: ({ name }, caller) => keep(caller, { kind: 'rename', name }, `Your name is ${name} from now on.`),
    }),
    defineTool({
      name: WRITE_SOUL.name,
      description: WRITE_SOUL.description,
      input: z.object({ text: soulSchema }),
      run: ({ text }, caller) => keep(caller, { kind: 'soul', individuationArtifact: text }, 'Kept. You will be given it whenever you wake.'),
    }),
  ];
}

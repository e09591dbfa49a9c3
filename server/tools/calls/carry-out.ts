/** Runs what the person has said yes to, once, and tells its agent what came of it. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { toolsetOf } from '../../../src/shared/domain/toolsets.ts';
import type { Caller, SessionHost, TeamTool, ToolOutcome } from '../../contracts/index.ts';
import type { Logger } from '../../agents/runs/context.ts';
import { enduring, type Database } from '../../store/index.ts';
import { toolError } from '../../contracts/define-tool.ts';
import type { Contents } from './contents.ts';
import type { Leave } from './leave.ts';
import type { CallRows, KeptCall } from './rows.ts';
import type { TellAgent } from './tell-agent.ts';

export interface CarryOutDeps {
  readonly database: Pick<Database, 'untilThere'>;
  readonly rows: Pick<CallRows, 'end' | 'get' | 'waitAgain'>;
  readonly contents: Contents;
  readonly leave: Pick<Leave, 'yes'>;
  readonly tellAgent: TellAgent;
  readonly toolNamed: (name: string) => TeamTool | undefined;
  readonly host: Pick<SessionHost, 'stateOf' | 'sessionId'>;
  readonly changed: (agentId: AgentId) => void;
  readonly counted: () => void;
  readonly closing: AbortSignal;
  readonly now: () => number;
  readonly logger: Logger;
}

/** Its yes is on disk. */
export function createCarryOut(deps: CarryOutDeps): (call: KeptCall, ownHosts?: readonly string[]) => Promise<void> {
  const { database, rows, contents, leave, tellAgent, toolNamed, host, changed, counted, closing, now, logger } = deps;

  async function outcomeOf(call: KeptCall, ownHosts: readonly string[]): Promise<ToolOutcome> {
    const { callId, agentId, tool: name, input: text, runId, pinned } = call;
    const tool = toolNamed(name);
    const given: unknown = JSON.parse(text);
    const input = tool?.input.safeParse(given);
    const caller: Caller = {
      agentId,
      sessionId: host.stateOf(agentId) === 'absent' ? null : host.sessionId(),
      ...(runId === null ? {} : { runId }),
      run: callId,
      kind: 'run',
      signal: closing,
      agreed: { ...contents.agreed({ agentId, tool: name, input: given }, pinned), ownHosts },
    };
    if (!tool || !input?.success || !(await enduring(database, async () => (await tool.allowed?.(caller)) ?? true)))
      return toolError('This tool is not there any more.');
    return await tool.run(input.data, caller).catch((error: unknown) => {
      logger.error('a tool failed', { agentId, tool: name, error: String(error) });
      return toolError('Something in the relay broke; it may have run or not. The relay’s log says more.');
    });
  }

  return async (call, ownHosts = []) => {
    const { callId, agentId, tool, input } = call;
    if (toolsetOf(tool) === 'mind') {
      if (!(await leave.yes(call))) await tellAgent((await rows.get(callId)) ?? call, input, null);
      return;
    }
    const outcome = await outcomeOf(call, ownHosts);
    if (outcome.changed) {
      // Between the yes and now something else came there: nothing was done, and it is asked again.
      await enduring(database, async () => {
        await rows.waitAgain(callId);
        const waits = await rows.get(callId);
        if (waits) await contents.fresh(waits);
      });
      changed(agentId);
      return;
    }
    // With what it gave back, whole, or not at all: a kill in between leaves it as one of which
    // nobody knows.
    await enduring(database, () =>
      tellAgent({ ...call, state: 'done' }, input, outcome, (within) =>
        rows.end(callId, JSON.parse(input), outcome, now(), { within }),
      ),
    );
    changed(agentId);
    counted();
  };
}

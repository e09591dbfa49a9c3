/** Runs an allowed call once, and tells its agent the outcome. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { toolsetOf } from '../../../src/shared/domain/toolsets.ts';
import type { SessionHost } from '../../agents/session/contract.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import type { Logger } from '../../platform/logger.ts';
import { type Database, enduring } from '../../store/index.ts';
import { toolError } from '../../tools/define-tool.ts';
import type { CallRows, StoredCall } from './rows.ts';
import type { Contents } from './contents.ts';
import type { Permissions } from './permissions.ts';
import type { NotifyAgent } from './notify-agent.ts';

interface CarryOutDeps {
  readonly database: Pick<Database, 'untilThere'>;
  readonly rows: Pick<CallRows, 'end' | 'get' | 'waitAgain'>;
  readonly contents: Contents;
  readonly permissions: Pick<Permissions, 'yes'>;
  readonly tellAgent: NotifyAgent;
  readonly toolNamed: (name: string) => TeamTool | undefined;
  readonly host: Pick<SessionHost, 'stateOf' | 'sessionId'>;
  readonly changed: (agentId: AgentId) => void;
  readonly counted: () => void;
  readonly closing: AbortSignal;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
}

/** The yes is on disk. */
export function createCarryOut(deps: CarryOutDeps): (call: StoredCall, ownHosts?: readonly string[]) => Promise<void> {
  const { database, rows, contents, permissions, tellAgent, toolNamed, host, changed, counted, closing, now, logger } =
    deps;

  async function outcomeOf(call: StoredCall, ownHosts: readonly string[]): Promise<ToolOutcome> {
    const { callId, agentId, folder, tool: name, input: text, runId, pinned } = call;
    const tool = toolNamed(name);
    const outcome: unknown = JSON.parse(text);
    const input = tool?.input.safeParse(outcome);
    const caller: Caller = {
      agentId,
      sessionId: host.stateOf(agentId) === 'absent' ? null : host.sessionId(),
      // An executor does not wait for the person. What its call starts belongs to the agent.
      ...(folder !== undefined ? { folder } : runId === null ? {} : { runId }),
      run: callId,
      kind: 'run',
      signal: closing,
      agreed: { ...contents.agreed({ agentId, folder, tool: name, input: outcome }, pinned), ownHosts },
    };
    if (!tool || !input?.success || !(await enduring(database, async () => (await tool.allowed?.(caller)) ?? true)))
      return toolError('This tool no longer exists.');
    return await tool.run(input.data, caller).catch((error: unknown) => {
      logger.error('A tool failed.', { agentId, tool: name, error });
      return toolError('The relay had an error. The call may have run. See the relay’s log.');
    });
  }

  return async (call, ownHosts = []) => {
    const { callId, agentId, tool, input } = call;
    if (toolsetOf(tool) === 'mind') {
      if (!(await permissions.yes(call))) await tellAgent((await rows.get(callId)) ?? call, input, null);
      return;
    }
    const outcome = await outcomeOf(call, ownHosts);
    if (outcome.changed) {
      // The content changed between the yes and now. Nothing was done, and the person is asked
      // again.
      await enduring(database, async () => {
        await rows.waitAgain(callId);
        const waits = await rows.get(callId);
        if (waits) await contents.fresh(waits);
      });
      changed(agentId);
      return;
    }
    // The full outcome and the end of the call are written together or not at all. If the relay is
    // killed in between, the call's outcome is unknown.
    await enduring(database, () =>
      tellAgent({ ...call, state: 'done' }, input, outcome, (within) =>
        rows.end(callId, JSON.parse(input), outcome, now(), { within }),
      ),
    );
    changed(agentId);
    counted();
  };
}

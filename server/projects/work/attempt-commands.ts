/** What agents do in checkouts: the attempt to which a command or a path belongs. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Attempt } from '../../../src/shared/protocol/attempts.ts';
import type { CommandOf } from '../../execution/shell/tools.ts';
import type { OpenAttempt } from '../board/index.ts';
import { CHECKOUT_LIMITS } from '../checkouts/index.ts';
import { namesFolder } from './checkout-list.ts';
import type { WorkBase } from './base.ts';
import type { OpenTaskWork } from './contract.ts';

/** Variables for the commands of an attempt. Its ports are the lowest range that no other has. */
export async function environmentFor(
  { attempts }: Pick<WorkBase, 'attempts'>,
  { projectId, taskId }: Pick<Attempt, 'projectId' | 'taskId'>,
): Promise<Readonly<Record<string, string>>> {
  const all = (await attempts.open()).map(({ attempt }) => attempt.taskId).toSorted();
  const range = Math.max(0, all.indexOf(taskId)) % CHECKOUT_LIMITS.portRanges;
  return {
    PORT: String(CHECKOUT_LIMITS.firstPort + range * CHECKOUT_LIMITS.portsEach),
    ROOST_TASK: `${projectId}/${taskId}`,
  };
}

export function createAttemptCommands({
  attempts,
  logger,
  track,
  onTurn,
}: WorkBase): Pick<OpenTaskWork, 'environmentOf' | 'ran' | 'touches'> {
  /** The attempt in whose checkout each agent did something last. */
  const current = new Map<AgentId, string>();
  /** The attempts of an agent, or of its executor. The one that it works on comes last. */
  async function attemptsAt({ agentId, executor }: CommandOf): Promise<readonly OpenAttempt[]> {
    const own = (await attempts.open(agentId)).filter(({ attempt }) =>
      executor === null ? attempt.kind === 'agent' : attempt.runId === executor,
    );
    const isCurrent = ({ attempt }: OpenAttempt) => attempt.attemptId === current.get(agentId);
    return own.toSorted(
      (one, other) =>
        Number(isCurrent(one)) - Number(isCurrent(other)) || one.attempt.startedAt - other.attempt.startedAt,
    );
  }
  /** The attempt whose checkout a path or a command names. Otherwise the one worked on last. */
  async function attemptOf(by: CommandOf, text: string): Promise<OpenAttempt | undefined> {
    const all = await attemptsAt(by);
    return all.findLast(({ attempt }) => namesFolder(text, attempt.folder)) ?? all.at(-1);
  }

  return {
    async environmentOf(by) {
      const open = (await attemptsAt(by)).at(-1);
      return open ? await environmentFor({ attempts }, open.attempt) : {};
    },
    ran(by, command) {
      track(
        (async () => {
          const open = await attemptOf(by, command.command);
          if (open) await attempts.ran(open.attempt.attemptId, command);
        })().catch((error: unknown) => logger.warn('A command of an attempt could not be noted.', { error })),
      );
    },
    async touches(by, text) {
      const open = await attemptOf(by, text);
      if (!open || by.executor !== null || current.get(by.agentId) === open.attempt.attemptId) return;
      current.set(by.agentId, open.attempt.attemptId);
      onTurn(open.attempt.attemptId);
    },
  };
}

/**
 * Tells the board whether the agent of a claim is at work. A claim in a session outlives the answer
 * that made it, so the board would say for hours that somebody works on the task.
 */
import type { AgentId } from '../../src/shared/domain/ids.ts';
import type { SessionHost } from '../agents/session/contract.ts';
import type { Projects } from '../projects/board/index.ts';

interface TaskRestDeps {
  readonly projects: Pick<Projects, 'connectRest' | 'agentStopped'>;
  readonly host: Pick<SessionHost, 'stateOf' | 'runOf' | 'onTurnEnd'>;
  /** ms since the epoch */
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

export function connectRest({ projects, host, now, onError }: TaskRestDeps): void {
  /** When the last turn of each agent ended, in ms since the epoch. */
  const stoppedAt = new Map<AgentId, number>();
  host.onTurnEnd((agentId) => {
    stoppedAt.set(agentId, now());
    projects.agentStopped(agentId).catch(onError);
  });
  projects.connectRest(({ agentId, run, since }) => {
    const stopped = stoppedAt.get(agentId);
    if (stopped === undefined || stopped < since || run !== `run ${host.runOf(agentId)}`) return undefined;
    const state = host.stateOf(agentId);
    return state === 'idle' || state === 'paused' ? stopped : undefined;
  });
}

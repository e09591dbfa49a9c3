/**
 * The person's endpoints for the history of agents' files. API clients may not call them: a
 * credential is not the person.
 */
import type { Context } from 'hono';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { type Gap, historyEndpoints } from '../../../src/shared/protocol/endpoints/history.ts';
import type { Directory } from '../../team/directory/index.ts';
import { answer, type Env, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import { agentIdIn } from '../../team/directory/index.ts';
import { GitError, type Histories, HistoryError } from './index.ts';

const BROKEN = sentence`The history cannot be read or written. The relay’s log says why.`;
const UNRECORDED: Readonly<Record<Gap['why'], string>> = {
  'no-room': sentence`Nothing was restored. The current files could not be recorded first: they take more than half of the agent’s space.`,
  'disk-full': sentence`Nothing was restored. The current files could not be recorded first: the disk is full.`,
  'too-slow': sentence`Nothing was restored. Recording the current files first took too long. Try again.`,
  broken: BROKEN,
};

function asProblem(error: unknown): unknown {
  if (error instanceof GitError) return problem(409, 'not-recorded', BROKEN);
  if (!(error instanceof HistoryError)) return error;
  switch (error.kind) {
    case 'off':
      return problem(409, 'no-git', sentence`Nothing can be undone without git. Install git where the relay runs.`);
    case 'busy':
      return problem(
        409,
        'agent-busy',
        sentence`The agent is at work. Wait for its end, or stop it, and restore its files then.`,
      );
    case 'unrecorded':
      return problem(409, 'not-recorded', UNRECORDED[error.why ?? 'broken']);
    default:
      return problem(404, 'not-found', sentence`The history has no such point, or no such file at it.`);
  }
}
const orProblem = <Value>(does: Promise<Value>): Promise<Value> =>
  does.catch((error: unknown) => {
    throw asProblem(error);
  });

export interface HistoryRoutesDeps {
  readonly histories: Histories;
  readonly directory: Pick<Directory, 'all'>;
}

export function createHistoryRoutes({ histories, directory }: HistoryRoutesDeps): readonly Handled[] {
  async function of(called: string, context: Context<Env>): Promise<AgentId> {
    if (context.get('browser') === undefined)
      throw problem(403, 'browsers-only', 'Only the household’s page shows agents’ folders.');
    return await agentIdIn(directory, called);
  }
  return answer(historyEndpoints, {
    history: async ({ agentId, before }, context) => await histories.list(await of(agentId, context), before),
    async historyChanges({ agentId, pointId, from }, context) {
      return await orProblem(histories.changes(await of(agentId, context), pointId, from));
    },
    async historyFile({ agentId, pointId, from, folder, file }, context) {
      return await orProblem(histories.compare(await of(agentId, context), pointId, from, { folder, file }));
    },
    async historyRestore({ agentId, pointId, body }, context) {
      return await orProblem(histories.restore(await of(agentId, context), pointId, body.to, body.files));
    },
    async historyForget({ agentId }, context) {
      await histories.forget(await of(agentId, context));
      return null;
    },
  });
}

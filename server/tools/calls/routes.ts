/**
 * The person's endpoints for agents' activity and questions. API clients may not call them: a
 * credential is not the person.
 */
import type { Context } from 'hono';
import { callEndpoints } from '../../../src/shared/protocol/endpoints/calls.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { toolsetOf } from '../../../src/shared/domain/toolsets.ts';
import {
  toolCallSchema,
  type CommandReach,
  type SandboxStanding,
  type ToolCall,
} from '../../../src/shared/protocol/calls.ts';
import type { Configs, Directory } from '../../contracts/index.ts';
import { agentIdIn } from '../../team/directory/index.ts';
import { answer, type Env, type Handled } from '../../http/endpoint.ts';
import type { HomeRights } from '../../access/owner-rights.ts';
import { problem } from '../../http/problem.ts';
import type { Calls } from './index.ts';

export interface CallRoutesDeps {
  readonly calls: Calls;
  readonly directory: Pick<Directory, 'all'>;
  readonly sandbox: () => Promise<SandboxStanding>;
  readonly configs: Pick<Configs, 'agent'>;
  readonly rights: Pick<HomeRights, 'has'>;
}

const STATUS = { unknown: 404, over: 409, misfit: 400, changed: 409 } as const;

export function createCallRoutes({ calls, directory, sandbox, configs, rights }: CallRoutesDeps): readonly Handled[] {
  function person(context: Context<Env>): void {
    if (context.get('browser') === undefined)
      throw problem(403, 'browsers-only', 'What agents ask for is answered from the household’s page.');
  }
  /** Removes the fields that only the relay may see. */
  const shown = (list: readonly ToolCall[]) => list.map((call) => toolCallSchema.parse(call));
  return answer(callEndpoints, {
    async calls({ before, limit, agent }, context) {
      person(context);
      const of = agent === null ? null : await agentIdIn(directory, agent);
      const page = await calls.page(before, of, limit);
      return { calls: shown(page.calls), more: page.more };
    },
    async approvals(_, context) {
      person(context);
      const [waiting, answered, standing] = await Promise.all([calls.toBeShown(), calls.answered(), sandbox()]);
      const asking = new Set(waiting.filter(({ tool }) => toolsetOf(tool) === 'shell').map(({ agentId }) => agentId));
      const reach = await Promise.all(
        [...asking].map(async (agentId): Promise<[AgentId, CommandReach]> => {
          const { network } = (await configs.agent(agentId)).effective.coordination;
          return [agentId, { network, sandboxed: standing.available }];
        }),
      );
      return {
        waiting: shown(waiting),
        answered: shown(answered),
        sandbox: { ...standing, insist: rights.has('bare-commands') && !standing.available },
        reach: Object.fromEntries(reach),
        ownHosts: rights.has('own-hosts'),
      };
    },
    async answerApproval({ callId, body }, context) {
      person(context);
      const answered =
        body.answer === 'send'
          ? await calls.send(callId, body.content)
          : await calls.answer(callId, body.answer, body.words, { seen: body.seen, ownHosts: body.own_hosts });
      if (!answered.ok) throw problem(STATUS[answered.reason], answered.reason, answered.detail);
      return toolCallSchema.parse(answered.call);
    },
  });
}

/**
 * The person's endpoints for agents' activity and questions. API clients may not call them: a
 * credential is not the person.
 */
import type { Context } from 'hono';
import type { AgentId, ProjectId } from '../../../src/shared/domain/ids.ts';
import { toolsetOf } from '../../../src/shared/domain/toolsets.ts';
import {
  type CommandReach,
  type SandboxStatus,
  type ToolCall,
  toolCallSchema,
} from '../../../src/shared/protocol/approvals.ts';
import { approvalEndpoints } from '../../../src/shared/protocol/endpoints/approvals.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Configs } from '../../team/gate/configs.ts';
import { agentIdIn } from '../../team/directory/index.ts';
import { answer, type Env, type Handled } from '../../http/endpoint.ts';
import type { HomeRights } from '../../access/owner-rights.ts';
import { problem } from '../../http/problem.ts';
import type { Approvals } from './contract.ts';

interface ApprovalRoutesDeps {
  readonly approvals: Approvals;
  readonly directory: Pick<Directory, 'all'>;
  readonly sandbox: () => Promise<SandboxStatus>;
  readonly configs: Pick<Configs, 'agent'>;
  readonly rights: Pick<HomeRights, 'has'>;
  /** The project that has this agent's commands ask. Null: none. */
  readonly askingProject: (agentId: AgentId) => Promise<ProjectId | null>;
}

const STATUS = { unknown: 404, over: 409, misfit: 400, changed: 409 } as const;

export function createApprovalRoutes({
  approvals,
  directory,
  sandbox,
  configs,
  rights,
  askingProject,
}: ApprovalRoutesDeps): readonly Handled[] {
  function person(context: Context<Env>): void {
    if (context.get('browser') === undefined)
      throw problem(403, 'browsers-only', 'Only the household’s page can answer agents’ questions.');
  }
  /** Removes the fields that only the relay may see. */
  const shown = (list: readonly ToolCall[]) => list.map((call) => toolCallSchema.parse(call));
  return answer(approvalEndpoints, {
    async calls({ before, limit, agent }, context) {
      person(context);
      const of = agent === null ? null : await agentIdIn(directory, agent);
      const page = await approvals.page(before, of, limit);
      return { calls: shown(page.calls), more: page.more };
    },
    async approvals(_, context) {
      person(context);
      const [waiting, answered, sandboxStatus] = await Promise.all([
        approvals.toBeShown(),
        approvals.answered(),
        sandbox(),
      ]);
      const asking = new Set(waiting.filter(({ tool }) => toolsetOf(tool) === 'shell').map(({ agentId }) => agentId));
      const reach = await Promise.all(
        [...asking].map(async (agentId): Promise<[AgentId, CommandReach]> => {
          const { network } = (await configs.agent(agentId)).effective.coordination;
          return [agentId, { network, sandboxed: sandboxStatus.available }];
        }),
      );
      const projects = await Promise.all(
        [...asking].map(async (agentId) => {
          const projectId = await askingProject(agentId);
          return projectId === null ? [] : [[agentId, projectId] as const];
        }),
      );
      return {
        waiting: shown(waiting),
        answered: shown(answered),
        sandbox: { ...sandboxStatus, insist: rights.has('bare-commands') && !sandboxStatus.available },
        reach: Object.fromEntries(reach),
        projects: Object.fromEntries(projects.flat()),
        ownHosts: rights.has('own-hosts'),
      };
    },
    async answerApproval({ callId, body }, context) {
      person(context);
      const answered =
        body.answer === 'send'
          ? await approvals.send(callId, body.content)
          : await approvals.answer(callId, body.answer, body.words, { seen: body.seen, ownHosts: body.own_hosts });
      if (!answered.ok) throw problem(STATUS[answered.reason], answered.reason, answered.detail);
      return toolCallSchema.parse(answered.call);
    },
  });
}

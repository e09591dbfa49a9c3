/** All calls that one home answers. */
import type { Context } from 'hono';
import type { AgentId } from '../../src/domain/ids.ts';
import type { WakeSource } from '../../src/protocol/wakes.ts';
import { createCredentialRoutes, type Credentials, bearerOf } from '../access/index.ts';
import type { Attached } from '../attached/index.ts';
import { createAttachedRoutes } from '../attached/routes.ts';
import { createCallRoutes } from '../calls/routes.ts';
import type { EventLog, Configs } from '../contracts.ts';
import { createCostRoutes } from '../costs/routes.ts';
import { createDirectoryRoutes } from '../directory/index.ts';
import type { Handled } from '../endpoint.ts';
import { createGateRoutes } from '../gate/index.ts';
import type { Hands } from '../hands/index.ts';
import { createInboxRoutes } from '../inbox/index.ts';
import type { HomeModels } from '../models/index.ts';
import { createModelRoutes } from '../models/routes.ts';
import type { HomeNotifications } from '../notifications/index.ts';
import { createNotificationRoutes } from '../notifications/routes.ts';
import { createPauseRoutes } from '../pauses/index.ts';
import type { HomeRights } from '../owner-rights.ts';
import { problem } from '../problem.ts';
import type { AgentPrograms } from '../programs/index.ts';
import { createProgramRoutes } from '../programs/routes.ts';
import { createRecordRoutes } from '../records/routes.ts';
import { createPulses } from '../schedules/pulses.ts';
import type { Scripts } from '../schedules/index.ts';
import { createScheduleRoutes } from '../schedules/routes.ts';
import { createSearchRoutes } from '../searches/index.ts';
import type { Streams } from '../stream.ts';
import { createThreadRoutes } from '../threads/index.ts';
import type { Workspaces } from '../workspaces/index.ts';
import { createWorkspaceRoutes } from '../workspaces/routes.ts';
import { createSessionRoutes } from './session-routes.ts';
import type { StreamLimit } from './stream-limit.ts';
import type { Team } from './team.ts';

interface CallerDeps {
  readonly credentials: Pick<Credentials, 'check'>;
  readonly configs: Pick<Configs, 'agent'>;
}

/**
 * Who sets the sleeping flag: the person, an application, or an agent, which may set its own, and others' where the person
 * allows it. Throws a problem where an agent may not do this to another.
 */
const createCallerOf =
  ({ credentials, configs }: CallerDeps) =>
  async (context: Context, target: AgentId): Promise<WakeSource> => {
    const secret = bearerOf(context);
    const client = secret === null ? null : await credentials.check(secret);
    if (client === null) return { kind: 'person' };
    if (client.agentId === null) return { kind: 'api', name: client.label === '' ? 'an application' : client.label };
    if (
      client.agentId !== target &&
      !(await configs.agent(client.agentId)).effective.coordination.may_put_others_to_sleep
    )
      throw problem(
        403,
        'other-agent',
        'This credential is another agent’s. It may do this to others where the person allows it (Settings, under the agent’s limits).',
      );
    return { kind: 'api', name: client.agentId };
  };

export interface EndpointsDeps extends Pick<Hands, 'sandbox'> {
  readonly rights: HomeRights;
  readonly checkStreams: StreamLimit;
  /** ms since the epoch */
  readonly now: () => number;
}

export interface HomeParts {
  readonly team: Team;
  readonly log: EventLog;
  readonly streams: Streams;
  readonly workspaces: Workspaces;
  readonly attached: Attached;
  readonly programs: AgentPrograms;
  readonly notifications: HomeNotifications;
  readonly scripts: Scripts;
  readonly credentials: Credentials;
  readonly models: HomeModels;
  readonly onTeam: () => Promise<void>;
  readonly onForgotten: Parameters<typeof createDirectoryRoutes>[0]['onForgotten'];
  /** Of those parts that make their own. */
  readonly others: readonly Handled[];
}

export function endpointsOf(
  { sandbox, rights, checkStreams, now }: EndpointsDeps,
  parts: HomeParts,
): readonly Handled[] {
  const { team, credentials, workspaces } = parts;
  const { host, runs, inbox, directory, configs, gate, pauses, threads, costs, records, reach, schedules, copies } =
    team;
  const hands = { sandbox: sandbox.standing, rights };
  return [
    ...createSessionRoutes({ ...team, log: parts.log, streams: parts.streams, checkStreams }),
    ...createDirectoryRoutes({
      directory,
      beginsIn: configs.beginsIn,
      onTeam: parts.onTeam,
      onForgotten: parts.onForgotten,
    }),
    ...createInboxRoutes({ inbox }),
    ...createGateRoutes({ gate, configs, directory, pulses: createPulses({ schedules, copies, configs }) }),
    ...createPauseRoutes({
      pauses,
      directory,
      sessionId: () => host.sessionId(),
      callerOf: createCallerOf({ credentials, configs }),
      async wake(agentId, source) {
        const way = source.kind === 'person' ? 'person' : 'api';
        const asked = { target: agentId, source, way, reason: null, messageId: null, callerSession: null } as const;
        if (source.kind === 'person') return (await reach.ask(asked)).decision;
        // Within a minute it has its turn. Whatever else stops it, its caller is told.
        const { decision, waits, cleared } = await reach.clearFlag(asked, 'flood');
        return waits && (await cleared) ? { outcome: 'granted', detail: '' } : decision;
      },
    }),
    ...createThreadRoutes({ threads }),
    ...createSearchRoutes({ searches: team.searches }),
    ...createCredentialRoutes({ credentials, directory }),
    ...createCostRoutes({ costs, schedules, host, configs }),
    ...createRecordRoutes({ records }),
    ...createScheduleRoutes({
      ...{ schedules, goOn: team.goOn, copies, directory, runs, now, scripts: parts.scripts },
      startsWithoutPage: async () =>
        (await credentials.list()).some(({ scopes, revokedAt }) => revokedAt === null && scopes.includes('sessions')),
    }),
    ...createWorkspaceRoutes({ workspaces, directory }),
    ...createCallRoutes({ ...team, ...hands }),
    ...createModelRoutes({ models: parts.models }),
    ...createProgramRoutes({ programs: parts.programs }),
    ...createAttachedRoutes({ ...team, ...hands, attached: parts.attached }),
    ...createNotificationRoutes({ notifications: parts.notifications, rights }),
    ...parts.others,
  ];
}

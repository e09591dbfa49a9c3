/** Who sets the sleeping flag: the person, an application, or an agent, which may set its own, and others' where the person allows it. */
import type { Context } from 'hono';
import type { AgentId } from '../../src/domain/ids.ts';
import type { WakeSource } from '../../src/protocol/wakes.ts';
import { bearerOf, type Credentials } from '../access/index.ts';
import type { Configs } from '../contracts.ts';
import { problem } from '../problem.ts';

interface Deps {
  readonly credentials: Pick<Credentials, 'check'>;
  readonly configs: Pick<Configs, 'agent'>;
}

/** Throws a problem where an agent may not do this to another. */
export const createCallerOf =
  ({ credentials, configs }: Deps) =>
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

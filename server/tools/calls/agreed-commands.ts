/**
 * What lay in the folder, and how far it went, when the person let a command for always. It is this
 * machine's alone.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { commandReachSchema, type CommandReach } from '../../../src/shared/protocol/calls.ts';
import type { Pinned } from '../pins/index.ts';
import type { Db } from '../../store/index.ts';
import { pinnedSchema } from './rows.ts';

const agreedSchema = z.object({ reach: commandReachSchema, pinned: pinnedSchema.nullable() });
export interface AgreedCommand {
  readonly reach: CommandReach;
  readonly pinned: Pinned | null;
}

export interface AgreedCommands {
  /** Null: it was let before this was kept, by hand, or on another machine. */
  get(agentId: AgentId, command: string): Promise<AgreedCommand | null>;
  /** `among`: all that are let by then. What is not is forgotten. */
  put(agentId: AgentId, command: string, agreed: AgreedCommand, among: readonly string[], within: Db): Promise<void>;
  forget(agentId: AgentId): Promise<void>;
}

const hashOf = (command: string) => createHash('sha256').update(command).digest('hex');

export function createAgreedCommands({
  db,
  home,
  now,
}: {
  readonly db: Db;
  readonly home: string;
  readonly now: () => number;
}): AgreedCommands {
  const agentOf = (agentId: AgentId) => JSON.stringify(agentId);
  return {
    async get(agentId, command) {
      const row = await db
        .selectFrom('command_contents')
        .select('agreed_json')
        .where('home', '=', home)
        .where('agent_json', '=', agentOf(agentId))
        .where('command_hash', '=', hashOf(command))
        .executeTakeFirst();
      return row ? agreedSchema.parse(JSON.parse(row.agreed_json)) : null;
    },
    async put(agentId, command, agreed, among, within) {
      const own = { home, agent_json: agentOf(agentId) };
      await within
        .deleteFrom('command_contents')
        .where('home', '=', home)
        .where('agent_json', '=', own.agent_json)
        .where('command_hash', 'not in', [command, ...among].map(hashOf))
        .execute();
      const said = { agreed_json: JSON.stringify(agreed), agreed_at: now() };
      await within
        .insertInto('command_contents')
        .values({ ...own, command_hash: hashOf(command), ...said })
        .onConflict((conflict) => conflict.columns(['home', 'agent_json', 'command_hash']).doUpdateSet(said))
        .execute();
    },
    async forget(agentId) {
      await db
        .deleteFrom('command_contents')
        .where('home', '=', home)
        .where('agent_json', '=', agentOf(agentId))
        .execute();
    },
  };
}

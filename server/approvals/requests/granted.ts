/** Whether the person's settings allow a call, and how their answer changes those settings. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Grant, grantOf, MIND_PREFIX } from '../../../src/shared/domain/toolsets.ts';
import { ALLOWED_COMMAND_MAX, ALLOWED_COMMANDS_MAX } from '../../../src/shared/protocol/grants.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { type CommandReach, commandReachSchema, type PinnedFile } from '../../../src/shared/protocol/approvals.ts';
import type { AgentConfigInput } from '../../../src/shared/protocol/config.ts';
import { charactersIn } from '../../platform/json-bounds.ts';
import type { Db } from '../../store/index.ts';
import type { Configs } from '../../team/gate/configs.ts';
import { goesAsFar, isBounded, type Pinned, type PinnedCall, type Pins } from '../pins/index.ts';
import { type StoredCall, pinnedSchema } from './rows.ts';

// Calls that run a command, in the exact form in which an allowed command is stored. A sandbox
// command is stored by its text. An ACP agent's own command is stored with its whole input except
// the description. Neither form allows the other, because the same text outside the sandbox is a
// different act.

const BY_A_PROGRAM = `${MIND_PREFIX}execute`;

/** Null: the call runs no command, or one that cannot be allowed for always. */
function commandOf(tool: string, input: unknown): string | null {
  if (typeof input !== 'object' || input === null || !('command' in input)) return null;
  const { command } = input;
  if (typeof command !== 'string' || charactersIn(input) > ALLOWED_COMMAND_MAX) return null;
  const kept = keptAs(tool, command, { ...input });
  return kept !== null && kept.length <= ALLOWED_COMMAND_MAX ? kept : null;
}

function keptAs(tool: string, command: string, input: Readonly<Record<string, unknown>>): string | null {
  if (tool === 'run_command') return command.startsWith(MIND_PREFIX) ? null : command;
  if (tool !== BY_A_PROGRAM) return null;
  const given = Object.entries(input)
    .filter(([name]) => name !== 'title' && name !== 'description')
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `${BY_A_PROGRAM} ${JSON.stringify(Object.fromEntries(given))}`;
}

// The folder content and the reach of a command when the person allowed it for always. Stored only
// on this machine.

const agreedSchema = z.object({ reach: commandReachSchema, pinned: pinnedSchema.nullable() });
interface AgreedCommand {
  readonly reach: CommandReach;
  readonly pinned: Pinned | null;
}

interface AgreedCommands {
  /** Null: the command was allowed by hand, on another machine, or before this was stored. */
  get(agentId: AgentId, command: string): Promise<AgreedCommand | null>;
  /** `among`: all commands that are now allowed. Entries of any other command are deleted. */
  put(agentId: AgentId, command: string, agreed: AgreedCommand, among: readonly string[], within: Db): Promise<void>;
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
  };
}

/** Agents' settings, as far as they are read and changed here. */
export interface GrantedConfigs extends Pick<Configs, 'agent'> {
  /**
   * Changes the settings and runs `also` in one transaction. False: `also` failed, and nothing was
   * changed.
   */
  changeAgent(
    agentId: AgentId,
    edit: (now: Awaited<ReturnType<Configs['agent']>>) => AgentConfigInput,
    also: (within: Db) => Promise<boolean>,
  ): Promise<boolean>;
}

/** How a call is allowed. */
export type Let =
  | { readonly by: 'off' | 'allow' }
  /**
   * `before`: the content when exactly this command was allowed for always, where the content
   * differs now.
   */
  | { readonly by: 'ask'; readonly before: readonly PinnedFile[] | null }
  /**
   * Exactly this command was allowed for always. `with`: the content that it was allowed with,
   * which is still there. Left out: the content does not matter.
   */
  | { readonly by: 'command'; readonly with?: { readonly pinned: Pinned | null } };

const ASK: Let = { by: 'ask', before: null };

interface GrantedDeps {
  readonly configs: GrantedConfigs;
  readonly pins: Pins;
  readonly agreed: AgreedCommands;
}

export function createGranted({ configs, pins, agreed }: GrantedDeps) {
  /** Concurrent reads, as for each tool of a turn, share one query. */
  const reading = new Map<string, ReturnType<Configs['agent']>>();
  function configOf(agentId: AgentId): ReturnType<Configs['agent']> {
    const under = reading.get(agentId) ?? configs.agent(agentId).finally(() => reading.delete(agentId));
    reading.set(agentId, under);
    return under;
  }
  const coordinationOf = async (agentId: AgentId) => (await configOf(agentId)).effective.coordination;

  /** The setting of the tool, whatever the call's input is. */
  const grantFor = async (agentId: AgentId, tool: string): Promise<Grant> =>
    grantOf(await coordinationOf(agentId), tool) ?? 'off';

  /**
   * Checks a command that was allowed for always. Its reach must not have grown, and the content
   * that it reads must be unchanged.
   */
  async function letForAlways(call: PinnedCall, command: string): Promise<Let> {
    const reach = await pins.reachOf(call);
    // In the sandbox without a network, a command can do nothing that its agent could not do with
    // its other tools.
    if (reach === null || isBounded(reach)) return { by: 'command' };
    const [then, now] = await Promise.all([agreed.get(call.agentId, command), pins.of(call)]);
    if (then !== null && !goesAsFar(then.reach, reach)) return ASK;
    const isSame = (then?.pinned?.pin ?? null) === (now?.pin ?? null);
    if (isSame && (now?.isWhole ?? true)) return { by: 'command', with: { pinned: now } };
    return { by: 'ask', before: isSame ? null : (then?.pinned?.files ?? null) };
  }

  async function letBy(call: PinnedCall): Promise<Let> {
    const { agentId, tool, input } = call;
    const by = await grantFor(agentId, tool);
    if (by !== 'ask') return { by };
    const command = commandOf(tool, input);
    if (command === null || !(await coordinationOf(agentId)).allowed_commands.includes(command)) return ASK;
    return await letForAlways(call, command);
  }

  /** Why this call cannot be allowed for always, as a sentence. Null: it can. */
  async function refuseAlways(call: Pick<StoredCall, 'agentId' | 'tool' | 'input' | 'pinned'>): Promise<string | null> {
    const command = commandOf(call.tool, JSON.parse(call.input));
    if (command === null) return 'This command cannot be allowed permanently.';
    const { allowed_commands: commands } = await coordinationOf(call.agentId);
    if (!commands.includes(command) && commands.length >= ALLOWED_COMMANDS_MAX)
      return `${ALLOWED_COMMANDS_MAX} commands are allowed for always, which is the most. Remove one under Settings, Advanced first.`;
    const reach = await pins.reachOf(call);
    return reach === null || isBounded(reach) || (call.pinned?.isWhole ?? true)
      ? null
      : 'This command reads too many files to compare each time, so it can only be allowed once.';
  }

  /**
   * Allows all later calls and this one. `begin` writes the person's yes to this call in the same
   * transaction, so both are stored or neither. False: `begin` came too late.
   */
  async function always(
    { agentId, tool, input, pinned }: Pick<StoredCall, 'agentId' | 'tool' | 'input' | 'pinned'>,
    answer: 'always-tool' | 'always-command',
    begin: (within: Db) => Promise<boolean>,
  ): Promise<boolean> {
    const command = answer === 'always-command' ? commandOf(tool, JSON.parse(input)) : null;
    // Read before the transaction: an embedded store answers no other query during one.
    const reach = await pins.reachOf({ agentId, tool });
    const { allowed_commands: allowedCommands } = await coordinationOf(agentId);
    return await configs.changeAgent(
      agentId,
      ({ own, effective }) => {
        const { coordination } = own;
        if (answer === 'always-tool')
          return { ...own, coordination: { ...coordination, tools: { ...coordination.tools, [tool]: 'allow' } } };
        if (command === null) return own;
        const commands = new Set([...effective.coordination.allowed_commands, command]);
        return { ...own, coordination: { ...coordination, allowed_commands: [...commands] } };
      },
      async (within) => {
        if (!(await begin(within))) return false;
        if (command !== null && reach !== null)
          await agreed.put(agentId, command, { reach, pinned }, allowedCommands, within);
        return true;
      },
    );
  }

  return { grantFor, letBy, refuseAlways, always };
}

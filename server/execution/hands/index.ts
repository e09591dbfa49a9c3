/**
 * What agents can do on the relay's machine: the toolsets `files` and `shell`, over one folder
 * each, and `web`.
 *
 * This module wires workspaces, sandbox, shell and web together for one household.
 *
 * Main types: `Hands`, `HandTools`.
 *
 * Invariants:
 * - A tool exists only where its toolset is granted and its means exist (a sandbox for `shell`).
 *
 * It does not know how a question reaches the person.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { grantOf } from '../../../src/shared/domain/toolsets.ts';
import type { HomeRights } from '../../access/owner-rights.ts';
import { RECORDS_NOTHING, type RecordWork } from '../../files/workspaces/record-work.ts';
import type { EventLog } from '../../log/index.ts';
import type { Configs } from '../../team/gate/configs.ts';
import type { TeamTool } from '../../tools/index.ts';
import { createFileTools } from '../../files/workspaces/tools.ts';
import type { Workspaces } from '../../files/workspaces/index.ts';
import type { Sandbox } from '../sandbox/index.ts';
import { createWebTools, type Web } from '../web/index.ts';
import { createShellTools, type CommandReach, type ShellTools, type ShellToolsDeps } from '../shell/tools.ts';

/** Where agents work, and the sandbox of their commands. */
export interface Hands {
  readonly workspaces: Workspaces;
  /** Runs the agents' commands. */
  readonly sandbox: Sandbox;
  readonly web: Web;
  readonly rights: Pick<HomeRights, 'has'>;
}

export interface HandToolsDeps extends Hands, Pick<ShellToolsDeps, 'refuseForRoom' | 'environmentOf' | 'onRan'> {
  readonly configs: Pick<Configs, 'agent'>;
  readonly log: Pick<EventLog, 'subscribe'>;
  /** Left out: files are not recorded. */
  readonly recordWork?: RecordWork;
  /** Monotonic ms. */
  readonly now: () => number;
}

const grantedTo = async (configs: Pick<Configs, 'agent'>, agentId: AgentId) =>
  (await configs.agent(agentId)).effective.coordination;

/** Most bytes that the files in this agent's folder may take together. */
export const roomOf = async (configs: Pick<Configs, 'agent'>, agentId: AgentId): Promise<number> =>
  (await grantedTo(configs, agentId)).workspace_megabytes * 1_000_000;

/** The current reach of this agent's commands. */
export async function commandReach(
  { configs, rights }: Pick<HandToolsDeps, 'configs' | 'rights'>,
  agentId: AgentId,
): Promise<CommandReach> {
  const granted = await grantedTo(configs, agentId);
  const { network, shell_without_sandbox: insisted, command_seconds: seconds } = granted;
  const off = grantOf(granted, 'run_command') === 'off';
  return { network, bare: insisted && rights.has('bare-commands'), off, commandMs: seconds * 1_000 };
}

export type HandTools = ShellTools;

/**
 * A call may come outside a run and a turn: of a client that joined, or when the person says yes
 * later. Then it is recorded by itself.
 */
const recordedAlone = (recordWork: RecordWork, tool: TeamTool): TeamTool =>
  tool.readOnly
    ? tool
    : {
        ...tool,
        async run(input, caller) {
          const recordEnd = await recordWork(caller.agentId, { kind: 'call', tool: tool.name });
          try {
            return await tool.run(input, caller);
          } finally {
            await recordEnd();
          }
        },
      };

export function createHandTools(deps: HandToolsDeps): HandTools {
  const { web, now, log, recordWork = RECORDS_NOTHING } = deps;
  const onGrants: ShellToolsDeps['onGrants'] = (listener) =>
    log.subscribe(({ event }) => event.kind === 'changed' && event.what === 'config' && listener(event.agentId));
  const shell = createShellTools({ ...deps, onGrants, reachOf: (agentId) => commandReach(deps, agentId) });
  const inFolder = [...createFileTools(deps), ...shell.tools].map((tool) => recordedAlone(recordWork, tool));
  return { ...shell, tools: [...inFolder, ...createWebTools({ web, now })] };
}

/** How far the person lets an agent use a tool, and what changes of that with their answer. */
import type { AgentId } from '../../src/domain/ids.ts';
import { grantOf, type Grant } from '../../src/domain/toolsets.ts';
import type { AgentConfigInput } from '../../src/protocol/config.ts';
import type { Configs } from '../contracts.ts';
import type { Db } from '../store/index.ts';
import { commandOf } from './command.ts';
import type { KeptCall } from './rows.ts';

/** What is set of agents, as far as it is read and changed here. */
export interface GrantedConfigs extends Pick<Configs, 'agent'> {
  /** Changes it with `also`, in one transaction. False: `also` could not be, and nothing was changed. */
  changeAgent(
    agentId: AgentId,
    edit: (now: Awaited<ReturnType<Configs['agent']>>) => AgentConfigInput,
    also: (within: Db) => Promise<boolean>,
  ): Promise<boolean>;
}

export function createGranted(configs: GrantedConfigs) {
  /** What is asked in one moment, as for each tool of a turn, is read once. */
  const reading = new Map<string, ReturnType<Configs['agent']>>();
  function configOf(agentId: AgentId): ReturnType<Configs['agent']> {
    const under = reading.get(agentId) ?? configs.agent(agentId).finally(() => reading.delete(agentId));
    reading.set(agentId, under);
    return under;
  }

  async function letBy(agentId: AgentId, tool: string, input: unknown): Promise<Grant | 'command'> {
    const { coordination } = (await configOf(agentId)).effective;
    const grant = grantOf(coordination, tool) ?? 'off';
    const command = commandOf(tool, input);
    return grant === 'ask' && command !== null && coordination.allowed_commands.includes(command) ? 'command' : grant;
  }

  /**
   * With the person's yes to this one, which `begin` writes, and in the same transaction: it holds for every later one, or they
   * have said nothing. False: `begin` came too late.
   */
  const always = (
    { agentId, tool, input }: Pick<KeptCall, 'agentId' | 'tool' | 'input'>,
    answer: 'always-tool' | 'always-command',
    begin: (within: Db) => Promise<boolean>,
  ): Promise<boolean> =>
    configs.changeAgent(
      agentId,
      ({ own, effective }) => {
        const { coordination } = own;
        if (answer === 'always-tool')
          return { ...own, coordination: { ...coordination, tools: { ...coordination.tools, [tool]: 'allow' } } };
        const command = commandOf(tool, JSON.parse(input));
        if (command === null) return own;
        const commands = [...new Set([...effective.coordination.allowed_commands, command])];
        return { ...own, coordination: { ...coordination, allowed_commands: commands.slice(-200) } };
      },
      begin,
    );

  return { letBy, always };
}

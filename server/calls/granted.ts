/** How far the person lets an agent use a tool, and what changes of that with their answer. */
import type { AgentId } from '../../src/domain/ids.ts';
import { createQueue } from '../../src/domain/platform/queue.ts';
import { grantOf, type Grant } from '../../src/domain/toolsets.ts';
import type { Answer } from '../../src/protocol/calls.ts';
import type { Configs } from '../contracts.ts';
import { commandOf } from './command.ts';
import type { KeptCall } from './rows.ts';

export function createGranted(configs: Pick<Configs, 'agent' | 'setAgent'>) {
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

  /** Two at once would each write what the other had not yet. */
  const inTurn = createQueue();
  /** From now on it holds for every later one. */
  const always = (call: KeptCall, answer: Answer): Promise<void> => inTurn(() => keep(call, answer));
  async function keep({ agentId, tool, input }: KeptCall, answer: Answer): Promise<void> {
    const { own } = await configs.agent(agentId);
    const { coordination } = own;
    const command = commandOf(tool, JSON.parse(input));
    if (answer === 'always-tool')
      await configs.setAgent(agentId, {
        ...own,
        coordination: { ...coordination, tools: { ...coordination.tools, [tool]: 'allow' } },
      });
    else if (answer === 'always-command' && command !== null) {
      const before = (await configs.agent(agentId)).effective.coordination.allowed_commands;
      await configs.setAgent(agentId, {
        ...own,
        coordination: { ...coordination, allowed_commands: [...new Set([...before, command])].slice(-200) },
      });
    }
  }

  return { letBy, always };
}

/**
 * What a project grants an agent while the agent has one of its tasks. It is applied to the agent's
 * settings where they are read, so that every check sees the same grant.
 */
import type { AgentId, ProjectId } from '../../../src/shared/domain/ids.ts';
import { type Grant, TOOLSETS } from '../../../src/shared/domain/toolsets.ts';
import type { CommandGrant } from '../../../src/shared/protocol/attempts.ts';
import type { Configs } from '../../team/gate/configs.ts';
import type { Projects } from './contract.ts';

/** The narrowest first. */
const SHELL: readonly (readonly [CommandGrant, Grant])[] = [
  ['none', 'off'],
  ['ask', 'ask'],
  ['sandbox', 'allow'],
];

type AgentConfigs = Pick<Configs, 'agent'>;
type Settings = Awaited<ReturnType<Configs['agent']>>;

/** What was set for this agent holds, whatever a project says. */
const isOwn = ({ own: { coordination } }: Settings): boolean =>
  coordination.toolsets?.shell !== undefined ||
  TOOLSETS.shell.some((tool) => Object.hasOwn(coordination.tools ?? {}, tool));

/** The settings of agents, with what the projects of their tasks grant. */
export function grantedByProjects(configs: AgentConfigs, projects: Pick<Projects, 'commandsOf'>): AgentConfigs {
  return {
    async agent(agentId: AgentId) {
      const settings = await configs.agent(agentId);
      const granted = await projects.commandsOf(agentId);
      const [, shell] = SHELL.find(([grant]) => granted.some(({ commands }) => commands === grant)) ?? [];
      if (shell === undefined || isOwn(settings)) return settings;
      const { coordination } = settings.effective;
      const tools = Object.fromEntries(
        Object.entries(coordination.tools).filter(([tool]) => !TOOLSETS.shell.some((name) => name === tool)),
      );
      return {
        ...settings,
        effective: {
          ...settings.effective,
          coordination: {
            ...coordination,
            tools,
            toolsets: { ...coordination.toolsets, shell },
            // A project grants commands in the sandbox alone.
            shell_without_sandbox: false,
          },
        },
      };
    },
  };
}

/**
 * The one project that has this agent's commands ask the person, so that a change of it would allow
 * them. Null: there is none.
 */
export async function askingProject(
  configs: AgentConfigs,
  projects: Pick<Projects, 'commandsOf'>,
  agentId: AgentId,
): Promise<ProjectId | null> {
  const granted = (await projects.commandsOf(agentId)).filter(({ commands }) => commands !== 'own');
  const [first, second] = granted.filter(({ commands }) => commands !== 'sandbox');
  if (first?.commands !== 'ask' || second !== undefined) return null;
  return isOwn(await configs.agent(agentId)) ? null : first.projectId;
}

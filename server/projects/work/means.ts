/** What an agent can do with the files of a task, by its tools and the person's settings. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { grantOf, MIND_PREFIX } from '../../../src/shared/domain/toolsets.ts';
import type { Attempt } from '../../../src/shared/protocol/attempts.ts';
import type { Project } from '../../../src/shared/protocol/projects.ts';
import { allowedTools, type TeamTools } from '../../agents/runs/team-tools.ts';
import type { Configs } from '../../team/gate/configs.ts';
import type { Caller } from '../../tools/index.ts';
import type { Checkouts } from '../checkouts/index.ts';

/** Tools of Roost that reach the files of a checkout. */
const REACHING = ['list_files', 'read_file', 'write_file', 'edit_file', 'run_command'];
/** Each of these can change a file. */
const CHANGING = ['write_file', 'edit_file', 'run_command', `${MIND_PREFIX}edit`, `${MIND_PREFIX}execute`];
/** Without these no work on a task begins or ends. */
const MOVING = ['claim_task', 'transition_task'];

export interface WorkMeans {
  /** It may run git and need not ask. Otherwise the relay commits its work. */
  readonly commits: boolean;
  /** It runs elsewhere and has no folder here. */
  readonly isElsewhere: boolean;
  /** Tools of Roost that it is offered and that reach the checkout. */
  readonly tools: readonly string[];
}

export interface MeansDeps {
  readonly tools: Pick<TeamTools, 'all'>;
  readonly configs: Pick<Configs, 'agent'>;
  readonly checkouts: Pick<Checkouts, 'refuse'>;
}

export interface Means {
  of(caller: Caller): Promise<WorkMeans>;
  /**
   * Why no run of this agent could do a task of the project, as a sentence. Null: nothing is known
   * to be off.
   */
  lacking(agentId: AgentId, project: Pick<Project, 'kind' | 'checks' | 'setup' | 'doneNeeds'>): Promise<string | null>;
}

export function createMeans({ tools, configs, checkouts }: MeansDeps): Means {
  const grantsOf = async (agentId: AgentId) => (await configs.agent(agentId)).effective.coordination;
  return {
    async of(caller) {
      const known = tools.all().filter(({ name }) => REACHING.includes(name));
      const offered = (await allowedTools(known, caller)).map(({ name }) => name);
      const granted = await grantsOf(caller.agentId);
      const isElsewhere = caller.kind === 'client';
      // A credential without a client is that of an ACP agent, which acts in its folder by itself.
      const isProgram = caller.credential !== undefined && !isElsewhere;
      const commits =
        (offered.includes('run_command') && grantOf(granted, 'run_command') === 'allow') ||
        (isProgram && grantOf(granted, `${MIND_PREFIX}execute`) === 'allow');
      return { commits, isElsewhere, tools: REACHING.filter((name) => offered.includes(name)) };
    },
    async lacking(agentId, { kind, checks, setup, doneNeeds }) {
      const granted = await grantsOf(agentId);
      const isOff = (tool: string) => grantOf(granted, tool) === 'off';
      const moving = MOVING.filter(isOff);
      if (moving.length > 0)
        return sentence`The agent may not use ${moving.join(', ')}. Allow its tools for projects in its settings.`;
      const changing = granted.mind === null ? CHANGING.filter((tool) => !tool.startsWith(MIND_PREFIX)) : CHANGING;
      if (doneNeeds.change && changing.every(isOff))
        return sentence`The agent may neither write files nor run commands. Allow one of them in its settings.`;
      return await checkouts.refuse(kind, agentId, checks.length > 0 || setup !== '');
    },
  };
}

/** For an agent that has claimed a task: where it works, and how its work gets into a commit. */
export function placeText(
  { kind }: Pick<Project, 'kind'>,
  { folder, branch, base }: Pick<Attempt, 'folder' | 'branch' | 'base'>,
  means: WorkMeans,
): string {
  return [reachText(folder, means), ...(kind === 'git' ? gitText(branch, base, means) : [FOLDER_TEXT])].join(' ');
}
const FOLDER_TEXT =
  'It has the project’s files. What you change there is shown to the human, who accepts it when you have moved the task to review.';
function reachText(folder: string, { isElsewhere, tools }: WorkMeans): string {
  if (!isElsewhere) return `Work in the folder ${titled(folder)} of your own folder.`;
  const where = `The work is on the relay’s machine, in the folder ${titled(folder)} of your agent’s folder.`;
  return tools.length === 0
    ? `${where} No tool that you are offered reaches it. Ask the human to allow your agent its file tools, or release the task.`
    : `${where} You reach it only by tools of Roost’s MCP server (/mcp): ${tools.join(', ')}. Their paths begin with ${folder}/.`;
}
const gitText = (branch: string, base: string, { commits }: WorkMeans): readonly string[] => [
  `It is a git checkout on the branch ${branch}, which begins at ${base.slice(0, 12)}.`,
  commits
    ? 'Commit what you do. The relay fetches your commits; there is no remote.'
    : 'The relay commits what you change there when you move the task to review; there is no remote.',
];

/** Starts an agent on a task, and gives the relay what an agent that sleeps needs for it. */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Project, Task, TaskCard } from '../../shared/protocol/projects.ts';
import { spoken, t } from '../language/t.ts';
import type { RoostState } from './index.ts';
import { isRefusedAs, problemText } from './ports.ts';
import { projectsOf } from './projects.ts';

type Startable = Pick<Task | TaskCard, 'projectId' | 'taskId' | 'number' | 'title'>;

/** Leaves the agent's snapshot with the relay, so that it can work without a session. */
async function leaveSnapshot({ household, wakeSizes, callRelay }: RoostState, agentId: AgentId): Promise<boolean> {
  const { snapshotOf, versionOf } = await import('./agent-snapshot.ts');
  const { roster, forgets } = household.store.getState();
  const agents = [...roster.seats.values(), ...(roster.lead ? [roster.lead] : [])];
  const [share] = await wakeSizes.read(agents.filter((agent) => agent.agentId === agentId));
  const snapshot = share && snapshotOf(share, household.store.getState(), spoken.language);
  if (!snapshot) return false;
  const body = { version: versionOf(snapshot, share.lastSaid), snapshot, forgets: forgets.map(({ _id }) => _id) };
  const stored = await callRelay((client) => client.storeAgentSnapshot({ agentId, body }));
  return stored.ok || isRefusedAs(stored.problem, 'older-snapshot');
}

/**
 * Resolves with why the agent did not start, as a sentence. null: it has the task. An agent that
 * may not work on the project is allowed to, because the person has chosen it.
 */
export async function startTask(
  state: RoostState,
  project: Project,
  { projectId, taskId, number, title }: Startable,
  agentId: AgentId,
): Promise<string | null> {
  const projects = projectsOf(state);
  if (!project.agents.includes(agentId)) {
    const allowed = await projects.change(project, { agents: [...project.agents, agentId] });
    if (!allowed.ok) return allowed.reason;
  }
  const words = t`Please work on #${number} ${title}.`;
  const ask = () => state.callRelay((client) => client.startTask({ projectId, taskId, body: { agentId, words } }));
  let started = await ask();
  if (!started.ok && isRefusedAs(started.problem, 'no-copy') && (await leaveSnapshot(state, agentId)))
    started = await ask();
  if (!started.ok) return problemText(started.problem);
  projects.show(started.value);
  return null;
}

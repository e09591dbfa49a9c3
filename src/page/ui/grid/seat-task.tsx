import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { type TaskStateName, taskStateOf } from '../../../shared/domain/task-state.ts';
import { t } from '../../language/t.ts';
import { atWorkOf } from '../../state/at-work.ts';
import { useRoost } from '../context.tsx';
import { useDoingNow } from '../doing-now.ts';
import { useQuery } from '../hooks.ts';
import { PATHS } from '../routes.ts';

function labelOf(state: TaskStateName, name: string): string {
  if (state === 'stopped') return t`Stopped, unfinished: ${name}`;
  if (state === 'waits-for-you') return t`Waits for you: ${name}`;
  return t`Works on ${name}`;
}

/** The task of a project that an agent has claimed, as a link to it. */
export default function SeatTask({ agentId, tabIndex }: { agentId: AgentId; tabIndex: number }) {
  const query = useQuery(atWorkOf(useRoost()));
  const step = useDoingNow(agentId);
  const claim = query.kind === 'ready' ? query.value.get(agentId) : undefined;
  if (!claim) return null;
  const { project, card, all, obstacles } = claim;
  const { projectId, taskId, number, title } = card;
  const { state } = taskStateOf(project, card, all, { obstacles, stepOf: () => step });
  const label = labelOf(state, `#${number} ${title}`);
  return (
    <Link
      className="seat-task centred truncate ink-2"
      data-task={state}
      href={PATHS.task(projectId, taskId)}
      tabIndex={tabIndex}
      aria-label={label}
      title={label}
      dir="auto"
    >
      {title}
    </Link>
  );
}

import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { atWorkOf } from '../../state/at-work.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { PATHS } from '../routes.ts';

/** The task of a project that an agent works on, as a link to it. */
export default function SeatTask({ agentId, tabIndex }: { agentId: AgentId; tabIndex: number }) {
  const state = useQuery(atWorkOf(useRoost()));
  const task = state.kind === 'ready' ? state.value.get(agentId) : undefined;
  if (!task) return null;
  return (
    <Link
      className="seat-task centred truncate ink-2"
      href={PATHS.task(task.projectId, task.taskId)}
      tabIndex={tabIndex}
      aria-label={t`Works on #${task.number} ${task.title}`}
      title={task.title}
      dir="auto"
    >
      {task.title}
    </Link>
  );
}

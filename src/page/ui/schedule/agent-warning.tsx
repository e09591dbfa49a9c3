import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { WarnIcon } from '../design/icons.tsx';
import { PATHS } from '../routes.ts';
import { useQuery } from '../hooks.ts';
import { warningText } from './words.ts';
import './clock-note.css';

/** Warnings about this agent's schedules, if there are any. */
export default function AgentWarning({ agentId }: { agentId: AgentId }) {
  const list = useQuery(schedulesOf(useRoost()).list);
  if (list.kind !== 'ready') return null;
  return list.value.schedules
    .filter(({ schedule }) => schedule.agentId === agentId)
    .flatMap((scheduled) => {
      const text = warningText(scheduled);
      if (text === null) return [];
      return [
        <p key={scheduled.scheduleId} className="clock-note at-top round-s pad warn-box text-2 flex gap-4 fixed warn">
          <WarnIcon />
          <span>
            <Link href={PATHS.schedule(agentId)}>
              <span dir="auto">{scheduled.schedule.name}</span>
            </Link>
            : {text}
          </span>
        </p>,
      ];
    });
}

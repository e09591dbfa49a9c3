/** The projects on which a routine works, in its form. The settings of each project set them. */
import { Link } from 'wouter';
import type { ScheduleId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { projectsOf } from '../../state/projects.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { PATHS } from '../routes.ts';

export function RoutineProjects({ scheduleId }: { scheduleId: ScheduleId }) {
  const roost = useRoost();
  const schedules = useQuery(schedulesOf(roost).list);
  const projects = useQuery(projectsOf(roost).list);
  if (schedules.kind !== 'ready') return null;
  const listed = schedules.value.schedules.find((each) => each.scheduleId === scheduleId);
  const ids = listed?.projectIds ?? [];
  const nameOf = (projectId: string) =>
    projects.kind === 'ready' ? projects.value.find((each) => each.projectId === projectId)?.name : undefined;
  return (
    <section className="routine-projects stack gap-2" aria-label={t`Projects`}>
      <h3 className="text-2 medium">{t`Projects`}</h3>
      {ids.length === 0 ? (
        <p className="setting-hint">{t`None. You add one in the settings of a project.`}</p>
      ) : (
        <ul className="flex wrap gap-4">
          {ids.map((projectId) => (
            <li className="narrow break" key={projectId}>
              <Link href={PATHS.projectSettings(projectId)}>
                <span dir="auto">{nameOf(projectId) ?? '…'}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

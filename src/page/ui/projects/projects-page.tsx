/** The page of projects: the list of them, examples to begin with, and the selected project. */
import { useState } from 'react';
import { Link } from 'wouter';
import { kindOfColumn } from '../../../shared/domain/projects.ts';
import type { Project } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { projectsOf } from '../../state/projects.ts';
import { useRoost } from '../context.tsx';
import { BoardIcon } from '../design/icons.tsx';
import { EmptyPage } from '../design/list.tsx';
import { PageHead, QueryView } from '../parts/page-head.tsx';
import { PATHS, type ProjectsRoute, useRoute } from '../routes.ts';
import { names, plural } from '../text/sizes.ts';
import { Faces } from '../threads/thread-view.tsx';
import { useTeammates } from '../use-somebody.ts';
import { EXAMPLES } from './examples.ts';
import { NewDialog, useBegin } from './new-project.tsx';
import { ProjectView } from './project-view.tsx';
import '../threads/threads.css';
import './projects.css';

/** The tasks of a project by column, as a bar and in words. */
function Counts({ project }: { project: Project }) {
  const parts = project.columns
    .map((column) => ({ ...column, count: project.counts[column.columnId] ?? 0 }))
    .filter(({ count }) => count > 0);
  const all = parts.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      <span className="project-bar above-2 whole-row clip flex gap-1 ground-3" aria-hidden="true">
        {parts.map(({ columnId, kind, count }) => (
          <i key={columnId} data-kind={kind} style={{ flexGrow: count }} />
        ))}
      </span>
      <span className="project-counts gap-5 whole-row flex wrap figures ink-3 text-2">
        {all === 0 ? (
          <span className="middle gap-3 inline-flex">{plural(0, 'task')}</span>
        ) : (
          parts.map(({ columnId, name, kind, count }) => (
            <span className="middle gap-3 inline-flex" key={columnId}>
              <i className="kind-mark fixed inline-block" data-kind={kind} aria-hidden="true" />
              <b className="ink">{count}</b> <span dir="auto">{name}</span>
            </span>
          ))
        )}
      </span>
    </>
  );
}

/** Tasks that wait for the person. */
const toReview = (project: Project): number =>
  Object.entries(project.counts).reduce(
    (sum, [columnId, count]) => sum + (kindOfColumn(project, columnId) === 'review' ? count : 0),
    0,
  );

function Line({ project }: { project: Project }) {
  const team = useTeammates();
  const people = team.among(project.agents);
  const waiting = toReview(project);
  return (
    <li className="project-line">
      <Link
        href={PATHS.project(project.projectId)}
        className="project-link lifts gap-4 at-top panel-2 pad-6 round-l unlined stack ink-2 framed full-height"
      >
        <span className="text-5 bold break ink" dir="auto">
          {project.name}
        </span>
        {waiting > 0 && <span className="tag" data-tone="live">{t`${plural(waiting, 'task')} to look at`}</span>}
        <span className="whole-row gap-4 line narrow ink-3 text-2">
          <Faces people={people} />
          <span className="truncate" dir="auto">
            {people.length === 0 ? t`No agent may work on this project` : names(people.map(({ name }) => name))}
          </span>
        </span>
        <Counts project={project} />
      </Link>
    </li>
  );
}

/** What a project is, and examples of one. */
function Nothing() {
  const { busy, failed, begin } = useBegin();
  const [asks, setAsks] = useState(false);
  return (
    <EmptyPage icon={<BoardIcon />} title={t`No projects yet`}>
      <p>{t`A project is a board of tasks. Agents work on the tasks, and you review what they did.`}</p>
      <ul className="tiles stack gap-5 full above-2">
        {EXAMPLES.map(({ title, about, example }) => (
          <li key={title}>
            <button
              type="button"
              className="project-example lifts gap-2 text-start panel-2 framed pad-6 full stack round full-height"
              aria-disabled={busy}
              onClick={() => (example === null ? setAsks(true) : begin(example()))}
            >
              <b>{title}</b>
              <span className="ink-3 text-2">{about}</span>
            </button>
          </li>
        ))}
      </ul>
      {failed !== null && <p className="wrong-note" role="alert">{t`Could not do this. ${failed}`}</p>}
      {asks && <NewDialog kind="git" onClose={() => setAsks(false)} />}
    </EmptyPage>
  );
}

function ProjectList({ isNew, onClose }: { isNew: boolean; onClose: () => void }) {
  const projects = projectsOf(useRoost());
  const { go } = useRoute();
  return (
    <div className="projects-scroll shrinks scroll">
      <div className="projects page">
        <PageHead title={t`Projects`} onClose={onClose}>
          <Link href={PATHS.newProject} className="ghost ghost-dawn">{t`New project`}</Link>
        </PageHead>
        <QueryView query={projects.list}>
          {(list) =>
            list.length === 0 ? (
              <Nothing />
            ) : (
              // Safari drops the list role of a list without markers, unless the role is explicit.
              // eslint-disable-next-line jsx-a11y/no-redundant-roles
              <ul className="tiles-l gap-5 stack" role="list" aria-label={t`Projects`}>
                {list.map((project) => (
                  <Line key={project.projectId} project={project} />
                ))}
              </ul>
            )
          }
        </QueryView>
      </div>
      {isNew && <NewDialog onClose={() => go(PATHS.projects)} />}
    </div>
  );
}

export default function ProjectsPage({ route, onClose }: { route: ProjectsRoute; onClose: () => void }) {
  return route.kind === 'projects' ? (
    <ProjectList isNew={route.isNew} onClose={onClose} />
  ) : (
    <ProjectView key={route.projectId} route={route} />
  );
}

/** One project: its head, its board or list, and the task or the settings that are open over it. */
import {
  type DragEvent,
  type FormEvent,
  type ReactNode,
  type Ref,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { type CustomItemComponentProps, Virtualizer } from 'virtua';
import { Link } from 'wouter';
import type { TaskId } from '../../../shared/domain/ids.ts';
import type { Obstacles } from '../../../shared/domain/obstacles.ts';
import { type Column, kindOfColumn } from '../../../shared/domain/projects.ts';
import { canStart } from '../../../shared/domain/task-state.ts';
import { type Project, PROJECT_LIMITS, type TaskCard } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { obstaclesOf } from '../../state/obstacles.ts';
import { projectsOf } from '../../state/projects.ts';
import { VirtualList } from '../chat/log.tsx';
import { useLive, useRoost } from '../context.tsx';
import { TWO_VIEWS_BELOW, useMedia, useNow, useQuery, useTitle } from '../hooks.ts';
import { Dialog } from '../design/dialog.tsx';
import { BackIcon } from '../design/icons.tsx';
import { GearIcon } from '../design/more-icons.tsx';
import { keyOf } from '../design/keys.ts';
import { Tabs } from '../design/tabs.tsx';
import { QueryLoading, QueryProblem } from '../parts/page-head.tsx';
import { BOARD, PATHS, type ProjectPlace, type ProjectsRoute, useRoute } from '../routes.ts';
import { asBeginning, count, plural } from '../text/sizes.ts';
import { Faces } from '../threads/thread-view.tsx';
import { type Teammates, useNames, useTeammates } from '../use-somebody.ts';
import {
  byColumn,
  type Board,
  BoardContext,
  createDrag,
  type Filter,
  filtered,
  isFiltered,
  NO_FILTER,
  stateOf,
  useBoard,
} from './board.ts';
import { Card } from './card.tsx';
import { NotProven } from './not-proven.tsx';
import { Gone, ReviewPage } from './review-page.tsx';
import { ProjectSettings } from './project-settings.tsx';
import { type Search, SearchNote, useTaskSearch } from './task-search.tsx';
import { WhoStarts } from './start.tsx';
import { TaskSheet } from './task-sheet.tsx';
import { KIND_HINTS } from './words.ts';

/** ms */
const EVERY_MINUTE = 60_000;

/** px of a card until it is measured, and how far outside of the view cards are in the page. */
const CARD_HEIGHT = 104;
const CARDS_AROUND = 500;

function CardFrame({
  style,
  index,
  children,
  ref,
}: Omit<CustomItemComponentProps, 'ref'> & { ref?: Ref<HTMLLIElement>; children: ReactNode }) {
  return (
    <li ref={ref} style={style} aria-posinset={index + 1} aria-setsize={-1}>
      {children}
    </li>
  );
}

const taskOfElement = (target: EventTarget): string | null =>
  target instanceof Element ? (target.closest<HTMLElement>('[data-task]')?.dataset['task'] ?? null) : null;

/** Cards, of which only those in view and near it are in the page. */
function Cards({ tasks, columnOf }: { tasks: readonly TaskCard[]; columnOf?: (task: TaskCard) => string }) {
  const { focusOn } = useBoard();
  const scroller = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<string | null>(null);
  const [dragged, setDragged] = useState<string | null>(null);
  // The card that has the focus, or is to have it, or is dragged, stays in the page. While a large
  // board is read, others come before it, and a browser ends the drag of what leaves the page.
  const keptIndexes = useMemo(
    () =>
      [focused, focusOn, dragged]
        .map((taskId) => (taskId === null ? -1 : tasks.findIndex((task) => task.taskId === taskId)))
        .filter((index) => index >= 0),
    [tasks, focused, focusOn, dragged],
  );
  return (
    <div
      ref={scroller}
      className="column-cards shrinks fill pad-0-4"
      onFocus={({ target }) => setFocused(taskOfElement(target))}
      onBlur={() => setFocused(null)}
      onDragStart={({ target }) => setDragged(taskOfElement(target))}
      onDragEnd={() => setDragged(null)}
    >
      <Virtualizer
        scrollRef={scroller}
        data={tasks}
        as={VirtualList}
        item={CardFrame}
        itemSize={CARD_HEIGHT}
        bufferSize={CARDS_AROUND}
        keepMounted={keptIndexes}
      >
        {(task: TaskCard) => (
          <div key={task.taskId} className="task-frame" data-task={task.taskId}>
            <Card task={task} column={columnOf?.(task)} />
          </div>
        )}
      </Virtualizer>
    </div>
  );
}

/** Adds a task at the end of a column. Enter adds it, and the next one can be typed at once. */
function QuickAdd({ column }: { column: Column }) {
  const projects = projectsOf(useRoost());
  const { project, away } = useBoard();
  const [title, setTitle] = useState('');
  const [failed, setFailed] = useState<{ readonly title: string; readonly reason: string } | null>(null);
  const add = async (event: FormEvent) => {
    event.preventDefault();
    const wanted = title.trim();
    if (wanted === '' || away) return;
    setTitle('');
    setFailed(null);
    const added = await projects.addTask(project.projectId, { title: wanted, columnId: column.columnId });
    if (added.ok) return;
    setFailed({ title: wanted, reason: added.reason });
    // What was typed meanwhile stays.
    setTitle((typed) => (typed === '' ? wanted : typed));
  };
  return (
    <form className="quick-add pad-4" onSubmit={(event) => void add(event)}>
      <input
        className="field text-3 no-fill"
        dir="auto"
        autoComplete="off"
        enterKeyHint="done"
        maxLength={PROJECT_LIMITS.title}
        aria-label={t`New task in ${column.name}`}
        placeholder={t`Add a task`}
        disabled={away}
        value={title}
        onChange={({ target }) => setTitle(target.value)}
      />
      {failed && (
        <p
          className="above-3 break danger text-2"
          role="alert"
        >{t`“${failed.title}” was not added. ${failed.reason}`}</p>
      )}
    </form>
  );
}

interface ColumnProps {
  readonly column: Column;
  readonly tasks: readonly TaskCard[];
  /** Tasks of the column that the filter hides. */
  readonly hidden: number;
  /** The tab above it has its name already. */
  readonly isTab?: boolean;
}

function ColumnView({ column, tasks, hidden, isTab = false }: ColumnProps) {
  const { move, drag } = useBoard();
  const [over, setOver] = useState(false);
  /** The dragged card, if it comes from another column. */
  const dragged = () => {
    const task = drag.task();
    return task === null || task.columnId === column.columnId ? null : task;
  };
  const onDragOver = (event: DragEvent) => {
    if (dragged() === null) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'move';
    if (!over) setOver(true);
  };
  const onDrop = (event: DragEvent) => {
    setOver(false);
    const task = dragged();
    if (task === null) return;
    event.preventDefault();
    move(task, column.columnId);
  };
  return (
    // Dropping is a shortcut: the menu and the keys of a card do the same.
    <section
      className="column shrinks panel round-l flex framed column-wise"
      aria-label={`${column.name}: ${plural(tasks.length, 'task')}`}
      data-kind={column.kind}
      data-over={over}
      data-empty={tasks.length === 0}
      onDragOver={onDragOver}
      onDragLeave={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOver(false);
      }}
      onDrop={onDrop}
    >
      {!isTab && (
        <header className="column-head line gap-4" title={KIND_HINTS[column.kind]}>
          <i className="kind-mark fixed inline-block" data-kind={column.kind} aria-hidden="true" />
          <h2 className="nowrap text-3 narrow clip ellipsis" dir="auto">
            {column.name}
          </h2>
          <span className="column-count end figures ink-3 text-2">{count(tasks.length)}</span>
        </header>
      )}
      {tasks.length === 0 ? (
        <p className="column-empty pretty ink-3 text-2">
          {hidden > 0 ? t`${count(hidden)} hidden by the filter` : KIND_HINTS[column.kind]}
        </p>
      ) : (
        <Cards tasks={tasks} />
      )}
      <QuickAdd column={column} />
    </section>
  );
}

/** The columns beside each other, or on a phone one of them, chosen by tabs. */
function Columns({ shown, place }: { shown: readonly TaskCard[]; place: string | null }) {
  const { project, tasks } = useBoard();
  const isPhone = useMedia(TWO_VIEWS_BELOW);
  const columns = useMemo(() => byColumn(project, shown), [project, shown]);
  const all = useMemo(() => byColumn(project, tasks), [project, tasks]);
  const [first] = useState(() => project.columns.find(({ columnId }) => all.get(columnId)?.length)?.columnId);
  const of = (column: Column) => {
    const held = columns.get(column.columnId) ?? [];
    return { column, tasks: held, hidden: (all.get(column.columnId)?.length ?? 0) - held.length };
  };
  const wantedColumn = place ?? first;
  const open = project.columns.find(({ columnId }) => columnId === wantedColumn) ?? project.columns[0];
  const tabs = useRef<HTMLDivElement>(null);
  const opened = isPhone ? open?.columnId : undefined;
  useEffect(() => {
    const tab = tabs.current?.querySelector<HTMLElement>('[aria-selected=true]');
    const strip = tab?.parentElement;
    // Scrolls sideways only: the page itself stays where it is.
    if (opened !== undefined && tab && strip)
      strip.scrollLeft = tab.offsetLeft - (strip.clientWidth - tab.offsetWidth) / 2;
  }, [opened]);
  if (isPhone) {
    if (!open) return null;
    return (
      <div className="board-tabs shrinks stack" ref={tabs}>
        <Tabs
          label={t`Columns`}
          shown={open.columnId}
          tabs={project.columns.map(({ columnId, name }) => ({
            tab: columnId,
            title: `${name} ${count(columns.get(columnId)?.length ?? 0)}`,
            path: PATHS.project(project.projectId, { view: 'board', columnId }),
          }))}
        >
          <ColumnView key={open.columnId} {...of(open)} isTab />
        </Tabs>
      </div>
    );
  }
  return (
    <div className="board shrinks flex gap-4">
      {project.columns.map((column) => (
        <ColumnView key={column.columnId} {...of(column)} />
      ))}
    </div>
  );
}

/** All tasks below each other, by column. */
function TaskList({ shown, searches }: { shown: readonly TaskCard[]; searches: boolean }) {
  const { project, tasks: all } = useBoard();
  const tasks = useMemo(() => [...byColumn(project, shown).values()].flat(), [project, shown]);
  const [first] = project.columns;
  const names = useMemo(() => new Map(project.columns.map(({ columnId, name }) => [columnId, name])), [project]);
  return (
    <section className="task-list shrinks column-wise flex" aria-label={plural(tasks.length, 'task')}>
      {tasks.length === 0 ? (
        <p className="column-empty pretty ink-3 text-2">
          {searches ? t`Loading…` : all.length > 0 && t`${count(all.length)} hidden by the filter`}
        </p>
      ) : (
        <Cards tasks={tasks} columnOf={({ columnId }) => names.get(columnId) ?? ''} />
      )}
      {first && <QuickAdd column={first} />}
    </section>
  );
}

interface FilterProps {
  readonly filter: Filter;
  readonly search: Search;
  readonly tasks: readonly TaskCard[];
  readonly team: Teammates;
  readonly onChange: (filter: Filter) => void;
}

function FilterBar({ filter, search, tasks, team, onChange }: FilterProps) {
  const { project } = useBoard();
  const assignees = useMemo(() => {
    const given = tasks.flatMap(({ assignee }) => assignee ?? []);
    return team.among([...new Set([...project.agents, ...given])]);
  }, [tasks, team, project.agents]);
  const labels = useMemo(
    () => [...new Set(tasks.flatMap((task) => task.labels))].sort((a, b) => a.localeCompare(b)),
    [tasks],
  );
  return (
    <div className="board-filters" role="search" aria-label={t`Filter`}>
      <div className="board-filter cluster gap-4">
        <input
          type="search"
          className="field text-3 pad-block-2"
          dir="auto"
          aria-label={t`Find a task`}
          placeholder={t`Find a task`}
          maxLength={PROJECT_LIMITS.search}
          value={filter.text}
          onChange={({ target }) => onChange({ ...filter, text: target.value })}
        />
        {assignees.length > 0 && (
          <select
            className="field field-select text-3 pad-block-2"
            aria-label={t`For`}
            value={filter.assignee ?? ''}
            onChange={({ target }) => onChange({ ...filter, assignee: target.value === '' ? null : target.value })}
          >
            <option value="">{t`Everybody`}</option>
            <option value="nobody">{asBeginning(t`nobody`)}</option>
            {assignees.map(({ agentId, name }) => (
              <option key={agentId} value={agentId}>
                {name}
              </option>
            ))}
          </select>
        )}
        {labels.length > 0 && (
          <select
            className="field field-select text-3 pad-block-2"
            aria-label={t`Labels`}
            value={filter.label ?? ''}
            onChange={({ target }) => onChange({ ...filter, label: target.value === '' ? null : target.value })}
          >
            <option value="">{t`Any label`}</option>
            {labels.map((label) => (
              <option key={label} value={label}>
                {label}
              </option>
            ))}
          </select>
        )}
        {isFiltered(filter) && (
          <button
            type="button"
            className="link-button text-2"
            onClick={() => onChange(NO_FILTER)}
          >{t`Show all`}</button>
        )}
      </div>
      <SearchNote search={search} />
    </div>
  );
}

/** Board or list, each with an address. */
function Views({ project, place }: { project: Project; place: ProjectPlace }) {
  const views = [
    { view: 'board', text: t`Board`, path: PATHS.project(project.projectId) },
    { view: 'list', text: t`List`, path: PATHS.project(project.projectId, { view: 'list' }) },
  ];
  return (
    <nav className="one-of end fixed" aria-label={t`Shown as`}>
      {views.map(({ view, text, path }) => (
        <Link key={view} href={path} aria-current={place.view === view ? 'page' : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  );
}

function Head({ project, place, team }: { project: Project; place: ProjectPlace; team: Teammates }) {
  const people = team.among(project.agents);
  return (
    <header className="board-head gap-4 line">
      <Link href={PATHS.projects} className="icon-button" aria-label={t`Projects`}>
        <BackIcon />
      </Link>
      <h1 className="truncate narrow" tabIndex={-1} dir="auto">
        {project.name}
      </h1>
      <Faces people={people} />
      <Views project={project} place={place} />
      <Link
        href={PATHS.projectSettings(project.projectId)}
        className="ghost"
        aria-label={t`Settings of ${project.name}`}
      >
        <GearIcon />
        <span className="hide-small">{t`Settings`}</span>
      </Link>
    </header>
  );
}

/** What is worth knowing before the board is read. */
function Notes({ project, away }: { project: Project; away: boolean }) {
  return (
    <>
      {away && (
        <p
          className="board-note round-s pad warn-box text-2 warn"
          role="status"
        >{t`The relay cannot be reached. Nothing can be changed now.`}</p>
      )}
      {!away && project.agents.length === 0 && (
        <p className="board-note round-s pad warn-box text-2 warn">
          {t`No agent may work on this project`}:{' '}
          <Link href={PATHS.projectSettings(project.projectId)}>{t`Who may work on it`}</Link>
        </p>
      )}
    </>
  );
}

interface OpenedProps {
  readonly route: Extract<ProjectsRoute, { kind: 'project' }>;
  readonly project: Project;
  readonly tasks: readonly TaskCard[];
}

/** The place below a dialog is the one from which it was opened. */
function usePlace(route: OpenedProps['route']): ProjectPlace {
  const [place, setPlace] = useState(route.place ?? BOARD);
  if (route.place !== null && JSON.stringify(route.place) !== JSON.stringify(place)) setPlace(route.place);
  return route.place ?? place;
}

/** While a moved card has no focus yet, its keys would make the browser go back or forward. */
function useNoWayBack(isWaiting: boolean): void {
  useEffect(() => {
    if (!isWaiting) return undefined;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.altKey && /^Arrow(?:Left|Right)$/.test(keyOf(event))) event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [isWaiting]);
}

interface OpenTaskProps {
  readonly taskId: TaskId;
  readonly team: Teammates;
  readonly onClose: () => void;
}

/** The board has only cards: the whole task is read when it is opened. */
function OpenTask({ taskId, team, onClose }: OpenTaskProps) {
  const { project, known } = useBoard();
  const query = projectsOf(useRoost()).task(project.projectId, taskId);
  const state = useQuery(query);
  if (state.kind === 'ready') return <TaskSheet task={state.value} team={team} onClose={onClose} />;
  const card = known.taskOf(taskId);
  return (
    <Dialog title={card ? t`Task #${card.number}` : project.name} shape="side" onClose={onClose}>
      {state.kind === 'loading' ? <QueryLoading /> : <QueryProblem query={query} state={state} before={false} />}
    </Dialog>
  );
}

/**
 * What keeps agents from tasks. Quiet hours begin and end without an announcement, so the relay is
 * asked again each minute.
 */
function useObstacles(projectId: Project['projectId'], now: number): Obstacles | null {
  const query = obstaclesOf(useRoost())(projectId);
  const state = useQuery(query);
  const minute = Math.floor(now / EVERY_MINUTE);
  const askedMinute = useRef(minute);
  useEffect(() => {
    if (askedMinute.current === minute) return;
    askedMinute.current = minute;
    void query.again();
  }, [query, minute]);
  return state.kind === 'ready' ? state.value : null;
}

function Opened({ route, project, tasks }: OpenedProps) {
  const projects = projectsOf(useRoost());
  const { go } = useRoute();
  const team = useTeammates();
  const nameOf = useNames();
  const now = useNow();
  const away = useLive(({ link }) => link.kind !== 'live');
  const place = usePlace(route);
  const [filter, setFilter] = useState(NO_FILTER);
  const [focusOn, setFocusOn] = useState<string | null>(null);
  const onFocused = useCallback(() => setFocusOn(null), []);
  useNoWayBack(focusOn !== null);
  const [drag] = useState(createDrag);
  const [announcement, setAnnouncement] = useState('');
  const deferred = useDeferredValue(filter);
  const search = useTaskSearch(project.projectId, filter.text);
  const matchingIds = search.kind === 'found' ? search.taskIds : null;
  const shown = useMemo(
    () => (isFiltered(deferred) ? filtered(tasks, deferred, matchingIds) : tasks),
    [tasks, deferred, matchingIds],
  );
  /** A task that was moved to work, until the person has said who begins it. */
  const [toStart, setToStart] = useState<{ readonly task: TaskCard; readonly columnId: string } | null>(null);
  const moveOnly = useCallback(
    (task: TaskCard, columnId: string) => {
      const column = project.columns.find((one) => one.columnId === columnId)?.name ?? '';
      setAnnouncement(t`#${task.number} ${task.title} is in ${column} now.`);
      setFocusOn(task.taskId);
      void projects.move(task, columnId);
    },
    [projects, project.columns],
  );
  const obstacles = useObstacles(project.projectId, now);
  const move = useCallback(
    (task: TaskCard, columnId: string) => {
      const isWork = kindOfColumn(project, columnId) === 'in_progress';
      if (isWork && canStart(stateOf({ project, tasks, obstacles }, task))) setToStart({ task, columnId });
      else moveOnly(task, columnId);
    },
    [project, tasks, obstacles, moveOnly],
  );
  const board = useMemo<Board>(() => {
    const byId = new Map(tasks.map((task) => [task.taskId, task]));
    return {
      project,
      tasks,
      known: { nameOf, taskOf: (taskId) => byId.get(taskId) },
      obstacles,
      now,
      away,
      move,
      focusOn,
      onFocused,
      drag,
    };
  }, [project, tasks, nameOf, obstacles, now, away, move, focusOn, onFocused, drag]);
  const close = () => go(PATHS.project(project.projectId, place));
  const { over } = route;
  if (over?.kind === 'review')
    return (
      <BoardContext value={board}>
        <ReviewPage key={over.taskNumber} taskNumber={over.taskNumber} onClose={close} />
      </BoardContext>
    );
  return (
    <BoardContext value={board}>
      <div className="project stack shrinks" data-away={away}>
        <Head project={project} place={place} team={team} />
        <FilterBar filter={filter} search={search} tasks={tasks} team={team} onChange={setFilter} />
        <Notes project={project} away={away} />
        {place.view === 'list' ? (
          <TaskList shown={shown} searches={search.kind === 'searching'} />
        ) : (
          <Columns shown={shown} place={place.columnId} />
        )}
        <p className="visually-hidden" role="status">
          {announcement}
        </p>
      </div>
      {over?.kind === 'task' && <OpenTask key={over.taskId} taskId={over.taskId} team={team} onClose={close} />}
      <NotProven />
      {toStart !== null && (
        <WhoStarts
          task={toStart.task}
          onMove={() => {
            moveOnly(toStart.task, toStart.columnId);
            setToStart(null);
          }}
          onClose={() => setToStart(null)}
        />
      )}
      {over?.kind === 'settings' && (
        <ProjectSettings
          project={project}
          tasks={tasks}
          away={away}
          onClose={close}
          onRemoved={() => go(PATHS.projects)}
        />
      )}
    </BoardContext>
  );
}

export function ProjectView({ route }: { route: Extract<ProjectsRoute, { kind: 'project' }> }) {
  const projects = projectsOf(useRoost());
  const query = projects.tasks(route.projectId);
  const list = useQuery(projects.list);
  const tasks = useQuery(query);
  const project = list.kind === 'ready' ? list.value.find(({ projectId }) => projectId === route.projectId) : undefined;
  const isReview = route.over?.kind === 'review' && project !== undefined && tasks.kind === 'ready';
  useTitle(isReview ? null : (project?.name ?? t`Projects`));
  const hasProblem = (list.kind === 'ready' && list.problem) || (tasks.kind === 'ready' && tasks.problem);
  const problems = (
    <>
      <QueryProblem query={projects.list} state={list} before={list.kind === 'ready'} />
      {list.kind !== 'failed' && <QueryProblem query={query} state={tasks} before={tasks.kind === 'ready'} />}
    </>
  );
  if (list.kind === 'ready' && !project)
    return (
      <Gone>
        <Link href={PATHS.projects} className="ghost">{t`Projects`}</Link>
      </Gone>
    );
  if (!project || tasks.kind !== 'ready')
    return (
      <div className="project-gone rows-top stack at-start gap-5 ink-2">
        {list.kind === 'loading' || (list.kind === 'ready' && tasks.kind === 'loading') ? <QueryLoading /> : problems}
      </div>
    );
  return (
    <>
      {hasProblem && <div className="project-problems">{problems}</div>}
      <Opened route={route} project={project} tasks={tasks.value} />
    </>
  );
}

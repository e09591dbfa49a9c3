/** A task as a card of a board, or as a row of a list. */
import { type KeyboardEvent, memo, type RefObject, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { TaskCard } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { FaceOf } from '../grid/face-of.tsx';
import { MoreIcon } from '../design/icons.tsx';
import { CheckIcon } from '../design/more-icons.tsx';
import { arrowAlong, keyOf } from '../design/keys.ts';
import { MenuButton } from '../design/menu.tsx';
import { PATHS } from '../routes.ts';
import type { TaskState } from '../../../shared/domain/task-state.ts';
import { columnBeside, stateOf, useBoard } from './board.ts';
import { StartButton } from './start.tsx';
import { useTaskState } from './use-task-state.ts';
import { PRIORITY_NAMES, stateHint, stateText, stateWhen, titleOf } from './words.ts';

/** Labels on a card. The sheet of the task has all of them. */
const LABELS = 4;

/** Frames in which a card is to take the focus. */
const MOST_FRAMES = 30;

/** Moves the focus to the card above or below. */
function toNeighbour(link: HTMLElement, step: 1 | -1): void {
  const all = [...(link.closest('ol')?.querySelectorAll<HTMLElement>('.task-open') ?? [])];
  all[all.indexOf(link) + step]?.focus();
}

function Marks({ task: { priority, labels } }: { task: TaskCard }) {
  const shown = labels.slice(0, LABELS);
  if (priority === 'normal' && labels.length === 0) return null;
  return (
    <span className="task-marks above-4 whole-row gap-3 cluster to-3">
      {priority !== 'normal' && (
        <span className="tag" data-priority={priority}>
          {PRIORITY_NAMES[priority]}
        </span>
      )}
      {shown.map((label) => (
        <span key={label} className="tag" dir="auto">
          {label}
        </span>
      ))}
      {labels.length > shown.length && <span className="tag">+{labels.length - shown.length}</span>}
    </span>
  );
}

function CriteriaCount({ criteria: { met, all } }: Pick<TaskCard, 'criteria'>) {
  return all === 0 ? null : (
    <span className={`task-criteria gap-2 inline-flex middle figures text-1 ${met === all ? 'good' : 'ink-3'}`}>
      <CheckIcon />
      <span aria-hidden="true">{`${met}/${all}`}</span>
      <span className="visually-hidden">{t`${met} of ${all} criteria met`}</span>
    </span>
  );
}

function StateLine({ task, state }: { task: TaskCard; state: TaskState }) {
  const { known, now } = useBoard();
  return (
    <span
      className="task-still fill break ink-3 text-1 leading-4"
      data-state={state.state}
      title={stateHint(state) ?? undefined}
    >
      <span>{stateText(state, task, known)}</span> <span className="nowrap">· {stateWhen(state, now)}</span>
    </span>
  );
}

interface FootProps {
  readonly task: TaskCard;
  readonly state: TaskState;
  readonly starter: RefObject<HTMLButtonElement | null>;
}

/** What the task is doing, who has it, and the button that starts it. */
function Foot({ task, state, starter }: FootProps) {
  const { known } = useBoard();
  const agentId = task.claim?.agentId ?? task.assignee;
  return (
    <>
      <span className="task-foot above-3 whole-row flex wrap gap-4 at-bottom to-3">
        <StateLine task={task} state={state} />
        {state.state === 'in-review' && (
          <Link
            className="ghost relative fixed text-2 raised pad-1-4 touchable-s"
            href={PATHS.review(task.projectId, task.number)}
            draggable={false}
            aria-label={titleOf(task)}
          >{t`Review`}</Link>
        )}
        {agentId !== null && (
          <span className="relative size-s fixed raised" title={known.nameOf(agentId)}>
            <FaceOf agentId={agentId} />
          </span>
        )}
      </span>
      <StartButton ref={starter} task={task} state={state} onCard />
    </>
  );
}

/** The foot of a claimed task, which changes with each step. */
function ClaimedFoot(props: Omit<FootProps, 'state'>) {
  return <Foot {...props} state={useTaskState(props.task)} />;
}

interface Props {
  readonly task: TaskCard;
  /** In a list that shows all columns: the name of its column. */
  readonly column?: string | undefined;
}

export const Card = memo(function Card({ task, column }: Props) {
  const board = useBoard();
  const { project, away, move, focusOn, onFocused, drag } = board;
  const { taskId, columnId, number, title, claim } = task;
  const link = useRef<HTMLAnchorElement>(null);
  const starter = useRef<HTMLButtonElement>(null);
  const isFocusedNext = focusOn === taskId;
  useEffect(() => {
    if (!isFocusedNext) return undefined;
    let frame = 0;
    const focus = (tries: number) => {
      link.current?.focus();
      // A card that has just come is hidden until it is measured, and cannot take the focus before.
      if (document.activeElement === link.current || tries === 0) onFocused();
      else frame = requestAnimationFrame(() => focus(tries - 1));
    };
    focus(MOST_FRAMES);
    return () => cancelAnimationFrame(frame);
  }, [isFocusedNext, onFocused]);

  const onKeyDown = (event: KeyboardEvent<HTMLAnchorElement>) => {
    const { altKey, ctrlKey, metaKey, shiftKey, currentTarget } = event;
    if (ctrlKey || metaKey || shiftKey) return;
    const key = arrowAlong(keyOf(event), currentTarget);
    if (altKey && (key === 'ArrowRight' || key === 'ArrowLeft')) {
      // The browser would go back or forward.
      event.preventDefault();
      const beside = columnBeside(project, columnId, key === 'ArrowRight' ? 1 : -1);
      if (beside !== null && !away) move(task, beside);
    } else if (!altKey && key.toLowerCase() === 's') {
      event.preventDefault();
      starter.current?.click();
    } else if (!altKey && (key === 'ArrowDown' || key === 'ArrowUp')) {
      event.preventDefault();
      toNeighbour(currentTarget, key === 'ArrowDown' ? 1 : -1);
    }
  };

  const kind = project.columns.find((one) => one.columnId === columnId)?.kind ?? 'backlog';
  const note = kind === 'review' || kind === 'blocked' ? task.note : '';
  const others = project.columns.filter((one) => one.columnId !== columnId);
  return (
    <div
      className={
        column === undefined
          ? 'task-card lifts relative box stack ground-2'
          : 'task-card lifts relative box stack ground-2 task-row middle'
      }
      data-kind={kind}
      data-claimed={claim !== null}
      draggable={!away && column === undefined}
      onDragStart={({ dataTransfer }) => {
        dataTransfer.effectAllowed = 'move';
        dataTransfer.setData('text/plain', `#${number} ${title}`);
        drag.take(task);
      }}
      onDragEnd={() => drag.take(null)}
    >
      <span className="task-number figures ink-3 text-1">#{number}</span>
      <CriteriaCount criteria={task.criteria} />
      <Link
        ref={link}
        href={PATHS.task(project.projectId, taskId)}
        className="task-open whole-row unlined medium break ink text-3 to-3 leading-4"
        draggable={false}
        dir="auto"
        aria-keyshortcuts="Alt+ArrowLeft Alt+ArrowRight S"
        onKeyDown={onKeyDown}
      >
        {title}
      </Link>
      <MenuButton
        label={t`Move #${number} ${title}`}
        note={t`Move to`}
        className="icon-button task-menu relative raised"
        items={others.map((one) => ({
          label: one.name,
          disabled: away,
          run: () => move(task, one.columnId),
        }))}
      >
        <MoreIcon />
      </MenuButton>
      {note !== '' && (
        <p className="task-note above-3 break whole-row clamp clip ink-2 text-2 leading-4 to-3 clamp-3" dir="auto">
          {note}
        </p>
      )}
      <Marks task={task} />
      {column !== undefined && (
        <span className="task-column line gap-4 narrow ink-2 text-2">
          <i className="kind-mark fixed inline-block" data-kind={kind} aria-hidden="true" />
          <span className="nowrap clip ellipsis" dir="auto">
            {column}
          </span>
        </span>
      )}
      {claim === null ? (
        <Foot task={task} state={stateOf(board, task)} starter={starter} />
      ) : (
        <ClaimedFoot task={task} starter={starter} />
      )}
    </div>
  );
});

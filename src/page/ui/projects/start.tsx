/** Starts an agent on a task: a button with the proposed agent, and a list of all others. */
import { type Ref } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { columnOfKind } from '../../../shared/domain/projects.ts';
import { canStart, type TaskState } from '../../../shared/domain/task-state.ts';
import type { TaskCard } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { startTask } from '../../state/start-task.ts';
import { useLive, useRoost } from '../context.tsx';
import { TWO_VIEWS_BELOW, useMedia } from '../hooks.ts';
import { PATHS, useRoute } from '../routes.ts';
import { Dialog } from '../design/dialog.tsx';
import { ChevronIcon } from '../design/more-icons.tsx';
import { MenuButton } from '../design/menu.tsx';
import { FaceOf } from '../grid/face-of.tsx';
import { type Teammate, useTeammates } from '../use-somebody.ts';
import { useBoard } from './board.ts';
import './start.css';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

/** Agents that can be started, the proposed one first. Where nobody may work yet, anybody can. */
function useStarters({ assignee, stopped, claim }: TaskCard): readonly Teammate[] {
  const { project } = useBoard();
  const team = useTeammates();
  const awake = useLive((state) => state.live?.awake);
  const able = team.all.filter(
    ({ agentId, retired }) => !retired && (project.agents.length === 0 || project.agents.includes(agentId)),
  );
  const first = claim?.agentId ?? assignee ?? stopped?.agentId;
  const rank = ({ agentId }: Teammate): number => {
    if (agentId === first) return 0;
    // The lead works with the person, and is proposed last.
    if (agentId === LEAD_ID) return 3;
    return awake?.has(agentId) ? 1 : 2;
  };
  return able.toSorted((one, other) => rank(one) - rank(other));
}

interface Starting {
  readonly busy: boolean;
  /** Why the last start was refused; null: it was not. */
  readonly refused: string | null;
  /** `onStarted`: the agent has the task. */
  readonly start: (agentId: AgentId, onStarted?: () => void) => void;
}

/** One start at a time, however often it is pressed. */
function useStart(task: TaskCard): Starting {
  const roost = useRoost();
  const { project } = useBoard();
  const { busy, failed: refused, act } = useAction();
  const start: Starting['start'] = (agentId, onStarted) =>
    act(async () => {
      const why = await startTask(roost, project, task, agentId);
      if (why === null) onStarted?.();
      return why;
    });
  return { busy, refused, start };
}

interface ButtonProps {
  readonly ref?: Ref<HTMLButtonElement>;
  readonly task: TaskCard;
  readonly state: TaskState;
  /** On a card: small, and shown with the pointer or the focus. */
  readonly onCard?: boolean;
}

/** On a phone, opens the column of the tasks at work once one is started. */
function useFollow(): () => void {
  const { project } = useBoard();
  const { route, go } = useRoute();
  const isPhone = useMedia(TWO_VIEWS_BELOW);
  const working = columnOfKind(project, 'in_progress');
  return () => {
    if (isPhone && working && route.kind === 'project' && route.over === null && route.place?.view === 'board')
      go(PATHS.project(project.projectId, { view: 'board', columnId: working.columnId }));
  };
}

/** `Start with Wren ▾`. Nothing where the task cannot be started. */
export function StartButton({ ref, task, state, onCard = false }: ButtonProps) {
  const { away } = useBoard();
  const starters = useStarters(task);
  const { busy, refused, start } = useStart(task);
  const follow = useFollow();
  const [first, ...others] = starters;
  if (!canStart(state) || !first) return null;
  const isContinued = state.state === 'stopped' && state.agentId === first.agentId;
  const label = isContinued ? t`Continue with ${first.name}` : t`Start with ${first.name}`;
  return (
    <span className="start flex at-top gap-4 narrow column-wise" data-on-card={onCard}>
      <span className="start-button at-most-full flex gap-1">
        <button
          ref={ref}
          type="button"
          className={`${onCard ? 'ghost' : 'solid'} flex middle gap-4 narrow`}
          disabled={away || busy}
          aria-label={onCard ? t`${label}: ${`#${task.number} ${task.title}`}` : label}
          onClick={() => start(first.agentId, follow)}
        >
          <span className="size-s fixed">
            <FaceOf agentId={first.agentId} />
          </span>
          <span className="truncate" dir="auto">
            {busy ? t`Working…` : label}
          </span>
        </button>
        {others.length > 0 && (
          <MenuButton
            label={t`Start #${task.number} with another agent`}
            className={onCard ? 'icon-button' : 'solid start-others pad-0-4'}
            items={starters.map(({ agentId, name }) => ({
              label: name,
              icon: <FaceOf agentId={agentId} />,
              disabled: away || busy,
              run: () => start(agentId, follow),
            }))}
          >
            <ChevronIcon />
          </MenuButton>
        )}
      </span>
      {refused !== null && (
        <span className="wrong-note" role="alert">
          {refused}
        </span>
      )}
    </span>
  );
}

/** Asks who begins a task that was moved to a column of work. */
export function WhoStarts({
  task,
  onMove,
  onClose,
}: {
  readonly task: TaskCard;
  /** Moves the task without starting work. */
  readonly onMove: () => void;
  readonly onClose: () => void;
}) {
  const starters = useStarters(task);
  const { busy, refused, start } = useStart(task);
  return (
    <Dialog title={t`Who starts #${task.number} ${task.title}?`} onClose={onClose}>
      <ul className="tiles-s under-6 stack gap-4">
        {starters.map(({ agentId, name, color }) => (
          <li key={agentId}>
            <button
              type="button"
              className="picks touchable gap-4 box line tint full pad-2-5"
              style={{ '--c': color }}
              disabled={busy}
              onClick={() => start(agentId, onClose)}
            >
              <FaceOf agentId={agentId} />
              <span className="named agent-name" dir="auto">
                {name}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <WrongNote text={refused} />
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={onMove}>{t`Nobody, only move it`}</button>
      </div>
    </Dialog>
  );
}

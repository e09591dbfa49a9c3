/** What the work on a project has left on the relay: its costs, and the checkouts of agents. */
import { useState } from 'react';
import type { Checkouts, ProjectSpent } from '../../../shared/protocol/attempts.ts';
import type { Project, TaskCard } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { taskWorkOf } from '../../state/task-work.ts';
import { useRoost } from '../context.tsx';
import { FaceOf } from '../grid/face-of.tsx';
import { useNow } from '../hooks.ts';
import { SureDialog } from '../design/dialog.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { byDay } from '../text/by-day.ts';
import { tokens } from '../text/money.ts';
import { bytes, plural } from '../text/sizes.ts';
import { revealedLine } from '../text/unseen.ts';
import { useNames } from '../use-somebody.ts';
import { spentOf, spentText } from './work-words.ts';

type Checkout = Checkouts['checkouts'][number];
type Spent = ProjectSpent['attempts'];

/** Lines of a list that is shown before it says how many more there are. */
const MOST_LINES = 12;
/** Days whose cost is shown, newest first. */
const MOST_DAYS = 14;

const STATES: Readonly<Record<Checkout['state'], string>> = {
  'in-use': t`In use`,
  clean: t`Saved`,
  unsaved: t`Not saved yet`,
  unknown: t`Cannot be read`,
};

function Unsaved({ unsaved }: Pick<Checkout, 'unsaved'>) {
  const more = unsaved.length - MOST_LINES;
  return unsaved.length === 0 ? null : (
    <ul className="indented above-3 stack gap-1">
      {unsaved.slice(0, MOST_LINES).map((one) => (
        <li key={one}>
          <code dir="ltr">{revealedLine(one)}</code>
        </li>
      ))}
      {more > 0 && <li>{t`and ${String(more)} more`}</li>}
    </ul>
  );
}

interface LineProps {
  readonly checkout: Checkout;
  readonly project: Project;
  readonly task: TaskCard | undefined;
  readonly away: boolean;
}

function CheckoutLine({ checkout, project: { projectId }, task, away }: LineProps) {
  const work = taskWorkOf(useRoost());
  const nameOf = useNames();
  const [removing, setRemoving] = useState(false);
  const { taskId, agentId, folder, branch, state, unsaved } = checkout;
  const title = task ? `#${task.number} ${task.title}` : t`a task that is gone`;
  const isLost = state === 'unsaved' || state === 'unknown';
  return (
    <li className="checkout box pad-5 stack gap-5 break text-2 ground-2 at-top" data-state={state}>
      <span className="size-m">
        <FaceOf agentId={agentId} />
      </span>
      <div>
        <p>
          <b dir="auto">{title}</b>
        </p>
        <p className="ink-3">
          <span dir="auto">{nameOf(agentId)}</span> · <span>{bytes(checkout.bytes)}</span> ·{' '}
          <code dir="ltr">{branch}</code>
        </p>
        <p className="ink-3">
          <code dir="ltr">{revealedLine(folder)}</code>
        </p>
        <p className="above-3 ink-2">
          <span className="tag" data-tone={isLost ? 'warn' : state === 'clean' ? 'good' : 'plain'}>
            {STATES[state]}
          </span>
        </p>
        <Unsaved unsaved={unsaved} />
      </div>
      <button
        type="button"
        className="ghost"
        aria-label={t`Remove the checkout of ${title}`}
        disabled={away || state === 'in-use'}
        onClick={() => setRemoving(true)}
      >{t`Remove`}</button>
      {removing && (
        <SureDialog
          title={t`Remove the checkout of ${title}`}
          does={t`Remove`}
          onSure={() => work.removeCheckout({ projectId, taskId }, isLost)}
          onClose={() => setRemoving(false)}
        >
          {isLost ? (
            <>
              <p>
                <strong>{t`What only this checkout has is lost.`}</strong>
              </p>
              <Unsaved unsaved={unsaved} />
            </>
          ) : (
            <p>{t`Nothing is lost: it is all on the branch ${branch}.`}</p>
          )}
        </SureDialog>
      )}
    </li>
  );
}

function Costs({ spent }: { spent: Spent }) {
  const now = useNow();
  const days = byDay(spent.toReversed(), now, ({ startedAt }) => startedAt).slice(0, MOST_DAYS);
  const all = spentOf(spent);
  return (
    <>
      <p className="under-4 text-2 ink-2">
        <b className="figures ink text-5">{spentText(all)}</b> <span>{plural(spent.length, 'attempt')}</span>
        {all.tokens !== null && <span> · {t`${tokens(all.tokens)} tokens`}</span>}
      </p>
      <ul className="ruled-between under-4 stack">
        {days.map(({ day, items }) => (
          <li className="flex apart ink-2 text-2 gap-5 pad-4-0" key={day}>
            <span>{day}</span> <b className="figures ink">{spentText(spentOf(items))}</b>
          </li>
        ))}
      </ul>
    </>
  );
}

interface Props {
  readonly project: Project;
  readonly tasks: readonly TaskCard[];
  readonly away: boolean;
}

/** Costs and checkouts, each asked for when it is opened. */
export function ProjectWork({ project, tasks, away }: Props) {
  const work = taskWorkOf(useRoost());
  const [opened, setOpened] = useState<readonly ('costs' | 'checkouts')[]>([]);
  const open = (what: 'costs' | 'checkouts') => setOpened((all) => (all.includes(what) ? all : [...all, what]));
  return (
    <div className="ruled pad-4-0 stack gap-2">
      <details onToggle={({ currentTarget }) => currentTarget.open && open('costs')}>
        <summary className="ink text-4 bold touchable pad-block-3">{t`Costs`}</summary>
        {opened.includes('costs') && (
          <QueryView query={work.spent(project.projectId)}>{(spent) => <Costs spent={spent} />}</QueryView>
        )}
      </details>
      <details onToggle={({ currentTarget }) => currentTarget.open && open('checkouts')}>
        <summary className="ink text-4 bold touchable pad-block-3">{t`Checkouts of agents`}</summary>
        {opened.includes('checkouts') && (
          <QueryView query={work.checkouts(project.projectId)}>
            {(checkouts) =>
              checkouts.length === 0 ? (
                <p className="setting-hint">{t`Each task that an agent works on gets a copy of the files.`}</p>
              ) : (
                <ul className="checkouts above-4 gap-4 stack">
                  {checkouts.map((checkout) => (
                    <CheckoutLine
                      key={`${checkout.agentId} ${checkout.folder}`}
                      checkout={checkout}
                      project={project}
                      task={tasks.find(({ taskId }) => taskId === checkout.taskId)}
                      away={away}
                    />
                  ))}
                </ul>
              )
            }
          </QueryView>
        )}
      </details>
    </div>
  );
}

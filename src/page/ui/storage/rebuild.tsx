import { retold } from '../../language/retold.ts';
import { t } from '../../language/t.ts';
import type { OwnerProgress, RebuildReport } from '../../../shared/protocol/worker.ts';
import { useActions, useUpkeep } from '../context.tsx';
import { Progress } from '../parts/progress.tsx';
import { count, plural } from '../text/sizes.ts';

const TASKS: Record<OwnerProgress['task'], string> = {
  rebuild: t`Rebuilding: every entry is looked at`,
  forget: t`Removing what was forgotten for good`,
  replay: t`Taking up what was in the journal`,
};

/** What the ledger's owner is busy with, in every tab. */
export function Work() {
  const progress = useUpkeep((state) => state.progress);
  if (!progress) return null;
  const { task, done, of } = progress;
  return (
    <Progress
      label={TASKS[task]}
      done={done}
      of={of}
      text={of > 0 ? t`${count(Math.min(done, of))} of ${plural(of, 'entry', 'entries')}` : t`Looking…`}
    />
  );
}

function Report({ report }: { report: RebuildReport }) {
  const { documents, volumes, repaired, faults } = report;
  return (
    <div className="rebuild-report" data-wrong={faults.length > 0}>
      <p>
        <strong>{faults.length > 0 ? t`Rebuilt, with losses.` : t`Rebuilt.`}</strong>{' '}
        <span>
          {documents === 1
            ? t`One entry in ${plural(volumes, 'volume')} was looked at, and the lists are new.`
            : t`${count(documents)} entries in ${plural(volumes, 'volume')} were looked at, and the lists are new.`}
        </span>{' '}
        {repaired > 0 && (
          <span>
            {plural(
              repaired,
              'entry that a volume had lost was found elsewhere and written again.',
              'entries that a volume had lost were found elsewhere and written again.',
            )}
          </span>
        )}
        {repaired === 0 && faults.length === 0 && <span>{t`Nothing was missing.`}</span>}
      </p>
      {faults.length > 0 && (
        <>
          <p>{t`This could not be read anywhere on this device. A copy that you exported may have it: import it, and what is missing comes back.`}</p>
          <ul>
            {faults.map((fault) => (
              <li key={fault}>{retold(fault)}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** Checks every volume, mends what it can, and writes anew what the page is painted from. */
export function Rebuild() {
  const actions = useActions();
  const rebuild = useUpkeep((state) => state.rebuild);
  const elsewhere = useUpkeep((state) => state.progress?.task === 'rebuild');
  const running = rebuild.kind === 'running' || elsewhere;
  return (
    <>
      <p>{t`Goes through everything that is stored here, mends what it can, and makes the lists anew that this page is painted from. Nothing is deleted, and you can go on meanwhile. For when something seems to be missing, stands in the wrong place, or a check found a fault.`}</p>
      <button
        type="button"
        className="ghost"
        aria-disabled={running}
        onClick={() => (running ? undefined : void actions.rebuild())}
      >
        {running ? t`Rebuilding…` : t`Rebuild`}
      </button>
      <div role="status">
        {rebuild.kind === 'done' && <Report report={rebuild.report} />}
        {rebuild.kind === 'failed' && (
          <p className="wrong-note">
            {t`${<strong>{t`It could not be rebuilt.`}</strong>} ${rebuild.reason} Everything is as it was; try again.`}
          </p>
        )}
      </div>
    </>
  );
}

import { useState } from 'react';
import { t } from '../../language/t.ts';
import type { Scheduled } from '../../../shared/protocol/schedules.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useActions, useInfo, useRoost } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { plural } from '../text/sizes.ts';

/** What is asked before it runs here without the other relay's leave. */
interface Question {
  readonly title: string;
  readonly text: string;
  readonly yes: string;
}
const GONE: Question = {
  title: t`Does the other relay run no more?`,
  text: t`Say yes where its machine, or its folder, is gone for good. What is due runs here then, at once. If it did run on, it would run there too, until Roost is opened there.`,
  yes: t`Yes, it is gone`,
};
const COPIED: Question = {
  title: t`Is the first relay stopped?`,
  text: t`Bring it here where this folder takes the place of the first one: moved to another machine, or put back from a backup. What is due runs here then, at once. If the first relay still runs, everything would run twice, until Roost is opened there.`,
  yes: t`Yes, bring it here`,
};

/**
 * What belongs to another relay of the household: how it comes here, and why it does not by itself.
 */
export function Elsewhere({ all }: { all: readonly Scheduled[] }) {
  const schedules = schedulesOf(useRoost());
  const actions = useActions();
  const copied = useInfo(({ health }) => health?.clock.copied ?? false);
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const away = all.filter(({ elsewhere }) => elsewhere !== null);
  if (away.length === 0) return null;
  const asked = away.every(({ elsewhere }) => elsewhere === 'asked');
  const move = (gone: boolean) => {
    if (busy) return;
    setBusy(true);
    void schedules
      .move(gone)
      // Whether this is a copy that waits is told by the relay's health.
      .then(() => actions.refreshHealth())
      .finally(() => {
        setBusy(false);
        setAsking(false);
      });
  };
  const question = copied ? COPIED : GONE;
  const asks = t`It is asked for: open Roost at the other relay once, and then here again.`;
  const askFor = (label: string, look: 'solid' | 'ghost') =>
    !asked && (
      <button type="button" className={look} disabled={busy} onClick={() => move(false)}>
        {label}
      </button>
    );
  const sayGone = (label: string, look: 'solid' | 'ghost') => (
    <button type="button" className={look} disabled={busy} onClick={() => setAsking(true)}>
      {label}
    </button>
  );
  return (
    <div className="elsewhere" role="note" aria-label={t`Due at another relay`}>
      {copied ? (
        <>
          <p>
            <strong>{t`This relay’s folder is a copy of another relay’s.`}</strong>{' '}
            <span>
              {away.length === all.length
                ? t`So that nothing runs twice, nothing below runs here until you bring it here.`
                : plural(
                    away.length,
                    'entry below does not run here until you bring it here, so that nothing runs twice.',
                    'entries below do not run here until you bring them here, so that nothing runs twice.',
                  )}
            </span>{' '}
            {asked && <span>{asks}</span>}
          </p>
          <div className="routine-ways">
            {sayGone(t`Bring it here…`, 'solid')}
            {askFor(t`The first one still runs: ask it`, 'ghost')}
          </div>
        </>
      ) : (
        <>
          <p>
            <strong>
              {away.length === all.length
                ? t`All of this belongs to another relay of yours.`
                : plural(
                    away.length,
                    'entry below belongs to another relay of yours.',
                    'entries below belong to another relay of yours.',
                  )}
            </strong>{' '}
            {t`What is due runs at one relay only, so it does not run here.`}{' '}
            {asked ? asks : t`Bring it here, and it runs here as soon as the other relay has released it.`}
          </p>
          <div className="routine-ways">
            {askFor(t`Bring it here`, 'solid')}
            {sayGone(t`That relay is gone…`, 'ghost')}
          </div>
        </>
      )}
      {asking && (
        <Dialog title={question.title} onClose={() => setAsking(false)}>
          <p className="elsewhere-question">{question.text}</p>
          <div className="dialog-ways">
            <button type="button" className="ghost" onClick={() => setAsking(false)}>{t`Not now`}</button>
            <button type="button" className="solid" disabled={busy} onClick={() => move(true)}>
              {question.yes}
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

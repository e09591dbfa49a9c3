import { useEffect } from 'react';
import { useStore } from 'zustand';
import { giveBackOf } from '../../state/records.ts';
import { useRoost } from '../context.tsx';
import { Progress } from '../parts/progress.tsx';
import { useNames } from '../use-names.ts';
import { changeOf, outcomeOf, whatIsMissing } from './words.ts';
import './give-back.css';

/** Across the page while the relay lacks what this household knows: a preview, one step, and what became of it. */
export default function GiveBack() {
  const offer = giveBackOf(useRoost());
  const { missing, giving, given, error } = useStore(offer.store);
  const nameOf = useNames();
  useEffect(() => offer.watch(), [offer]);
  if (missing.length === 0 && !given && !error) return null;
  return (
    <section className="give-back" aria-label="What the relay does not know">
      {giving ? (
        <Progress
          label="Giving back"
          {...giving}
          text="You can go on meanwhile. Nobody is woken, and nobody is told."
        />
      ) : (
        <>
          {error !== null && (
            <p role="alert">
              It could not be given back: {error} What the relay took already, it keeps; the rest can be given again.
            </p>
          )}
          {given && (
            <div className="give-back-line">
              <p role="status">{outcomeOf(given)}</p>
              <button type="button" className="ghost" onClick={offer.putAway}>
                Good
              </button>
            </div>
          )}
          {missing.length > 0 && (
            <>
              <div className="give-back-line">
                <p>
                  <strong>This relay does not know {whatIsMissing(missing)}.</strong> It is new, or was put back from an
                  old copy; this household still has them.
                </p>
                <button type="button" className="solid" onClick={() => void offer.give()}>
                  Give them back
                </button>
              </div>
              <details>
                <summary>What would change</summary>
                <ul>
                  {missing.map((each) => (
                    <li key={each.doc._id}>{changeOf(each, nameOf)}</li>
                  ))}
                </ul>
                <p>What was set at the relay since stays as it is.</p>
              </details>
            </>
          )}
        </>
      )}
    </section>
  );
}

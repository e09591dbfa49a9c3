import { t } from '../../language/t.ts';
import type { ArchiveChange } from '../../state/agent-copies.ts';
import { Diff } from '../parts/diff.tsx';
import { changeDetails, changeText } from '../text/conflicts.ts';

interface Props {
  readonly changes: readonly ArchiveChange[];
  readonly ticks: ReadonlySet<string>;
  readonly onTicks: (ticks: ReadonlySet<string>) => void;
}

/** A soul, a prompt, a routine as it would be, against what is here. */
function Details({ change }: { change: ArchiveChange }) {
  const texts = changeDetails(change);
  if (!texts) return null;
  return (
    <details>
      <summary>{t`What it would say`}</summary>
      <Diff {...texts} />
    </details>
  );
}

/** What a file would change here: one tick each, and none of them set. */
export function Changes({ changes, ticks, onTicks }: Props) {
  if (changes.length === 0) return null;
  const choose = (tick: string, wanted: boolean) =>
    onTicks(new Set(wanted ? [...ticks, tick] : [...ticks].filter((held) => held !== tick)));
  return (
    <fieldset className="copies-changes">
      <legend>{t`What it would change here`}</legend>
      <p className="setting-hint">{t`Each only if you tick it. What is not ticked stays as it is.`}</p>
      <ul>
        {changes.map((change) => (
          <li key={change.tick}>
            <label className="tick-line">
              <input
                type="checkbox"
                checked={ticks.has(change.tick)}
                onChange={(event) => choose(change.tick, event.target.checked)}
              />
              <span dir="auto">{changeText(change)}</span>
            </label>
            <Details change={change} />
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

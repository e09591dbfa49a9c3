/** Settings: makes the demo misbehave. */
import { useEffect, useState } from 'react';
import { seatNumber } from '../../../shared/domain/seat.ts';
import type { Rehearsal } from '../../../shared/protocol/http.ts';
import { t } from '../../language/t.ts';
import { problemText } from '../../state/ports.ts';
import { useRoost } from '../context.tsx';
import { POSITIONS } from '../grid/seat-figure.tsx';

type SeatList = 'fail' | 'silent' | 'cut' | 'nameless' | 'sameName';
const COLUMNS: readonly { readonly key: SeatList; readonly title: string }[] = [
  { key: 'fail', title: t`Fails` },
  { key: 'silent', title: t`Stays silent` },
  { key: 'cut', title: t`Is cut off` },
  { key: 'nameless', title: t`Finds no name` },
  { key: 'sameName', title: t`Same name` },
];

type Loaded =
  | { readonly kind: 'loading' }
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly text: string }
  | { readonly kind: 'ready'; readonly rehearsal: Rehearsal };

/** Makes the demo mind misbehave, to try out how Roost handles that. */
export function RehearsalSection() {
  const { relay, notices } = useRoost();
  const [loaded, setLoaded] = useState<Loaded>({ kind: 'loading' });
  useEffect(() => {
    let current = true;
    void relay.getRehearsal().then((got) => {
      if (!current) return;
      if (got.ok) setLoaded({ kind: 'ready', rehearsal: got.value });
      else if (got.problem.kind === 'refused' && got.problem.status === 404) setLoaded({ kind: 'none' });
      else setLoaded({ kind: 'failed', text: problemText(got.problem) });
    });
    return () => {
      current = false;
    };
  }, [relay]);

  if (loaded.kind === 'loading') return <p className="settings-note under-6 ink-2 text-3">{t`Loading…`}</p>;
  if (loaded.kind === 'none')
    return (
      <p className="settings-note under-6 ink-2 text-3">{t`A model is connected: there is nothing to try here. Failures can be tried in demo mode.`}</p>
    );
  if (loaded.kind === 'failed')
    return (
      <p className="settings-note under-6 ink-2 text-3" role="alert">
        {loaded.text}
      </p>
    );

  const { rehearsal } = loaded;
  const change = async (part: Partial<Rehearsal>) => {
    const put = await relay.putRehearsal({ body: { ...rehearsal, ...part } });
    if (put.ok) setLoaded({ kind: 'ready', rehearsal: put.value });
    else notices.refused(put.problem);
  };
  const toggle = (key: SeatList, position: number) => {
    const held = rehearsal[key];
    void change({
      [key]: held.includes(position) ? held.filter((seat) => seat !== position) : [...held, position].sort(),
    });
  };
  const number = (key: 'delayMs' | 'wordMs' | 'seed', label: string, max: number) => (
    <label className="rehearsal-number stack gap-3 ink-2 text-3">
      {label}
      <input
        key={rehearsal[key]}
        className="field field-number"
        inputMode="numeric"
        defaultValue={rehearsal[key]}
        onBlur={(event) => {
          const value = Number(event.target.value);
          if (Number.isInteger(value) && value >= 0 && value <= max && value !== rehearsal[key])
            void change({ [key]: value });
          else event.target.value = String(rehearsal[key]);
        }}
      />
    </label>
  );

  return (
    <>
      <p className="settings-note under-6 ink-2 text-3">{t`Make the demo fail, and see what becomes of a wake. Applies now, until the relay restarts.`}</p>
      {/* Scrollable on narrow screens, so that it can be reached by keyboard. */}
      <div
        className="rehearsal-table relative under-5 scroll box"
        role="region"
        aria-label={t`What each seat does`}
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
      >
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t`Seat`}</th>
              {COLUMNS.map((column) => (
                <th key={column.key} scope="col">
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {POSITIONS.map((position) => (
              <tr key={position}>
                <th scope="row">{position === 4 ? t`5, the lead` : seatNumber(position)}</th>
                {COLUMNS.map(({ key, title }) => (
                  <td key={key}>
                    <label className="tick relative stack both-centred min-40">
                      <input
                        type="checkbox"
                        checked={rehearsal[key].includes(position)}
                        onChange={() => toggle(key, position)}
                      />
                      <span className="visually-hidden">{t`Seat ${seatNumber(position)}: ${title}`}</span>
                    </label>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <label className="tick-line">
        <input
          type="checkbox"
          checked={rehearsal.leadIgnores}
          onChange={() => void change({ leadIgnores: !rehearsal.leadIgnores })}
        />
        {t`The lead does not call the team`}
      </label>
      <div className="above-5 flex wrap gap-6">
        {number('delayMs', t`Before the first word, ms`, 600_000)}
        {number('wordMs', t`Between words, ms`, 10_000)}
        {number('seed', t`Seed`, Number.MAX_SAFE_INTEGER)}
      </div>
    </>
  );
}

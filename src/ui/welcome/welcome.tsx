import { useState, type FormEvent } from 'react';
import { DEFAULT_SETTINGS, SETTING_TEXT_MAX } from '../../domain/settings.ts';
import { seatColor, SEAT_ORDER } from '../../domain/seat.ts';
import { writingStopped } from '../../state/relay-info.ts';
import { useActions, useDevices, useInfo } from '../context.tsx';
import { Egg } from '../grid/egg.tsx';
import { ConnectSteps } from '../shell/connect.tsx';
import { ComeBack } from './come-back.tsx';
import { OnItsWay } from './on-its-way.tsx';
import './welcome.css';

/** Two names, and a household begins. */
function Begin({ onBegun }: { onBegun: () => void }) {
  const actions = useActions();
  const blocked = useInfo(writingStopped);
  const [human, setHuman] = useState('');
  const [lead, setLead] = useState(DEFAULT_SETTINGS.leadName);
  const [tried, setTried] = useState(false);
  const [saving, setSaving] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const missing = { human: human.trim() === '', lead: lead.trim() === '' };

  const begin = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (missing.human || missing.lead || saving) return;
    setSaving(true);
    setFailed(null);
    const begun = await actions.begin({ human: human.trim(), lead: lead.trim() });
    setSaving(false);
    if (begun.ok) onBegun();
    else setFailed(begun.reason);
  };

  return (
    <form onSubmit={(event) => void begin(event)} noValidate>
      <div className="welcome-field">
        <label htmlFor="human">Your name</label>
        <input id="human" className="field" value={human} onChange={(event) => setHuman(event.target.value)} autoComplete="given-name" maxLength={SETTING_TEXT_MAX.humanName} aria-invalid={tried && missing.human} aria-describedby="human-note" dir="auto" />
        <small id="human-note">{tried && missing.human ? 'They need something to call you.' : 'What the agents call you.'}</small>
      </div>
      <div className="welcome-field">
        <label htmlFor="lead">Lead&apos;s name</label>
        <input id="lead" className="field" value={lead} onChange={(event) => setLead(event.target.value)} autoComplete="off" maxLength={SETTING_TEXT_MAX.leadName} aria-invalid={tried && missing.lead} aria-describedby="lead-note" dir="auto" />
        <small id="lead-note">{tried && missing.lead ? 'The lead needs a name.' : 'Sits in the middle and calls the others.'}</small>
      </div>
      {failed !== null && (
        <p className="welcome-failed" role="alert">
          This could not be saved: {failed} Nothing has begun yet; try again.
        </p>
      )}
      <button type="submit" className="big-button" disabled={saving || blocked}>
        {saving ? 'Saving…' : 'Begin'}
      </button>
    </form>
  );
}

/** The first visit: a beginning, ways back for a team there is, and the truth about who is thinking. `onBegun`: it is stored; the team's page takes over. */
export function Welcome({ onBegun }: { onBegun: () => void }) {
  const health = useInfo((state) => state.health);
  const onItsWay = useDevices(({ status }) => status?.kind === 'shared');
  return (
    <main className="welcome" id="main">
      <div className="welcome-card">
        <div className="welcome-eggs" aria-hidden="true">
          {SEAT_ORDER.map((position) => (
            <span key={position}>
              <Egg position={position} color={seatColor(position).color} crack={0} />
            </span>
          ))}
        </div>
        {onItsWay ? (
          <OnItsWay />
        ) : (
          <>
            <h1>A home for a team that remembers</h1>
            <p className="welcome-lead">
              Eight agents hatch here once and find their own names. They sleep when you leave. One button wakes them as who they were. Who they are, and what was said, stays in this browser.
            </p>
            <Begin onBegun={onBegun} />
            <ComeBack />
          </>
        )}
        <details className="welcome-mind" data-mind={health?.mind}>
          <summary>
            {health === null ? 'Asking the relay who thinks…' : health.mind === 'rehearsal' ? 'A rehearsal mind is in use: nobody is thinking yet. How to connect a model' : `Connected: ${health.model}`}
          </summary>
          <ConnectSteps />
        </details>
      </div>
    </main>
  );
}

import { useId, useState, type FormEvent } from 'react';
import { LIMITS } from '../../protocol/limits.ts';
import { clientsOf } from '../../state/clients.ts';
import { useRoost } from '../context.tsx';
import type { Teammate } from '../use-teammates.ts';
import { SecretDialog } from './secret-dialog.tsx';

/** In the list of agents: no id is so. */
const APPLICATION = 'an application';

/** Makes a credential for one of these; one alone needs no choosing. `applications`: or for a program that is no agent. */
export function MakeCredential({
  among,
  applications = false,
}: {
  among: readonly Teammate[];
  applications?: boolean;
}) {
  const clients = clientsOf(useRoost());
  const id = useId();
  const [chosen, setChosen] = useState<string | null>(null);
  const [label, setLabel] = useState('');
  const [readsSoul, setReadsSoul] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const [made, setMade] = useState<{
    readonly name: string | null;
    readonly label: string;
    readonly secret: string;
  } | null>(null);
  const isApplication = applications && chosen === APPLICATION;
  const who = among.find(({ agentId }) => agentId === chosen) ?? among[0];
  if (!who)
    return (
      <p className="setting-hint">Nobody is born yet. A client joins as an agent that has a name: SUMMON first.</p>
    );
  const make = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    const done = await clients.make(isApplication ? null : who.agentId, label.trim(), !isApplication && readsSoul);
    setBusy(false);
    setFailed(done.ok ? null : done.reason);
    if (!done.ok) return;
    setMade({ name: isApplication ? null : who.name, label: label.trim(), secret: done.secret });
    setLabel('');
    setReadsSoul(false);
  };
  return (
    <form className="make-credential" onSubmit={(event) => void make(event)}>
      {(among.length > 1 || applications) && (
        <label>
          <span>For</span>
          <select
            className="field field-select"
            value={isApplication ? APPLICATION : who.agentId}
            onChange={(event) => setChosen(event.target.value)}
          >
            {among.map(({ agentId, name }) => (
              <option key={agentId} value={agentId}>
                {name}
              </option>
            ))}
            {applications && <option value={APPLICATION}>An application (only sleep and wake)</option>}
          </select>
        </label>
      )}
      <label htmlFor={id} className="make-label">
        <span>Where it is used (for you to tell it apart)</span>
        <input
          id={id}
          className="field"
          dir="auto"
          maxLength={LIMITS.credentialLabel}
          autoComplete="off"
          placeholder="Claude Code on my laptop"
          value={label}
          onChange={(event) => setLabel(event.target.value)}
        />
      </label>
      {!isApplication && (
        <label className="tick-line">
          <input type="checkbox" checked={readsSoul} onChange={(event) => setReadsSoul(event.target.checked)} />
          May read its agent’s soul and last conversation
        </label>
      )}
      <button type="submit" className="ghost ghost-dawn" disabled={busy}>
        {busy ? 'Making…' : 'Make a credential'}
      </button>
      {failed !== null && (
        <p className="wrong-note" role="alert">
          It could not be made: {failed}
        </p>
      )}
      {made && <SecretDialog {...made} onClose={() => setMade(null)} />}
    </form>
  );
}

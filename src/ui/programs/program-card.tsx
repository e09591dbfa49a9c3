/** One agent program: how it stands, and who has a process of it just now. */
import { useState } from 'react';
import type { Program } from '../../protocol/programs.ts';
import { programsOf } from '../../state/programs.ts';
import { useRoost } from '../context.tsx';
import { SureDialog } from '../parts/sure-dialog.tsx';
import { useNames } from '../use-names.ts';

const STATES: Record<Program['running'][number]['state'], string> = {
  waiting: 'waits for its turn to start',
  starting: 'starts',
  ready: 'ready',
  working: 'at work',
};

function standingOf({ state }: Program): string {
  switch (state.kind) {
    case 'untried':
      return 'not tried since the relay was started';
    case 'answers':
      return `answers: ${state.is}`;
    case 'fails':
      return 'does not answer';
    default:
      return state satisfies never;
  }
}

export function ProgramCard({ program }: { program: Program }) {
  const programs = programsOf(useRoost());
  const nameOf = useNames();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const [removing, setRemoving] = useState(false);
  const { programId, name, where, variables, throughRelay, state, running } = program;
  const tryIt = async () => {
    setBusy(true);
    const done = await programs.change((client) => client.tryProgram({ programId }));
    setBusy(false);
    setFailed(done.ok ? null : done.reason);
  };
  return (
    <article className="attached" data-state={state.kind === 'fails' ? 'failed' : 'connected'} aria-label={name}>
      <header>
        <h4 dir="auto">{name}</h4>
        <span role="status">{busy ? 'being started…' : standingOf(program)}</span>
      </header>
      <p className="attached-where">
        <code>{where}</code>
        {variables.length > 0 && <small> with {variables.join(', ')}</small>}
      </p>
      <p className="setting-hint">
        {throughRelay
          ? 'Asks its model through this relay: each request is counted, and held to budgets.'
          : 'Asks its model with its own sign-in: only what it reports is counted, and budgets stop it before a turn, not within one.'}
      </p>
      {state.kind === 'fails' && (
        <p className="attached-standing" role="status">
          {state.message}
        </p>
      )}
      {state.kind === 'answers' && !state.tools && (
        <p className="attached-standing">
          It takes no tools over HTTP: an agent with it as mind cannot use Roost’s inbox, threads and reminders.
        </p>
      )}
      {running.length > 0 && (
        <ul className="program-running" aria-label={`Processes of ${name}`}>
          {running.map(({ agentId, pid, state: at }) => (
            <li key={`${agentId} ${pid ?? ''}`}>
              <b dir="auto">{nameOf(agentId)}</b>: {STATES[at]}
              {pid !== null && <small> (process {pid})</small>}
            </li>
          ))}
        </ul>
      )}
      {failed !== null && (
        <p className="wrong-note" role="alert">
          {failed}
        </p>
      )}
      <div className="attached-ways">
        <button type="button" className="ghost" disabled={busy} onClick={() => void tryIt()}>
          Test
        </button>
        <button type="button" className="ghost ghost-danger" disabled={busy} onClick={() => setRemoving(true)}>
          Take away
        </button>
      </div>
      {removing && (
        <SureDialog
          title={`Take ${name} away?`}
          does={['Take it away', 'Taking away…']}
          undone="It could not be taken away"
          onSure={async () => {
            const done = await programs.change((client) => client.removeProgram({ programId }));
            return done.ok ? null : done.reason;
          }}
          onClose={() => setRemoving(false)}
        >
          <p>
            What runs of it ends now. Agents that have it as their mind do not answer until another is chosen for them.
            The program itself stays on the machine.
          </p>
        </SureDialog>
      )}
    </article>
  );
}

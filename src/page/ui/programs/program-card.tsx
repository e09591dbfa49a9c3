/** One ACP agent: how it stands, and who has a process of it just now. */
import { useId, useState } from 'react';
import { retold } from '../../language/retold.ts';
import { t } from '../../language/t.ts';
import type { Program } from '../../../shared/protocol/programs.ts';
import { programsOf } from '../../state/programs.ts';
import { useRoost } from '../context.tsx';
import { SureDialog } from '../parts/sure-dialog.tsx';
import { useNames } from '../use-names.ts';

const STATES: Record<Program['running'][number]['state'], string> = {
  waiting: t`waits for its turn to start`,
  starting: t`starts`,
  ready: t`ready`,
  working: t`at work`,
};

const FAULTS: Record<Extract<Program['state'], { kind: 'fails' }>['why'], string> = {
  'not-installed': t`is not there`,
  'not-signed-in': t`is signed out`,
  died: t`ends by itself`,
  hangs: t`does not answer`,
  nonsense: t`is not understood`,
  other: t`does not answer`,
};

function standingOf({ state }: Pick<Program, 'state'>): string {
  switch (state.kind) {
    case 'untried':
      return t`not tested since the relay was started`;
    case 'trying':
      return t`is being tested: it can take a minute`;
    case 'answers':
      return t`answers: ${state.is}`;
    case 'fails':
      return FAULTS[state.why];
    default:
      return state satisfies never;
  }
}

function toolsOf(has: boolean | null): string {
  if (has === null) return t`Whether it takes Roost’s tools is not known yet: that shows when an agent thinks with it.`;
  return has
    ? t`It has Roost’s tools.`
    : t`It has none of Roost’s tools: an agent with it as mind cannot use Roost’s inbox, threads and reminders.`;
}

export function ProgramCard({ program }: { program: Program }) {
  const programs = programsOf(useRoost());
  const nameOf = useNames();
  const id = useId();
  const [asking, setAsking] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const [removing, setRemoving] = useState(false);
  const { programId, name, where, variables, throughRelay, state, running } = program;
  const busy = asking || state.kind === 'trying';
  const describedBy = `${id}-name ${id}-standing`;
  const tryIt = async () => {
    setAsking(true);
    const done = await programs.change((client) => client.tryProgram({ programId }));
    setAsking(false);
    setFailed(done.ok ? null : done.reason);
  };
  return (
    <article className="attached" data-state={state.kind === 'fails' ? 'failed' : 'connected'} aria-label={name}>
      <header>
        <h4 dir="auto" id={`${id}-name`}>
          {name}
        </h4>
        <span role="status" id={`${id}-standing`}>
          {standingOf(asking ? { state: { kind: 'trying', since: 0 } } : program)}
        </span>
      </header>
      <p className="attached-where">
        <code>{where}</code>
        {variables.length > 0 && <small> {t`with ${variables.join(', ')}`}</small>}
      </p>
      <p className="setting-hint">
        {throughRelay
          ? t`Asks its model through this relay: each request is counted, and held to budgets.`
          : t`Asks its model with its own sign-in: only what it reports is counted, and budgets stop it before a turn, not within one.`}
      </p>
      {state.kind === 'fails' && (
        <p className="attached-standing" role="status">
          {retold(state.message)}
        </p>
      )}
      {state.kind === 'answers' && <p className="attached-standing">{toolsOf(state.tools)}</p>}
      {running.length > 0 && (
        <ul className="program-running" aria-label={t`Who thinks with ${name} now`}>
          {running.map(({ agentId, since, state: at, mode }) => (
            <li key={`${agentId} ${since}`}>
              <b dir="auto">{nameOf(agentId)}</b>
              <span>{`: ${STATES[at]}`}</span>
              {mode !== null && (
                <small className={mode.asks ? '' : 'wrong-note'}>
                  {' · '}
                  {mode.asks
                    ? t`mode “${mode.name}”: you are asked`
                    : t`mode “${mode.name}”: Roost does not know whether you are asked in it`}
                </small>
              )}
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
        <button
          type="button"
          className="ghost"
          aria-disabled={busy}
          aria-describedby={describedBy}
          onClick={busy ? undefined : () => void tryIt()}
        >{t`Try it`}</button>
        <button
          type="button"
          className="ghost ghost-danger"
          aria-disabled={busy}
          aria-describedby={describedBy}
          onClick={busy ? undefined : () => setRemoving(true)}
        >{t`Remove`}</button>
      </div>
      {removing && (
        <SureDialog
          title={t`Remove ${name}?`}
          does={[t`Remove it`, t`Removing…`]}
          undone={t`It could not be removed`}
          onSure={async () => {
            const done = await programs.change((client) => client.removeProgram({ programId }));
            return done.ok ? null : done.reason;
          }}
          onClose={() => setRemoving(false)}
        >
          <p>{t`What runs of it ends now. Agents that have it as their mind do not answer until another is chosen for them. The program itself stays on the machine.`}</p>
        </SureDialog>
      )}
    </article>
  );
}

/**
 * Connect a model: a key or an address, tried at once. What is typed here goes to the relay once,
 * and nowhere else.
 */
import { useState } from 'react';
import { Link } from 'wouter';
import { t } from '../../language/t.ts';
import type { ConnectModel, Models } from '../../../shared/protocol/models.ts';
import { useLive, useRoost } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { OneOf } from '../parts/one-of.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { PATHS } from '../routes.ts';
import { ConnectionCard } from './connection-card.tsx';
import { KeyField } from './key-field.tsx';
import { Choice } from './choice.tsx';
import { ServerForm } from './server-form.tsx';
import { useConnect, type Connect, type Trying } from './use-connect.ts';
import { connectionName, modelName, secondsText, TALKS_ONLY } from './words.ts';
import './connect.css';

type Kind = ConnectModel['kind'];

function ClaudeForm({ connect, busy }: { connect: Connect; busy: boolean }) {
  const [key, setKey] = useState('');
  return (
    <form
      className="connect-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (key.trim() === '') return;
        void connect({ kind: 'claude', key: key.trim() }, t`Asking Claude`).then((ok) => ok && setKey(''));
      }}
    >
      <KeyField
        label={t`Your key`}
        value={key}
        onChange={setKey}
        placeholder="sk-ant-…"
        hint={
          <>
            {t`Make one at ${(
              <a href="https://console.anthropic.com/settings/keys" target="_blank" rel="noopener noreferrer nofollow">
                console.anthropic.com
              </a>
            )}. What Claude is asked with it is paid for there.`}
          </>
        }
      />
      <button type="submit" className="solid" disabled={busy || key.trim() === ''}>{t`Connect`}</button>
    </form>
  );
}

/** What came of it, and what comes next. */
function Outcome({ trying, connect, onClose }: { trying: Trying; connect: Connect; onClose: () => void }) {
  const running = useLive((state) => state.live !== null);
  switch (trying.kind) {
    case 'idle':
      return null;
    case 'trying':
      return (
        <p className="connect-trying" role="status">
          <i aria-hidden="true" />
          {trying.what}…
        </p>
      );
    case 'failed':
      return (
        <div className="wrong-note" role="alert">
          <p>
            <strong>{t`It is not connected.`}</strong> {trying.text}
          </p>
        </div>
      );
    case 'choose':
      return <Choice given={trying.given} models={trying.models} connect={connect} />;
    case 'done': {
      const { connection } = trying;
      const { state } = connection;
      const ms = state.kind === 'answers' ? state.ms : null;
      return (
        <div className="connect-done" role="status">
          <p>
            <b>{t`${connectionName(connection)} answers${ms === null ? '' : `, ${secondsText(ms)}`}.`}</b>{' '}
            {connection.leadModel === connection.agentModel
              ? t`Your agents think with ${modelName(connection.agentModel, connection.models)}.`
              : t`Your agents think with ${modelName(connection.agentModel, connection.models)}, the lead with ${modelName(connection.leadModel, connection.models)}.`}
          </p>
          {state.kind === 'answers' && state.tools === false && <p>{TALKS_ONLY}</p>}
          {running && <p>{t`Your next message is answered by it. Nothing has to be ended.`}</p>}
          <button type="button" className="solid" onClick={onClose}>{t`Done`}</button>
        </div>
      );
    }
    default:
      return trying satisfies never;
  }
}

function Ways({ all, onClose }: { all: Models; onClose: () => void }) {
  const { trying, connect } = useConnect();
  const [kind, setKind] = useState<Kind>('claude');
  const busy = trying.kind === 'trying';
  const { connections, may } = all;
  return (
    <div className="connect">
      {connections.length === 0 && trying.kind !== 'done' && (
        <p>{t`No model is connected: a small stand-in plays all the parts, so that you can look around. Your agents keep their names, souls and conversations whichever model thinks.`}</p>
      )}
      {connections.length > 0 && trying.kind !== 'done' && (
        <ul className="connections" aria-label={t`Connected`}>
          {connections.map((connection) => (
            <li key={connection.connectionId}>
              <ConnectionCard connection={connection} />
            </li>
          ))}
        </ul>
      )}
      <Outcome trying={trying} connect={connect} onClose={onClose} />
      {may === 'none' ? (
        <p className="connect-note">{t`Whoever runs this relay has not allowed pages to connect models.`}</p>
      ) : (
        trying.kind !== 'done' && (
          <section aria-label={connections.length === 0 ? t`Connect a model` : t`Connect another`}>
            {connections.length > 0 && <h3>{t`Connect another`}</h3>}
            <OneOf<Kind>
              label={t`What to connect`}
              options={[
                { value: 'claude', text: t`Claude` },
                { value: 'server', text: t`A model of your own` },
              ]}
              value={kind}
              onChange={setKind}
            />
            {kind === 'claude' ? (
              <ClaudeForm connect={connect} busy={busy} />
            ) : (
              <ServerForm connect={connect} busy={busy} may={may} />
            )}
          </section>
        )
      )}
      {trying.kind !== 'done' && (
        <p className="connect-note">
          {t`A program such as Claude Code can think for single agents: connect it under ${<Link href={PATHS.settings('programs')}>{t`ACP agents`}</Link>}.`}
        </p>
      )}
      <p className="connect-note">{t`It is tried at once with one short question. A key goes to the relay once, lies there sealed, and is never shown or sent again.`}</p>
    </div>
  );
}

export default function ConnectDialog({ onClose }: { onClose: () => void }) {
  const { models } = useRoost();
  return (
    <Dialog title={t`Connect a model`} onClose={onClose}>
      <QueryView query={models.query} what={t`The models`}>
        {(all) => <Ways all={all} onClose={onClose} />}
      </QueryView>
    </Dialog>
  );
}

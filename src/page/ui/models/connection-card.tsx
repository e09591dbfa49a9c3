/** One model that is connected: how it stands, and what can be done about it. */
import { useState } from 'react';
import { t } from '../../language/t.ts';
import type { Connection } from '../../../shared/protocol/models.ts';
import type { ConnectedModels } from '../../state/models.ts';
import { useRoost } from '../context.tsx';
import { SureDialog } from '../parts/sure-dialog.tsx';
import { KeyField } from './key-field.tsx';
import { connectionName, modelName, stateText, TALKS_ONLY } from './words.ts';
import { retold } from '../../language/retold.ts';

function RemoveDialog({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const { models } = useRoost();
  const { connectionId, hasKey } = connection;
  return (
    <SureDialog
      title={t`Remove ${connectionName(connection)}?`}
      does={[t`Remove it`, t`Removing…`]}
      undone={t`It could not be removed`}
      onSure={async () => {
        const done = await models.change((client) => client.removeModel({ connectionId }));
        return done.ok ? null : done.reason;
      }}
      onClose={onClose}
    >
      {hasKey && <p>{t`Its key goes with it, and no undo brings that back.`}</p>}
      <p>{t`Who thinks with it answers as the demo until another model is connected.`}</p>
    </SureDialog>
  );
}

export function ConnectionCard({ connection }: { connection: Connection }) {
  const { models } = useRoost();
  const { connectionId, state } = connection;
  const given = connectionId === 'environment';
  const [changing, setChanging] = useState(state.kind === 'fails' && state.why === 'key' && !given);
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState<string | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [sure, setSure] = useState(false);
  const name = connectionName(connection);

  const run = async (what: string, call: Parameters<ConnectedModels['change']>[0]) => {
    setBusy(what);
    setFailed(null);
    const done = await models.change(call);
    setBusy(null);
    if (!done.ok) setFailed(done.reason);
    return done.ok;
  };

  return (
    <article className="connection" data-state={state.kind} aria-label={name}>
      <header>
        <b>{name}</b>
        <span className="connection-state" role="status">
          {busy ?? stateText(connection)}
        </span>
      </header>
      <p className="connection-models">
        <span>
          {connection.leadModel === connection.agentModel
            ? modelName(connection.agentModel, connection.models)
            : t`Lead: ${modelName(connection.leadModel, connection.models)} · agents: ${modelName(connection.agentModel, connection.models)}`}
        </span>
        {connection.models.length > 1 && <span>{t` · ${connection.models.length} models`}</span>}
      </p>
      {given && (
        <p className="connect-note">{t`Set where the relay was started; it is changed there, and goes first.`}</p>
      )}
      {state.kind === 'fails' && busy === null && <p className="connection-why">{retold(state.message)}</p>}
      {state.kind === 'answers' && state.tools === false && <p className="connect-note">{TALKS_ONLY}</p>}
      {failed !== null && (
        <p className="connection-why" role="alert">
          {failed}
        </p>
      )}
      {changing && (
        <form
          className="connect-form"
          onSubmit={(event) => {
            event.preventDefault();
            if (key.trim() === '') return;
            const next = key.trim();
            void run(t`trying the key…`, (client) => client.changeModelKey({ connectionId, body: { key: next } })).then(
              (ok) => {
                if (!ok) return;
                setKey('');
                setChanging(false);
              },
            );
          }}
        >
          <KeyField label={t`Another key`} value={key} onChange={setKey} />
          <button
            type="submit"
            className="solid"
            disabled={busy !== null || key.trim() === ''}
          >{t`Change the key`}</button>
        </form>
      )}
      <div className="connection-ways">
        <button
          type="button"
          className="ghost"
          disabled={busy !== null}
          onClick={() => void run(t`asking it for a word…`, (client) => client.tryModel({ connectionId }))}
        >{t`Try it`}</button>
        {!given && !changing && (connection.hasKey || connection.kind === 'claude') && (
          <button type="button" className="ghost" onClick={() => setChanging(true)}>{t`Change the key`}</button>
        )}
        {!given && (
          <button
            type="button"
            className="ghost ghost-danger"
            disabled={busy !== null}
            onClick={() => setSure(true)}
          >{t`Remove`}</button>
        )}
      </div>
      {sure && <RemoveDialog connection={connection} onClose={() => setSure(false)} />}
    </article>
  );
}

/**
 * Connects a model by a key or an address, and tests it at once. The input is sent to the relay
 * once, and nowhere else.
 */
import { useId, useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { Connection, ConnectModel, FoundServer, ListedModel, Models } from '../../../shared/protocol/models.ts';
import { retold, spoken, t } from '../../language/t.ts';
import type { ConnectedModels } from '../../state/relay-info.ts';
import { useLive, useRoost } from '../context.tsx';
import { Dialog, SureDialog } from '../design/dialog.tsx';
import { OneOf } from '../design/one-of.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { PATHS } from '../routes.ts';
import { KeyField } from './model-select.tsx';
import { connectionName, modelName, secondsText, stateText, TALKS_ONLY } from './chip.tsx';
import './connect.css';

export type Trying =
  | { readonly kind: 'idle' }
  /** What is being tested, in words. */
  | { readonly kind: 'trying'; readonly what: string }
  | { readonly kind: 'failed'; readonly text: string }
  /** The model was not called yet. */
  | { readonly kind: 'choose'; readonly given: ConnectModel; readonly models: readonly ListedModel[] }
  | { readonly kind: 'done'; readonly connection: Connection };

/** Connects a model and reports the progress. */
export function useConnect() {
  const { models } = useRoost();
  const [trying, setTrying] = useState<Trying>({ kind: 'idle' });
  const connect = async (given: ConnectModel, what: string): Promise<boolean> => {
    setTrying({ kind: 'trying', what });
    const result = await models.change((client) => client.connectModel({ body: given }));
    if (!result.ok) {
      setTrying(
        result.models.length > 0
          ? { kind: 'choose', given, models: result.models }
          : { kind: 'failed', text: result.reason },
      );
      return false;
    }
    setTrying({ kind: 'done', connection: result.value });
    return true;
  };
  return { trying, connect };
}

export type Connect = ReturnType<typeof useConnect>['connect'];

// A server may have several models and charge for them, so one is chosen before any is called.

interface Props {
  readonly given: ConnectModel;
  readonly models: readonly ListedModel[];
  readonly connect: Connect;
}

export function Choice({ given, models, connect }: Props) {
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const id = useId();
  const shown = useMemo(() => {
    const wanted = words.toLowerCase().split(/\s+/);
    return models.filter((each) => wanted.every((word) => `${each.id} ${each.name}`.toLowerCase().includes(word)));
  }, [models, words]);
  const model = shown.some((each) => each.id === chosen) ? chosen : (shown[0]?.id ?? null);
  return (
    <form
      className="connect-form"
      aria-labelledby={id}
      onSubmit={(event) => {
        event.preventDefault();
        if (model !== null) void connect({ ...given, model }, t`Asking it`);
      }}
    >
      <p id={id} role="status">
        {t`It has ${models.length} models. Choose one; nothing was asked yet.`}
      </p>
      <label className="connect-field">
        {t`Find a model`}
        <input
          className="field"
          type="search"
          value={words}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setWords(event.target.value)}
        />
      </label>
      <label className="connect-field">
        {t`Model`}
        <select className="field field-select" value={model ?? ''} onChange={(event) => setChosen(event.target.value)}>
          {shown.map((each) => (
            <option key={each.id} value={each.id}>
              {each.name}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" className="solid" disabled={model === null}>{t`Connect`}</button>
    </form>
  );
}

// One connected model: its status, and its actions.

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
      {connection.readsOnly?.map(({ model, tokens }) => (
        <p key={model} className="connect-note">
          {t`Reads only ${tokens.toLocaleString(spoken.locale)} tokens with ${modelName(model, connection.models)}, and leaves the rest out without a word. Give it a larger context where it runs (Ollama: OLLAMA_CONTEXT_LENGTH, or num_ctx in the Modelfile).`}
        </p>
      ))}
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

// A model server of the person: detected on the relay's machine, or entered by address.

function Found({ found, connect, busy }: { found: readonly FoundServer[]; connect: Connect; busy: boolean }) {
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({});
  if (found.length === 0)
    return (
      <p
        className="connect-note"
        role="status"
      >{t`Nothing answers here. Start Ollama, LM Studio, llama.cpp or vLLM on the machine where Roost runs, then look again.`}</p>
    );
  return (
    <ul className="connect-found" aria-label={t`Found on this machine`}>
      {found.map(({ program, address, models }) => (
        <li key={address}>
          <b>{program}</b>
          {models.length === 0 ? (
            <span className="connect-note">{t`has no model yet`}</span>
          ) : (
            <>
              <select
                className="field field-select"
                aria-label={t`Model of ${program}`}
                value={chosen[address] ?? models[0]?.id}
                onChange={(event) => setChosen({ ...chosen, [address]: event.target.value })}
              >
                {models.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
              <button
                type="button"
                className="solid"
                disabled={busy}
                onClick={() =>
                  void connect(
                    { kind: 'server', address, model: chosen[address] ?? models[0]?.id ?? '' },
                    t`Asking ${program}; it may have to load the model first`,
                  )
                }
              >{t`Connect`}</button>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

export function ServerForm({ connect, busy, may }: { connect: Connect; busy: boolean; may: Models['may'] }) {
  const { models } = useRoost();
  const [address, setAddress] = useState('');
  const [key, setKey] = useState('');
  const [model, setModel] = useState('');
  const [looking, setLooking] = useState(false);
  const [found, setFound] = useState<readonly FoundServer[] | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const search = async () => {
    setLooking(true);
    const result = await models.change((client) => client.findServers());
    setLooking(false);
    setFailed(result.ok ? null : result.reason);
    setFound(result.ok ? result.value.found : null);
  };
  return (
    <>
      {may === 'any' && (
        <div className="connect-search">
          <button type="button" className="ghost" disabled={looking || busy} onClick={() => void search()}>
            {looking ? t`Looking…` : t`Look for one here`}
          </button>
          <p className="connect-note">{t`Asks the usual ports of the machine where Roost runs, and nothing else.`}</p>
          {failed !== null && (
            <p className="wrong-note" role="alert">
              {failed}
            </p>
          )}
          {found && <Found found={found} connect={connect} busy={busy} />}
        </div>
      )}
      <form
        className="connect-form"
        onSubmit={(event) => {
          event.preventDefault();
          const given = {
            kind: 'server',
            address: address.trim(),
            ...(key.trim() === '' ? {} : { key: key.trim() }),
            ...(model.trim() === '' ? {} : { model: model.trim() }),
          } as const;
          void connect(given, t`Asking it`).then((ok) => ok && setKey(''));
        }}
      >
        <label className="connect-field">
          {t`Address`}
          <input
            className="field"
            type="url"
            inputMode="url"
            value={address}
            placeholder={may === 'any' ? 'http://127.0.0.1:11434' : 'https://models.example.org'}
            autoComplete="off"
            onChange={(event) => setAddress(event.target.value)}
          />
          <span className="setting-hint">{t`A server that speaks Anthropic’s, OpenAI’s or Google’s protocol. Paste what its documentation calls “base URL”.`}</span>
        </label>
        <KeyField label={t`Key, if it wants one`} value={key} onChange={setKey} />
        <label className="connect-field">
          {t`Model, if it does not list any`}
          <input
            className="field"
            value={model}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setModel(event.target.value)}
          />
        </label>
        <button type="submit" className="solid" disabled={busy || address.trim() === ''}>{t`Connect`}</button>
      </form>
    </>
  );
}

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

/** The outcome, and the next step. */
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

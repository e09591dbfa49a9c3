/**
 * Connects a model by a key or an address, and tests it at once. The input is sent to the relay
 * once, and nowhere else.
 */
import { asBeginning } from '../text/sizes.ts';
import { useId, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { displayName } from '../../../shared/domain/agent.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Connection, ConnectModel, FoundServer, ListedModel, Models } from '../../../shared/protocol/models.ts';
import type { Programs } from '../../../shared/protocol/programs.ts';
import { retold, spoken, t } from '../../language/t.ts';
import { programsOf } from '../../state/programs.ts';
import { foundServersOf } from '../../state/found-servers.ts';
import type { QueryState } from '../../state/query.ts';
import { useQuery } from '../hooks.ts';
import { wakeQueries } from '../../state/wakes.ts';
import type { Coordination } from '../../state/relay-info.ts';
import { useHousehold, useLive, useRoost } from '../context.tsx';
import { AgentOptions } from '../parts/choices.tsx';
import { Dialog, SureDialog, takeFocus } from '../design/dialog.tsx';
import { changeCoordination } from '../limits/limits.ts';
import { QueryView } from '../parts/page-head.tsx';
import { ProgramsOff } from '../parts/programs-off.tsx';
import { PATHS } from '../routes.ts';
import { useTold } from '../settings/told.ts';
import { KeyField } from './model-select.tsx';
import { connectionName, modelName, secondsText, stateText, TALKS_ONLY } from './names.ts';
import './connect.css';
import { useAction } from '../design/use-action.ts';
import { SelectField, TextField, WrongNote } from '../design/field.tsx';

export type Trying =
  | { readonly kind: 'idle' }
  /** What is being tested, in words. */
  | { readonly kind: 'trying'; readonly what: string }
  | { readonly kind: 'failed'; readonly text: string }
  /** The model was not called yet. */
  | { readonly kind: 'choose'; readonly given: ConnectModel; readonly models: readonly ListedModel[] }
  | { readonly kind: 'done'; readonly connection: Connection };

/** Connects a model and reports the progress. */
function useConnect() {
  const { models } = useRoost();
  const [trying, setTrying] = useState<Trying>({ kind: 'idle' });
  const connect = async (given: ConnectModel, whatFor: string): Promise<boolean> => {
    setTrying({ kind: 'trying', what: whatFor });
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
  return { trying, connect, back: () => setTrying({ kind: 'idle' }) };
}

export type Connect = ReturnType<typeof useConnect>['connect'];

// A server may have several models and charge for them, so one is chosen before any is called.

interface Props {
  readonly given: ConnectModel;
  readonly models: readonly ListedModel[];
  readonly connect: Connect;
  readonly onBack: () => void;
}

/** Above this many models, they can be filtered. */
const FILTERED_ABOVE = 8;

export function Choice({ given, models, connect, onBack }: Props) {
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
      className="connect-form above-6 gap-5 stack at-start"
      aria-labelledby={id}
      onSubmit={(event) => {
        event.preventDefault();
        if (model !== null) void connect({ ...given, model }, t`Connecting…`);
      }}
    >
      <h3 id={id}>{t`Pick a model`}</h3>
      {models.length > FILTERED_ABOVE && (
        <TextField label={t`Find a model`} type="search" value={words} onText={setWords} />
      )}
      <SelectField
        label={t`Model`}
        choices={shown.map((each) => [each.id, each.name])}
        value={model ?? ''}
        onChange={setChosen}
      />
      <div className="above-2 flex wrap gap-4">
        <button type="submit" className="solid" disabled={model === null}>{t`Connect`}</button>
        <button type="button" className="ghost" onClick={onBack}>{t`Back`}</button>
      </div>
    </form>
  );
}

// One connected model: its status, and its actions.

function RemoveDialog({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const { models } = useRoost();
  const { connectionId, hasKey } = connection;
  return (
    <SureDialog
      title={t`Remove ${connectionName(connection)}`}
      does={t`Remove`}
      onSure={async () => {
        const done = await models.change((client) => client.removeModel({ connectionId }));
        return done.ok ? null : done.reason;
      }}
      onClose={onClose}
    >
      {hasKey && <p>{t`Its key is deleted with it. This cannot be undone.`}</p>}
      <p>{t`Its agents answer from the demo until you connect another model.`}</p>
    </SureDialog>
  );
}

function ConnectionCard({ connection }: { connection: Connection }) {
  const { models } = useRoost();
  const { connectionId, state } = connection;
  const isOfEnvironment = connectionId === 'environment';
  const [changing, setChanging] = useState(state.kind === 'fails' && state.why === 'key' && !isOfEnvironment);
  const [key, setKey] = useState('');
  const { doing: busy, failed, act } = useAction();
  const [sure, setSure] = useState(false);
  const name = connectionName(connection);

  return (
    <article className="connection stack gap-4 pad-wide ground-0" data-state={state.kind} aria-label={name}>
      <header className="cluster baseline apart gap-4 ink">
        <b>{name}</b>
        <span
          className={`text-2 ${state.kind === 'answers' ? 'good' : state.kind === 'fails' ? 'danger' : 'ink-3'}`}
          role="status"
        >
          {busy ?? stateText(connection)}
        </span>
      </header>
      <p className="connection-models break">
        <span>
          {connection.leadModel === connection.agentModel
            ? modelName(connection.agentModel, connection.models)
            : t`Lead: ${modelName(connection.leadModel, connection.models)} · agents: ${modelName(connection.agentModel, connection.models)}`}
        </span>
      </p>
      {isOfEnvironment && <p className="ink-3 text-2">{t`Set at the relay’s start. Change it there.`}</p>}
      {state.kind === 'fails' && busy === null && (
        <p className="connection-why danger text-3 break">{retold(state.message)}</p>
      )}
      {state.kind === 'answers' && state.tools === false && <p className="ink-3 text-2">{TALKS_ONLY}</p>}
      {connection.readsOnly?.map(({ model, tokens }) => (
        <p key={model} className="ink-3 text-2">
          {t`Reads only ${tokens.toLocaleString(spoken.locale)} tokens with ${modelName(model, connection.models)}, and drops the rest. Give the server a larger context (Ollama: OLLAMA_CONTEXT_LENGTH).`}
        </p>
      ))}
      {failed !== null && (
        <p className="connection-why danger text-3 break" role="alert">
          {failed}
        </p>
      )}
      {changing && (
        <form
          className="connect-form above-6 gap-5 stack at-start"
          onSubmit={(event) => {
            event.preventDefault();
            if (key.trim() === '') return;
            const next = key.trim();
            act(
              async () => {
                const done = await models.change((client) =>
                  client.changeModelKey({ connectionId, body: { key: next } }),
                );
                if (!done.ok) return done;
                setKey('');
                return setChanging(false);
              },
              t`Working…`,
            );
          }}
        >
          <KeyField label={t`Your key`} value={key} onChange={setKey} />
          <button
            type="submit"
            className="solid"
            disabled={busy !== null || key.trim() === ''}
          >{t`Change the key`}</button>
        </form>
      )}
      <div className="above-2 flex wrap gap-4">
        <button
          type="button"
          className="ghost"
          disabled={busy !== null}
          onClick={() => act(() => models.change((client) => client.tryModel({ connectionId })), t`Working…`)}
        >{t`Try it`}</button>
        {!isOfEnvironment && !changing && (connection.hasKey || connection.kind === 'claude') && (
          <button type="button" className="ghost" onClick={() => setChanging(true)}>{t`Change the key`}</button>
        )}
        {!isOfEnvironment && (
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

// Servers on the relay's machine. They are looked for when the dialog opens.

function LocalServers({ connect, busy }: { connect: Connect; busy: boolean }) {
  const query = foundServersOf(useRoost());
  const [looking, setLooking] = useState(false);
  const again = () => {
    setLooking(true);
    void query.again().finally(() => setLooking(false));
  };
  return (
    <QueryView query={query}>
      {(found) => (
        <div className="under-6 gap-4 stack at-start">
          {found.length === 0 ? (
            <p className="ink-3 text-2" role="status">
              {t`None found. Start Ollama, LM Studio, llama.cpp or vLLM on the relay’s computer.`}
            </p>
          ) : (
            <Found found={found} connect={connect} busy={busy} />
          )}
          <button type="button" className="ghost" disabled={busy || looking} onClick={again}>
            {looking ? t`Loading…` : t`Try again`}
          </button>
        </div>
      )}
    </QueryView>
  );
}

function Found({ found, connect, busy }: { found: readonly FoundServer[]; connect: Connect; busy: boolean }) {
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({});
  return (
    <ul className="connect-found stack gap-4 full no-pad" aria-label={t`Found on the relay’s machine`}>
      {found.map(({ program, address, models }) => (
        <li className="box cluster gap-4 ground-0 pad-5" key={address}>
          <b className="fixed ink">{program}</b>
          {models.length === 0 ? (
            <span className="ink-3 text-2">{t`has no model yet`}</span>
          ) : (
            <>
              <select
                className="field field-select grow"
                aria-label={t`${t`Model`}: ${program}`}
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
                    t`Asking ${program}, which may load the model first…`,
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

function ServerForm({ connect, busy, may }: { connect: Connect; busy: boolean; may: Models['may'] }) {
  const [address, setAddress] = useState('');
  const [key, setKey] = useState('');
  const [model, setModel] = useState('');
  return (
    <form
      className="connect-form above-6 gap-5 stack at-start"
      onSubmit={(event) => {
        event.preventDefault();
        const given = {
          kind: 'server',
          address: address.trim(),
          ...(key.trim() === '' ? {} : { key: key.trim() }),
          ...(model.trim() === '' ? {} : { model: model.trim() }),
        } as const;
        void connect(given, t`Connecting…`).then((ok) => ok && setKey(''));
      }}
    >
      <TextField
        label={t`Address`}
        hint={t`The base URL of an API like OpenAI’s, Anthropic’s or Google’s.`}
        type="url"
        inputMode="url"
        value={address}
        placeholder={may === 'any' ? 'http://127.0.0.1:11434' : 'https://models.example.org'}
        onText={setAddress}
      />
      <KeyField label={t`Key (optional)`} value={key} onChange={setKey} />
      <TextField label={t`Model (optional)`} value={model} onText={setModel} />
      <button type="submit" className="solid" disabled={busy || address.trim() === ''}>{t`Connect`}</button>
    </form>
  );
}

function ClaudeForm({ connect, busy }: { connect: Connect; busy: boolean }) {
  const [key, setKey] = useState('');
  return (
    <form
      className="connect-form above-6 gap-5 stack at-start"
      onSubmit={(event) => {
        event.preventDefault();
        if (key.trim() === '') return;
        void connect({ kind: 'claude', key: key.trim() }, t`Connecting…`).then((ok) => ok && setKey(''));
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
            )}. Anthropic bills this key.`}
          </>
        }
      />
      <button type="submit" className="solid" disabled={busy || key.trim() === ''}>{t`Connect`}</button>
    </form>
  );
}

/** The outcome, and the next step. */
function Outcome({
  trying,
  connect,
  onBack,
  onClose,
}: {
  trying: Trying;
  connect: Connect;
  onBack: () => void;
  onClose: () => void;
}) {
  const running = useLive((state) => state.live !== null);
  switch (trying.kind) {
    case 'idle':
      return null;
    case 'trying':
      return (
        <p className="connect-trying gap-4 line ink" role="status">
          <i className="rounded" aria-hidden="true" />
          {trying.what}
        </p>
      );
    case 'failed':
      return (
        <div className="wrong-note" role="alert">
          <p>{trying.text}</p>
        </div>
      );
    case 'choose':
      return <Choice given={trying.given} models={trying.models} connect={connect} onBack={onBack} />;
    case 'done': {
      const { connection } = trying;
      const { state } = connection;
      const ms = state.kind === 'answers' ? state.ms : null;
      return (
        <div className="connect-done pad-6 box stack at-start gap-5 ink" role="status">
          <p>
            <b>{t`${connectionName(connection)} answers${ms === null ? '' : `, ${secondsText(ms)}`}.`}</b>{' '}
            {t`Lead: ${modelName(connection.leadModel, connection.models)} · agents: ${modelName(connection.agentModel, connection.models)}`}
          </p>
          {state.kind === 'answers' && state.tools === false && <p>{TALKS_ONLY}</p>}
          {running && <p>{t`It answers from your next message on.`}</p>}
          <button type="button" className="solid" ref={takeFocus} onClick={onClose}>{t`Done`}</button>
        </div>
      );
    }
    default:
      return trying satisfies never;
  }
}

/** Whom this ACP agent drives from now on. */
function ForWhom({ programId, name }: { programId: string; name: string }) {
  const roost = useRoost();
  const told = useTold();
  const id = useId();
  const roster = useHousehold((state) => state.roster);
  const agents = [...roster.byId.values()].filter(({ retired }) => !retired);
  const drive = (agentId: AgentId) => {
    const limits = wakeQueries(roost).limits(agentId);
    let before: Coordination = {};
    const who = agents.find((agent) => agent.agentId === agentId);
    void told({
      label: who ? t`${displayName(who, roster)}: ${name}` : name,
      save: () =>
        changeCoordination(limits, (own) => {
          before = own;
          return { ...own, mind: programId };
        }),
      undo: () => changeCoordination(limits, () => before),
    });
  };
  return (
    <p className="setting-row">
      <label htmlFor={id}>{t`${<b>{name}</b>} is connected. For whom?`}</label>{' '}
      <select
        id={id}
        className="field field-select"
        value=""
        onChange={({ target }) => target.value !== '' && drive(target.value)}
      >
        <option value="">{t`Choose an agent`}</option>
        <AgentOptions agents={agents} />
      </select>
    </p>
  );
}

/** The ACP agents of the relay's machine. They think for single agents. */
function AcpAgents() {
  const programs = programsOf(useRoost());
  const { doing: busy, failed, act } = useAction();
  const add = ({ name, command, args }: Programs['found'][number]) =>
    act(() => programs.add({ name, command, args, env: {}, throughRelay: false }), command);
  return (
    <QueryView query={programs.list}>
      {({ programs: connected, found, allowed, why }) => (
        <div className="under-6 gap-4 stack at-start">
          {connected.map(({ programId, name }) => (
            <ForWhom key={programId} programId={programId} name={name} />
          ))}
          {allowed &&
            found.map((program) => (
              <button
                key={program.command}
                type="button"
                className="solid"
                disabled={busy !== null}
                onClick={() => add(program)}
              >
                {busy === program.command ? t`Working…` : t`Connect ${program.name}`}
              </button>
            ))}
          {allowed && found.length === 0 && connected.length === 0 && (
            <p className="ink-3 text-2">{t`None found. Install one on the relay’s machine and sign in, or give a command.`}</p>
          )}
          <WrongNote text={failed} />
          {allowed ? <Link href={PATHS.settings('programs')}>{t`ACP agents`}</Link> : <ProgramsOff why={why} />}
        </div>
      )}
    </QueryView>
  );
}

type Door = 'claude' | 'local' | 'acp' | 'server';

/** What was found on the relay's computer, in a few words. */
function foundText(search: QueryState<readonly FoundServer[]>): string {
  if (search.kind === 'loading') return t`Loading…`;
  if (search.kind === 'failed') return '';
  return search.value.length === 0 ? t`nothing is running` : search.value.map(({ program }) => program).join(', ');
}

interface DoorsProps {
  readonly connect: Connect;
  readonly busy: boolean;
}

/** Where pages may not connect servers of the relay's computer, none is looked for. */
function DoorsWithLocal(props: DoorsProps) {
  const search = useQuery(foundServersOf(useRoost()));
  return <Doors {...props} may="any" search={search} />;
}

function Doors({
  may,
  search,
  connect,
  busy,
}: DoorsProps & { may: Models['may']; search: QueryState<readonly FoundServer[]> | null }) {
  const [chosen, setChosen] = useState<Door | null>(null);
  const isFound = search?.kind === 'ready' && search.value.length > 0;
  const door = chosen ?? (isFound ? 'local' : 'claude');
  const name = useId();
  const doors: readonly { readonly door: Door; readonly title: string; readonly about: string }[] = [
    { door: 'claude', title: 'Claude', about: t`with an Anthropic key` },
    ...(search ? [{ door: 'local', title: t`A local server`, about: foundText(search) } as const] : []),
    { door: 'acp', title: 'Claude Code, Codex, Gemini', about: t`with their own subscription` },
    { door: 'server', title: t`Another server or key`, about: t`OpenAI and compatible` },
  ];
  return (
    <>
      <div className="choice-cards halves under-6" role="radiogroup" aria-label={t`What to connect`}>
        {doors.map((each) => (
          <label key={each.door} className="choice-card" data-checked={door === each.door}>
            <input type="radio" name={name} checked={door === each.door} onChange={() => setChosen(each.door)} />
            <b>{each.title}</b> <small>{each.about}</small>
          </label>
        ))}
      </div>
      {door === 'claude' && <ClaudeForm connect={connect} busy={busy} />}
      {door === 'local' && <LocalServers connect={connect} busy={busy} />}
      {door === 'acp' && <AcpAgents />}
      {door === 'server' && <ServerForm connect={connect} busy={busy} may={may} />}
      {door !== 'acp' && (
        <p className="ink-3 text-2 above-5">
          {t`We test it with one short request. A key is encrypted on the relay and never shown again.`}
        </p>
      )}
    </>
  );
}

function Ways({ all, onClose }: { all: Models; onClose: () => void }) {
  const { trying, connect, back } = useConnect();
  const { connections, may } = all;
  const outcome = <Outcome trying={trying} connect={connect} onBack={back} onClose={onClose} />;
  if (trying.kind === 'choose' || trying.kind === 'done')
    return <div className="connect stack gap-6 ink-2 text-3">{outcome}</div>;
  return (
    <div className="connect stack gap-6 ink-2 text-3">
      {connections.length === 0 ? (
        <p>{t`You’re in the demo. Its answers are scripted.`}</p>
      ) : (
        <ul className="connections stack gap-4 full no-pad" aria-label={asBeginning(t`connected`)}>
          {connections.map((connection) => (
            <li key={connection.connectionId}>
              <ConnectionCard connection={connection} />
            </li>
          ))}
        </ul>
      )}
      {outcome}
      {may === 'none' ? (
        <p className="ink-3 text-2">{t`This relay does not let pages connect models.`}</p>
      ) : (
        <section aria-label={connections.length === 0 ? t`Connect a model` : t`Connect another`}>
          {connections.length > 0 && <h3 className="ink under-4">{t`Connect another`}</h3>}
          {may === 'any' ? (
            <DoorsWithLocal connect={connect} busy={trying.kind === 'trying'} />
          ) : (
            <Doors may={may} search={null} connect={connect} busy={trying.kind === 'trying'} />
          )}
        </section>
      )}
    </div>
  );
}

export default function ConnectDialog({ onClose }: { onClose: () => void }) {
  const { models } = useRoost();
  return (
    <Dialog title={t`Connect a model`} onClose={onClose}>
      <QueryView query={models.query}>{(all) => <Ways all={all} onClose={onClose} />}</QueryView>
    </Dialog>
  );
}

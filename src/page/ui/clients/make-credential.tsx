import { useId, useState, type FormEvent } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import { USUAL_SCOPES, type Scope } from '../../../shared/protocol/scopes.ts';
import { clientsOf } from '../../state/clients.ts';
import { useHousehold, useRoost } from '../context.tsx';
import { useQuery } from '../use-query.ts';
import type { Teammate } from '../use-teammates.ts';
import { copyText } from '../parts/copy.ts';
import { Dialog } from '../parts/dialog.tsx';
import { CopyIcon } from '../parts/icons.tsx';
import { ScopeTicks } from './scopes.tsx';

/**
 * What another client is told, ready to be pasted. `origin`: where this page and its relay are,
 * without a slash at the end.
 */

interface ToPaste {
  readonly key: string;
  readonly title: string;
  readonly about: string;
  readonly text: string;
}

/** As a shell reads it. */
const quoted = (word: string) => (/^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`);

/**
 * `model`: the name by which the agent's server knows its model; null: programs made for Claude
 * know it by themselves.
 */
function settingsToPaste(origin: string, secret: string, model: string | null): readonly ToPaste[] {
  return [
    {
      key: 'claude-code',
      title: t`Claude Code: Roost’s tools`,
      about: t`Once, in a terminal. Inbox, threads, waking and the rest are then tools of that Claude Code.`,
      text: `claude mcp add --transport http roost ${origin}/mcp --header "Authorization: Bearer ${secret}"`,
    },
    {
      key: 'mcp',
      title: t`Any other program that speaks MCP`,
      about: t`Streamable HTTP. Where a program takes its settings as JSON, this is the part for it.`,
      text: JSON.stringify(
        {
          mcpServers: {
            roost: { type: 'http', url: `${origin}/mcp`, headers: { Authorization: `Bearer ${secret}` } },
          },
        },
        null,
        2,
      ),
    },
    {
      key: 'proxy',
      title: t`Claude Code, or any program made for Anthropic’s API: the model through Roost`,
      about: t`Roost puts the real key in, counts what it costs, and holds requests while the agent is set to sleep. The key here may be anything.`,
      text: [
        `export ANTHROPIC_BASE_URL=${origin}/llm/${secret}`,
        'export ANTHROPIC_API_KEY=roost',
        ...(model === null ? [] : [`export ANTHROPIC_MODEL=${quoted(model)}`]),
      ].join('\n'),
    },
  ];
}

/** For an application, which is no agent. */
function callsToPaste(origin: string, secret: string): readonly ToPaste[] {
  return [
    {
      key: 'sleep',
      title: t`Set an agent to sleep, or wake it`,
      about: t`NAME is an agent’s name or id; true lets it sleep, false wakes it, within its limits. GET tells how it is.`,
      text: `curl -X PUT ${origin}/api/v1/sessions/current/NAME/sleeping -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '{"sleeping": true}'`,
    },
  ];
}

function Copyable({ text, what }: { text: string; what: string }) {
  const state = useRoost();
  return (
    <div className="command">
      {/* Read by keyboard too where it scrolls. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} aria-label={what}>
        {text}
      </pre>
      <button
        type="button"
        className="icon-button"
        aria-label={t`Copy: ${what}`}
        title={t`Copy`}
        onClick={() => void copyText(state, text, what)}
      >
        <CopyIcon />
      </button>
    </div>
  );
}

/**
 * Shows a secret, this once, and what to do with it. It goes by its button only: a stray press
 * beside it must not lose it.
 */
function SecretDialog({
  name,
  label,
  secret,
  model,
  onClose,
}: {
  name: string | null;
  label: string;
  secret: string;
  model: string | null;
  onClose: () => void;
}) {
  const [asked, setAsked] = useState(false);
  return (
    <Dialog
      title={name === null ? t`A credential for an application` : t`A credential for ${name}`}
      shape="wide"
      onClose={() => setAsked(true)}
    >
      <div className="secret">
        <p>
          {t`${<strong>{t`This is shown once.`}</strong>} Roost keeps only a hash of it. Whoever has it`}{' '}
          {name === null ? t`may do what you ticked` : t`acts as ${name}`}
          {t`${label === '' ? '' : ` (${label})`}; keep it as you keep a password.`}
        </p>
        <Copyable text={secret} what={t`The secret`} />
        {(name === null ? callsToPaste(location.origin, secret) : settingsToPaste(location.origin, secret, model)).map(
          ({ key, title, about, text }) => (
            <section key={key} aria-label={title}>
              <h3>{title}</h3>
              <p>{about}</p>
              <Copyable text={text} what={title} />
            </section>
          ),
        )}
        {asked && (
          <p
            className="setting-hint"
            role="status"
          >{t`After this it cannot be shown again; lost, it is revoked and another is made.`}</p>
        )}
        <div className="dialog-ways">
          <button type="button" className="solid" onClick={onClose}>{t`I have copied what I need`}</button>
        </div>
      </div>
    </Dialog>
  );
}

/**
 * The model of an agent, where its server is not Anthropic's: what it calls its models, no program
 * made for Claude knows.
 */
function useServersModel(): (agentId: AgentId) => string | null {
  const models = useQuery(useRoost().models.query);
  const { leadModel, agentModel } = useHousehold((state) => state.settings);
  const roster = useHousehold((state) => state.roster);
  const first = models.kind === 'ready' ? models.value.connections[0] : undefined;
  return (agentId) => {
    if (first?.kind !== 'server') return null;
    if (agentId === LEAD_ID) return leadModel || first.leadModel;
    const own = [...roster.seats.values(), ...roster.waiting].find((agent) => agent.agentId === agentId)?.model ?? '';
    return own || agentModel || first.agentModel;
  };
}

/** In the list of agents: no id is so. */
const APPLICATION = t`an application`;

/**
 * Makes a credential for one of these; one alone needs no choosing. `applications`: or for a
 * program that is no agent.
 */
export function MakeCredential({
  among,
  applications = false,
}: {
  among: readonly Teammate[];
  applications?: boolean;
}) {
  const clients = clientsOf(useRoost());
  const modelOf = useServersModel();
  const id = useId();
  const [chosen, setChosen] = useState<string | null>(null);
  const [label, setLabel] = useState('');
  const [readsSoul, setReadsSoul] = useState(false);
  const [scopes, setScopes] = useState<readonly Scope[]>(USUAL_SCOPES);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const [made, setMade] = useState<{
    readonly name: string | null;
    readonly label: string;
    readonly secret: string;
    readonly model: string | null;
  } | null>(null);
  const isApplication = applications && chosen === APPLICATION;
  const who = among.find(({ agentId }) => agentId === chosen) ?? among[0];
  if (!who)
    return (
      <p className="setting-hint">{t`Nobody is born yet. A program joins as an agent that has a name: SUMMON first.`}</p>
    );
  const make = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    const may = isApplication ? { scopes: [...scopes] } : { readsSoul };
    const done = await clients.make(isApplication ? null : who.agentId, label.trim(), may);
    setBusy(false);
    setFailed(done.ok ? null : done.reason);
    if (!done.ok) return;
    setMade({
      name: isApplication ? null : who.name,
      label: label.trim(),
      secret: done.secret,
      model: modelOf(who.agentId),
    });
    setLabel('');
    setReadsSoul(false);
    setScopes(USUAL_SCOPES);
  };
  return (
    <form className="make-credential" onSubmit={(event) => void make(event)}>
      {(among.length > 1 || applications) && (
        <label>
          <span>{t`For`}</span>
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
            {applications && <option value={APPLICATION}>{t`An application`}</option>}
          </select>
        </label>
      )}
      <label htmlFor={id} className="make-label">
        <span>{t`Where it is used (for you to tell it apart)`}</span>
        <input
          id={id}
          className="field"
          dir="auto"
          maxLength={LIMITS.credentialLabel}
          autoComplete="off"
          placeholder={t`Claude Code on my laptop`}
          value={label}
          onChange={(event) => setLabel(event.target.value)}
        />
      </label>
      {isApplication && <ScopeTicks chosen={scopes} onChange={setScopes} />}
      {!isApplication && (
        <label className="tick-line">
          <input type="checkbox" checked={readsSoul} onChange={(event) => setReadsSoul(event.target.checked)} />
          {t`May read its agent’s soul and last conversation`}
        </label>
      )}
      <button type="submit" className="ghost ghost-dawn" disabled={busy}>
        {busy ? t`Making…` : t`Make a credential`}
      </button>
      {failed !== null && (
        <p className="wrong-note" role="alert">
          {t`It could not be made: ${failed}`}
        </p>
      )}
      {made && <SecretDialog {...made} onClose={() => setMade(null)} />}
    </form>
  );
}

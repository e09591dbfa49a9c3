/** Settings section: credentials of API clients, and settings to paste into them. */
import { useId, useState } from 'react';
import { type Scope, SCOPES, USUAL_SCOPES } from '../../../shared/protocol/scopes.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Credential } from '../../../shared/protocol/team.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import { t } from '../../language/t.ts';
import { clientsOf } from '../../state/clients.ts';
import { useHousehold, useRoost } from '../context.tsx';
import { Dialog, SureDialog } from '../design/dialog.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { clockTime, dayWithin, fullTime } from '../text/time.ts';
import { useNow, useQuery } from '../hooks.ts';
import { type Teammate, type Teammates, useTeammates } from '../use-somebody.ts';
import { CopyableText } from '../parts/copyable-text.tsx';
import './clients.css';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';
import { asBeginning } from '../text/sizes.ts';

/** What each scope allows an application, as shown to the person. */
function scopeText(scope: Scope): string {
  switch (scope) {
    case 'team':
      return t`See the names and seats of your agents`;
    case 'read':
      return t`See limits, routines, the timeline, and runs with their last words`;
    case 'sleep':
      return t`Put agents of the running session to sleep`;
    case 'wake':
      return t`Wake agents, within their limits. Their answers cost money`;
    case 'threads':
      return t`Open its own threads, and read and write in them. Mentioned agents may wake, within their limits`;
    case 'sessions':
      return t`Start and end a session without you. For that the relay stores souls and last conversations, encrypted`;
    case 'schedules':
      return t`Set and start routines and reminders, which cost money without you. Never scripts`;
    case 'limits':
      return t`Change when agents may wake. Never what they may do, or their budgets`;
  }
}

function ScopeTicks({ chosen, onChange }: { chosen: readonly Scope[]; onChange: (scopes: readonly Scope[]) => void }) {
  return (
    <fieldset className="scopes full stack gap-3">
      <legend className="ink-2 under-3 no-pad">{t`It may`}</legend>
      {SCOPES.map((scope) => (
        <label key={scope} className="tick-line">
          <input
            type="checkbox"
            checked={chosen.includes(scope)}
            onChange={(event) =>
              onChange(SCOPES.filter((each) => (each === scope ? event.target.checked : chosen.includes(each))))
            }
          />
          {scopeText(scope)}
        </label>
      ))}
    </fieldset>
  );
}

/** The agent or application that it authenticates. */
const bearerOf = ({ agentId }: Credential, team: Teammates) =>
  agentId === null ? t`an application` : team.find(agentId).name;

const labelOf = ({ label }: Credential) => (label === '' ? t`Unnamed` : label);

function RevokeDialog({ credential, name, onClose }: { credential: Credential; name: string; onClose: () => void }) {
  const state = useRoost();
  const clients = clientsOf(state);
  return (
    <SureDialog
      title={t`Revoke ${`${labelOf(credential)}, ${credential.hint}`}`}
      does={t`Revoke`}
      onSure={async () => {
        const done = await clients.revoke(credential.credentialId);
        if (!done.ok) return done.reason;
        state.notices.info(t`${labelOf(credential)} revoked`);
        return null;
      }}
      onClose={onClose}
    >
      <p className="secret stack gap-5 ink-2 text-3">{t`The program that uses “${labelOf(credential)}” (…${credential.hint}) loses its access as ${name} now. This cannot be undone.`}</p>
    </SureDialog>
  );
}

function Line({
  credential,
  name,
  now,
  onRevoke,
}: {
  credential: Credential;
  name: string | null;
  now: number;
  onRevoke: () => void;
}) {
  const { hint, readsSoul, scopes, madeAt, usedAt, revokedAt } = credential;
  return (
    <li className="gap-4 pad box cluster text-3">
      <div className="fill break">
        <b className={revokedAt === null ? undefined : 'ink-3 regular'} dir="auto">
          {labelOf(credential)}
        </b>
        <small className="block">
          {name !== null && <span>{`${asBeginning(name)} · `}</span>}
          <code>…{hint}</code>
          <span>
            {[
              '',
              t`made ${dayWithin(madeAt, now)}`,
              revokedAt !== null
                ? t`revoked ${fullTime(revokedAt)}`
                : usedAt === null
                  ? t`never used`
                  : t`last used ${dayWithin(usedAt, now)} ${clockTime(usedAt)}`,
              ...(readsSoul ? [t`reads its agent’s soul and last conversation`] : []),
            ].join(' · ')}
          </span>
          {scopes.map((scope) => (
            <span key={scope} className="block">
              {scopeText(scope)}
            </span>
          ))}
        </small>
      </div>
      {revokedAt === null && (
        <button
          type="button"
          className="ghost ghost-danger"
          aria-label={t`Revoke ${`${labelOf(credential)}, ${hint}`}`}
          onClick={onRevoke}
        >{t`Revoke`}</button>
      )}
    </li>
  );
}

function Lines({ credentials, of, team }: { credentials: readonly Credential[]; of: string | null; team: Teammates }) {
  const now = useNow();
  const [revoking, setRevoking] = useState<Credential | null>(null);
  const mine = credentials.filter(({ agentId }) => of === null || agentId === of);
  const good = mine.filter(({ revokedAt }) => revokedAt === null);
  const revoked = mine.filter(({ revokedAt }) => revokedAt !== null);
  const lines = (some: readonly Credential[]) => (
    <ul className="credentials stack gap-4">
      {some.map((credential) => (
        <Line
          key={credential.credentialId}
          credential={credential}
          name={of === null ? bearerOf(credential, team) : null}
          now={now}
          onRevoke={() => setRevoking(credential)}
        />
      ))}
    </ul>
  );
  return (
    <>
      {good.length === 0 ? <p className="setting-hint">{asBeginning(t`none`)}</p> : lines(good)}
      {revoked.length > 0 && (
        <details>
          <summary className="ink-3 text-3 pad-4-0">{t`${revoked.length} revoked`}</summary>
          {lines(revoked)}
        </details>
      )}
      {revoking && (
        <RevokeDialog credential={revoking} name={bearerOf(revoking, team)} onClose={() => setRevoking(null)} />
      )}
    </>
  );
}

/** The credentials; `agentId`: only this agent's. Revoked ones are collapsed. */
export function CredentialList({ agentId, team }: { agentId: AgentId | null; team: Teammates }) {
  return (
    <QueryView query={clientsOf(useRoost()).list}>
      {(credentials) => <Lines credentials={credentials} of={agentId} team={team} />}
    </QueryView>
  );
}

/** Settings for an API client, ready to be pasted. */
interface ToPaste {
  readonly key: string;
  readonly title: string;
  readonly about?: string;
  readonly text: string;
}

/** Quoted for a shell. */
const quoted = (word: string) => (/^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`);

/**
 * `model`: the model's name at the agent's server; null: programs made for Claude know it by
 * themselves.
 */
function settingsToPaste(origin: string, secret: string, model: string | null): readonly ToPaste[] {
  return [
    {
      key: 'claude-code',
      title: t`Claude Code: Roost’s tools`,
      text: `claude mcp add --transport http roost ${origin}/mcp --header "Authorization: Bearer ${secret}"`,
    },
    {
      key: 'mcp',
      title: t`Any other MCP client`,
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
      title: t`Programs for Anthropic’s API: the model through Roost`,
      about: t`Roost adds the real key and counts the cost. Requests wait while the agent sleeps.`,
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
      title: t`Let an agent sleep, or wake it`,
      about: t`NAME is an agent’s name. true: sleep; false: wake, within its limits.`,
      text: `curl -X PUT ${origin}/api/v1/sessions/current/NAME/sleeping -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '{"sleeping": true}'`,
    },
  ];
}

/**
 * Shows a secret, once, and what to do with it. Only its button closes it: an accidental press
 * beside it must not lose the secret.
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
  const [wasAsked, setWasAsked] = useState(false);
  return (
    <Dialog title={t`A credential for ${name ?? t`an application`}`} shape="wide" onClose={() => setWasAsked(true)}>
      <div className="secret stack gap-5 ink-2 text-3">
        <p>
          <span>{t`${<strong className="warn">{t`This is shown once.`}</strong>} Keep it like a password.`}</span>
          {label !== '' && <span>{` (${label})`}</span>}
        </p>
        <CopyableText text={secret} what={t`The secret`} />
        {(name === null ? callsToPaste(location.origin, secret) : settingsToPaste(location.origin, secret, model)).map(
          ({ key, title, about, text }) => (
            <section className="stack gap-3" key={key} aria-label={title}>
              <h3 className="ink above-3">{title}</h3>
              {about !== undefined && <p>{about}</p>}
              <CopyableText text={text} what={title} />
            </section>
          ),
        )}
        {wasAsked && <p className="setting-hint" role="status">{t`This is shown once.`}</p>}
        <div className="dialog-ways">
          <button type="button" className="solid" onClick={onClose}>{t`I have copied what I need`}</button>
        </div>
      </div>
    </Dialog>
  );
}

/**
 * The agent's model if its server is not Anthropic's. No program made for Claude knows its name.
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

/** Entry in the list of agents. No id has this form. */
const APPLICATION = t`an application`;

/**
 * Creates a credential for one of these agents; a single one needs no choice. `applications`: or
 * for a program that is no agent.
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
  const { busy, failed, act } = useAction();
  const [made, setMade] = useState<{
    readonly name: string | null;
    readonly label: string;
    readonly secret: string;
    readonly model: string | null;
  } | null>(null);
  const isApplication = applications && chosen === APPLICATION;
  const chosenAgent = among.find(({ agentId }) => agentId === chosen) ?? among[0];
  if (!chosenAgent) return <p className="setting-hint">{t`There is no agent yet. SUMMON first.`}</p>;
  const make = async () => {
    const may = isApplication ? { scopes: [...scopes] } : { readsSoul };
    const done = await clients.make(isApplication ? null : chosenAgent.agentId, label.trim(), may);
    if (!done.ok) return t`Could not do this. ${done.reason}`;
    setMade({
      name: isApplication ? null : chosenAgent.name,
      label: label.trim(),
      secret: done.secret,
      model: modelOf(chosenAgent.agentId),
    });
    setLabel('');
    setReadsSoul(false);
    return setScopes(USUAL_SCOPES);
  };
  return (
    <form
      className="make-credential flex wrap gap-5 text-3 at-bottom"
      onSubmit={(event) => {
        event.preventDefault();
        act(make);
      }}
    >
      {(among.length > 1 || applications) && (
        <label>
          <span className="block under-3 ink-2">{t`For`}</span>
          <select
            className="field field-select min-42 pad-3-5"
            value={isApplication ? APPLICATION : chosenAgent.agentId}
            onChange={(event) => setChosen(event.target.value)}
          >
            {among.map(({ agentId, name }) => (
              <option key={agentId} value={agentId}>
                {name}
              </option>
            ))}
            {applications && <option value={APPLICATION}>{asBeginning(t`an application`)}</option>}
          </select>
        </label>
      )}
      <label htmlFor={id} className="make-label grow">
        <span className="block under-3 ink-2">{t`Name`}</span>
        <input
          id={id}
          className="field min-42 pad-3-5"
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
        <label className="tick-line full">
          <input type="checkbox" checked={readsSoul} onChange={(event) => setReadsSoul(event.target.checked)} />
          {t`May read and change its agent’s soul, and read its last conversation`}
        </label>
      )}
      <button type="submit" className="ghost ghost-dawn min-42" disabled={busy}>
        {busy ? t`Working…` : t`Create a credential`}
      </button>
      <WrongNote text={failed} />
      {made && <SecretDialog {...made} onClose={() => setMade(null)} />}
    </form>
  );
}

/**
 * Connects API clients: programs of the person, on this machine or another, that act as an agent.
 */
export function ClientsSection() {
  const team = useTeammates();
  const here = team.all.filter(({ retired }) => !retired);
  // Most programs act as an agent, so the lead is listed after the others.
  const isAgent = ({ agentId }: Teammate) => agentId !== LEAD_ID;
  return (
    <div className="clients">
      <p className="settings-note under-6 ink-2 text-3">{t`A program such as Claude Code can act as one of your agents. Create a credential for each program.`}</p>
      <h3>{t`It may`}</h3>
      <ul className="bulleted stack gap-2 ink-2 text-3">
        <li>{t`Read its agent’s inbox, threads and limits, and the team’s names.`}</li>
        <li>{t`Write to other agents and wake them, within its agent’s limits.`}</li>
        <li>{t`Use your model, which costs money, within its daily budget.`}</li>
        <li>{t`Sleep and wake. Other agents only where you allow it.`}</li>
      </ul>
      <p className="setting-hint">{t`It reads a soul only if you tick that, in a session in which you woke the agent. The program and its model get what it reads.`}</p>
      <p className="setting-hint">{t`It cannot read other souls or conversations, see your model’s key, change limits or budgets, or create credentials.`}</p>
      <h3>{t`Create a credential`}</h3>
      <MakeCredential among={[...here.filter(isAgent), ...here.filter((one) => !isAgent(one))]} applications />
      <h3>{t`Credentials`}</h3>
      <CredentialList agentId={null} team={team} />
    </div>
  );
}

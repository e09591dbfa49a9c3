import { useState, lazy, Suspense } from 'react';
import { Link } from 'wouter';
import { displayName, type Agent } from '../../domain/agent.ts';
import type { AgentId, SessionId } from '../../domain/ids.ts';
import type { AgentChangeDoc, ForgetDoc } from '../../protocol/documents.ts';
import { parseStamp } from '../../domain/stamp.ts';
import { bytesOf } from '../../state/wake-material.ts';
import { useHousehold, useRoost } from '../context.tsx';
import { Words } from '../chat/words.tsx';
import { Inbox } from '../inbox/inbox.tsx';
import { useUnreadMessages } from '../inbox/use-unread-messages.ts';
import { copyText } from '../parts/copy.ts';
import { Diff } from '../parts/diff.tsx';
import { CopyIcon } from '../parts/icons.tsx';
import { optional } from '../parts/optional.tsx';
import { PATHS } from '../routes.ts';
import { bytes } from '../text/sizes.ts';
import { fullTime } from '../text/time.ts';
import { useSomebody } from '../use-somebody.ts';
import { Budget } from '../wakes/budget.tsx';
import './agent-page.css';
import { LEAD_ID } from '../../domain/seat.ts';
import { exportAgentFile } from '../copies/later.ts';

const ForgetDialog = lazy(() => import('./forget-dialog.tsx'));

/** Taking a copy of an agent, and letting go: at the end of its page. */
function Keeping({ agentId, name }: { agentId: AgentId; name: string }) {
  const state = useRoost();
  const [asking, setAsking] = useState<ForgetDoc['target']['kind'] | null>(null);
  return (
    <div className="keeping">
      <h3>Copies, and letting go</h3>
      <button type="button" className="ghost" onClick={() => void exportAgentFile(state, agentId, name)}>
        Export {name} as a zip
      </button>
      <button type="button" className="ghost" onClick={() => setAsking('conversation')}>
        Forget this conversation…
      </button>
      {agentId !== LEAD_ID && (
        <button type="button" className="ghost ghost-danger" onClick={() => setAsking('agent')}>
          Forget {name}…
        </button>
      )}
      {asking && (
        <Suspense fallback={null}>
          <ForgetDialog agentId={agentId} kind={asking} onClose={() => setAsking(null)} />
        </Suspense>
      )}
    </div>
  );
}

const Elsewhere = optional(() => import('./elsewhere.tsx'));

/** Characters from which a soul is folded at first, so that what stands below it is found. */
const LONG_SOUL = 900;

interface Kept {
  readonly key: string;
  readonly time: number;
  readonly text: string;
}

const timeOf = (change: AgentChangeDoc) => parseStamp(change.at)?.time ?? 0;

/** Souls, the first one and those written since, newest first. */
function soulsOf(first: { text: string; time: number } | null, changes: readonly AgentChangeDoc[]): Kept[] {
  const later = changes.flatMap((doc) =>
    doc.change.kind === 'soul' ? [{ key: doc._id, time: timeOf(doc), text: doc.change.individuationArtifact }] : [],
  );
  return [...later.reverse(), ...(first && first.text !== '' ? [{ key: 'first', ...first }] : [])];
}

function namesOf(birth: { text: string; time: number } | null, changes: readonly AgentChangeDoc[]): Kept[] {
  const later = changes.flatMap((doc) =>
    doc.change.kind === 'rename' ? [{ key: doc._id, time: timeOf(doc), text: doc.change.name }] : [],
  );
  const all = [...(birth ? [{ key: 'first', ...birth }] : []), ...later];
  return all.filter((item, i) => item.text !== all[i - 1]?.text);
}

function Soul({ text, heading }: { text: string; heading: string }) {
  const state = useRoost();
  const [whole, setWhole] = useState(false);
  const long = text.length > LONG_SOUL;
  return (
    <div className="soul-block">
      <h3>
        {heading}
        <button
          type="button"
          className="icon-button"
          aria-label="Copy soul"
          title="Copy"
          onClick={() => void copyText(state, text, 'Soul')}
        >
          <CopyIcon />
        </button>
      </h3>
      <blockquote className="soul" data-folded={long && !whole}>
        <Words text={text} />
      </blockquote>
      {long && (
        <button type="button" className="link-button soul-fold" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? 'Show less of the soul' : 'Show the whole soul'}
        </button>
      )}
    </div>
  );
}

function Facts({
  agent,
  bornSessionId,
  names,
}: {
  agent: Agent;
  bornSessionId: SessionId | null;
  names: readonly Kept[];
}) {
  const roster = useHousehold((state) => state.roster);
  return (
    <div>
      <h3>About</h3>
      <dl className="facts">
        <dt>Name</dt>
        <dd dir="auto">{displayName(agent, roster)}</dd>
        <dt>Colour</dt>
        <dd>
          <i className="swatch" aria-hidden="true" />
          {agent.colorName}
        </dd>
        {agent.position !== null && (
          <>
            <dt>Seat</dt>
            <dd>{agent.position + 1}</dd>
          </>
        )}
        <dt>Born</dt>
        <dd>{fullTime(agent.bornAt)}</dd>
        <dt>Soul</dt>
        <dd>{bytes(bytesOf(agent.soul))}</dd>
      </dl>
      <details className="earlier-soul">
        <summary>Advanced</summary>
        <dl className="facts">
          <dt>Id</dt>
          <dd>
            <code>{agent.agentId}</code>
          </dd>
          {bornSessionId && (
            <>
              <dt>Born in session</dt>
              <dd>
                <code>{bornSessionId}</code>
              </dd>
            </>
          )}
        </dl>
      </details>
      {names.length > 1 && (
        <>
          <h3>Names</h3>
          <ol className="name-history">
            {names.map((name) => (
              <li key={name.key}>
                <span dir="auto">{name.text}</span> <time>{fullTime(name.time)}</time>
              </li>
            ))}
          </ol>
        </>
      )}
    </div>
  );
}

/** Messages that stand on the agent's page. */
const NEWEST = 2;

/** Its inbox, and what is left today of what it may be woken for. */
function Reached({ agentId, name, retired }: { agentId: AgentId; name: string; retired: boolean }) {
  const unread = useUnreadMessages(agentId);
  return (
    <>
      <section aria-label="Inbox">
        <h3>
          Inbox
          {unread !== null && unread > 0 && <span className="inbox-count">{unread} unread</span>}
        </h3>
        <Inbox agentId={agentId} name={name} first={NEWEST} />
        <p className="budget-links">
          <Link href={PATHS.inbox(agentId)}>The whole inbox</Link>
        </p>
      </section>
      {!retired && (
        <section aria-label="Wakes">
          <h3>Wakes</h3>
          <Budget agentId={agentId}>
            <Link href={PATHS.wakes(agentId)}>Every wake</Link>
          </Budget>
        </section>
      )}
    </>
  );
}

/** An agent's own page: the soul, the inbox, wakes, earlier souls, names, and when it was born. */
export default function AgentPage({ agentId }: { agentId: AgentId }) {
  const agent = useHousehold((state) => state.roster.byId.get(agentId));
  const identities = useHousehold((state) => state.identities);
  const changes = useHousehold((state) => state.changes);
  const speaker = useSomebody(agentId);
  if (speaker.kind === 'nobody') return null;
  if (!agent)
    return (
      <div className="agent-page">
        <h3>Soul</h3>
        <p className="quiet">The first words are being written now. When a name is found in them, they are the soul.</p>
      </div>
    );
  const identity =
    [...identities.values()].filter((doc) => doc.agentId === agentId).sort((a, b) => a.bornAt - b.bornAt)[0] ?? null;
  const own = [...changes.values()].filter((doc) => doc.agentId === agentId).sort((a, b) => (a.at < b.at ? -1 : 1));
  const [soul, ...earlier] = soulsOf(identity && { text: identity.individuationArtifact, time: identity.bornAt }, own);
  const names = namesOf(identity && { text: identity.name, time: identity.bornAt }, own);
  return (
    <div key={agentId} className="agent-page tint" style={{ '--c': agent.color }}>
      {soul ? (
        <Soul text={soul.text} heading="Soul" />
      ) : (
        <div>
          <h3>Soul</h3>
          <p className="quiet">{agent.name} has not written one yet. It comes in a quiet moment of a session.</p>
        </div>
      )}
      <Reached agentId={agentId} name={speaker.name} retired={agent.retired} />
      <Facts agent={agent} bornSessionId={identity?.bornSessionId ?? null} names={names} />
      {earlier.length > 0 && (
        <div>
          <h3>Earlier souls</h3>
          {earlier.map((item, i) => (
            <details key={item.key} className="earlier-soul">
              <summary>{item.key === 'first' ? `First words · ${fullTime(item.time)}` : fullTime(item.time)}</summary>
              <blockquote className="soul">
                <Words text={item.text} />
              </blockquote>
              <h4>What came after it</h4>
              <Diff before={item.text} after={(earlier[i - 1] ?? soul)?.text ?? ''} />
            </details>
          ))}
        </div>
      )}
      <Elsewhere agentId={agentId} name={speaker.name} retired={agent.retired} />
      <Keeping agentId={agentId} name={speaker.name} />
    </div>
  );
}

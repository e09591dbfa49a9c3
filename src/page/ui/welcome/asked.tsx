/**
 * The page of a browser without a household: it can begin one, join one from another device, or
 * view the one that is here.
 */
import { useEffect, useRef, useState } from 'react';
import { asBeginning } from '../text/sizes.ts';
import { t } from '../../language/t.ts';
import { livesThere } from '../../state/relay-info.ts';
import { useInfo, useActions, useRoost } from '../context.tsx';
import { Begin } from './begin.tsx';
import { ComeBack } from './returning.tsx';
import { useStore } from 'zustand';
import { createHouseholdView, type HouseholdView, VIEW_LINES, type ViewLine } from '../../state/record-approvals.ts';
import '../devices/devices.css';
import './welcome.css';

const WAITS = {
  connecting: t`Connecting…`,
  lost: t`The relay does not answer. Roost tries again.`,
} as const;

function Viewing({ view, onClose }: { view: HouseholdView; onClose: () => void }) {
  const { link, agents, session, lines } = useStore(view.store);
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), []);
  const nameOf = (id: string) =>
    id === 'human'
      ? t`Human`
      : id === 'relay'
        ? t`The relay`
        : (agents.find(({ agentId }) => agentId === id)?.name ??
          (id === 'lead' ? asBeginning(t`the lead`) : t`An egg`));
  const awake = session?.awake.map(nameOf) ?? [];
  const whose = (line: ViewLine) =>
    line.author === line.agentId ? nameOf(line.author) : t`${nameOf(line.author)} to ${nameOf(line.agentId)}`;
  return (
    <main className="welcome shrinks both-centred scroll stack" id="main">
      <div className="welcome-card">
        <h1 ref={head} tabIndex={-1}>{t`View only`}</h1>
        <p className="welcome-lead above-5 pretty ink-2">{t`You see new messages. This browser stores none and cannot write.`}</p>
        <p role="status">
          {link !== 'live'
            ? WAITS[link]
            : session === null
              ? asBeginning(t`everyone sleeps`)
              : awake.length === 0
                ? `${t`Nobody is awake`}.`
                : t`Awake: ${awake.join(', ')}`}
        </p>
        {lines.length >= VIEW_LINES && <p>{t`The newest ${VIEW_LINES} messages`}</p>}
        <ol className="tall above-5 under-5 stack gap-4 scroll-y" aria-label={t`Messages`}>
          {lines.map((line) => (
            <li className="as-written break" key={line.messageId} dir="auto">
              <b>{whose(line)}</b> <span>{line.text}</span>
              {line.open && <span>…</span>}
            </li>
          ))}
        </ol>
        <button type="button" className="ghost" onClick={onClose}>{t`Close`}</button>
      </div>
    </main>
  );
}

/** A read-only view of the household at this relay. */
function ViewPage({ onClose }: { onClose: () => void }) {
  const { relay } = useRoost();
  const actions = useActions();
  const [view] = useState(() => createHouseholdView(relay));
  useEffect(() => view.start(), [view]);
  const close = () => {
    // The options may have changed.
    void actions.refreshHome();
    onClose();
  };
  return <Viewing view={view} onClose={close} />;
}

const focusStart = () => document.querySelector<HTMLElement>('.big-button')?.focus();

const WHO = {
  own: {
    head: t`Your team is on this relay`,
    text: t`This browser has no copy of it.`,
    back: t`Restore it:`,
  },
  others: {
    head: t`This relay already has a team`,
    text: t`This browser has none yet.`,
    back: t`Is it yours?`,
  },
} as const;

/**
 * This browser has no team, and people live at its relay. Nothing begins before the person has
 * chosen what this browser is for.
 */
export default function AskedPage() {
  const mayView = useInfo(({ home }) => typeof home === 'object' && home.look);
  const [way, setWay] = useState<'own' | 'view' | null>(null);
  const who = WHO[useInfo(livesThere) ?? 'others'];
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), [way]);
  if (way === 'view' && mayView) return <ViewPage onClose={() => setWay(null)} />;
  return (
    <main className="welcome shrinks both-centred scroll stack" id="main">
      <div className="welcome-card">
        <h1 className="balanced" ref={head} tabIndex={-1}>
          {way === 'own' ? t`Your household` : who.head}
        </h1>
        {way === 'own' ? (
          <>
            <p className="welcome-lead above-5 pretty ink-2">{t`It shares the relay with the other one. Neither sees the other’s agents or messages.`}</p>
            <Begin onBegun={focusStart} beside />
            <button type="button" className="link-button" onClick={() => setWay(null)}>{t`Back`}</button>
          </>
        ) : (
          <>
            <p className="welcome-lead above-5 pretty ink-2">{who.text}</p>
            <ComeBack lead={who.back} />
            <div className="devices-ways gap-4 cluster">
              {mayView && (
                <button type="button" className="ghost" onClick={() => setWay('view')}>{t`View only`}</button>
              )}
              <button type="button" className="ghost" onClick={() => setWay('own')}>{t`Start my household`}</button>
            </div>
          </>
        )}
      </div>
    </main>
  );
}

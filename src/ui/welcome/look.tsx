import { useEffect, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { createLook, type Look, type LookLine } from '../../state/look.ts';
import { useActions, useRoost } from '../context.tsx';

const WAITS = {
  connecting: 'Connecting…',
  lost: 'The relay does not let this browser look on now. It is tried again by itself.',
} as const;

function Looking({ look, onClose }: { look: Look; onClose: () => void }) {
  const { link, agents, session, lines } = useStore(look.store);
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus(), []);
  const nameOf = (id: string) =>
    id === 'human'
      ? 'The human'
      : id === 'relay'
        ? 'The relay'
        : (agents.find(({ agentId }) => agentId === id)?.name ?? (id === 'lead' ? 'The lead' : 'An egg'));
  const awake = session?.awake.map(nameOf) ?? [];
  const whose = (line: LookLine) =>
    line.author === line.agentId ? nameOf(line.author) : `${nameOf(line.author)} to ${nameOf(line.agentId)}`;
  return (
    <main className="welcome" id="main">
      <div className="welcome-card">
        <h1 ref={head} tabIndex={-1}>
          Looking on
        </h1>
        <p className="welcome-lead">
          What is said there from now on. Nothing of it is kept in this browser, and nothing can be said from here.
        </p>
        <p role="status">
          {link !== 'live'
            ? WAITS[link]
            : session === null
              ? 'No session runs. Everyone sleeps.'
              : awake.length === 0
                ? 'A session runs. Nobody has said anything yet.'
                : `Awake: ${awake.join(', ')}`}
        </p>
        <ol className="look-lines" aria-label="What is said">
          {lines.map((line) => (
            <li key={line.messageId} dir="auto">
              <b>{whose(line)}</b> {line.text}
              {line.open && '…'}
            </li>
          ))}
        </ol>
        <button type="button" className="ghost" onClick={onClose}>
          Stop looking
        </button>
      </div>
    </main>
  );
}

/** For whoever only looks on at the household that lives at this relay. */
export function LookPage({ onClose }: { onClose: () => void }) {
  const { relay } = useRoost();
  const actions = useActions();
  const [look] = useState(() => createLook(relay));
  useEffect(() => look.start(), [look]);
  const close = () => {
    // There may be more to choose from now, or less.
    void actions.refreshHome();
    onClose();
  };
  return <Looking look={look} onClose={close} />;
}
